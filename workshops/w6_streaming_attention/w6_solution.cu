/* SPDX-License-Identifier: MIT */
/*
 * w6_solution.cu - streaming attention on a GPU, written to be read. The lesson's last part derives it.
 *
 * A block owns 64 queries, each of its four warps 16 of them. Keys and values come by in tiles, through
 * shared memory; scores and weights live in the registers of the warp that owns their queries.
 *
 * builds: attend DTYPE=1,2 COLUMNS=16,32,64 BLOCK_N=32,64
 */
#include "assay/kernel.h"

enum { QUERIES = 64, THREADS = 128 }; /* of a block */

typedef struct attention_args {
  const void *q, *k, *v;
  void *o;
  int64_t n, q_stride, k_stride, v_stride, causal; /* strides from row to row, in elements */
} attention_args;

#ifdef ASSAY_DEVICE
#define PITCH         (COLUMNS + 8) /* from row to row of a tile: eight rows then lie in different banks */
#define IS_ODD(value) (!(fabsf(value) < ASSAY_INFINITY)) /* what a weight of 0 does not hide */

/* Of 16 x 8 results a lane holds columns PAIR and PAIR + 1 (e = 0, 1) of two rows: of the warp's 16 queries,
 * which begin with BASE, these are the one at SLOT and the one 8 further down (h = 0, 1). */
#define LANE ((int)threadIdx.x % 32)
#define BASE ((int)threadIdx.x / 32 * 16)
#define SLOT (BASE + LANE / 4)
#define PAIR (LANE % 4 * 2)

/* Rows first, first + 1 and so on of a view become a tile. Behind row n nothing is ours to read: 0. With
 * `clean`, 0 also takes the place of odd elements, and the result says whether there were any. */
static __device__ int load_tile(element (*tile)[PITCH], int rows, const void *from, int64_t stride,
                                int64_t first, int64_t n, int clean) {
  int odd = 0;
  for (int i = (int)threadIdx.x; i < rows * COLUMNS; i += THREADS) {
    const int64_t row = first + i / COLUMNS;
    element e = row < n ? ((const element *)from)[row * stride + i % COLUMNS] : (element)0;
    if (clean && IS_ODD(element_to_float(e))) e = 0, odd = 1;
    tile[i / COLUMNS][i % COLUMNS] = e;
  }
  return odd;
}

/* Row h's scores become weights; maximum and sum move on, and the result is what older sums are times. A
 * score behind the `seen` first is replaced, whatever it was. fmaxf passes over NaN, expf does not. */
static __device__ float weigh(float (*x)[2][2], int h, int seen, float *m, float *s) {
  float top = *m, sum = 0.0f;
  for (int j = 0; j < BLOCK_N / 8; ++j)
    for (int e = 0; e < 2; ++e) {
      x[j][h][e] = 8 * j + PAIR + e < seen ? x[j][h][e] * (1.0f / sqrtf((float)COLUMNS)) : -ASSAY_INFINITY;
      top = fmaxf(top, x[j][h][e]);
    }
  for (int step = 1; step < 4; step *= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  const float origin = top == -ASSAY_INFINITY ? 0.0f : top; /* any finite one, while all scores are -inf */
  const float rescale = expf(*m - origin);
  for (int j = 0; j < BLOCK_N / 8; ++j)
    for (int e = 0; e < 2; ++e) sum += x[j][h][e] = expf(x[j][h][e] - origin);
  *m = top, *s = *s * rescale + sum;
  return rescale;
}

KERNEL(attend, attention_args, THREADS) {
  __shared__ __align__(16) element q_tile[QUERIES][PITCH];
  __shared__ __align__(16) element k_tile[BLOCK_N][PITCH];
  __shared__ __align__(16) element v_tile[BLOCK_N][PITCH];
  __shared__ float weights[QUERIES][BLOCK_N]; /* used only where v holds odd elements */
  const int64_t start = (int64_t)blockIdx.x * QUERIES, query = start + SLOT;
  const int64_t visible[2] = {args.causal ? query + 1 : args.n, args.causal ? query + 9 : args.n};
  load_tile(q_tile, QUERIES, args.q, args.q_stride, start, args.n, 0);
  __syncthreads();
  uint32_t q[COLUMNS / 16][4];
  for (int c = 0; c < COLUMNS / 16; ++c) ldmatrix_x4(q[c], &q_tile[BASE + LANE % 16][16 * c + LANE / 16 * 8]);
  float m[2] = {-ASSAY_INFINITY, -ASSAY_INFINITY}, s[2] = {0.0f, 0.0f};
  float o[COLUMNS / 8][2][2] = {{{0.0f}}}; /* sums of weighted values; s has this lane's own keys only */

  /* Tiles in the future of all 64 queries are not visited. All threads make the same rounds. */
  const int64_t end = args.causal && start + QUERIES < args.n ? start + QUERIES : args.n;
  for (int64_t first = 0; first < end; first += BLOCK_N) {
    __syncthreads(); /* nobody reads the tile before this one any more */
    load_tile(k_tile, BLOCK_N, args.k, args.k_stride, first, args.n, 0);
    const int odd = __syncthreads_or(load_tile(v_tile, BLOCK_N, args.v, args.v_stride, first, args.n, 1));

    float x[BLOCK_N / 8][2][2] = {{{0.0f}}};
    for (int j = 0; j < BLOCK_N / 8; ++j)
      for (int c = 0; c < COLUMNS / 16; ++c) {
        uint32_t k[2];
        ldmatrix_x2(k, &k_tile[8 * j + LANE % 8][16 * c + LANE / 8 % 2 * 8]);
        mma_m16n8k16(&x[j][0][0], q[c], k);
      }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float rescale = weigh(x, h, (int)(visible[h] - first), &m[h], &s[h]);
      for (int c = 0; c < COLUMNS / 8; ++c) o[c][h][0] *= rescale, o[c][h][1] *= rescale;
    }

    /* The weights lie in the lanes just as the left operand of the next product wants them. */
    for (int j = 0; j < BLOCK_N / 8; j += 2) {
      uint32_t p[4];
      for (int i = 0; i < 4; ++i) p[i] = element_pack(x[j + i / 2][i % 2][0], x[j + i / 2][i % 2][1]);
      for (int c = 0; c < COLUMNS / 8; ++c) {
        uint32_t v[2];
        ldmatrix_x2_trans(v, &v_tile[8 * j + LANE % 16][8 * c]);
        mma_m16n8k16(&o[c][0][0], p, v);
      }
    }

    /* Odd elements of v join the rows that see them. The weights are other lanes': through memory. */
    if (odd) {
      for (int i = 0; i < BLOCK_N / 2; ++i)
        weights[SLOT + i % 2 * 8][i / 4 * 8 + PAIR + i / 2 % 2] = x[i / 4][i % 2][i / 2 % 2];
      __syncwarp();
      for (int j = 0; j < BLOCK_N && first + j < args.n; ++j)
        for (int i = 0; i < COLUMNS / 2; ++i) {
          const int c = i / 4, h = i % 2, e = i / 2 % 2;
          const element *row = (const element *)args.v + (first + j) * args.v_stride;
          const float value = element_load(row, 8 * c + PAIR + e);
          if (IS_ODD(value) && first + j < visible[h]) o[c][h][e] += weights[SLOT + 8 * h][j] * value;
        }
    }
  }

  for (int h = 0; h < 2; ++h) {
    for (int step = 1; step < 4; step *= 2) s[h] += __shfl_xor_sync(0xffffffffu, s[h], step);
    for (int i = 0; query + 8 * h < args.n && i < COLUMNS / 4; ++i)
      element_store((element *)args.o, (query + 8 * h) * COLUMNS + i / 2 * 8 + PAIR + i % 2,
                    o[i / 2][h][i % 2] / s[h]);
  }
}

#else

ASSAY_API assay_kernel streaming_attention;

assay_status streaming_attention(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue) {
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q], *k = &in[ASSAY_STREAMING_ATTENTION_K];
  const assay_tensor *v = &in[ASSAY_STREAMING_ATTENTION_V], *o = &out[ASSAY_STREAMING_ATTENTION_O];
  const int64_t n = q->shape[0], causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL];
  const int64_t block_n = opt[ASSAY_STREAMING_ATTENTION_BLOCK_N], blocks = (n + QUERIES - 1) / QUERIES;
  const attention_args args = {q->data,      k->data,      v->data,      o->data, n,
                               q->stride[0], k->stride[0], v->stride[0], causal};
  if (n == 0) return ASSAY_OK; /* a grid of no blocks is an error, and an empty sequence is not */
  const assay_define defines[] = {
      {"DTYPE", q->dtype}, {"COLUMNS", q->shape[1]}, {"BLOCK_N", block_n != 0 ? block_n : 64}, {NULL, 0}};
  return LAUNCH(queue, "attend", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
}

#endif
