/* SPDX-License-Identifier: MIT */
/* status.h - one sentence about what went wrong, and the library's thread-local copy of it. */
#ifndef ASSAY_STATUS_H
#define ASSAY_STATUS_H

#include "assay/assay.h"

typedef struct assay_message {
  char text[320];
} assay_message;

/* Writes the sentence (cut at the end of the buffer) and returns `status`, so that callers can return it. */
assay_status assay_explain(assay_message *message, assay_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keeps `text` as what assay_last_error() returns on this thread. */
void assay_set_last_error(const char *text);

#endif
