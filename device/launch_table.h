/* SPDX-License-Identifier: MIT */
/*
 * launch_table.h - what a launch was compiled to, found again by source file, kernel and defines.
 *
 * Finding takes no lock, compares contents (a learner's strings may be gone and come back elsewhere), and is
 * fast enough to stand in front of every launch.
 */
#ifndef ASSAY_LAUNCH_TABLE_H
#define ASSAY_LAUNCH_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "assay/workshop.h"

enum { ASSAY_LAUNCH_BUCKETS = 256 };

typedef struct assay_launch_entry {
  struct assay_launch_entry *older;
  uint64_t hash;
  const char *file, *kernel;
  const assay_define *defines; /* ends with {NULL, 0} */
  const void *value;
} assay_launch_entry;

/* All zeros is an empty table. Entries are added, never changed or removed. */
typedef struct assay_launch_table {
  _Atomic(assay_launch_entry *) buckets[ASSAY_LAUNCH_BUCKETS];
} assay_launch_table;

/* The value of this launch's file, kernel and defines (in this order of names); NULL when there is none. */
const void *assay_launch_find(assay_launch_table *table, const assay_launch *launch);

/* Adds a value, not NULL; calls to this function must not overlap. False without memory. */
bool assay_launch_add(assay_launch_table *table, const assay_launch *launch, const void *value);

/* Whether two arrays of defines, each ending with a NULL name and NULL itself when empty, hold the same. */
bool assay_defines_equal(const assay_define *a, const assay_define *b);

#endif
