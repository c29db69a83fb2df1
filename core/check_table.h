/* SPDX-License-Identifier: MIT */
/* check_table.h - the words in which an operator's table of checks is written; only its *_checks.c includes
 * this. */
#ifndef ASSAY_CHECK_TABLE_H
#define ASSAY_CHECK_TABLE_H

#include "probe.h"

#define FP32   ASSAY_HAS_FP32
#define FP16   ASSAY_HAS_FP16
#define BF16   ASSAY_HAS_BF16
#define FP64   ASSAY_HAS_FP64
#define HALVES ASSAY_HAS_16BIT
#define FLOATS ASSAY_HAS_FLOATS

#define S ASSAY_TIER_S
#define M ASSAY_TIER_M
#define L ASSAY_TIER_L

/* The rows of a check: an array of assay_row. */
#define ROWS(table) .rows = (table), .row_count = (int)(sizeof(table) / sizeof((table)[0]))

/* A check for exercises and the library; rows and run follow as designated initialisers. */
#define CHECK(stage_, name_, tier_, catches_, ...)                                                           \
  BACKEND_CHECK(stage_, name_, tier_, ASSAY_ON_ALL, catches_, __VA_ARGS__)

/* A check for some backends: of what only CUDA kernels can do wrong, or too large for the emulator. */
#define BACKEND_CHECK(stage_, name_, tier_, backends_, catches_, ...)                                        \
  {                                                                                                          \
    .name = (name_), .stage = (stage_), .catches = (catches_), .backends = (backends_), .tier = (tier_),     \
    __VA_ARGS__                                                                                              \
  }

/* A check for the library only. */
#define LIBRARY_CHECK(stage_, name_, tier_, catches_, ...)                                                   \
  CHECK(stage_, name_, tier_, catches_, .scope = ASSAY_SCOPE_LIBRARY, __VA_ARGS__)

/* The emulator's four tools, each with a check of its own, on an array of small rows. */
#define SANITIZE_CHECK(tool_, catches_, table)                                                               \
  BACKEND_CHECK("sanitize", "sanitize_" #tool_, S, ASSAY_ON_SIMT, catches_, ROWS(table),                     \
                .run = assay_probe_sanitize_##tool_)
#define SANITIZE_CHECKS(table)                                                                               \
  SANITIZE_CHECK(memory, "memory outside every operand and array is accessed", table),                       \
      SANITIZE_CHECK(race, "two threads access a place, one writes, and nothing orders them", table),        \
      SANITIZE_CHECK(init, "memory is read that nobody has written", table),                                 \
      SANITIZE_CHECK(sync, "a barrier or warp operation is not reached by all that it waits for", table)

/* How much is moved: each input may be read `reads` times, and the result is written once. */
#define TRAFFIC_CHECK(reads_, catches_, table)                                                               \
  BACKEND_CHECK("traffic", "traffic", S, ASSAY_ON_SIMT, catches_, ROWS(table), .run = assay_probe_traffic,   \
                .reads = (reads_))

#endif
