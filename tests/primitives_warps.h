/* SPDX-License-Identifier: MIT */
/* primitives_warps.h - models of the kernels in kernels/warps.cu. */
#ifndef ASSAY_PRIMITIVES_WARPS_H
#define ASSAY_PRIMITIVES_WARPS_H

#include "primitives.h"

static void model_coordinates(const uint32_t *in, uint32_t *out) {
  (void)in;
  for (uint32_t block = 0; block < 12; ++block) {
    for (uint32_t t = 0; t < 40; ++t) {
      const uint32_t of_thread = t % 4 | t / 4 % 5 << 4 | t / 20 << 8;
      const uint32_t of_block = block % 2 | block / 2 % 3 << 4 | block / 6 << 8;
      out[block * 40 + t] = of_thread | of_block << 12 | 32u << 24;
    }
  }
}

static void model_shuffle(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t *warp = in + t / 32 * 32;
    const uint32_t lane = t % 32;
    const uint32_t asked = in[t + 64];
    const uint32_t result[8] = {
        warp[asked % 32],
        warp[lane / 8 * 8 + asked % 8],
        warp[lane < 3 ? lane : lane - 3],
        warp[lane % 16 < 5 ? lane : lane - 5],
        warp[lane + 7 < 32 ? lane + 7 : lane],
        warp[lane % 4 < 3 ? lane + 1 : lane],
        warp[lane ^ 16],
        /* A pattern beyond the width reaches lower segments, but not higher ones. */
        warp[(lane ^ 9) / 8 <= lane / 8 ? lane ^ 9 : lane],
    };
    memcpy(out + t * 8, result, sizeof result);
  }
}

static void model_shuffle_types(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t first = t / 32 * 32;
    const uint32_t below = t % 32 == 0 ? t : t - 1;
    const uint32_t above = t % 32 < 30 ? t + 2 : t;
    out[t * 6 + 0] = in[(t ^ 1) + 64];
    out[t * 6 + 1] = in[t ^ 1];
    out[t * 6 + 2] = assay_bits_from_float((float)in[above]);
    out[t * 6 + 3] = assay_bits_from_float((float)((double)in[below] * 0.5));
    out[t * 6 + 4] = in[first + 31];
    out[t * 6 + 5] = in[first];
  }
}

static void model_masks(const uint32_t *in, uint32_t *out) {
  uint32_t value[64];
  for (uint32_t first = 0; first < 64; first += 32) {
    uint32_t sum = 0;
    uint32_t ballot = 0;
    for (uint32_t i = 0; i < 16; ++i) {
      sum += in[first + i];
      if (in[first + 31] % 2 == (16 + i) % 2) ballot |= 1u << (16 + i);
    }
    for (uint32_t i = 0; i < 16; ++i) {
      value[first + i] = in[first + (i ^ 1)] + sum;
      value[first + 16 + i] = in[first + 31] ^ ballot;
    }
  }
  for (uint32_t t = 0; t < 64; ++t) out[t] = value[t] + value[t ^ 16];
}

static void model_votes(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t *warp = in + t / 32 * 32;
    uint32_t thirds = 0;
    uint32_t same = 0;
    uint32_t same_float = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      if (warp[i] % 3 == 0) thirds |= 1u << i;
      if (warp[i] % 4 == in[t] % 4) same |= 1u << i;
      if (warp[i] % 3 == in[t] % 3) same_float |= 1u << i;
      if (warp[i] == in[0]) first = 1;
    }
    const uint32_t result[8] = {thirds, first, 0, 1, 0, same, same_float, in[t] % 2 == 0};
    memcpy(out + t * 8, result, sizeof result);
  }
}

static void model_reductions(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t *warp = in + t / 32 * 32;
    uint32_t sum = 0;
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    int32_t signed_least = INT32_MAX;
    int32_t signed_most = INT32_MIN;
    uint32_t all = UINT32_MAX;
    uint32_t any = 0;
    uint32_t odd = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t value = warp[i];
      const int32_t number = (int32_t)value;
      sum += value;
      least = value < least ? value : least;
      most = value > most ? value : most;
      signed_least = number < signed_least ? number : signed_least;
      signed_most = number > signed_most ? number : signed_most;
      all &= value | 0xffffu;
      any |= value & 0xf0f0u;
      odd ^= value;
    }
    const uint32_t result[10] = {sum, sum, least, (uint32_t)signed_least, most, (uint32_t)signed_most, all,
                                 any, odd, 0};
    memcpy(out + t * 10, result, sizeof result);
  }
}

static void model_warp_helpers(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    double sum = 0;
    double most = -4096;
    for (uint32_t i = 0; i < 32; ++i) {
      const double value = (double)(in[t / 32 * 32 + i] % 4096) - 2048;
      sum += value;
      most = fmax(most, value);
    }
    out[t * 2] = assay_bits_from_float((float)sum);
    out[t * 2 + 1] = assay_bits_from_float((float)most);
  }
}

static void model_warp_memory(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) out[t] = in[t ^ 30] + 1;
}

static void model_barriers(const uint32_t *in, uint32_t *out) {
  uint32_t even = 0;
  for (uint32_t t = 0; t < 64; ++t) even += in[t] % 2 == 0;
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t result[6] = {in[63 - t], 1, 0, 1, 0, even};
    memcpy(out + t * 6, result, sizeof result);
  }
}

static void model_dynamic_memory(const uint32_t *in, uint32_t *out) {
  for (uint32_t block = 0; block < 3; ++block)
    for (uint32_t t = 0; t < 64; ++t) out[block * 64 + t] = in[block * 64 + (t + 33) % 64];
}

static void model_atomics(const uint32_t *in, uint32_t *out) {
  uint64_t wide = 0;
  float sum = 0;
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t value = in[i];
    out[0] += value;
    out[1] += value;
    sum += (float)(value % 1024);
    wide += (uint64_t)value << 16;
    if (value > out[6]) out[6] = value;
    if ((int32_t)value > (int32_t)out[7]) out[7] = value;
    if ((int32_t)value < (int32_t)out[9]) out[9] = value;
    out[10] |= value & 0x00ff00ffu;
    out[11] ^= value;
  }
  out[2] = assay_bits_from_float(sum);
  out[4] = (uint32_t)wide;
  out[5] = (uint32_t)(wide >> 32);
  out[13] = 255; /* all but the first found the 5 of another */
  out[14] = 5;
  out[15] = 1;
  out[16] = 7;
  for (uint32_t i = 0; i < 4; ++i) out[17 + i] = 1;
  out[21] = 256;
}

static void model_waiting(const uint32_t *in, uint32_t *out) {
  out[0] = (in[0] | 1u) + 1;
  out[1] = 11;
}

static void model_clusters(const uint32_t *in, uint32_t *out) {
  for (uint32_t block = 0; block < 8; ++block) {
    const uint32_t rank = block % 4;
    const uint32_t peer = block - rank + (rank + 1) % 4;
    for (uint32_t t = 0; t < 64; ++t) {
      out[(block * 64 + t) * 2] = in[63 - t] + peer;
      out[(block * 64 + t) * 2 + 1] = (100 + block) | rank << 8 | 4u << 16;
    }
  }
}

#define WARPS(name, grid, block, shared, cluster, in, out)                                                   \
  {                                                                                                          \
#name, "tests/kernels/warps.cu", #name, grid, block, shared, cluster, -1, in, out, fill_random,          \
        model_##name, 0                                                                                      \
  }
#define SIZE(x, y, z)                                                                                        \
  { x, y, z }

static const primitive warp_primitives[] = {
    WARPS(coordinates, SIZE(2, 3, 2), SIZE(4, 5, 2), 0, 1, 0, 480),
    WARPS(shuffle, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 128, 512),
    WARPS(shuffle_types, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 128, 384),
    WARPS(masks, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 64, 64),
    WARPS(votes, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 64, 512),
    WARPS(reductions, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 64, 640),
    WARPS(warp_helpers, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 64, 128),
    WARPS(warp_memory, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 64, 64),
    WARPS(barriers, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 64, 384),
    WARPS(dynamic_memory, SIZE(3, 1, 1), SIZE(64, 1, 1), 256, 1, 192, 192),
    WARPS(atomics, SIZE(4, 1, 1), SIZE(64, 1, 1), 0, 1, 256, 22),
    WARPS(waiting, SIZE(1, 1, 1), SIZE(64, 1, 1), 0, 1, 1, 2),
    WARPS(clusters, SIZE(8, 1, 1), SIZE(64, 1, 1), 256, 4, 64, 1024),
};

#endif
