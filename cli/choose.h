/* SPDX-License-Identifier: MIT */
/* choose.h - words of the command line that must be one of a subject's names. */
#ifndef ASSAY_CLI_CHOOSE_H
#define ASSAY_CLI_CHOOSE_H

#include "op.h"

/* The index of `word` among the names of `owner`, or -1 after an error message. `kind`: "function". */
int choose_name(const char *owner, const char *kind, const char *word, const char *const *names, int count);

/* "2x257" into the subject's sizes; false after an error message about --shape. */
bool choose_shape(const assay_subject *subject, const char *text, int64_t *dims);

/* NAME=VALUE into `opt`; whether the value suits is the subject's to say. False after an error message. */
bool choose_knob(const assay_subject *subject, const char *text, int64_t *opt);

/* "a, b and c", with `last` for the word "and". */
void choose_join(const char *const *names, int count, const char *last, char *text, size_t size);

#endif
