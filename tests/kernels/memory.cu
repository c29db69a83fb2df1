/* SPDX-License-Identifier: MIT */
/* memory.cu - a kernel for every primitive of kernel.h that moves, converts or multiplies elements. */
#include "assay/kernel.h"

typedef struct words_args {
  const uint32_t *in;
  uint32_t *out;
  int64_t count; /* of `in` */
} words_args;

#ifdef ASSAY_DEVICE

KERNEL(bits, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const uint32_t value = __ldg(args.in + t);
  uint32_t *out = args.out + t * 8;
  out[0] = __float_as_uint(__uint_as_float(value));
  out[1] = (uint32_t)__float_as_int(__int_as_float((int)value));
  out[2] = (uint32_t)__popc(value);
  out[3] = (uint32_t)__clz((int)(value >> t % 32));
  out[4] = (uint32_t)__ffs((int)(value << t % 32));
  out[5] = (uint32_t)__clz(0) << 8 | (uint32_t)__ffs(0);
  out[6] = __float_as_uint(ASSAY_INFINITY);
  out[7] = ASSAY_NAN != ASSAY_NAN;
}

/* Results are floats. Arguments are 2^-6 to 2^6 in size. */
KERNEL(functions, words_args, 64) {
  const uint32_t t = threadIdx.x;
  const float x = __uint_as_float((args.in[t] & 0x807fffffu) | (121u + args.in[t] % 13u) << 23);
  const float a = fabsf(x);
  float *out = (float *)args.out + t * 16;
  out[0] = expf(x * 0.125f);
  out[1] = exp2f(x * 0.125f);
  out[2] = logf(a);
  out[3] = fmaxf(x, 1.0f);
  out[4] = fminf(x, 1.0f);
  out[5] = fmaf(x, a, 0.5f);
  out[6] = sqrtf(a);
  out[7] = rsqrtf(a);
  out[8] = __expf(x * 0.125f);
  out[9] = __frcp_rn(x);
  out[10] = floorf(x);
  out[11] = exp2_approx(x * 0.125f);
  out[12] = rcp_approx(x);
  out[13] = __fdividef(a, 3.0f);
  out[14] = fmaxf(ASSAY_NAN, x);
  out[15] = fabsf(x);
}

KERNEL(widen, words_args, 256) {
  const uint32_t i = threadIdx.x + blockDim.x * blockIdx.x; /* 0..65535 */
  args.out[i * 2] = __float_as_uint(fp16_to_float((uint16_t)i));
  args.out[i * 2 + 1] = __float_as_uint(bf16_to_float((uint16_t)i));
}

KERNEL(narrow, words_args, 64) {
  const uint32_t i = threadIdx.x + blockDim.x * blockIdx.x;
  const float value = __uint_as_float(args.in[i]);
  args.out[i * 6] = fp16_from_float(value);
  args.out[i * 6 + 1] = bf16_from_float(value);
  args.out[i * 6 + 2] = fp16_pack(value, -value);
  args.out[i * 6 + 3] = bf16_pack(value, 1.0f);
  args.out[i * 6 + 4] = fp16_max_pair(fp16_pack(value, 2.0f), fp16_pack(0.5f, -value));
  args.out[i * 6 + 5] = bf16_max_pair(bf16_pack(value, 2.0f), bf16_pack(0.5f, -value));
}

/* Groups of copies are retired in order; the part that is not copied is zero. */
KERNEL(copies, words_args, 64) {
  __shared__ __align__(16) uint32_t place[64 * 12];
  const uint32_t t = threadIdx.x;
  uint32_t *mine = place + t * 12;
  for (int i = 0; i < 12; ++i) mine[i] = 1000 + t;
  cp_async_16(mine, args.in + t * 4);
  cp_async_commit();
  cp_async_16_part(mine + 4, args.in + t * 4, (int)(t % 17));
  cp_async_commit();
  cp_async_4(mine + 8, args.in + t);
  cp_async_4(mine + 9, args.in + t + 1);
  cp_async_commit();
  cp_async_wait(2);
  args.out[t * 12] = mine[0];
  cp_async_wait(0);
  __syncthreads();
  const uint32_t *other = place + (t + 1) % 64 * 12;
  for (int i = 1; i < 12; ++i) args.out[t * 12 + i] = other[i];
}

KERNEL(load_matrices, words_args, 32) {
  DYNAMIC_SHARED(bytes);
  uint32_t *place = (uint32_t *)bytes; /* 32 rows of 16 bytes */
  const uint32_t t = threadIdx.x;
  for (uint32_t i = 0; i < 4; ++i) place[t * 4 + i] = args.in[t * 4 + i];
  __syncthreads();
  uint32_t r[12];
  ldmatrix_x4(r, place + (t ^ 5u) * 4);
  ldmatrix_x4_trans(r + 4, place + t * 4);
  ldmatrix_x2(r + 8, place + (t % 16) * 4);
  ldmatrix_x2_trans(r + 10, place + (16 + t % 16) * 4);
  for (int i = 0; i < 12; ++i) args.out[t * 12 + i] = r[i];
}

/* A [16,16] and B [8,16] lie row by row, B as columns; the accumulator begins with C [16,8]. */
#define MULTIPLY(name, word)                                                                                 \
  KERNEL(name, words_args, 32) {                                                                             \
    const uint32_t g = threadIdx.x / 4;                                                                      \
    const uint32_t t = threadIdx.x % 4;                                                                      \
    const float *c = (const float *)args.in + 192;                                                           \
    uint32_t a[4], b[2];                                                                                     \
    float d[4];                                                                                              \
    for (uint32_t i = 0; i < 4; ++i) a[i] = args.in[(g + i % 2 * 8) * 8 + t + i / 2 * 4];                    \
    for (uint32_t i = 0; i < 2; ++i) b[i] = args.in[128 + g * 8 + t + i * 4];                                \
    for (uint32_t i = 0; i < 4; ++i) d[i] = c[(g + i / 2 * 8) * 8 + t * 2 + i % 2];                          \
    word(d, a, b);                                                                                           \
    for (uint32_t i = 0; i < 4; ++i) args.out[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = __float_as_uint(d[i]);  \
  }
MULTIPLY(multiply_fp16, mma_m16n8k16_fp16)
MULTIPLY(multiply_bf16, mma_m16n8k16_bf16)

#ifdef DTYPE
/* Doubles every element, first one by one, then vector by vector. */
KERNEL(elements, words_args, 64) {
  const element *in = (const element *)args.in;
  element *out = (element *)args.out;
  const int64_t words = args.count;
  const int64_t count = words * 4 / (int64_t)sizeof(element);
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) element_store(out, i, element_load(in, i) * 2.0f);
  for (int64_t i = (int64_t)threadIdx.x * ELEMENTS_PER_VECTOR; i < count;
       i += (int64_t)blockDim.x * ELEMENTS_PER_VECTOR) {
    vector16 v = vector16_load(in + i);
    const vector16 w = vector16_load_once(in + i);
    for (int k = 0; k < ELEMENTS_PER_VECTOR; ++k)
      vector16_set(&v, k, vector16_get(w, ELEMENTS_PER_VECTOR - 1 - k) * 2.0f);
    if (i % (2 * ELEMENTS_PER_VECTOR) == 0) {
      vector16_store(out + count + i, v);
    } else {
      vector16_store_once(out + count + i, v);
    }
  }
}

/* Sixteen rows that begin and end anywhere: what is below 1/4 becomes 1/4. Behind them the largest of each, and of
 * the -1 that stands for what a row's vectors have beyond it. */
KERNEL(rows, words_args, 16) {
  const int apart = (int)(args.count * 4 / sizeof(element) / 16);
  const int place = (int)threadIdx.x * apart + (int)threadIdx.x % 5;
  const element *in = (const element *)args.in + place;
  element *out = (element *)args.out + place;
  const int count = 9 + (int)threadIdx.x;
  float top = -ASSAY_INFINITY;
  for (uint32_t i = threadIdx.x; i < args.count; i += 16) args.out[i] = 0;
  __syncthreads();
  for (int first = -vector16_shift(in); first < count; first += ELEMENTS_PER_VECTOR) {
    const bool inside = vector16_inside(first, count);
    vector16 v = inside ? vector16_load(in + first) : vector16_load_part(in, first, count, -1.0f);
    top = fmaxf(top, vector16_top(v));
    v = vector16_max(v, vector16_fill(0.25f));
    if (inside)
      vector16_store(out + first, v);
    else
      vector16_store_part(out, first, count, v);
  }
  args.out[args.count + threadIdx.x] = __float_as_uint(top);
}
#endif

#endif
