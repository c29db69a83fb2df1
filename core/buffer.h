/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - operands in memory that two processes share, with guard pages at both ends.
 *
 * The judge makes a buffer on a memfd and maps it writable. The worker maps the same pages between two
 * stretches of inaccessible memory; an input's file descriptor is open for reading only, so that no mprotect
 * makes it writable. Pages are taken when first touched: a view of huge strides costs what its elements
 * touch.
 */
#ifndef ASSAY_BUFFER_H
#define ASSAY_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/assay.h"

/* Which end of the data touches a guard. */
typedef enum assay_placement { ASSAY_AT_END = 0, ASSAY_AT_START, ASSAY_PLACEMENTS } assay_placement;

typedef struct assay_buffer {
  int fd;
  unsigned char *pages; /* the judge's mapping */
  size_t page_bytes;    /* of all pages */
  size_t offset;        /* of the data in the pages */
  size_t bytes;         /* of the data; what is left of the pages is slack */
} assay_buffer;

/* A worker's mapping of a buffer; `guarded` is the whole reservation. */
typedef struct assay_mapping {
  unsigned char *guarded;
  size_t guarded_bytes;
  unsigned char *pages;
  size_t page_bytes;
} assay_mapping;

/* Memory for `bytes` (0 allowed) whose end or start lies `shift` bytes away from a guard. All pages read as
 * zero. False with errno set. */
bool assay_buffer_open(assay_buffer *buffer, size_t bytes, assay_placement placement, size_t shift);
void assay_buffer_close(assay_buffer *buffer);

/* A second descriptor of the same memory that can only be mapped for reading; -1 with errno set. */
int assay_buffer_read_only(const assay_buffer *buffer);

/* Maps between guards; with fd -1 private memory instead. False with errno set. */
bool assay_mapping_open(assay_mapping *mapping, int fd, size_t page_bytes, bool writable);

/* Private memory for at least `bytes`, between guards and from a huge page's boundary on, for which the
 * system is asked to take huge pages. False with errno set. */
bool assay_mapping_open_huge(assay_mapping *mapping, size_t bytes);
void assay_mapping_close(assay_mapping *mapping);

/* Physical memory of this machine in bytes; SIZE_MAX when that is not known. */
size_t assay_memory_bytes(void);

/* Fills `count` elements with random finite values; element i depends on seed and i alone. */
void assay_poison_fill(void *data, assay_dtype dtype, int64_t count, uint64_t seed);
/* The same for `count` elements of it from `first` on. */
void assay_poison_fill_part(void *data, assay_dtype dtype, int64_t first, int64_t count, uint64_t seed);
uint64_t assay_poison_bits(assay_dtype dtype, int64_t index, uint64_t seed);

#endif
