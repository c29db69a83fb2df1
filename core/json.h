/* SPDX-License-Identifier: MIT */
/* json.h - the few habits of ours around jansson: strict reading, exact numbers, atomic writing. */
#ifndef ASSAY_JSON_H
#define ASSAY_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A number, or null when it is not finite (JSON has no NaN). */
json_t *assay_json_number(double value);

/* A string; bytes that are not UTF-8 become U+FFFD, so that it never fails on foreign text. */
json_t *assay_json_text(const char *text);

/* Parses strictly: duplicate keys and trailing text are errors. NULL with a message "NAME:LINE:COLUMN: ...",
 * NAME being what the text is called, or the file. */
json_t *assay_json_parse(const char *text, size_t size, const char *name, char *message, size_t message_size);
json_t *assay_json_load(const char *path, char *message, size_t message_size);

/* Indented by two, keys in insertion order, 17 digits; written atomically or to a stream with a newline.
 * False with errno set. */
bool assay_json_save(const json_t *value, const char *path);
bool assay_json_print(const json_t *value, FILE *stream);

#endif
