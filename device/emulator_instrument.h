/* SPDX-License-Identifier: MIT */
/* emulator_instrument.h - what is special about the object of a watched kernel. */
#ifndef ASSAY_EMULATOR_INSTRUMENT_H
#define ASSAY_EMULATOR_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file.h"

/* A __shared__ array. */
typedef struct watch_array {
  char name[48];
  size_t offset, bytes; /* in the object's static shared memory */
} watch_array;

/* A loaded object of watched kernels, for as long as the process. */
typedef struct watch_object {
  char path[ASSAY_PATH_SIZE]; /* "": its file is gone */
  uintptr_t base;             /* what addresses in the file are relative to */
  uintptr_t start, end;       /* what is mapped of it */
  watch_array *arrays;        /* by offset */
  int array_count;
} watch_object;

enum { WATCH_FLAGS_MOST = 24 };

/* The flags that have a compiler tell of every access; `version` is what it says of itself. Ends with NULL.
 */
void assay_watch_flags(const char *version, const char *flags[WATCH_FLAGS_MOST]);

/* Makes room behind each thread-local variable of a relocatable object that was compiled with
 * -fdata-sections, so that the linker leaves gaps between them. False when this is no such object. */
bool assay_watch_widen(const char *path);

/* What there is to know of an object that dlopen gave; NULL without memory. */
watch_object *assay_watch_object(void *handle, const char *path);

#endif
