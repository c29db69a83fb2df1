/* SPDX-License-Identifier: MIT */
/*
 * gemm_passes.cu - whole-matrix passes, one launch each, as a framework runs an expression operator by
 * operator. They are what a baseline of the fused GEMM consists of, beside a product (gemm_cublaslt.c).
 *
 *   pass_widen   16-bit rows to packed FP32        pass_add    a row added to every row
 *   pass_relu    negative elements become 0        pass_round  FP32 to 16 bits
 *
 * A thread takes four neighbouring elements of a row, with one access where the rows allow it.
 *
 * builds: pass_widen DTYPE=1,2
 * builds: pass_add DTYPE=1
 * builds: pass_relu DTYPE=1
 * builds: pass_round DTYPE=1,2
 */
#include "assay/kernel.h"

typedef struct pass_args {
  const void *from;
  void *to;
  int64_t rows, columns;
  int64_t stride; /* of `from`, in elements, from row to row; 0 repeats one row. `to` is packed */
  int64_t quads;  /* whether all rows consist of four elements and four, each aligned to its own size */
} pass_args;

#ifdef ASSAY_DEVICE

enum { THREADS = 256, SOME = 4 };

/* This thread's elements of row `row`: the first column, and how many there are. */
static __device__ int taken(const pass_args *args, int64_t *column) {
  *column = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * SOME;
  const int64_t left = args->columns - *column;
  return left >= SOME ? SOME : left > 0 ? (int)left : 0;
}

static __device__ void load_halves(const pass_args *args, int64_t row, int64_t column, int count, float *x) {
  const element *from = (const element *)args->from + row * args->stride + column;
  if (args->quads) {
    const uint64_t four = *(const uint64_t *)from;
    for (int k = 0; k < SOME; ++k) x[k] = element_to_float((element)(four >> 16 * k));
    return;
  }
  for (int k = 0; k < count; ++k) x[k] = element_to_float(from[k]);
}

static __device__ void load_floats(const pass_args *args, const float *from, int count, float *x) {
  if (args->quads) {
    const vector16 four = vector16_load(from);
    for (int k = 0; k < SOME; ++k) x[k] = __uint_as_float(four.word[k]);
    return;
  }
  for (int k = 0; k < count; ++k) x[k] = from[k];
}

static __device__ void store_floats(const pass_args *args, int64_t row, int64_t column, int count,
                                    const float *x) {
  float *to = (float *)args->to + row * args->columns + column;
  if (args->quads) {
    vector16 four;
    for (int k = 0; k < SOME; ++k) four.word[k] = __float_as_uint(x[k]);
    vector16_store(to, four);
    return;
  }
  for (int k = 0; k < count; ++k) to[k] = x[k];
}

static __device__ void store_halves(const pass_args *args, int64_t row, int64_t column, int count,
                                    const float *x) {
  element *to = (element *)args->to + row * args->columns + column;
  if (args->quads) {
    *(uint64_t *)to = (uint64_t)element_pack(x[2], x[3]) << 32 | element_pack(x[0], x[1]);
    return;
  }
  for (int k = 0; k < count; ++k) to[k] = element_from_float(x[k]);
}

KERNEL(pass_widen, pass_args, THREADS) {
  int64_t column;
  float x[SOME];
  const int count = taken(&args, &column);
  for (int64_t row = blockIdx.y; count > 0 && row < args.rows; row += gridDim.y) {
    load_halves(&args, row, column, count, x);
    store_floats(&args, row, column, count, x);
  }
}

/* to += from */
KERNEL(pass_add, pass_args, THREADS) {
  int64_t column;
  float x[SOME], added[SOME];
  const int count = taken(&args, &column);
  for (int64_t row = blockIdx.y; count > 0 && row < args.rows; row += gridDim.y) {
    load_floats(&args, (const float *)args.from + row * args.stride + column, count, added);
    load_floats(&args, (const float *)args.to + row * args.columns + column, count, x);
    for (int k = 0; k < count; ++k) x[k] += added[k];
    store_floats(&args, row, column, count, x);
  }
}

/* NaN is not below 0, so it stays. */
KERNEL(pass_relu, pass_args, THREADS) {
  int64_t column;
  float x[SOME];
  const int count = taken(&args, &column);
  for (int64_t row = blockIdx.y; count > 0 && row < args.rows; row += gridDim.y) {
    load_floats(&args, (const float *)args.from + row * args.stride + column, count, x);
    for (int k = 0; k < count; ++k) x[k] = x[k] < 0.0f ? 0.0f : x[k];
    store_floats(&args, row, column, count, x);
  }
}

KERNEL(pass_round, pass_args, THREADS) {
  int64_t column;
  float x[SOME];
  const int count = taken(&args, &column);
  for (int64_t row = blockIdx.y; count > 0 && row < args.rows; row += gridDim.y) {
    load_floats(&args, (const float *)args.from + row * args.stride + column, count, x);
    store_halves(&args, row, column, count, x);
  }
}

#else

enum { THREADS = 256, SOME = 4, ROWS_MOST = 65535 };

typedef assay_status gemm_pass(const char *kernel, const void *from, int64_t stride, void *to, int64_t rows,
                               int64_t columns, assay_dtype dtype, assay_queue *queue);

gemm_pass assay_gemm_pass;

/* Launches a kernel of this file; `dtype` is that of the matrix of 16 bits, where there is one. */
assay_status assay_gemm_pass(const char *kernel, const void *from, int64_t stride, void *to, int64_t rows,
                             int64_t columns, assay_dtype dtype, assay_queue *queue) {
  if (rows == 0 || columns == 0) return ASSAY_OK;
  const uintptr_t from_bytes = strcmp(kernel, "pass_widen") == 0 ? 2 : 4;
  const uintptr_t to_bytes = strcmp(kernel, "pass_round") == 0 ? 2 : 4;
  const int64_t quads = (uintptr_t)from % (SOME * from_bytes) == 0 &&
                        (uintptr_t)to % (SOME * to_bytes) == 0 && columns % SOME == 0 && stride % SOME == 0;
  const pass_args args = {from, to, rows, columns, stride, quads};
  const assay_define defines[] = {{"DTYPE", dtype}, {NULL, 0}};
  const int64_t blocks = (columns + THREADS * SOME - 1) / (THREADS * SOME);
  return LAUNCH(queue, kernel, assay_dim2(blocks, rows < ROWS_MOST ? rows : ROWS_MOST), assay_dim(THREADS), 0,
                1, defines, args);
}

#endif
