/* SPDX-License-Identifier: MIT */
/* parity_maps.h - rows and models of the kernels in kernels/clean_maps.cu. */
#ifndef ASSAY_PARITY_MAPS_H
#define ASSAY_PARITY_MAPS_H

#include "parity.h"

#define MAPS "tests/kernels/clean_maps.cu"

static void parity_pixels(void *data, uint32_t count) {
  uint8_t *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, count);
  for (uint32_t i = 0; i < count; ++i) to[i] = (uint8_t)assay_rng_next(&rng);
}

static void parity_cells(void *data, uint32_t count) {
  uint8_t *to = data;
  parity_pixels(data, count);
  for (uint32_t i = 0; i < count; ++i) to[i] %= 2;
}

/* 7 divides no count that is used here. */
static void parity_permutation(void *data, uint32_t count) {
  uint32_t *to = data;
  for (uint32_t i = 0; i < count; ++i) to[i] = (i * 7 + 3) % count;
}

static void model_vector_add(void *const *at, const int64_t *numbers) {
  const float *x = at[0], *y = at[1];
  float *z = at[2];
  for (int64_t i = 0; i < numbers[0]; ++i) z[i] = x[i] + y[i];
}

static void model_grid_stride(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) y[i] += 3 * x[i];
}

static void model_doubled(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) y[i] = 2 * x[i];
}

static void model_transpose(void *const *at, const int64_t *numbers) {
  const float *in = at[0];
  float *out = at[1];
  for (int64_t r = 0; r < numbers[0]; ++r) {
    for (int64_t c = 0; c < numbers[1]; ++c) out[c * numbers[0] + r] = in[r * numbers[1] + c];
  }
}

static void weigh_neighbours(const float *x, float *y, int64_t n, const float *weights, int64_t radius) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = 0;
    for (int64_t k = -radius; k <= radius; ++k) {
      if (i + k >= 0 && i + k < n) y[i] += weights[k + radius] * x[i + k];
    }
  }
}

static void model_stencil(void *const *at, const int64_t *numbers) {
  static const float ones[7] = {1, 1, 1, 1, 1, 1, 1};
  weigh_neighbours(at[0], at[1], numbers[0], ones, 3);
}

static void model_taps(void *const *at, const int64_t *numbers) {
  static const float taps[5] = {1, -2, 4, -2, 1};
  weigh_neighbours(at[0], at[1], numbers[0], taps, 2);
}

static void model_life(void *const *at, const int64_t *numbers) {
  const uint8_t *in = at[0];
  uint8_t *out = at[1];
  const int64_t width = numbers[0], height = numbers[1];
  for (int64_t i = 0; i < width * height; ++i) {
    int around = 0;
    for (int64_t k = 0; k < 9; ++k) {
      const int64_t x = (i % width + k % 3 + width - 1) % width;
      const int64_t y = (i / width + k / 3 + height - 1) % height;
      if (k != 4) around += in[y * width + x];
    }
    out[i] = around == 3 || (around == 2 && in[i] == 1);
  }
}

static void model_grey(void *const *at, const int64_t *numbers) {
  const uint8_t *in = at[0];
  uint8_t *out = at[1];
  for (int64_t i = 0; i < numbers[0] * numbers[1]; ++i)
    out[i] = (uint8_t)((77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8);
}

static void model_blur(void *const *at, const int64_t *numbers) {
  const float *in = at[0];
  float *out = at[1];
  const int64_t rows = numbers[0], columns = numbers[1];
  for (int64_t i = 0; i < rows * columns; ++i) {
    out[i] = 0;
    for (int64_t k = 0; k < 9; ++k) {
      const int64_t x = i % columns + k % 3 - 1;
      const int64_t y = i / columns + k / 3 - 1;
      if (x >= 0 && y >= 0 && x < columns && y < rows) out[i] += in[y * columns + x];
    }
  }
}

static void model_scatter(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[2];
  for (int64_t i = 0; i < numbers[0]; ++i) y[(i * 7 + 3) % numbers[0]] = x[i];
}

/* As the kernel's file has it. */
typedef struct parity_particle {
  float place[3], speed[3];
  int64_t steps;
} parity_particle;

enum { PARTICLES = 75, PARTICLE_WORDS = PARTICLES * sizeof(parity_particle) / 8 };

static void parity_particles(void *data, uint32_t words) {
  parity_particle *to = data;
  assay_rng rng;
  assay_rng_seed(&rng, words);
  for (uint32_t i = 0; i < PARTICLES; ++i) {
    to[i].steps = i;
    for (int k = 0; k < 3; ++k) {
      to[i].place[k] = (float)assay_rng_below(&rng, 100);
      to[i].speed[k] = (float)assay_rng_below(&rng, 9);
    }
  }
}

static void model_particles(void *const *at, const int64_t *numbers) {
  const parity_particle *before = at[0];
  parity_particle *after = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) {
    after[i] = before[i];
    after[i].steps += 2;
    for (int k = 0; k < 3; ++k) after[i].place[k] += before[i].speed[k] + before[numbers[0] - 1 - i].speed[k];
  }
}

static float volume_at(const float *in, const int64_t *size, const int64_t *place) {
  const bool inside = place[0] < size[0] && place[1] < size[1] && place[2] < size[2];
  return inside ? in[(place[2] * size[1] + place[1]) * size[0] + place[0]] : 0;
}

/* What a place and its block's mirror hold; the second exchange adds half of the mirror's sum, which is the
 * same. */
static void model_volume(void *const *at, const int64_t *numbers) {
  static const int64_t block[3] = {8, 6, 4};
  float *out = at[1];
  for (int64_t i = 0; i < numbers[0] * numbers[1] * numbers[2]; ++i) {
    const int64_t place[3] = {i % numbers[0], i / numbers[0] % numbers[1], i / numbers[0] / numbers[1]};
    int64_t mirror[3];
    for (int k = 0; k < 3; ++k)
      mirror[k] = place[k] / block[k] * block[k] + block[k] - 1 - place[k] % block[k];
    out[i] = 1.5f * (volume_at(at[0], numbers, place) + volume_at(at[0], numbers, mirror));
  }
}

static void model_darts(void *const *at, const int64_t *numbers) {
  uint32_t *hits = at[0];
  for (uint32_t thread = 0; thread < 256; ++thread) {
    uint32_t state = 12345 + thread;
    for (int64_t i = 0; i < numbers[0]; ++i) {
      uint32_t place[2];
      for (int k = 0; k < 2; ++k) place[k] = (state = state * 1664525u + 1013904223u) >> 17;
      *hits += place[0] * place[0] + place[1] * place[1] <= 32767u * 32767u;
    }
  }
}

static void model_mirror(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) y[i] = x[i ^ 30] + 1;
}

static void model_below_most(void *const *at, const int64_t *numbers) {
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < numbers[0]; ++i) {
    float most = -1024;
    for (int64_t k = i / 32 * 32; k < i / 32 * 32 + 32 && k < numbers[0]; ++k) most = fmaxf(most, x[k]);
    y[i] = x[i] - most;
  }
}

static const parity_case parity_maps[] = {
    {.file = MAPS,
     .name = "vector_add",
     .grid = {8, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 1000, parity_small), PARITY_IN("y", FLOATS, 1000, parity_small),
                 PARITY_OUT("z", FLOATS, 1000)},
     .numbers = {1000},
     .number_count = 1,
     .model = model_vector_add},
    {.file = MAPS,
     .name = "grid_stride",
     .grid = {3, 1, 1},
     .block = {64, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 1001, parity_small), PARITY_BOTH("y", FLOATS, 1001, parity_small)},
     .numbers = {1001},
     .number_count = 1,
     .model = model_grid_stride},
    {.file = MAPS,
     .name = "vectors_and_tail",
     .grid = {2, 1, 1},
     .block = {64, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 503, parity_small), PARITY_OUT("y", FLOATS, 503)},
     .numbers = {503},
     .number_count = 1,
     .model = model_doubled},
    {.file = MAPS,
     .name = "transpose_tile",
     .grid = {3, 2, 1},
     .block = {32, 8, 1},
     .regions = {PARITY_IN("in", FLOATS, 45 * 71, parity_small), PARITY_OUT("out", FLOATS, 45 * 71)},
     .numbers = {45, 71},
     .number_count = 2,
     .model = model_transpose},
    {.file = MAPS,
     .name = "stencil_halo",
     .grid = {3, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 321, parity_small), PARITY_OUT("y", FLOATS, 321)},
     .numbers = {321},
     .number_count = 1,
     .model = model_stencil},
    {.file = MAPS,
     .name = "constant_taps",
     .grid = {3, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 300, parity_small), PARITY_OUT("y", FLOATS, 300)},
     .numbers = {300},
     .number_count = 1,
     .model = model_taps},
    {.file = MAPS,
     .name = "life_step",
     .grid = {3, 2, 1},
     .block = {16, 16, 1},
     .regions = {PARITY_IN("in", BYTES, 37 * 23, parity_cells), PARITY_OUT("out", BYTES, 37 * 23)},
     .numbers = {37, 23},
     .number_count = 2,
     .model = model_life},
    {.file = MAPS,
     .name = "grey_pixels",
     .grid = {4, 1, 1},
     .block = {64, 1, 1},
     .regions = {PARITY_IN("in", BYTES, 3 * 21 * 11, parity_pixels), PARITY_OUT("out", BYTES, 21 * 11)},
     .numbers = {21, 11},
     .number_count = 2,
     .model = model_grey},
    {.file = MAPS,
     .name = "box_blur",
     .grid = {2, 3, 1},
     .block = {16, 16, 1},
     .regions = {PARITY_IN("in", FLOATS, 40 * 29, parity_small), PARITY_OUT("out", FLOATS, 40 * 29)},
     .numbers = {40, 29},
     .number_count = 2,
     .model = model_blur},
    {.file = MAPS,
     .name = "scatter_permuted",
     .grid = {8, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 1000, parity_small), PARITY_IN("to", WORDS, 1000, parity_permutation),
                 PARITY_OUT("y", FLOATS, 1000)},
     .numbers = {1000},
     .number_count = 1,
     .model = model_scatter},
    {.file = MAPS,
     .name = "particles",
     .grid = {2, 1, 1},
     .block = {64, 1, 1},
     .regions = {PARITY_IN("before", LONGS, PARTICLE_WORDS, parity_particles),
                 PARITY_OUT("after", LONGS, PARTICLE_WORDS)},
     .numbers = {PARTICLES},
     .number_count = 1,
     .model = model_particles},
    {.file = MAPS,
     .name = "volume_mirror",
     .grid = {2, 2, 2},
     .block = {8, 6, 4},
     .regions = {PARITY_IN("in", FLOATS, 13 * 9 * 7, parity_small), PARITY_OUT("out", FLOATS, 13 * 9 * 7)},
     .numbers = {13, 9, 7},
     .number_count = 3,
     .model = model_volume},
    {.file = MAPS,
     .name = "monte_carlo",
     .grid = {2, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_BOTH("hits", WORDS, 1, parity_zero)},
     .numbers = {50},
     .number_count = 1,
     .model = model_darts},
    {.file = MAPS,
     .name = "mirror_warps",
     .grid = {2, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 256, parity_small), PARITY_OUT("y", FLOATS, 256)},
     .numbers = {256},
     .number_count = 1,
     .model = model_mirror},
    {.file = MAPS,
     .name = "whole_warps_leave",
     .grid = {2, 1, 1},
     .block = {128, 1, 1},
     .regions = {PARITY_IN("x", FLOATS, 170, parity_small), PARITY_OUT("y", FLOATS, 170)},
     .numbers = {170},
     .number_count = 1,
     .model = model_below_most},
};

#endif
