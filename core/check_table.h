/* SPDX-License-Identifier: MIT */
/* check_table.h - the words in which an operator's table of checks is written; only its *_checks.c includes
 * this. */
#ifndef ASSAY_CHECK_TABLE_H
#define ASSAY_CHECK_TABLE_H

#include "op.h"

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

#endif
