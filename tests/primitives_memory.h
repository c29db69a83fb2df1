/* SPDX-License-Identifier: MIT */
/* primitives_memory.h - models of the kernels in kernels/memory.cu. */
#ifndef ASSAY_PRIMITIVES_MEMORY_H
#define ASSAY_PRIMITIVES_MEMORY_H

#include <stdbool.h>

#include "half.h"
#include "primitives.h"

/* ---- inputs -------------------------------------------------------------------------------------------- */

/* Floats around every boundary of the 16-bit types, then random ones of all sizes. */
static void fill_boundaries(uint32_t *in, uint32_t words) {
  static const float edges[] = {0.0f,        -0.0f,           65504.0f,      65519.996f,     65520.0f,
                                -65536.0f,   0x1p-14f,        0x1.ffcp-15f,  0x1p-24f,       0x1p-25f,
                                0x1.8p-25f,  0x1.000002p-25f, 1.0f,          1.00048828125f, 1.00146484375f,
                                1.00390625f, 1.01171875f,     3.3895314e38f, 3.4e38f};
  const uint32_t count = sizeof edges / sizeof edges[0];
  fill_random(in, words);
  for (uint32_t i = 0; i < count; ++i) in[i] = assay_bits_from_float(edges[i]);
  in[count] = 0x7f800000u;
  in[count + 1] = 0xff800000u;
  in[count + 2] = 0x7fc00000u;
  in[count + 3] = 0xffa00001u;
  in[count + 4] = 0x7f7fffffu;
  /* Half of the rest within the range of FP16. */
  for (uint32_t i = count + 5; i < words; i += 2) in[i] = (in[i] & 0x807fffffu) | (100u + in[i] % 44u) << 23;
}

/* Two small numbers a word, multiples of 1/4: products and their sums are exact in FP32. */
static void fill_pairs(uint32_t *in, uint32_t words, assay_dtype dtype) {
  uint16_t *halves = (uint16_t *)in;
  fill_random(in, words);
  for (uint32_t i = 0; i < words * 2; ++i)
    assay_store(halves, dtype, i, (float)(halves[i] % 65) * 0.25f - 8.0f);
}

static void fill_pairs_fp16(uint32_t *in, uint32_t words) {
  fill_pairs(in, words, ASSAY_FP16);
}

static void fill_pairs_bf16(uint32_t *in, uint32_t words) {
  fill_pairs(in, words, ASSAY_BF16);
}

/* A and B as pairs, C as floats of 192 words and more. */
static void fill_matrices(uint32_t *in, assay_dtype dtype) {
  fill_pairs(in, 192, dtype);
  for (uint32_t i = 0; i < 128; ++i) in[192 + i] = assay_bits_from_float((float)i - 77.5f);
}

static void fill_matrices_fp16(uint32_t *in, uint32_t words) {
  (void)words;
  fill_matrices(in, ASSAY_FP16);
}

static void fill_matrices_bf16(uint32_t *in, uint32_t words) {
  (void)words;
  fill_matrices(in, ASSAY_BF16);
}

/* ---- models -------------------------------------------------------------------------------------------- */

static void model_bits(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t ones = 0;
    uint32_t leading = 0;
    uint32_t lowest = 0;
    for (uint32_t bit = 0; bit < 32; ++bit) ones += in[t] >> bit & 1u;
    while (leading < 32 && ((in[t] >> t % 32) >> (31 - leading) & 1u) == 0) ++leading;
    while (lowest < 32 && ((in[t] << t % 32) >> lowest & 1u) == 0) ++lowest;
    const uint32_t result[8] = {in[t],    in[t],       ones, leading, lowest == 32 ? 0 : lowest + 1,
                                32u << 8, 0x7f800000u, 1};
    memcpy(out + t * 8, result, sizeof result);
  }
}

static void model_functions(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    const double x = (double)assay_float_from_bits((in[t] & 0x807fffffu) | (121u + in[t] % 13u) << 23);
    const double a = fabs(x);
    const double result[16] = {exp(x / 8), exp2(x / 8), log(a),     fmax(x, 1), fmin(x, 1), x * a + 0.5,
                               sqrt(a),    1 / sqrt(a), exp(x / 8), 1 / x,      floor(x),   exp2(x / 8),
                               1 / x,      a / 3,       x,          a};
    for (uint32_t k = 0; k < 16; ++k) out[t * 16 + k] = assay_bits_from_float((float)result[k]);
  }
}

static void model_widen(const uint32_t *in, uint32_t *out) {
  (void)in;
  for (uint32_t i = 0; i < 65536; ++i) {
    out[i * 2] = assay_bits_from_float(assay_fp16_to_float((uint16_t)i));
    out[i * 2 + 1] = i << 16;
  }
}

/* The GPU's NaN has all bits but the sign. */
static uint32_t narrowed(float value, assay_dtype dtype) {
  uint16_t half = 0x7fff;
  if (!isnan(value)) assay_store(&half, dtype, 0, value);
  return half;
}

static void model_narrow(const uint32_t *in, uint32_t *out) {
  for (uint32_t i = 0; i < 1024; ++i) {
    const float value = assay_float_from_bits(in[i]);
    out[i * 6] = narrowed(value, ASSAY_FP16);
    out[i * 6 + 1] = narrowed(value, ASSAY_BF16);
    out[i * 6 + 2] = out[i * 6] | narrowed(-value, ASSAY_FP16) << 16;
    out[i * 6 + 3] = out[i * 6 + 1] | 0x3f80u << 16;
    const float low = value > 0.5f ? value : 0.5f; /* also beside a NaN */
    const float high = -value > 2.0f ? -value : 2.0f;
    out[i * 6 + 4] = narrowed(low, ASSAY_FP16) | narrowed(high, ASSAY_FP16) << 16;
    out[i * 6 + 5] = narrowed(low, ASSAY_BF16) | narrowed(high, ASSAY_BF16) << 16;
  }
}

static void model_copies(const uint32_t *in, uint32_t *out) {
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t other = (t + 1) % 64;
    uint32_t words[12] = {0};
    memcpy(words, in + other * 4, 16);
    memcpy(words + 4, in + other * 4, other % 17);
    words[8] = in[other];
    words[9] = in[other + 1];
    words[10] = words[11] = 1000 + other;
    words[0] = in[t * 4];
    memcpy(out + t * 12, words, sizeof words);
  }
}

/* What lane t gets of a matrix of 8 rows of 8 elements. */
static uint32_t matrix_part(const uint16_t *rows, uint32_t t, bool transposed) {
  const uint32_t r = t / 4;
  const uint32_t c = t % 4 * 2;
  const uint32_t low = transposed ? rows[c * 8 + r] : rows[r * 8 + c];
  const uint32_t high = transposed ? rows[(c + 1) * 8 + r] : rows[r * 8 + c + 1];
  return low | high << 16;
}

static void model_load_matrices(const uint32_t *in, uint32_t *out) {
  uint16_t rows[256];
  uint16_t mixed[256];
  memcpy(rows, in, sizeof rows);
  for (uint32_t i = 0; i < 32; ++i) memcpy(mixed + i * 8, rows + (i ^ 5) * 8, 16);
  for (uint32_t t = 0; t < 32; ++t) {
    for (uint32_t m = 0; m < 4; ++m) {
      out[t * 12 + m] = matrix_part(mixed + m * 64, t, false);
      out[t * 12 + 4 + m] = matrix_part(rows + m * 64, t, true);
    }
    for (uint32_t m = 0; m < 2; ++m) {
      out[t * 12 + 8 + m] = matrix_part(rows + m * 64, t, false);
      out[t * 12 + 10 + m] = matrix_part(rows + 128 + m * 64, t, true);
    }
  }
}

static void multiply(const uint32_t *in, uint32_t *out, assay_dtype dtype) {
  for (uint32_t i = 0; i < 16; ++i) {
    for (uint32_t j = 0; j < 8; ++j) {
      double sum = (double)assay_float_from_bits(in[192 + i * 8 + j]);
      for (uint32_t p = 0; p < 16; ++p)
        sum += (double)assay_load(in, dtype, i * 16 + p) * (double)assay_load(in + 128, dtype, j * 16 + p);
      out[i * 8 + j] = assay_bits_from_float((float)sum);
    }
  }
}

static void model_multiply_fp16(const uint32_t *in, uint32_t *out) {
  multiply(in, out, ASSAY_FP16);
}

static void model_multiply_bf16(const uint32_t *in, uint32_t *out) {
  multiply(in, out, ASSAY_BF16);
}

static void double_elements(const uint32_t *in, uint32_t *out, assay_dtype dtype) {
  const int64_t count = 512 * 4 / (int64_t)assay_dtype_size(dtype);
  const int64_t lanes = 16 / (int64_t)assay_dtype_size(dtype);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t turned = i / lanes * lanes + (lanes - 1 - i % lanes);
    assay_store(out, dtype, i, assay_load(in, dtype, i) * 2.0f);
    assay_store(out, dtype, count + i, assay_load(in, dtype, turned) * 2.0f);
  }
}

static void fill_floats(uint32_t *in, uint32_t words) {
  fill_random(in, words);
  for (uint32_t i = 0; i < words; ++i) in[i] = assay_bits_from_float((float)(int32_t)in[i]);
}

static void model_elements_fp32(const uint32_t *in, uint32_t *out) {
  double_elements(in, out, ASSAY_FP32);
}

static void model_elements_fp16(const uint32_t *in, uint32_t *out) {
  double_elements(in, out, ASSAY_FP16);
}

static void model_elements_bf16(const uint32_t *in, uint32_t *out) {
  double_elements(in, out, ASSAY_BF16);
}

static void limit_rows(const uint32_t *in, uint32_t *out, assay_dtype dtype) {
  const int64_t size = dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t vector = 16 / size;
  memset(out, 0, 512 * 4);
  for (int64_t t = 0; t < 16; ++t) {
    const int64_t place = t * (512 * 4 / size / 16) + t % 5;
    const int64_t count = 9 + t;
    const bool beyond = place % vector != 0 || (place + count) % vector != 0;
    float top = beyond ? -1 : -INFINITY;
    for (int64_t i = place; i < place + count; ++i) {
      const float value = assay_load(in, dtype, i);
      top = fmaxf(top, value);
      assay_store(out, dtype, i, fmaxf(value, 0.25f));
    }
    out[512 + t] = assay_bits_from_float(top);
  }
}

static void model_rows_fp32(const uint32_t *in, uint32_t *out) {
  limit_rows(in, out, ASSAY_FP32);
}

static void model_rows_fp16(const uint32_t *in, uint32_t *out) {
  limit_rows(in, out, ASSAY_FP16);
}

static void model_rows_bf16(const uint32_t *in, uint32_t *out) {
  limit_rows(in, out, ASSAY_BF16);
}

#define MEMORY(name, kernel, blocks, threads, shared, dtype, in, out, fill, allowed)                         \
  {                                                                                                          \
#name, "tests/kernels/memory.cu", #kernel,                                                               \
        {blocks, 1, 1 }, {threads, 1, 1 }, shared, 1, dtype, in, out, fill, model_##name, allowed            \
  }

static const primitive memory_primitives[] = {
    MEMORY(bits, bits, 1, 64, 0, -1, 64, 512, fill_random, 0),
    MEMORY(functions, functions, 1, 64, 0, -1, 64, 1024, fill_random, 4e-6),
    MEMORY(widen, widen, 256, 256, 0, -1, 0, 131072, fill_random, 1e-30),
    MEMORY(narrow, narrow, 16, 64, 0, -1, 1024, 6144, fill_boundaries, 0),
    MEMORY(copies, copies, 1, 64, 0, -1, 257, 768, fill_random, 0),
    MEMORY(load_matrices, load_matrices, 1, 32, 512, -1, 128, 384, fill_random, 0),
    MEMORY(multiply_fp16, multiply_fp16, 1, 32, 0, -1, 320, 128, fill_matrices_fp16, 0),
    MEMORY(multiply_bf16, multiply_bf16, 1, 32, 0, -1, 320, 128, fill_matrices_bf16, 0),
    MEMORY(elements_fp32, elements, 1, 64, 0, ASSAY_FP32, 512, 1024, fill_floats, 0),
    MEMORY(elements_fp16, elements, 1, 64, 0, ASSAY_FP16, 512, 1024, fill_pairs_fp16, 0),
    MEMORY(elements_bf16, elements, 1, 64, 0, ASSAY_BF16, 512, 1024, fill_pairs_bf16, 0),
    MEMORY(rows_fp32, rows, 1, 16, 0, ASSAY_FP32, 512, 528, fill_floats, 0),
    MEMORY(rows_fp16, rows, 1, 16, 0, ASSAY_FP16, 512, 528, fill_pairs_fp16, 0),
    MEMORY(rows_bf16, rows, 1, 16, 0, ASSAY_BF16, 512, 528, fill_pairs_bf16, 0),
};

#endif
