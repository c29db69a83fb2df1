/* SPDX-License-Identifier: MIT */
/*
 * kernel_source.h - the text of a kernel's source file and of the headers that it may include.
 *
 * The library's own sources are in the program, so that it runs without its source folder. With
 * ASSAY_SOURCE_DIR set the files there are taken instead. Every other file is read from where it is: a
 * learner's, or a solution's.
 */
#ifndef ASSAY_KERNEL_SOURCE_H
#define ASSAY_KERNEL_SOURCE_H

#include "nvrtc.h"
#include "status.h"

/* One file in the program; the text ends with a NUL that `bytes` does not count. The table ends with a NULL
 * path. The Makefile makes it from the sources of all operators and the headers that these include. */
typedef struct assay_embedded {
  const char *path; /* "ops/NAME/FILE.cu", "include/assay/kernel.h" */
  const char *text;
  size_t bytes;
} assay_embedded;

extern const assay_embedded assay_embedded_files[];

enum { ASSAY_KERNEL_HEADERS_MOST = 32 };

typedef struct assay_kernel_source {
  char *text;
  /* Each header under the names "assay/kernel.h" and "kernel.h": one header includes another by the shorter.
   */
  assay_nvrtc_header headers[ASSAY_KERNEL_HEADERS_MOST];
  int header_count;
} assay_kernel_source;

/* Loads the source that `file` (what __FILE__ was in its host half) names, and the headers. To be freed with
 * assay_kernel_source_free when it succeeded. Errors: UNAVAILABLE (there is no such file), NO_MEMORY. */
assay_status assay_kernel_source_load(const char *file, assay_kernel_source *source, assay_message *why);
void assay_kernel_source_free(assay_kernel_source *source);

/* Writes the headers to FOLDER/assay/, for a compiler that reads files. False with errno set. */
bool assay_kernel_source_headers(const assay_kernel_source *source, const char *folder);

#endif
