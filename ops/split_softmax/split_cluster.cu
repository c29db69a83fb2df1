/* SPDX-License-Identifier: MIT */
/*
 * split_cluster.cu - softmax of wide rows in one launch: the blocks of a cluster share a row, which
 * each of them reads once. Compute capability 9.0.
 *
 *   split_held     a thread keeps its VECTORS pieces of 16 bytes of the row in registers: few rows,
 *                  where the time is that from the first load to the last store
 *   split_shared   it keeps them in shared memory: many rows, of which more are under way then
 *
 * builds: split_held DTYPE=0 FAST=0 VECTORS=8 SHIFTED=0,1 from 90
 * builds: split_held DTYPE=1,2 FAST=1 VECTORS=1,8 SHIFTED=0,1 from 90
 * builds: split_shared DTYPE=0 FAST=0 SHIFTED=0,1 from 90
 * builds: split_shared DTYPE=1,2 FAST=1 SHIFTED=0,1 from 90
 */
#include "assay/kernel.h"

typedef struct cluster_args {
  const void *x;
  void *y;
  int64_t rows, columns;
  int64_t part; /* vectors of a block */
} cluster_args;

enum { THREADS = 256 };

#ifdef ASSAY_DEVICE
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

enum { WARPS = THREADS / 32, VECTOR = ELEMENTS_PER_VECTOR };

/* From the states of threads to that of the row; every warp's goes to every block of the cluster. */
static __device__ float share(float *mail, float r, float *sum) {
  const int lane = (int)threadIdx.x % 32;
  const int size = (int)cluster_size();
  float *mail_sum = mail + size * WARPS;
  const float top = warp_max(r);
  const float part = warp_sum(*sum * softmax_ratio(r, softmax_origin(top)));
  const int place = (int)cluster_rank() * WARPS + (int)threadIdx.x / 32;
  if (lane < size) {
    *((float *)cluster_shared(mail, (uint32_t)lane) + place) = top;
    *((float *)cluster_shared(mail_sum, (uint32_t)lane) + place) = part;
  }
  cluster_sync();
  float all = -ASSAY_INFINITY;
  for (int k = lane; k < size * WARPS; k += 32) all = fmaxf(all, mail[k]);
  all = warp_max(all);
  float total = 0.0f;
  for (int k = lane; k < size * WARPS; k += 32)
    total += mail_sum[k] * softmax_ratio(mail[k], softmax_origin(all));
  *sum = warp_sum(total);
  return all;
}

#ifdef VECTORS
/* A thread keeps every THREADS-th vector of the part. */
KERNEL(split_held, cluster_args, THREADS, 1) {
  DYNAMIC_SHARED(own);
  float *mail = (float *)own;
  const int64_t row = blockIdx.x / cluster_size();
  const element *x = (const element *)args.x + row * args.columns;
  element *y = (element *)args.y + row * args.columns;
  const int shift = SHIFTED ? vector16_shift(y) : 0;
  const bool same = !SHIFTED || vector16_shift(x) == shift;
  const int64_t first = ((int64_t)cluster_rank() * args.part + threadIdx.x) * VECTOR - shift;
  vector16 held[VECTORS];
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const int64_t c = first + (int64_t)k * THREADS * VECTOR;
    held[k] = vector16_fill(-ASSAY_INFINITY);
    if (same && vector16_inside(c, args.columns)) held[k] = vector16_load_once(x + c);
  }
#if SHIFTED
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const int64_t c = first + (int64_t)k * THREADS * VECTOR;
    if (!(same && vector16_inside(c, args.columns)) && c < args.columns)
      held[k] = vector16_load_part(x, c, args.columns, -ASSAY_INFINITY);
  }
#endif
  cluster_sync(); /* the others have begun, and may be written to */
  vector16 most = held[0];
#pragma unroll
  for (int k = 1; k < VECTORS; ++k) most = vector16_max(most, held[k]);
  const float r = softmax_reference(vector16_top(most));
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) sum += softmax_power(vector16_get(held[k], e), softmax_origin(r));
  }
  const float origin = softmax_origin(share(mail, r, &sum));
  const float scale = 1.0f / sum;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const int64_t c = first + (int64_t)k * THREADS * VECTOR;
    const vector16 result = softmax_vector(held[k], origin, scale);
    if (vector16_inside(c, args.columns))
      vector16_store_once(y + c, result);
    else if (SHIFTED)
      vector16_store_part(y, c, args.columns, result);
  }
}
#else
/* A thread reads what it has fetched itself, so nobody waits for others before the exchange. */
KERNEL(split_shared, cluster_args, THREADS) {
  DYNAMIC_SHARED(own);
  float *mail = (float *)own;
  vector16 *held = (vector16 *)(mail + 2 * cluster_size() * WARPS);
  const int64_t row = blockIdx.x / cluster_size();
  const element *x = (const element *)args.x + row * args.columns;
  element *y = (element *)args.y + row * args.columns;
  const int shift = SHIFTED ? vector16_shift(y) : 0;
  const bool same = !SHIFTED || vector16_shift(x) == shift;
  const int64_t first = (int64_t)cluster_rank() * args.part * VECTOR - shift;
  const int part = (int)args.part;
  for (int i = (int)threadIdx.x; i < part; i += THREADS) {
    const int64_t c = first + (int64_t)i * VECTOR;
    if (same && vector16_inside(c, args.columns))
      cp_async_16(&held[i], x + c);
    else
      held[i] =
          SHIFTED ? vector16_load_part(x, c, args.columns, -ASSAY_INFINITY) : vector16_fill(-ASSAY_INFINITY);
  }
  cp_async_commit();
  cluster_sync(); /* the others have begun, and may be written to */
  cp_async_wait(0);
  vector16 most = vector16_fill(-ASSAY_INFINITY);
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < part; i += THREADS) most = vector16_max(most, vector16_load(&held[i]));
  const float r = softmax_reference(vector16_top(most));
  float sum = 0.0f;
#pragma unroll 2
  for (int i = (int)threadIdx.x; i < part; i += THREADS) {
    const vector16 v = vector16_load(&held[i]);
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) sum += softmax_power(vector16_get(v, e), softmax_origin(r));
  }
  const float origin = softmax_origin(share(mail, r, &sum));
  const float scale = 1.0f / sum;
#pragma unroll 2
  for (int i = (int)threadIdx.x; i < part; i += THREADS) {
    const int64_t c = first + (int64_t)i * VECTOR;
    const vector16 result = softmax_vector(vector16_load(&held[i]), origin, scale);
    if (vector16_inside(c, args.columns))
      vector16_store_once(y + c, result);
    else if (SHIFTED)
      vector16_store_part(y, c, args.columns, result);
  }
}
#endif
#endif

#else
#include "split_softmax.h"

enum {
  MOST_BYTES = 96 * 1024, /* of shared memory a block: what every architecture with clusters has */
  FEW_ROWS = 16,          /* whose blocks all run at once, with room to spare */
};

static assay_status launch(const cluster_args *args, assay_dtype dtype, int64_t count, int64_t cluster,
                           bool shifted, assay_queue *queue) {
  const int64_t each = (count - 1) / (cluster * THREADS) + 1; /* vectors of a thread */
  const bool held = each <= 4 || (each <= 8 && args->rows <= FEW_ROWS);
  const int64_t mail = 2 * cluster * (THREADS / 32) * (int64_t)sizeof(float);
  cluster_args placed = *args;
  placed.part = each * THREADS;
  const assay_define defines[] = {{"DTYPE", dtype},
                                  {"FAST", dtype != ASSAY_FP32 && args->columns >= 256},
                                  {"SHIFTED", shifted},
                                  {held ? "VECTORS" : NULL, each},
                                  {NULL, 0}};
  return LAUNCH(queue, held ? "split_held" : "split_shared", assay_dim(args->rows * cluster),
                assay_dim(THREADS), mail + (held ? 0 : 16 * placed.part), cluster, defines, placed);
}

assay_status assay_split_softmax_cluster(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                         assay_queue *queue) {
  const assay_tensor *x = &in[ASSAY_SPLIT_SOFTMAX_X];
  const assay_tensor *y = &out[ASSAY_SPLIT_SOFTMAX_Y];
  const int64_t size = x->dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t elements = 16 / size; /* of a vector */
  const cluster_args args = {x->data, y->data, x->shape[0], x->shape[1], 0};
  if (args.rows == 0) return ASSAY_OK;
  const bool shifted =
      (((uintptr_t)x->data | (uintptr_t)y->data | (uintptr_t)(args.columns * size)) & 15) != 0;
  const int64_t count =
      (args.columns + (shifted ? elements - 1 : 0) - 1) / elements + 1; /* of a row, at most */
  int64_t cluster = 8;
  while (cluster > 1 && cluster * THREADS >= 2 * count) cluster /= 2; /* a thread has a vector or more */
  if (16 * count > cluster * MOST_BYTES || args.rows > INT32_MAX / cluster)
    return assay_split_softmax_cuda(in, out, opt, queue);
  return launch(&args, x->dtype, count, cluster, shifted, queue);
}

#endif
