/* SPDX-License-Identifier: MIT */
/*
 * attention.cu - streaming attention on a GPU.
 *
 * A block owns ROWS queries of a head, a warp 16 * ROW_TILES of them and one in KEY_WARPS tiles of keys. Keys
 * and values come through a ring in shared memory; scores, weights and sums stay in registers. Every part of
 * the keys, of a warp of a block of a cluster, has maxima and sums of its own, which are merged at the end.
 * builds: attend DTYPE=1,2 COLUMNS=128 BLOCK_N=32,48 ROW_TILES=2 ROW_WARPS=4 KEY_WARPS=1 SPLIT=1 VECTORS=1
 * builds: attend DTYPE=1 COLUMNS=16,64 BLOCK_N=64 ROW_TILES=2 ROW_WARPS=4 KEY_WARPS=1 SPLIT=1 VECTORS=1
 * builds: attend DTYPE=1,2 COLUMNS=64 BLOCK_N=80 ROW_TILES=2 ROW_WARPS=4 KEY_WARPS=1 SPLIT=1 VECTORS=1
 * builds: attend DTYPE=2 COLUMNS=128 BLOCK_N=48,64 ROW_TILES=1 ROW_WARPS=4 KEY_WARPS=1 SPLIT=1 VECTORS=0
 * builds: attend DTYPE=2 COLUMNS=256 BLOCK_N=64 ROW_TILES=1 ROW_WARPS=2 KEY_WARPS=1 SPLIT=1 VECTORS=0,1
 * builds: attend DTYPE=1 COLUMNS=256 BLOCK_N=32 ROW_TILES=1 ROW_WARPS=4 KEY_WARPS=1 SPLIT=1 VECTORS=1
 * builds: attend DTYPE=2 COLUMNS=32 BLOCK_N=32 ROW_TILES=1 ROW_WARPS=1 KEY_WARPS=8 SPLIT=1 VECTORS=1
 * builds: attend DTYPE=1 COLUMNS=64 BLOCK_N=64 ROW_TILES=1 ROW_WARPS=4 KEY_WARPS=1 SPLIT=8 VECTORS=1 from 90
 */
#include "assay/kernel.h"

typedef struct attention_args {
  const void *q, *k, *v;
  void *o;
  int64_t n, d, heads, count; /* count: heads of all batches */
  int64_t stride[3][3];       /* of q, k and v: from batch to batch, head to head, row to row, in elements */
  int64_t first;              /* groups of queries that earlier launches took */
  float scale;                /* log2(e) / sqrt(d) */
  int32_t causal, all;        /* all: tiles in the future are visited too */
} attention_args;

#ifdef ASSAY_DEVICE
#define THREADS   (32 * ROW_WARPS * KEY_WARPS)
#define ROWS      (16 * ROW_TILES * ROW_WARPS) /* queries of a block */
#define KEYS      (BLOCK_N * KEY_WARPS)        /* keys of a round, BLOCK_N for each warp of a row */
#define PIECES    (COLUMNS / 8)                /* 16-byte pieces of a row */
#define PARTS     (KEY_WARPS * SPLIT)          /* of the keys, each with its own sums */
#define PITCH     (COLUMNS + 8) /* from row to row of a tile, see offset, and of a part's sums */
#define HELD      (ROW_TILES * COLUMNS <= 128)       /* queries stay in registers */
#define STAGES    (COLUMNS * BLOCK_N > 8192 ? 1 : 2) /* rounds in shared memory */
#define LEAST     (ROW_TILES * COLUMNS > 64 ? 1 : 0) /* blocks an SM: with 1, registers may be many */
#define WIDE      (COLUMNS / 16)
#define TALL      (BLOCK_N / 16)
#define UNROLL    _Pragma("unroll")
#define ORIGIN(m) ((m) == -ASSAY_INFINITY ? 0.0f : (m)) /* while all are -infinity, any finite one does */
/* Of 16 x 8 results a lane holds two neighbours, the columns PAIR and PAIR + 1, in each of two rows. */
#define WARP    ((int)threadIdx.x / 32)
#define LANE    ((int)threadIdx.x % 32)
#define PAIR    (LANE % 4 * 2)
#define OWN_ROW ((KEY_WARPS > 1 ? WARP % ROW_WARPS : WARP) * 16 * ROW_TILES)
#define OWN_KEY ((KEY_WARPS > 1 ? WARP / ROW_WARPS : 0) * BLOCK_N)

/* The exponent of an infinity or NaN is all ones: added to one more, it carries into the sign. */
#define EXPONENTS (DTYPE == 1 ? 0x7c007c00u : 0x7f807f80u)
#define ONE_MORE  (DTYPE == 1 ? 0x04000400u : 0x00800080u)

typedef struct place {
  const element *q, *k, *v; /* row 0 of the head */
  element *o;
  int64_t start; /* the first query of the block */
  int rounds;    /* up to the last key that one of its queries sees, or all */
} place;
/* The longest groups of a causal head come first, so that the last to finish are short. */
static __device__ place find_place(const attention_args args, int64_t group) {
  const int64_t groups = (args.n + ROWS - 1) / ROWS;
  int64_t head = 0, batch = 0;
  if (args.count > 1) {
    head = args.causal ? group % args.count : group / groups;
    group = args.causal ? group / args.count : group % groups;
    batch = head / args.heads;
  }
  place at;
  at.start = (args.causal ? groups - 1 - group : group) * ROWS;
  const int64_t end = args.causal && !args.all && at.start + ROWS < args.n ? at.start + ROWS : args.n;
  at.rounds = (int)((end + KEYS - 1) / KEYS);
  at.q = (const element *)args.q + batch * args.stride[0][0] + head % args.heads * args.stride[0][1];
  at.k = (const element *)args.k + batch * args.stride[1][0] + head % args.heads * args.stride[1][1];
  at.v = (const element *)args.v + batch * args.stride[2][0] + head % args.heads * args.stride[2][1];
  at.o = (element *)args.o + head * args.n * args.d;
  return at;
}

static __device__ int clamp(int64_t value) {
  return value < -(1 << 30) ? -(1 << 30) : value < 1 << 30 ? (int)value : 1 << 30;
}

/* Where piece `column` of row `row` of a tile lies. A row takes 16 bytes more than it needs, so that the
 * pieces of eight rows' column lie in different banks, and all places differ by constants, which cost no
 * register. */
static __device__ int offset(int row, int column) {
  return row * PITCH + column * 8;
}

/* Starts to copy rows of a matrix, of which `left` are there, into a tile; the rest of it becomes 0. */
static __device__ void load_tile(element *tile, int rows, const element *from, int64_t stride, int64_t left,
                                 int64_t d) {
  const int column = (int)threadIdx.x % PIECES;
  const int row0 = (int)threadIdx.x / PIECES;
  const int rows_left = clamp(left), wide = (int)d - 8 * column;
  const int there = wide < 0 ? 0 : wide < 8 ? wide : 8; /* elements of this thread's pieces */
  const element *source = from + row0 * stride + 8 * column;
#pragma unroll 2
  for (int i = 0; i < (rows * PIECES + THREADS - 1) / THREADS; ++i, source += THREADS / PIECES * stride) {
    const int row = i * (THREADS / PIECES) + row0;
    if (rows * PIECES % THREADS != 0 && row >= rows) break;
    const int count = row < rows_left ? there : 0;
    if (VECTORS) {
      cp_async_16_part(tile + offset(row, column), source, 2 * count);
      continue;
    }
    vector16 piece = {{0, 0, 0, 0}};
    UNROLL for (int e = 0; e < 8; ++e) piece.word[e / 2] |=
        e < count ? (uint32_t)source[e] << (e % 2 * 16) : 0;
    vector16_store(tile + offset(row, column), piece);
  }
}

/* The keys of a round, then its values. */
static __device__ void load_round(element *to, const place *at, const attention_args args, int round) {
  const int64_t first = (int64_t)round * KEYS, left = args.n - first;
  load_tile(to, KEYS, at->k + first * args.stride[1][2], args.stride[1][2], left, args.d);
  load_tile(to + KEYS * PITCH, KEYS, at->v + first * args.stride[2][2], args.stride[2][2], left, args.d);
}

/* Puts 0 in place of infinities and NaN in the pieces that this thread has copied; whether there were any. */
static __device__ int clean(element *tile) {
  uint32_t odd = 0;
  for (int i = (int)threadIdx.x; i < KEYS * PIECES; i += THREADS) {
    element *at = tile + offset(i / PIECES, i % PIECES);
    vector16 piece = vector16_load(at);
    UNROLL for (int w = 0; w < 4; ++w) {
      const uint32_t hit = ((piece.word[w] & EXPONENTS) + ONE_MORE) & 0x80008000u;
      piece.word[w] &= ~((hit >> 15) * 0xffffu);
      odd |= hit;
    }
    if (odd != 0) vector16_store(at, piece);
  }
  return odd != 0;
}

/* Its queries 16 * t and so on, as ldmatrix deals them out: two rows a lane. */
typedef struct warp_state {
  uint32_t q[ROW_TILES][COLUMNS / 16][4];
  float o[ROW_TILES][COLUMNS / 8][4]; /* sums of weighted values */
  float m[ROW_TILES][2];              /* maxima of the scores, times scale */
  float s[ROW_TILES][2];              /* sums of the weights that this lane has seen */
} warp_state;
typedef float scores[ROW_TILES][BLOCK_N / 8][4];

static __device__ void load_queries(warp_state *w, const element *q_tile, int c) {
  UNROLL for (int t = 0; t < ROW_TILES; ++t)
      ldmatrix_x4(w->q[t][c], q_tile + 16 * t * PITCH + offset(LANE % 16, LANE / 16 + 2 * c));
}

static __device__ void multiply_keys(scores x, warp_state *w, const element *q_tile, const element *k_tile) {
  const int lane = offset(LANE / 16 * 8 + LANE % 8, LANE / 8 % 2);
  uint32_t k[2][4]; /* what comes next is loaded before what is there is used */
  UNROLL for (int i = 0; i < ROW_TILES * BLOCK_N / 2; ++i)
      x[i / (BLOCK_N / 2)][i / 4 % (BLOCK_N / 8)][i % 4] = 0.0f;
  if (!HELD) load_queries(w, q_tile, 0);
  ldmatrix_x4(k[0], k_tile + lane);
  UNROLL for (int c = 0; c < WIDE; ++c) UNROLL for (int j = 0; j < TALL; ++j) {
    const int next_c = j + 1 < TALL ? c : c + 1, next_j = (j + 1) % TALL, turn = (c * TALL + j) % 2;
    if (next_c < WIDE) ldmatrix_x4(k[1 - turn], k_tile + 16 * next_j * PITCH + (lane + 16 * next_c));
    if (!HELD && j == 0 && c + 1 < WIDE) load_queries(w, q_tile, c + 1);
    UNROLL for (int t = 0; t < ROW_TILES; ++t) {
      mma_m16n8k16(x[t][2 * j], w->q[t][c], k[turn]);
      mma_m16n8k16(x[t][2 * j + 1], w->q[t][c], k[turn] + 2);
    }
  }
}

/* Scores of keys that a row does not see are replaced, whatever they were. `below`: the tile's first key,
 * counted from the first of the 16 queries; `left`: keys from there to the last. */
static __device__ void mask(float (*x)[4], int causal, int below, int left) {
  UNROLL for (int i = 0; i < BLOCK_N / 2; ++i) {
    const int past = LANE / 4 + i / 2 % 2 * 8 + 1 - below;
    if (i / 4 * 8 + PAIR + i % 2 >= (causal && past < left ? past : left)) x[i / 4][i % 4] = -ASSAY_INFINITY;
  }
}

/* Row h's scores become weights; maximum and sums move on. fmaxf passes over NaN, the weights do not. */
static __device__ void weigh(float (*x)[4], warp_state *w, int t, int h, float scale) {
  float top = fmaxf(x[0][2 * h], x[0][2 * h + 1]), sum = 0.0f;
  UNROLL for (int j = 1; j < BLOCK_N / 8; ++j) top = fmaxf(top, fmaxf(x[j][2 * h], x[j][2 * h + 1]));
  for (int step = 1; step < 4; step *= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  top = fmaxf(w->m[t][h], top * scale);
  const float origin = ORIGIN(top);
  const float rescale = exp2_approx(w->m[t][h] - origin);
  UNROLL for (int i = 0; i < BLOCK_N / 4; ++i) {
    float *p = &x[i / 2][2 * h + i % 2];
    *p = exp2_approx(fmaf(*p, scale, -origin));
    sum += *p;
  }
  w->m[t][h] = top;
  w->s[t][h] = w->s[t][h] * rescale + sum;
  UNROLL for (int c = 0; c < COLUMNS / 4; ++c) w->o[t][c / 2][2 * h + c % 2] *= rescale;
}

/* The weights lie in the lanes just as the left operand of the next product wants them. */
static __device__ void multiply_values(warp_state *w, scores x, const element *v_tile) {
  const int lane = offset(LANE % 16, LANE / 16);
  uint32_t v[2][4], p[ROW_TILES][4];
  ldmatrix_x4_trans(v[0], v_tile + lane);
  UNROLL for (int j = 0; j < TALL; ++j) {
    UNROLL for (int i = 0; i < 4 * ROW_TILES; ++i) {
      const float *pair = &x[i / 4][2 * j + i / 2 % 2][i % 2 * 2];
      p[i / 4][i % 4] = element_pack(pair[0], pair[1]);
    }
    UNROLL for (int c = 0; c < WIDE; ++c) {
      const int next_c = (c + 1) % WIDE, next_j = c + 1 < WIDE ? j : j + 1, turn = (j * WIDE + c) % 2;
      if (next_j < TALL) ldmatrix_x4_trans(v[1 - turn], v_tile + 16 * next_j * PITCH + (lane + 16 * next_c));
      UNROLL for (int t = 0; t < ROW_TILES; ++t) {
        mma_m16n8k16(w->o[t][2 * c], p[t], v[turn]);
        mma_m16n8k16(w->o[t][2 * c + 1], p[t], v[turn] + 2);
      }
    }
  }
}

/* One round's work of a warp. first: its round's first key. */
static __device__ void take_tile(warp_state *w, const place *at, const attention_args args,
                                 const element *q_tile, const element *k_tile, int64_t first) {
  /* Seen from the warp's first query, and from its first key on the end of all keys. */
  const int ahead = clamp(first - at->start) + OWN_KEY - OWN_ROW;
  const int left = clamp(args.n - first) - OWN_KEY;
  if (args.causal && !args.all && ahead >= 16 * ROW_TILES) return;
  scores x;
  multiply_keys(x, w, q_tile, k_tile);
  UNROLL for (int t = 0; t < ROW_TILES; ++t) {
    if (left < BLOCK_N || (args.causal && ahead + BLOCK_N > 16 * t + 1))
      mask(x[t], args.causal, ahead - 16 * t, left);
    weigh(x[t], w, t, 0, args.scale);
    weigh(x[t], w, t, 1, args.scale);
  }
  multiply_values(w, x, k_tile + KEYS * PITCH);
}

static __device__ void store_pair(const place *at, const attention_args args, int64_t row, int column,
                                  float low, float high) {
  element *to = at->o + row * args.d + column;
  if (row >= args.n || column >= args.d) return;
  if (VECTORS) *(uint32_t *)to = element_pack(low, high);
  if (!VECTORS) element_store(to, 0, low);
  if (!VECTORS && column + 1 < args.d) element_store(to, 1, high);
}

/* Adds what `clean` has put aside to the results of rows that see it, from row0 on. A weight that is not 0
 * may as well be 1: an infinity or NaN times it is the same. */
static __device__ void repair(const place *at, const attention_args args, int64_t row0, int rows) {
  for (int64_t i = threadIdx.x; i < rows * args.d; i += THREADS) {
    const int64_t row = row0 + i / args.d;
    const element *q = at->q + row * args.stride[0][2];
    element *to = at->o + row * args.d + i % args.d;
    for (int64_t j = at->start / KEYS * KEYS; j <= row && row < args.n; ++j) {
      const float value = element_load(at->v, j * args.stride[2][2] + i % args.d);
      float score = 0.0f;
      if (fabsf(value) < ASSAY_INFINITY) continue;
      for (int c = 0; c < args.d; ++c)
        score += element_load(q, c) * element_load(at->k, j * args.stride[1][2] + c);
      element_store(to, 0, element_load(to, 0) + (score == -ASSAY_INFINITY ? 0.0f : 1.0f) * value);
    }
  }
}

#if SPLIT > 1
#define RANK       ((int)cluster_rank())
#define JOIN()     cluster_sync()
#define PART_OF(k) ((const float *)cluster_shared(memory, (uint32_t)(k) / KEY_WARPS))
#else
#define RANK       0
#define JOIN()     __syncthreads()
#define PART_OF(k) ((const float *)memory)
#endif

/* Each block of the cluster merges the parts of some rows. A row of sums in memory, [KEY_WARPS][ROWS][PITCH],
 * ends with its maximum, its sum of weights, and whether values were put aside. */
static __device__ void finish(const place *at, const attention_args args, const warp_state *w, int odd,
                              unsigned char *memory) {
  const int row0 = RANK * (ROWS / SPLIT);
  UNROLL for (int r = 0; r < 2 * ROW_TILES; ++r) {
    float *row = (float *)memory + (WARP * 16 * ROW_TILES + 8 * r + LANE / 4) * PITCH;
    UNROLL for (int i = 0; i < COLUMNS / 4; ++i) row[i / 2 * 8 + PAIR + i % 2] =
        w->o[r / 2][i / 2][r % 2 * 2 + i % 2];
    float sum = w->s[r / 2][r % 2];
    for (int step = 1; step < 4; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (LANE % 4 != 0) continue;
    row[COLUMNS] = w->m[r / 2][r % 2];
    row[COLUMNS + 1] = sum;
    row[COLUMNS + 2] = (float)odd;
  }
  JOIN();
  for (int i = (int)threadIdx.x; i < ROWS / SPLIT * (COLUMNS / 4); i += THREADS) {
    const int row = row0 + i / (COLUMNS / 4), column = i % (COLUMNS / 4) * 4;
    float factor[PARTS], top = -ASSAY_INFINITY, sum = 0.0f, o[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    UNROLL for (int k = 0; k < PARTS; ++k) {
      factor[k] = PART_OF(k)[(k % KEY_WARPS * ROWS + row) * PITCH + COLUMNS];
      top = fmaxf(top, factor[k]);
    }
    UNROLL for (int k = 0; k < PARTS; ++k) {
      const float *part = PART_OF(k) + (k % KEY_WARPS * ROWS + row) * PITCH;
      const vector16 four = vector16_load(part + column);
      factor[k] = exp2_approx(factor[k] - ORIGIN(top));
      sum += part[COLUMNS + 1] * factor[k];
      UNROLL for (int e = 0; e < 4; ++e) o[e] += __uint_as_float(four.word[e]) * factor[k];
    }
    store_pair(at, args, at->start + row, column, o[0] / sum, o[1] / sum);
    store_pair(at, args, at->start + row, column + 2, o[2] / sum, o[3] / sum);
  }
  for (int k = 0; k < PARTS; k += KEY_WARPS) odd |= PART_OF(k)[COLUMNS + 2] != 0.0f;
  JOIN(); /* nobody leaves while another still reads */
  if (odd) repair(at, args, at->start + row0, ROWS / SPLIT);
}

KERNEL(attend, attention_args, THREADS, LEAST) {
  DYNAMIC_SHARED(memory);
  __shared__ place at; /* here and not in registers, of which there are few */
  element *q_tile = (element *)memory;
  element *ring = q_tile + ROWS * PITCH; /* STAGES times the tiles of a round */
  if (threadIdx.x == 0) at = find_place(args, args.first + blockIdx.x / SPLIT);
  __syncthreads();
  load_tile(q_tile, ROWS, at.q + at.start * args.stride[0][2], args.stride[0][2], args.n - at.start, args.d);
  q_tile += OWN_ROW * PITCH;
  if (STAGES > 1 && RANK < at.rounds) load_round(ring, &at, args, RANK);
  warp_state w;
  UNROLL for (int r = 0; r < 2 * ROW_TILES; ++r) w.m[r / 2][r % 2] = -ASSAY_INFINITY, w.s[r / 2][r % 2] = 0;
  UNROLL for (int i = 0; i < ROW_TILES * COLUMNS / 2; ++i)
      w.o[i / (COLUMNS / 2)][i / 4 % (COLUMNS / 8)][i % 4] = 0.0f;
  int odd = 0;
  for (int round = RANK; round < at.rounds; round += SPLIT) {
    if (STAGES == 1) __syncthreads(); /* nobody reads the round before this one any more */
    if (STAGES == 1) load_round(ring, &at, args, round);
    cp_async_commit();
    cp_async_wait(0);
    const int stage = STAGES > 1 ? round / SPLIT % 2 : 0; /* its place in the ring */
    const element *k_tile = ring + (stage * 2 * KEYS + OWN_KEY) * PITCH;
    const int64_t first = (int64_t)round * KEYS;
    if (args.causal && first + KEYS > at.start + 1) /* some query does not see some key */
      odd |= __syncthreads_or(clean(ring + (stage * 2 + 1) * KEYS * PITCH));
    else
      __syncthreads();
    if (STAGES > 1 && round + SPLIT < at.rounds) /* into the place of the round before this one */
      load_round(ring + (1 - stage) * 2 * KEYS * PITCH, &at, args, round + SPLIT);
    UNROLL for (int c = 0; HELD && round == RANK && c < WIDE; ++c) load_queries(&w, q_tile, c);
    take_tile(&w, &at, args, q_tile, k_tile, first);
  }
  cp_async_commit();
  cp_async_wait(0); /* a block without a round has not waited for its queries */
  __syncthreads();
  finish(&at, args, &w, odd, memory);
}

#else
#include "attention_gpu.h"

assay_status assay_attention_attend(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                    bool all, const assay_attention_plan *plan, assay_queue *queue) {
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  const int inner = q->rank - 1;
  attention_args args = {.q = q->data,
                         .k = in[ASSAY_STREAMING_ATTENTION_K].data,
                         .v = in[ASSAY_STREAMING_ATTENTION_V].data,
                         .o = out[ASSAY_STREAMING_ATTENTION_O].data,
                         .n = q->shape[inner - 1],
                         .d = q->shape[inner],
                         .heads = inner == 3 ? q->shape[1] : 1,
                         .count = inner == 3 ? q->shape[0] * q->shape[1] : 1,
                         .scale = (float)(1.4426950408889634 / sqrt((double)q->shape[inner])),
                         .causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL] != 0,
                         .all = all};
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    for (int k = 0; k < inner; k++) args.stride[i][k + 3 - inner] = in[i].stride[k];
  }
  const assay_define defines[] = {{"DTYPE", q->dtype},
                                  {"COLUMNS", plan->columns},
                                  {"BLOCK_N", plan->block_n},
                                  {"ROW_TILES", plan->row_tiles},
                                  {"ROW_WARPS", plan->row_warps},
                                  {"KEY_WARPS", plan->key_warps},
                                  {"SPLIT", plan->split},
                                  {"VECTORS", plan->vectors},
                                  {NULL, 0}};
  const int64_t rows = 16 * plan->row_tiles * plan->row_warps, most = INT64_C(1) << 26; /* of a launch */
  const int64_t groups = (args.n + rows - 1) / rows * args.count;
  assay_status status = ASSAY_OK;
  for (; args.first < groups && status == ASSAY_OK; args.first += most) {
    const int64_t blocks = (groups - args.first < most ? groups - args.first : most) * plan->split;
    status = LAUNCH(queue, "attend", assay_dim(blocks), assay_dim(32 * plan->row_warps * plan->key_warps),
                    plan->shared_bytes, plan->split, defines, args);
  }
  return status;
}

#endif
