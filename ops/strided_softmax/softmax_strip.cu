/* SPDX-License-Identifier: MIT */
/*
 * softmax_strip.cu - softmax of a transposed view on a GPU: rows lie side by side, columns far apart.
 *
 *   softmax_strip         a block, or with CLUSTERED a cluster of blocks, owns a strip of rows: each block
 *                         has its part of the columns in shared memory until the results leave
 *   softmax_strip_twice   for parts that do not fit: they pass through shared memory twice
 *
 * A column of the strip is CHUNKS pieces of 16 bytes. Shared memory holds lines of 128 bytes, each of one or
 * more columns; within a line the pieces stand in an order that depends on the column, so that both ways of
 * reading touch every bank once: whole lines, and the same piece of every VECTOR-th column.
 *
 * builds: softmax_strip DTYPE=0 FAST=0 CHUNKS=2,4 WARPS=8 CLUSTERED=0
 * builds: softmax_strip DTYPE=1,2 FAST=1 CHUNKS=1,4 WARPS=4,8 CLUSTERED=0
 * builds: softmax_strip DTYPE=1,2 FAST=1 CHUNKS=4 WARPS=8 CLUSTERED=1 from 90
 * builds: softmax_strip_twice DTYPE=0,1,2 FAST=0 CHUNKS=4 WARPS=8 CLUSTERED=0 TILE=256
 * builds: softmax_strip_twice DTYPE=1 FAST=1 CHUNKS=4 WARPS=8 CLUSTERED=1 TILE=256 from 90
 */
#include "assay/kernel.h"

typedef struct strip_args {
  const void *x;
  void *y;
  int64_t rows, columns;
  int64_t column_stride; /* of x, in elements; its row stride is 1, and y is packed */
  int64_t part;          /* columns of a block, a multiple of 64 */
  int32_t x_vectors;     /* whether every column of x begins at a multiple of 16 bytes */
  int32_t y_vectors;     /* whether every row of y does */
} strip_args;

#ifdef ASSAY_DEVICE

enum {
  THREADS = 32 * WARPS,
  VECTOR = ELEMENTS_PER_VECTOR, /* rows in a piece, and columns in a vector of y */
  STRIP = CHUNKS * VECTOR,      /* rows */
  HELD = VECTOR / 2,            /* rows of a thread that writes results: two share a piece */
};

#if CLUSTERED
#define RANK ((int)cluster_rank())
#define SIZE ((int)cluster_size())
#else
#define RANK 0
#define SIZE 1
#endif

static __device__ int least(int64_t a, int64_t b) {
  return (int)(a < b ? a : b);
}

/* Word 0 of piece k of column c, which counts from the block's first. */
static __device__ int word_at(int c, int k) {
  const int piece = c * CHUNKS + k;
  return 4 * ((piece & ~7) | ((piece ^ (c / VECTOR)) & 7));
}

/* `count` columns from x on, where they consist of whole pieces. Rows behind the last become 0. */
static __device__ void load_vectors(uint32_t *tile, const element *x, int64_t stride, int64_t rows,
                                    int count) {
  for (int i = (int)threadIdx.x; i < count * CHUNKS; i += THREADS) {
    const int c = i / CHUNKS;
    const int k = i % CHUNKS;
    const int64_t left = (rows - k * VECTOR) * (int64_t)sizeof(element);
    const element *source = left > 0 ? x + c * stride + k * VECTOR : x;
    cp_async_16_part(tile + word_at(c, k), source, left <= 0 ? 0 : least(left, 16));
  }
}

static __device__ void load_elements(uint32_t *tile, const element *x, int64_t stride, int64_t rows,
                                     int count) {
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < count * STRIP; i += THREADS) {
    const int r = i % STRIP;
    element *place = (element *)(tile + word_at(i / STRIP, r / VECTOR)) + r % VECTOR;
    *place = r < rows ? x[i / STRIP * stride + r] : (element)0;
  }
}

static __device__ void load(uint32_t *tile, const element *x, const strip_args *args, int64_t rows,
                            int count) {
  if (args->x_vectors)
    load_vectors(tile, x, args->column_stride, rows, count);
  else
    load_elements(tile, x, args->column_stride, rows, count);
  cp_async_commit();
}

/* References and sums of the rows of a thread's piece. Lanes with the same piece agree on the references. */
typedef struct strip_state {
  float r[VECTOR];
  float sum[VECTOR];
} strip_state;

static __device__ strip_state no_state() {
  strip_state state;
#pragma unroll
  for (int e = 0; e < VECTOR; ++e) state.r[e] = -ASSAY_INFINITY;
#pragma unroll
  for (int e = 0; e < VECTOR; ++e) state.sum[e] = 0.0f;
  return state;
}

/* Eight lanes take a line, a warp four of them: a thread has the same piece of many columns. */
static __device__ void take(const uint32_t *tile, int count, strip_state *state) {
  const int k = (int)threadIdx.x % CHUNKS;
  vector16 top = vector16_fill(-ASSAY_INFINITY);
#pragma unroll 4
  for (int c = (int)threadIdx.x / CHUNKS; c < count; c += THREADS / CHUNKS)
    top = vector16_max(top, vector16_load(tile + word_at(c, k)));
#pragma unroll
  for (int distance = 16; distance >= CHUNKS; distance /= 2) {
    vector16 other;
#pragma unroll
    for (int w = 0; w < 4; ++w) other.word[w] = __shfl_xor_sync(0xffffffffu, top.word[w], distance);
    top = vector16_max(top, other);
  }
  float origin[VECTOR];
#pragma unroll
  for (int e = 0; e < VECTOR; ++e) {
    const float r = fmaxf(state->r[e], softmax_reference(vector16_get(top, e)));
    origin[e] = softmax_origin(r);
    state->sum[e] *= softmax_ratio(state->r[e], origin[e]);
    state->r[e] = r;
  }
#pragma unroll 2
  for (int c = (int)threadIdx.x / CHUNKS; c < count; c += THREADS / CHUNKS) {
    const vector16 v = vector16_load(tile + word_at(c, k));
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) state->sum[e] += softmax_power(vector16_get(v, e), origin[e]);
  }
}

/* The reference of a row from `count` of them, STRIP apart, and its sum. */
static __device__ float join(const float *r, const float *sums, int count, int row, float *sum) {
  float top = -ASSAY_INFINITY;
  for (int k = 0; k < count; ++k) top = fmaxf(top, r[k * STRIP + row]);
  *sum = 0.0f;
  for (int k = 0; k < count; ++k)
    *sum += sums[k * STRIP + row] * softmax_ratio(r[k * STRIP + row], softmax_origin(top));
  return top;
}

/* Shared memory of a block beside its columns. */
typedef struct strip_shared {
  float r[WARPS * STRIP], sum[WARPS * STRIP]; /* of the warps */
  float origin[STRIP], scale[STRIP];          /* of the rows, in the end */
} strip_shared;

/* From the states of threads to those of rows. `mail`, in a cluster, is where blocks write to each other:
 * SIZE references of each row, STRIP apart, and then as many sums. */
static __device__ void settle(strip_state *state, strip_shared *own, float *mail) {
  const int lane = (int)threadIdx.x % 32;
  const int place = (int)threadIdx.x / 32 * STRIP + lane * VECTOR;
#pragma unroll
  for (int e = 0; e < VECTOR; ++e) {
#pragma unroll
    for (int distance = 16; distance >= CHUNKS; distance /= 2)
      state->sum[e] += __shfl_xor_sync(0xffffffffu, state->sum[e], distance);
  }
  if (lane < CHUNKS) {
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) {
      own->r[place + e] = state->r[e];
      own->sum[place + e] = state->sum[e];
    }
  }
  __syncthreads();
#if CLUSTERED
  for (int i = (int)threadIdx.x; i < SIZE * STRIP; i += THREADS) {
    float sum;
    const float r = join(own->r, own->sum, WARPS, i % STRIP, &sum);
    float *theirs = (float *)cluster_shared(mail, (uint32_t)(i / STRIP));
    theirs[RANK * STRIP + i % STRIP] = r;
    theirs[(SIZE + RANK) * STRIP + i % STRIP] = sum;
  }
  cluster_sync();
#endif
  for (int row = (int)threadIdx.x; row < STRIP; row += THREADS) {
    float sum;
    const float r = CLUSTERED ? join(mail, mail + SIZE * STRIP, SIZE, row, &sum)
                              : join(own->r, own->sum, WARPS, row, &sum);
    own->origin[row] = softmax_origin(r);
    own->scale[row] = 1.0f / sum;
  }
  __syncthreads();
}

/* A thread has half a piece of the VECTOR columns of one vector of y; eight such vectors stand side by side.
 */
static __device__ void write_vectors(const uint32_t *tile, const strip_shared *own, element *y,
                                     int64_t columns, int64_t rows, int count) {
  const int thread = (int)threadIdx.x / 2;
  const int half = (int)threadIdx.x % 2;
  const int k = thread / 8 % CHUNKS;
  const int row = k * VECTOR + half * HELD;
  float origin[HELD];
  float scale[HELD];
#pragma unroll
  for (int e = 0; e < HELD; ++e) {
    origin[e] = own->origin[row + e];
    scale[e] = own->scale[row + e];
  }
  element *to = y + row * columns;
  const int step = THREADS / 2 / CHUNKS * VECTOR;
  for (int c = (thread / 8 / CHUNKS * 8 + thread % 8) * VECTOR; c < count; c += step) {
    vector16 held[VECTOR]; /* words 0 and 1 */
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
      const uint32_t *words = tile + word_at(c + j, k) + 2 * half;
      held[j].word[0] = words[0];
      held[j].word[1] = words[1];
    }
#pragma unroll
    for (int e = 0; e < HELD; ++e) {
      float value[VECTOR];
#pragma unroll
      for (int j = 0; j < VECTOR; ++j)
        value[j] = softmax_power(vector16_get(held[j], e), origin[e]) * scale[e];
      if (row + e < rows) vector16_store_once(to + e * columns + c, vector16_pack(value));
    }
  }
}

/* The same where rows of y begin anywhere: a thread has one row, whose vectors are those of y. */
static __device__ void write_shifted(const uint32_t *tile, const strip_shared *own, element *y,
                                     int64_t columns, int64_t rows, int count) {
  const int thread = (int)threadIdx.x / VECTOR;
  const int r = (int)threadIdx.x % VECTOR;
  const int apart = 32 / VECTOR; /* vectors of a row in a warp */
  const int k = thread / apart % CHUNKS;
  const int row = k * VECTOR + r;
  if (row >= rows) return;
  const float origin = own->origin[row];
  const float scale = own->scale[row];
  element *to = y + row * columns;
  int c = (thread / apart / CHUNKS * apart + thread % apart) * VECTOR - vector16_shift(to);
  for (; c < count; c += THREADS / CHUNKS) {
    float value[VECTOR];
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
      const int at = c + j < 0 ? 0 : c + j < count ? c + j : count - 1;
      value[j] = softmax_power(element_load((const element *)(tile + word_at(at, k)), r), origin) * scale;
    }
    const vector16 result = vector16_pack(value);
    if (vector16_inside(c, count))
      vector16_store(to + c, result);
    else
      vector16_store_part(to, c, count, result);
  }
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

#if !CLUSTERED || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* Where the block's part begins in x and y, and how many rows and columns there are from there on. */
typedef struct strip_place {
  const element *x;
  element *y;
  int64_t rows, count;
} strip_place;

static __device__ strip_place place_of(const strip_args *args) {
  const int64_t first = (int64_t)blockIdx.x / SIZE * STRIP;
  const int64_t c0 = (int64_t)RANK * args->part;
  const int64_t left = args->columns - c0;
  const strip_place place = {(const element *)args->x + first + c0 * args->column_stride,
                             (element *)args->y + first * args->columns + c0, args->rows - first,
                             left <= 0           ? 0
                             : left < args->part ? left
                                                 : args->part};
  return place;
}

#ifndef TILE
KERNEL(softmax_strip, strip_args, THREADS) {
  DYNAMIC_SHARED(shared); /* what settle() needs; then the part */
  __shared__ strip_shared own;
  float *mail = (float *)shared;
  uint32_t *tile = (uint32_t *)(mail + (CLUSTERED ? 2 * SIZE * STRIP : 0));
  const strip_place place = place_of(&args);
  load(tile, place.x, &args, place.rows, (int)place.count);
  strip_state state = no_state();
#if CLUSTERED
  cluster_sync(); /* the others have begun, and may be written to */
#endif
  cp_async_wait(0);
  __syncthreads();
  take(tile, (int)place.count, &state);
  settle(&state, &own, mail);
  if (args.y_vectors)
    write_vectors(tile, &own, place.y, args.columns, place.rows, (int)place.count);
  else
    write_shifted(tile, &own, place.y, args.columns, place.rows, (int)place.count);
}
#else
enum { STAGES = 3 };

/* The part passes through a ring of STAGES tiles of TILE columns twice, for the states of the rows and, out
 * of L2 if it is still there, for the results. */
KERNEL(softmax_strip_twice, strip_args, THREADS) {
  DYNAMIC_SHARED(shared);
  __shared__ strip_shared own;
  float *mail = (float *)shared;
  uint32_t *ring = (uint32_t *)(mail + (CLUSTERED ? 2 * SIZE * STRIP : 0));
  const strip_place place = place_of(&args);
  const int64_t tiles = (place.count + TILE - 1) / TILE;
  strip_state state = no_state();
#if CLUSTERED
  cluster_sync();
#endif
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t t = 1 - STAGES; t < tiles; ++t) {
      const int64_t next = t + STAGES - 1;
      if (t >= 0) {
        cp_async_wait(STAGES - 2);
        __syncthreads(); /* tile t is there, and nobody reads tile t - 1 any more */
      }
      if (next < tiles)
        load(ring + next % STAGES * TILE * CHUNKS * 4, place.x + next * TILE * args.column_stride, &args,
             place.rows, least(TILE, place.count - next * TILE));
      else
        cp_async_commit();
      if (t < 0) continue;
      const uint32_t *tile = ring + t % STAGES * TILE * CHUNKS * 4;
      const int count = least(TILE, place.count - t * TILE);
      if (pass == 0)
        take(tile, count, &state);
      else if (args.y_vectors)
        write_vectors(tile, &own, place.y + t * TILE, args.columns, place.rows, count);
      else
        write_shifted(tile, &own, place.y + t * TILE, args.columns, place.rows, count);
    }
    __syncthreads();
    if (pass == 0) settle(&state, &own, mail);
  }
}
#endif
#endif

#else
#include "softmax_gpu.h"

enum {
  ONCE_BYTES = 96 * 1024, /* of shared memory a block: what every architecture has */
  LINE_BYTES = 64,        /* of a column of a strip, where memory is read in these */
  TILE = 256,
  STAGES = 3,
  FEW_BLOCKS = 512, /* fewer leave multiprocessors idle */
  CACHED = 1 << 22, /* elements of a view that stays in L2, where short pieces of columns cost little */
};

static bool is_multiple(const void *data, int64_t stride, int64_t size) {
  return (((uintptr_t)data | (uintptr_t)(stride * size)) & 15) == 0;
}

/* Columns of a block, when `cluster` blocks share them: whole lines of a row of y. */
static int64_t part_of(int64_t columns, int64_t cluster) {
  return ((columns - 1) / cluster / 64 + 1) * 64;
}

assay_status assay_softmax_strips(const assay_tensor *x, const assay_tensor *y, int64_t warps, bool clusters,
                                  assay_queue *queue) {
  const int64_t size = x->dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t rows = x->shape[0];
  const int64_t columns = x->shape[1];
  const bool thin = rows <= CACHED / columns && columns * 8 * size <= ONCE_BYTES / 2;
  const int64_t bytes = thin ? 8 * size : LINE_BYTES; /* of a column of a strip */
  const int64_t strips = (rows - 1) / (bytes / size) + 1;
  int64_t cluster = 1;
  while (clusters && !thin && cluster < 8 &&
         (part_of(columns, cluster) > 1024 ||
          (strips * cluster < FEW_BLOCKS && part_of(columns, cluster) > 256)))
    cluster *= 2;
  const int64_t part = part_of(columns, cluster);
  const int64_t mail = cluster > 1 ? 2 * cluster * bytes / size * (int64_t)sizeof(float) : 0;
  const bool once = part * bytes + mail <= ONCE_BYTES;
  const int64_t threads = 32 * (warps != 0 ? warps : 8);
  const strip_args args = {.x = x->data,
                           .y = y->data,
                           .rows = rows,
                           .columns = columns,
                           .column_stride = x->stride[1],
                           .part = part,
                           .x_vectors = is_multiple(x->data, x->stride[1], size),
                           .y_vectors = is_multiple(y->data, columns, size)};
  const assay_define defines[] = {{"DTYPE", x->dtype},
                                  {"FAST", assay_softmax_fast(x->dtype, columns)},
                                  {"CHUNKS", bytes / 16},
                                  {"WARPS", threads / 32},
                                  {"CLUSTERED", cluster > 1},
                                  {once ? NULL : "TILE", TILE},
                                  {NULL, 0}};
  return LAUNCH(queue, once ? "softmax_strip" : "softmax_strip_twice", assay_dim(strips * cluster),
                assay_dim(threads), mail + (once ? part : STAGES * TILE) * bytes, cluster, defines, args);
}

#endif
