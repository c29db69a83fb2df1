/* SPDX-License-Identifier: MIT */
/* emulator_join.h - what the accesses of a warp's lanes at one place cost together: sectors of global memory,
 * passes over the banks of shared memory. */
#ifndef ASSAY_EMULATOR_JOIN_H
#define ASSAY_EMULATOR_JOIN_H

#include <stdint.h>

#include "assay/kernel_calls.h"

enum {
  SECTOR_BYTES = 32,
  SHARED_BANKS = 32,
  BANK_BYTES = 4,
};

/* One instruction of a warp. */
typedef struct warp_access {
  uint32_t mask; /* the lanes that take part */
  uint16_t bytes[ASSAY_WARP_LANES];
  uintptr_t address[ASSAY_WARP_LANES];
} warp_access;

/* How many sectors hold at least one of the bytes. */
int64_t assay_join_sectors(const warp_access *access);

/* How many times the banks are asked. A pass gives each bank's word to all lanes that want that word. Lanes
 * with 8 bytes come as two halves of the warp, with 16 bytes as four quarters, one after another. */
int64_t assay_join_passes(const warp_access *access);

#endif
