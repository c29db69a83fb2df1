/* SPDX-License-Identifier: MIT */
/* emulator_join.c - sectors and bank conflicts of one access of a warp. */
#include "emulator_join.h"

#include <stdbool.h>

/* ---- sectors ------------------------------------------------------------------------------------------- */

typedef struct stretch {
  uintptr_t first, last; /* sectors */
} stretch;

/* The lanes' stretches in the order of their beginnings; how many there are. */
static int sorted(const warp_access *access, stretch *list) {
  int count = 0;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if ((access->mask >> i & 1u) == 0 || access->bytes[i] == 0) continue;
    const stretch one = {access->address[i] / SECTOR_BYTES,
                         (access->address[i] + access->bytes[i] - 1) / SECTOR_BYTES};
    int at = count++;
    for (; at > 0 && list[at - 1].first > one.first; at--) list[at] = list[at - 1];
    list[at] = one;
  }
  return count;
}

int64_t assay_join_sectors(const warp_access *access) {
  stretch list[ASSAY_WARP_LANES];
  const int count = sorted(access, list);
  int64_t sectors = 0;
  uintptr_t next = 0; /* the first sector that is not counted yet */
  for (int i = 0; i < count; i++) {
    const uintptr_t first = list[i].first > next ? list[i].first : next;
    if (list[i].last < first) continue;
    sectors += (int64_t)(list[i].last - first + 1);
    next = list[i].last + 1;
  }
  return sectors;
}

/* ---- banks --------------------------------------------------------------------------------------------- */

/* How many lanes come at a time: as many as ask for 128 bytes. */
static uint32_t lanes_together(const warp_access *access) {
  uint32_t widest = BANK_BYTES;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    while ((access->mask >> i & 1u) != 0 && access->bytes[i] > widest) widest *= 2;
  }
  const uint32_t lanes = SHARED_BANKS * BANK_BYTES / widest;
  return lanes > 0 ? lanes : 1;
}

/* Words that one bank has been asked for; lanes that come together ask for at most 32 of them each. */
typedef struct bank {
  uint32_t count;
  uintptr_t word[ASSAY_WARP_LANES];
} bank;

/* A word beyond what fits counts again if it is asked for again: no access of a GPU is that wide. */
static void ask(bank *of, uintptr_t word) {
  const uint32_t kept = of->count < ASSAY_WARP_LANES ? of->count : ASSAY_WARP_LANES;
  for (uint32_t i = 0; i < kept; i++) {
    if (of->word[i] == word) return;
  }
  if (of->count < ASSAY_WARP_LANES) of->word[of->count] = word;
  of->count++;
}

static int64_t passes_of(const warp_access *access, uint32_t first, uint32_t count) {
  bank banks[SHARED_BANKS];
  uint32_t most = 0;
  for (uint32_t i = 0; i < SHARED_BANKS; i++) banks[i].count = 0;
  for (uint32_t i = first; i < first + count; i++) {
    if ((access->mask >> i & 1u) == 0 || access->bytes[i] == 0) continue;
    const uintptr_t last = (access->address[i] + access->bytes[i] - 1) / BANK_BYTES;
    for (uintptr_t word = access->address[i] / BANK_BYTES; word <= last; word++)
      ask(&banks[word % SHARED_BANKS], word);
  }
  for (uint32_t i = 0; i < SHARED_BANKS; i++) {
    if (banks[i].count > most) most = banks[i].count;
  }
  return most;
}

int64_t assay_join_passes(const warp_access *access) {
  const uint32_t together = lanes_together(access);
  int64_t passes = 0;
  for (uint32_t first = 0; first < ASSAY_WARP_LANES; first += together)
    passes += passes_of(access, first, together);
  return passes;
}
