/* SPDX-License-Identifier: MIT */
/*
 * vjp_strip.cu - the gradient of softmax of transposed views on a GPU: rows lie side by side in y and in g,
 * columns far apart.
 *
 *   vjp_strip         a block, or with CLUSTERED a cluster of blocks, owns a strip of rows: each block has
 *                     its part of the columns of y and g in shared memory until the results leave
 *   vjp_strip_twice   for parts that do not fit: they pass through shared memory twice
 *
 * A column of the strip is CHUNKS pieces of 16 bytes. Shared memory holds lines of 128 bytes, each of one or
 * more columns; within a line the pieces stand in an order that depends on the column, so that both ways of
 * reading touch every bank once: whole lines, and the same piece of every VECTOR-th column. A tile is columns
 * of y that lie like this, and then, `apart` words further on, the same columns of g.
 *
 * builds: vjp_strip DTYPE=0 CHUNKS=2 WARPS=8 CLUSTERED=0
 * builds: vjp_strip DTYPE=1,2 CHUNKS=1,2 WARPS=4,8 CLUSTERED=0
 * builds: vjp_strip DTYPE=0,1,2 CHUNKS=2 WARPS=4,8 CLUSTERED=1 from 90
 * builds: vjp_strip_twice DTYPE=0,1,2 CHUNKS=4 WARPS=8,16 CLUSTERED=0 TILE=256
 * builds: vjp_strip_twice DTYPE=0,1,2 CHUNKS=4 WARPS=8,16 CLUSTERED=1 TILE=256 from 90
 */
#include "assay/kernel.h"

typedef struct strip_operand {
  const void *data;
  int64_t column_stride; /* in elements; the row stride is 1 */
  int64_t vectors;       /* whether every column begins at a multiple of 16 bytes */
} strip_operand;

typedef struct strip_args {
  strip_operand y, g;
  void *dx; /* packed */
  int64_t rows, columns;
  int64_t part;       /* columns of a block, a multiple of 64 */
  int64_t dx_vectors; /* whether every row of dx begins at a multiple of 16 bytes */
} strip_args;

#ifdef ASSAY_DEVICE

enum {
  THREADS = 32 * WARPS,
  VECTOR = ELEMENTS_PER_VECTOR, /* rows in a piece, and columns in a vector of dx */
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

/* Where the block's part begins, and how many rows and columns there are from there on. */
typedef struct strip_place {
  int64_t row, column;
  int64_t rows, count;
} strip_place;

static __device__ int least(int64_t a, int64_t b) {
  return (int)(a < b ? a : b);
}

/* Word 0 of piece k of column c, which counts from the tile's first. */
static __device__ int word_at(int c, int k) {
  const int piece = c * CHUNKS + k;
  return 4 * ((piece & ~7) | ((piece ^ (c / VECTOR)) & 7));
}

/* `count` columns from x on, each of which begins at a multiple of 16 bytes. Rows behind the last become 0;
 * no copy reaches beyond the last, though it would leave out what is there, as tools take it for an access.
 */
static __device__ void load_vectors(uint32_t *tile, const element *x, int64_t stride, int rows, int count) {
  for (int i = (int)threadIdx.x; i < count * CHUNKS; i += THREADS) {
    const int c = i / CHUNKS;
    const int k = i % CHUNKS;
    if ((k + 1) * VECTOR <= rows)
      cp_async_16(tile + word_at(c, k), x + c * stride + k * VECTOR);
    else
      vector16_store(tile + word_at(c, k), vector16_load_part(x + c * stride, k * VECTOR, rows, 0.0f));
  }
}

static __device__ void load_elements(uint32_t *tile, const element *x, int64_t stride, int rows, int count) {
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < count * STRIP; i += THREADS) {
    const int r = i % STRIP;
    element *place = (element *)(tile + word_at(i / STRIP, r / VECTOR)) + r % VECTOR;
    *place = r < rows ? x[i / STRIP * stride + r] : (element)0;
  }
}

/* `count` columns of the part, from its column `from` on. */
static __device__ void load_operand(uint32_t *tile, const strip_operand *operand, const strip_place *place,
                                    int64_t from, int count) {
  const int64_t stride = operand->column_stride;
  const element *x = (const element *)operand->data + place->row + (place->column + from) * stride;
  const int rows = least(place->rows, STRIP);
  if (operand->vectors)
    load_vectors(tile, x, stride, rows, count);
  else
    load_elements(tile, x, stride, rows, count);
}

static __device__ void load(uint32_t *tile, int apart, const strip_args *args, const strip_place *place,
                            int64_t from, int count) {
  load_operand(tile, &args->y, place, from, count);
  load_operand(tile + apart, &args->g, place, from, count);
  cp_async_commit();
}

/* Adds the products of a tile to the sums of the rows of a thread's piece. Eight lanes take a line, a warp
 * four of them: a thread has the same piece of many columns. */
static __device__ void take(const uint32_t *tile, int apart, int count, float sum[VECTOR]) {
  const int k = (int)threadIdx.x % CHUNKS;
#pragma unroll 4
  for (int c = (int)threadIdx.x / CHUNKS; c < count; c += THREADS / CHUNKS) {
    const uint32_t *words = tile + word_at(c, k);
    const vector16 y = vector16_load(words);
    const vector16 g = vector16_load(words + apart);
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) sum[e] += vector16_get(y, e) * vector16_get(g, e);
  }
}

/* The sum of `count` sums of a row, STRIP apart. */
static __device__ float join(const float *sums, int count, int row) {
  float sum = 0.0f;
  for (int k = 0; k < count; ++k) sum += sums[k * STRIP + row];
  return sum;
}

/* Shared memory of a block beside its columns. */
typedef struct strip_shared {
  float sum[WARPS * STRIP]; /* of the warps */
  float dot[STRIP];         /* of the rows, in the end */
} strip_shared;

/* From the sums of threads to those of rows. `mail`, in a cluster, is where blocks write to each other: SIZE
 * sums of each row, STRIP apart. */
static __device__ void settle(float sum[VECTOR], strip_shared *own, float *mail) {
  const int lane = (int)threadIdx.x % 32;
  const int place = (int)threadIdx.x / 32 * STRIP + lane * VECTOR;
#pragma unroll
  for (int e = 0; e < VECTOR; ++e) {
#pragma unroll
    for (int distance = 16; distance >= CHUNKS; distance /= 2)
      sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], distance);
  }
  if (lane < CHUNKS) {
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) own->sum[place + e] = sum[e];
  }
  __syncthreads();
#if CLUSTERED
  for (int i = (int)threadIdx.x; i < SIZE * STRIP; i += THREADS) {
    float *theirs = (float *)cluster_shared(mail, (uint32_t)(i / STRIP));
    theirs[RANK * STRIP + i % STRIP] = join(own->sum, WARPS, i % STRIP);
  }
  cluster_sync();
#endif
  for (int row = (int)threadIdx.x; row < STRIP; row += THREADS)
    own->dot[row] = CLUSTERED ? join(mail, SIZE, row) : join(own->sum, WARPS, row);
  __syncthreads();
}

/* A thread has half a piece of the VECTOR columns of one vector of dx; eight such vectors stand side by side.
 */
static __device__ void write_vectors(const uint32_t *tile, int apart, const strip_shared *own, element *dx,
                                     int64_t columns, int64_t rows, int count) {
  const int thread = (int)threadIdx.x / 2;
  const int half = (int)threadIdx.x % 2;
  const int k = thread / 8 % CHUNKS;
  const int row = k * VECTOR + half * HELD;
  float dot[HELD];
#pragma unroll
  for (int e = 0; e < HELD; ++e) dot[e] = own->dot[row + e];
  element *to = dx + row * columns;
  const int step = THREADS / 2 / CHUNKS * VECTOR;
  for (int c = (thread / 8 / CHUNKS * 8 + thread % 8) * VECTOR; c < count; c += step) {
    vector16 y[VECTOR]; /* words 0 and 1 */
    vector16 g[VECTOR];
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
      const uint32_t *words = tile + word_at(c + j, k) + 2 * half;
      y[j].word[0] = words[0];
      y[j].word[1] = words[1];
      g[j].word[0] = words[apart];
      g[j].word[1] = words[apart + 1];
    }
#pragma unroll
    for (int e = 0; e < HELD; ++e) {
      float value[VECTOR];
#pragma unroll
      for (int j = 0; j < VECTOR; ++j) value[j] = vector16_get(y[j], e) * (vector16_get(g[j], e) - dot[e]);
      if (row + e < rows) vector16_store_once(to + e * columns + c, vector16_pack(value));
    }
  }
}

/* The same where rows of dx begin anywhere: a thread has one row, whose vectors are those of dx. */
static __device__ void write_shifted(const uint32_t *tile, int apart, const strip_shared *own, element *dx,
                                     int64_t columns, int64_t rows, int count) {
  const int thread = (int)threadIdx.x / VECTOR;
  const int r = (int)threadIdx.x % VECTOR;
  const int aside = 32 / VECTOR; /* vectors of a row in a warp */
  const int k = thread / aside % CHUNKS;
  const int row = k * VECTOR + r;
  if (row >= rows || count == 0) return; /* the last blocks of a cluster may have no columns */
  const float dot = own->dot[row];
  element *to = dx + row * columns;
  int c = (thread / aside / CHUNKS * aside + thread % aside) * VECTOR - vector16_shift(to);
  for (; c < count; c += THREADS / CHUNKS) {
    float value[VECTOR];
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
      const int at = c + j < 0 ? 0 : c + j < count ? c + j : count - 1;
      const uint32_t *words = tile + word_at(at, k);
      value[j] =
          element_load((const element *)words, r) * (element_load((const element *)(words + apart), r) - dot);
    }
    const vector16 result = vector16_pack(value);
    if (vector16_inside(c, count))
      vector16_store(to + c, result);
    else
      vector16_store_part(to, c, count, result);
  }
}

static __device__ void write_tile(const uint32_t *tile, int apart, const strip_shared *own,
                                  const strip_args *args, const strip_place *place, int64_t from, int count) {
  element *dx = (element *)args->dx + place->row * args->columns + place->column + from;
  if (args->dx_vectors)
    write_vectors(tile, apart, own, dx, args->columns, place->rows, count);
  else
    write_shifted(tile, apart, own, dx, args->columns, place->rows, count);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

#if !CLUSTERED || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

static __device__ strip_place place_of(const strip_args *args) {
  const int64_t row = (int64_t)blockIdx.x / SIZE * STRIP;
  const int64_t column = (int64_t)RANK * args->part;
  const int64_t left = args->columns - column;
  const strip_place place = {row, column, args->rows - row,
                             left <= 0           ? 0
                             : left < args->part ? left
                                                 : args->part};
  return place;
}

#ifndef TILE
/* 32 warps shall fit a multiprocessor, where their parts do. */
KERNEL(vjp_strip, strip_args, THREADS, 32 / WARPS) {
  DYNAMIC_SHARED(shared); /* what settle() needs; then the part */
  __shared__ strip_shared own;
  float *mail = (float *)shared;
  uint32_t *tile = (uint32_t *)(mail + (CLUSTERED ? SIZE * STRIP : 0));
  const int apart = (int)args.part * CHUNKS * 4;
  const strip_place place = place_of(&args);
  load(tile, apart, &args, &place, 0, (int)place.count);
  float sum[VECTOR] = {0};
#if CLUSTERED
  cluster_sync(); /* the others have begun, and may be written to */
#endif
  cp_async_wait(0);
  __syncthreads();
  take(tile, apart, (int)place.count, sum);
  settle(sum, &own, mail);
  write_tile(tile, apart, &own, &args, &place, 0, (int)place.count);
}
#else
enum { STAGES = 3, APART = TILE * CHUNKS * 4 };

/* The part passes through a ring of STAGES tiles of TILE columns twice, for the sums of the rows and, out of
 * L2 if it is still there, for the results. */
KERNEL(vjp_strip_twice, strip_args, THREADS, 1) { /* with 1, registers may be many */
  DYNAMIC_SHARED(shared);
  __shared__ strip_shared own;
  float *mail = (float *)shared;
  uint32_t *ring = (uint32_t *)(mail + (CLUSTERED ? SIZE * STRIP : 0));
  const strip_place place = place_of(&args);
  const int64_t tiles = (place.count + TILE - 1) / TILE;
  float sum[VECTOR] = {0};
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
        load(ring + next % STAGES * 2 * APART, APART, &args, &place, next * TILE,
             least(TILE, place.count - next * TILE));
      else
        cp_async_commit();
      if (t < 0) continue;
      const uint32_t *tile = ring + t % STAGES * 2 * APART;
      const int count = least(TILE, place.count - t * TILE);
      if (pass == 0)
        take(tile, APART, count, sum);
      else
        write_tile(tile, APART, &own, &args, &place, t * TILE, count);
    }
    __syncthreads();
    if (pass == 0) settle(sum, &own, mail);
  }
}
#endif
#endif

#else
#include "vjp_gpu.h"

enum {
  ONCE_BYTES = 96 * 1024,   /* of shared memory a block: what every architecture has */
  BUSY_BYTES = 64 * 1024,   /* the same where a multiprocessor should have several blocks */
  ALONE_BYTES = 128 * 1024, /* the same where each has one, in a cluster's architecture */
  SECTOR_BYTES = 32,        /* of a column of a strip: memory and caches are read in these */
  LINE_BYTES = 64,          /* the same of a strip that is read twice */
  TILE = 256,
  STAGES = 3,
  CHIP = 128,       /* blocks that run at once on a large GPU, one a multiprocessor */
  FEW_ROWS = 1024,  /* give strips of a sector too few blocks */
  CLUSTER_MOST = 8, /* blocks of a cluster that every GPU with clusters can start */
};

static strip_operand operand_of(const assay_tensor *x, int64_t size) {
  const bool vectors = (((uintptr_t)x->data | (uintptr_t)(x->stride[1] * size)) & 15) == 0;
  return (strip_operand){x->data, x->stride[1], vectors};
}

/* Columns of a block, when `cluster` blocks share them: whole lines of a row of dx. */
static int64_t part_of(int64_t columns, int64_t cluster) {
  return ((columns - 1) / cluster / 64 + 1) * 64;
}

/* Of y and g, in shared memory of a block. */
static int64_t part_bytes(int64_t columns, int64_t cluster, int64_t bytes) {
  return 2 * part_of(columns, cluster) * bytes;
}

/* Bytes of a column of a strip. Half a sector, of 16-bit types, where the views stay in a cache and blocks
 * are few otherwise; without clusters also where columns fit no other way: a sector that two blocks ask for
 * costs less than one that is read twice. */
static int64_t strip_bytes(int64_t rows, int64_t columns, int64_t size, bool clusters) {
  const int64_t thin = 8 * size;
  if (rows <= FEW_ROWS && part_bytes(columns, 1, thin) <= ONCE_BYTES / 2) return thin;
  if (clusters && part_bytes(columns, CLUSTER_MOST, SECTOR_BYTES) <= ALONE_BYTES) return SECTOR_BYTES;
  if (clusters) return LINE_BYTES;
  if (part_bytes(columns, 1, SECTOR_BYTES) <= ONCE_BYTES) return SECTOR_BYTES;
  return part_bytes(columns, 1, thin) <= ONCE_BYTES ? thin : LINE_BYTES;
}

/* Blocks that share a strip: few, so that each has long rows to write. Where all blocks of a grid run at
 * once, one a multiprocessor, each may have a large part; further blocks are better small. */
static int64_t choose_cluster(int64_t strips, int64_t columns, int64_t bytes) {
  int64_t cluster = 1;
  while (cluster < CLUSTER_MOST) {
    const int64_t most = strips * cluster <= CHIP ? ALONE_BYTES : BUSY_BYTES;
    const bool idle = 2 * strips * cluster <= CHIP && part_of(columns, cluster) > TILE;
    if (part_bytes(columns, cluster, bytes) <= most && !idle) break;
    cluster *= 2;
  }
  return cluster;
}

assay_status assay_vjp_strips(const assay_tensor *y, const assay_tensor *g, const assay_tensor *dx,
                              int64_t warps, bool clusters, assay_queue *queue) {
  const int64_t size = y->dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t rows = y->shape[0];
  const int64_t columns = y->shape[1];
  const int64_t bytes = strip_bytes(rows, columns, size, clusters);
  const int64_t strips = (rows - 1) / (bytes / size) + 1;
  const int64_t cluster = clusters && bytes >= SECTOR_BYTES ? choose_cluster(strips, columns, bytes) : 1;
  const int64_t part = part_of(columns, cluster);
  const int64_t mail = cluster > 1 ? cluster * bytes / size * (int64_t)sizeof(float) : 0;
  const bool once = 2 * part * bytes <= (clusters ? ALONE_BYTES : ONCE_BYTES);
  if (warps == 0) warps = once ? 8 : 16;
  const strip_args args = {.y = operand_of(y, size),
                           .g = operand_of(g, size),
                           .dx = dx->data,
                           .rows = rows,
                           .columns = columns,
                           .part = part,
                           .dx_vectors = (((uintptr_t)dx->data | (uintptr_t)(columns * size)) & 15) == 0};
  const assay_define defines[] = {{"DTYPE", y->dtype},        {"CHUNKS", bytes / 16},       {"WARPS", warps},
                                  {"CLUSTERED", cluster > 1}, {once ? NULL : "TILE", TILE}, {NULL, 0}};
  return LAUNCH(queue, once ? "vjp_strip" : "vjp_strip_twice", assay_dim(strips * cluster),
                assay_dim(32 * warps), mail + (once ? part : STAGES * TILE) * 2 * bytes, cluster, defines,
                args);
}

#endif
