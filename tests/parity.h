/* SPDX-License-Identifier: MIT */
/*
 * parity.h - a row for every kernel that the tools of the emulator, and those of NVIDIA's compute-sanitizer,
 * are tried on: its launch, its memory, and a plain model in C of what it must leave there.
 *
 * A kernel's struct of arguments holds a pointer to each region, in their order, then the numbers as int64_t.
 * A row with a tool is a kernel with one planted fault: the tool must find it at the line that the source
 * marks with "here: NAME", and name the one marked "there: NAME" too where there is such a mark.
 */
#ifndef ASSAY_PARITY_H
#define ASSAY_PARITY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/workshop.h"
#include "emulator.h"
#include "emulator_watch.h"
#include "rng.h"

enum { PARITY_REGIONS = 6, PARITY_NUMBERS = 3, PARITY_GAP = 4096 };

typedef enum parity_type {
  PARITY_BYTES,
  PARITY_HALVES,
  PARITY_WORDS,
  PARITY_FLOATS,
  PARITY_LONGS
} parity_type;

typedef void parity_fill(void *data, uint32_t count);

typedef struct parity_region {
  const char *name;
  parity_type type;
  uint32_t count;    /* of elements */
  parity_fill *fill; /* NULL: nobody writes it before the kernel does */
  bool constant;
} parity_region;

/* Regions of a kernel: what it reads, what it writes, what it changes. */
#define PARITY_IN(name, type, count, fill)                                                                   \
  { name, PARITY_##type, count, fill, true }
#define PARITY_OUT(name, type, count)                                                                        \
  { name, PARITY_##type, count, NULL, false }
#define PARITY_BOTH(name, type, count, fill)                                                                 \
  { name, PARITY_##type, count, fill, false }

typedef struct parity_case {
  const char *file, *name;
  assay_dim3 grid, block;
  uint32_t shared_bytes, cluster;
  parity_region regions[PARITY_REGIONS]; /* up to the first without a name */
  int64_t numbers[PARITY_NUMBERS];
  int number_count;
  /* Makes the contents after the launch of those before it; NULL for a fault. */
  void (*model)(void *const *at, const int64_t *numbers);
  double allowed;  /* error of floats over 1 + size; 0: the same bits */
  assay_tool tool; /* 0: the kernel has no fault */
} parity_case;

/* ---- first contents ------------------------------------------------------------------------------------ */

static inline void parity_zero(void *data, uint32_t count) {
  memset(data, 0, count * sizeof(uint32_t));
}

static inline void parity_long_zero(void *data, uint32_t count) {
  memset(data, 0, count * sizeof(uint64_t));
}

static inline void parity_words(void *data, uint32_t count) {
  uint32_t *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, count);
  for (uint32_t i = 0; i < count; ++i) to[i] = (uint32_t)assay_rng_next(&rng);
}

/* Whole numbers of -8 to 8: sums and products are exact in any order. */
static inline void parity_small(void *data, uint32_t count) {
  float *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, count);
  for (uint32_t i = 0; i < count; ++i) to[i] = (float)assay_rng_below(&rng, 17) - 8.0f;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static inline int parity_region_count(const parity_case *one) {
  int count = 0;
  while (count < PARITY_REGIONS && one->regions[count].name != NULL) count++;
  return count;
}

static inline size_t parity_element_bytes(parity_type type) {
  static const size_t bytes[] = {1, 2, 4, 4, 8};
  return bytes[type];
}

static inline size_t parity_bytes(const parity_region *region) {
  return region->count * parity_element_bytes(region->type);
}

/* A copy of every region with room on both sides, for what a fault touches there. */
typedef struct parity_memory {
  unsigned char *room[PARITY_REGIONS];
  void *at[PARITY_REGIONS];
} parity_memory;

static inline bool parity_memory_open(const parity_case *one, parity_memory *memory) {
  memset(memory, 0, sizeof *memory);
  for (int i = 0; i < parity_region_count(one); i++) {
    const parity_region *region = &one->regions[i];
    const size_t bytes = (parity_bytes(region) + 255) / 256 * 256 + 2 * PARITY_GAP;
    memory->room[i] = aligned_alloc(256, bytes);
    if (memory->room[i] == NULL) return false;
    memset(memory->room[i], 0x7b, bytes); /* huge numbers, as in memory that nobody wrote */
    memory->at[i] = memory->room[i] + PARITY_GAP;
    if (region->fill != NULL) region->fill(memory->at[i], region->count);
  }
  return true;
}

static inline void parity_memory_close(parity_memory *memory) {
  for (int i = 0; i < PARITY_REGIONS; i++) free(memory->room[i]);
}

/* ---- launching ----------------------------------------------------------------------------------------- */

static inline assay_status parity_launch(const parity_case *one, assay_queue *queue, void *const *at) {
  uint64_t words[PARITY_REGIONS + PARITY_NUMBERS];
  const int regions = parity_region_count(one);
  for (int i = 0; i < regions; i++) words[i] = (uint64_t)(uintptr_t)at[i];
  for (int i = 0; i < one->number_count; i++) words[regions + i] = (uint64_t)one->numbers[i];
  const assay_launch launch = {.file = one->file,
                               .kernel = one->name,
                               .grid = one->grid,
                               .block = one->block,
                               .shared_bytes = one->shared_bytes,
                               .cluster = one->cluster,
                               .args = words,
                               .arg_bytes = (size_t)(regions + one->number_count) * sizeof words[0]};
  return queue->calls->launch(queue, &launch);
}

/* The rows as the tools want to know them. */
static inline int parity_watched(const parity_case *one, void *const *at, assay_region *regions) {
  const int count = parity_region_count(one);
  for (int i = 0; i < count; i++) {
    const parity_region *from = &one->regions[i];
    regions[i] = (assay_region){.start = at[i],
                                .bytes = (int64_t)parity_bytes(from),
                                .element_bytes = (int32_t)parity_element_bytes(from->type),
                                .written = from->fill != NULL,
                                .constant = from->constant};
    snprintf(regions[i].name, sizeof regions[i].name, "%s", from->name);
  }
  return count;
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

static inline bool parity_same(const parity_region *region, const void *got, const void *want, size_t i,
                               double allowed) {
  const size_t bytes = parity_element_bytes(region->type);
  const size_t at = i * bytes;
  if (memcmp((const char *)got + at, (const char *)want + at, bytes) == 0) return true;
  if (region->type != PARITY_FLOATS) return false;
  const double a = (double)((const float *)got)[i];
  const double b = (double)((const float *)want)[i];
  return fabs(a - b) <= allowed * (1 + fabs(b));
}

/* True when all regions are what the model makes of their first contents; else `text` says where not. */
static inline bool parity_right(const parity_case *one, void *const *got, char *text, size_t text_bytes) {
  parity_memory want;
  bool right = parity_memory_open(one, &want);
  if (right) {
    one->model(want.at, one->numbers);
  } else {
    snprintf(text, text_bytes, "%s: there is no memory for the model", one->name);
  }
  for (int r = 0; right && r < parity_region_count(one); r++) {
    const parity_region *region = &one->regions[r];
    for (uint32_t i = 0; right && i < region->count; i++) {
      right = parity_same(region, got[r], want.at[r], i, one->allowed);
      if (right) continue;
      uint64_t bits[2] = {0, 0};
      const size_t bytes = parity_element_bytes(region->type);
      memcpy(&bits[0], (const char *)got[r] + i * bytes, bytes);
      memcpy(&bits[1], (const char *)want.at[r] + i * bytes, bytes);
      snprintf(text, text_bytes, "%s: element %u of %s is 0x%llx, expected 0x%llx", one->name, i,
               region->name, (unsigned long long)bits[0], (unsigned long long)bits[1]);
    }
  }
  parity_memory_close(&want);
  return right;
}

#endif
