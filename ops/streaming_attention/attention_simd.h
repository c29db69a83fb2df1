/* SPDX-License-Identifier: MIT */
/*
 * attention_simd.h - the blocked attention that the AVX2 and AVX-512 variants share, written over a
 * micro-kernel (GEMM_MR, GEMM_NR, gemm_micro), the words of vec_exp_avx2.h or vec_exp_avx512.h, and a few
 * more that each variant defines before it includes this file; GEMM_NR is two vectors, GEMM_MR at most one:
 *
 *   vec_is_number                    no lane is NaN
 *   vec_reciprocal                   1 / a, rounded
 *   vec_zero_for_minus_infinity      a, and 0 where a is -infinity
 *   vec_all_ones                     whether every lane is 1
 *   vec_hide(a, shown)               a in the lanes shown, shown + 1, ..., -infinity in those before
 *   vec_widen, vec_widen_part        elements of a dtype; absent lanes are 0
 *   vec_narrow, vec_narrow_part      rounded to a dtype
 *   vec_transpose                    a square of vectors
 *
 * Everything lies transposed: scores are [key][query] and sums [column][query], with GEMM_NR queries side by
 * side in a panel. Scores K*Q' and products V'*P' then are calls of the same micro-kernel, whose result is
 * the packed operand of the next one, and the softmax runs down a column of lanes without a step across them.
 */
#ifndef ASSAY_ATTENTION_SIMD_H
#define ASSAY_ATTENTION_SIMD_H

#include "attention.h"
#include "attention_view.h"

#define INLINE static inline __attribute__((always_inline))

enum {
  UNIT_QUERIES = 64, /* of a unit of work: they share a key tile while it is in the first-level cache */
  PANELS = UNIT_QUERIES / GEMM_NR,
  BLOCK_MOST = 64,
  LINE = 16,                    /* floats of a cache line */
  GROUP_FLOATS_MOST = 1 << 18,  /* packed heads that are worked on together, a thread */
  SHARED_FLOATS_MOST = 64 << 20 /* a head beyond this is packed again for every unit */
};

typedef struct simd_task {
  attention_view view;
  int64_t tiles;       /* of keys, a head */
  int64_t units;       /* of queries, a head */
  int64_t k_floats;    /* of a packed key tile; the value tile follows it */
  int64_t tile_floats; /* of both */
  int64_t head;        /* the first one of the group */
  float *packed;       /* the group's tiles, NULL when every unit packs its own */
  bool *odd;           /* for each of those tiles: v holds an infinity or NaN */
  float *scratch;
  int64_t slice; /* floats of scratch a thread */
} simd_task;

/* A thread's memory. */
typedef struct workspace {
  float *queries; /* PANELS x [d][GEMM_NR], scaled */
  float *sums;    /* PANELS x [columns][GEMM_NR] */
  float *tops;    /* PANELS x [GEMM_NR]: the largest score so far */
  float *totals;  /* PANELS x [GEMM_NR]: sums of exp(score - top) */
  float *scores;  /* [BLOCK_MOST][GEMM_NR] */
  float *tile;    /* keys and values, when this thread packs them itself */
  float *clean;   /* values without infinities and NaN */
} workspace;

INLINE int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

INLINE int64_t round_up(int64_t a, int64_t to) {
  return (a + to - 1) / to * to;
}

/* ---- packing ------------------------------------------------------------------------------------------- */

/* `lanes` rows become columns: element (r, c) goes to to[c * pitch + r], times factor; lanes that no row
 * fills are 0. Whole vectors are stored, so what follows in memory has to be packed later. */
INLINE void pack_across(const uint16_t *from, int64_t step, int64_t lanes, int64_t d, assay_dtype dtype,
                        vec factor, float *to, int64_t pitch) {
  for (int64_t c = 0; c < d; c += VEC_LANES) {
    const int count = (int)least(VEC_LANES, d - c);
    vec square[VEC_LANES];
    for (int r = 0; r < VEC_LANES; ++r) {
      const uint16_t *row = from + r * step + c;
      square[r] = r >= lanes           ? vec_set1(0.0f)
                  : count == VEC_LANES ? vec_widen(row, dtype)
                                       : vec_widen_part(row, dtype, count);
    }
    vec_transpose(square);
    for (int k = 0; k < count; ++k) vec_store_scratch(to + (c + k) * pitch, vec_mul(square[k], factor));
  }
}

/* Panels of GEMM_MR columns of v, each [block][GEMM_MR]. Whether all of v is finite. */
INLINE bool pack_values(const attention_view *view, assay_dtype dtype, const uint16_t *from, int64_t step,
                        int64_t keys, float *to) {
  const vec zero = vec_set1(0.0f);
  vec seen = zero; /* NaN as soon as an infinity or NaN is multiplied by 0 */
  for (int64_t c = 0; c < view->d; c += GEMM_MR, to += view->block * GEMM_MR) {
    const int count = (int)least(GEMM_MR, view->d - c);
    const bool whole = c + VEC_LANES <= view->d;
    for (int64_t j = 0; j < keys; ++j) {
      const uint16_t *row = from + j * step + c;
      const vec v = whole ? vec_widen(row, dtype) : vec_widen_part(row, dtype, count);
      seen = vec_fma(v, zero, seen);
      vec_store_scratch(to + j * GEMM_MR, v);
    }
  }
  return vec_is_number(seen);
}

INLINE bool pack_tile_of(const simd_task *task, assay_dtype dtype, int64_t head, int64_t first, float *to) {
  const attention_view *view = &task->view;
  const int64_t keys = least(view->block, view->n - first);
  const int64_t step = view->step[ASSAY_STREAMING_ATTENTION_K][2];
  const uint16_t *k = attention_row(view, ASSAY_STREAMING_ATTENTION_K, head, first);
  for (int64_t j = 0; j < keys; j += GEMM_MR) {
    pack_across(k + j * step, step, least(GEMM_MR, keys - j), view->d, dtype, vec_set1(1.0f),
                to + j * view->d, GEMM_MR);
  }
  const uint16_t *v = attention_row(view, ASSAY_STREAMING_ATTENTION_V, head, first);
  return pack_values(view, dtype, v, view->step[ASSAY_STREAMING_ATTENTION_V][2], keys, to + task->k_floats);
}

/* Packs the keys and values from row `first` on. Whether a value is an infinity or NaN. */
static bool pack_tile(const simd_task *task, int64_t head, int64_t first, float *to) {
  return task->view.dtype == ASSAY_FP16 ? !pack_tile_of(task, ASSAY_FP16, head, first, to)
                                        : !pack_tile_of(task, ASSAY_BF16, head, first, to);
}

static void pack_unit(const void *context, int64_t unit, int thread) {
  const simd_task *task = context;
  (void)thread;
  task->odd[unit] = pack_tile(task, task->head + unit / task->tiles, unit % task->tiles * task->view.block,
                              task->packed + unit * task->tile_floats);
}

INLINE void pack_queries(const attention_view *view, assay_dtype dtype, int64_t head, int64_t first,
                         float *to) {
  const int64_t step = view->step[ASSAY_STREAMING_ATTENTION_Q][2];
  for (int64_t lane = 0; lane < GEMM_NR; lane += VEC_LANES) {
    const int64_t rows = least(VEC_LANES, view->n - first - lane);
    const uint16_t *q =
        rows > 0 ? attention_row(view, ASSAY_STREAMING_ATTENTION_Q, head, first + lane) : NULL;
    pack_across(q, rows > 0 ? step : 0, rows, view->d, dtype, vec_set1(view->scale), to + lane, GEMM_NR);
  }
}

/* ---- one panel of queries meets one tile of keys ------------------------------------------------------- */

/*
 * Scores become weights; the running maximum, the running sum and, where a maximum rose, the sums of values
 * follow: s = s * exp(m_old - m) + s_tile, the merge of two softmax states down each lane.
 */
INLINE void weigh(float *scores, int64_t keys, float *top, float *total, float *sums, int64_t d) {
  vec old[2], origin[2], factor[2], sum[2];
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) old[h] = origin[h] = vec_load_scratch(top + h * VEC_LANES);
  for (int64_t j = 0; j < keys; ++j) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      origin[h] =
          vec_max(vec_load_scratch(scores + j * GEMM_NR + h * VEC_LANES), origin[h]); /* passes over NaN */
    }
  }
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    vec_store_scratch(top + h * VEC_LANES, origin[h]);
    /* Until a finite score has come, 0 stands in for the maximum: -inf gives weight 0. */
    origin[h] = vec_zero_for_minus_infinity(origin[h]);
    factor[h] = vec_exp(vec_sub(old[h], origin[h]));
    sum[h] = vec_set1(0.0f);
  }
  for (int64_t j = 0; j < keys; ++j) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      float *at = scores + j * GEMM_NR + h * VEC_LANES;
      const vec weight = vec_exp(vec_sub(vec_load_scratch(at), origin[h]));
      vec_store_scratch(at, weight);
      sum[h] = vec_add(sum[h], weight);
    }
  }
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    vec_store_scratch(total + h * VEC_LANES,
                      vec_fma(vec_load_scratch(total + h * VEC_LANES), factor[h], sum[h]));
  }
  if (vec_all_ones(factor[0]) && vec_all_ones(factor[1])) return; /* times 1 changes no bit */
  for (int64_t c = 0; c < d; ++c) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      float *at = sums + c * GEMM_NR + h * VEC_LANES;
      vec_store_scratch(at, vec_mul(vec_load_scratch(at), factor[h]));
    }
  }
}

/* Key `first_key + j` is hidden from the queries before it. */
INLINE void hide_future(float *scores, int64_t keys, int64_t first_key, int64_t first_query) {
  for (int64_t j = 0; j < keys; ++j) {
    for (int64_t lane = 0; lane < GEMM_NR; lane += VEC_LANES) {
      const int64_t shown = first_key + j - first_query - lane;
      if (shown <= 0) continue;
      float *at = scores + j * GEMM_NR + lane;
      vec_store_scratch(at, vec_hide(vec_load_scratch(at), (int)least(shown, VEC_LANES)));
    }
  }
}

INLINE void add_values(const attention_view *view, int64_t keys, const float *values, const float *weights,
                       float *sums) {
  for (int64_t c = 0; c < view->d; c += GEMM_MR) {
    gemm_micro(keys, values + c * view->block, weights, sums + c * GEMM_NR, GEMM_NR,
               (int)least(GEMM_MR, view->d - c), GEMM_NR, true);
  }
}

/*
 * The same in a tile that some queries see in part and whose values are not all finite: 0 * NaN must not
 * reach a row that does not see the NaN. The shared product takes 0 for it; the rows that see it get it
 * afterwards.
 */
static void add_odd_values(const attention_view *view, int64_t keys, const float *values,
                           const float *weights, float *sums, int64_t hidden, float *clean) {
  const int64_t count = round_up(view->d, GEMM_MR) * view->block;
  for (int64_t i = 0; i < count; ++i) clean[i] = isfinite(values[i]) ? values[i] : 0.0f;
  add_values(view, keys, clean, weights, sums);
  for (int64_t j = 0; j < keys; ++j) {
    for (int64_t c = 0; c < view->d; ++c) {
      const float v = values[c / GEMM_MR * GEMM_MR * view->block + j * GEMM_MR + c % GEMM_MR];
      if (isfinite(v)) continue;
      for (int64_t lane = j + hidden > 0 ? j + hidden : 0; lane < GEMM_NR; ++lane) {
        sums[c * GEMM_NR + lane] += weights[j * GEMM_NR + lane] * v;
      }
    }
  }
}

static void meet(const simd_task *task, const workspace *w, int64_t panel, int64_t first_query,
                 int64_t first_key, const float *tile, bool odd) {
  const attention_view *view = &task->view;
  const float *queries = w->queries + panel * view->d * GEMM_NR;
  float *sums = w->sums + panel * round_up(view->d, VEC_LANES) * GEMM_NR;
  const int64_t last_query = least(first_query + GEMM_NR, view->n) - 1;
  int64_t keys = least(view->block, view->n - first_key);
  if (view->causal) keys = least(keys, last_query - first_key + 1);
  for (int64_t j = 0; j < keys; j += GEMM_MR) {
    gemm_micro(view->d, tile + j * view->d, queries, w->scores + j * GEMM_NR, GEMM_NR,
               (int)least(GEMM_MR, keys - j), GEMM_NR, false);
  }
  const bool partly = view->causal && first_key + keys - 1 > first_query;
  if (partly) hide_future(w->scores, keys, first_key, first_query);
  weigh(w->scores, keys, w->tops + panel * GEMM_NR, w->totals + panel * GEMM_NR, sums, view->d);
  if (partly && odd) {
    add_odd_values(view, keys, tile + task->k_floats, w->scores, sums, first_key - first_query, w->clean);
  } else {
    add_values(view, keys, tile + task->k_floats, w->scores, sums);
  }
}

/* ---- a unit of queries --------------------------------------------------------------------------------- */

/* Rows [first, first + rows) of o from a panel: sums / totals, transposed back and rounded. */
INLINE void store_panel(const attention_view *view, assay_dtype dtype, const float *sums, const float *totals,
                        int64_t head, int64_t first, int64_t rows) {
  for (int64_t lane = 0; lane < rows; lane += VEC_LANES) {
    const vec inverse = vec_reciprocal(vec_load_scratch(totals + lane));
    for (int64_t c = 0; c < view->d; c += VEC_LANES) {
      const int count = (int)least(VEC_LANES, view->d - c);
      vec square[VEC_LANES];
      for (int k = 0; k < VEC_LANES; ++k) {
        /* A masked 0 * v may turn -0 into +0; + 0 makes all zeros alike, so that no later value shows. */
        const vec mean = vec_mul(vec_load_scratch(sums + (c + k) * GEMM_NR + lane), inverse);
        square[k] = vec_add(mean, vec_set1(0.0f));
      }
      vec_transpose(square);
      for (int r = 0; r < least(VEC_LANES, rows - lane); ++r) {
        uint16_t *o = attention_output(view, head, first + lane + r) + c;
        if (count == VEC_LANES) {
          vec_narrow(o, dtype, square[r]);
        } else {
          vec_narrow_part(o, dtype, square[r], count);
        }
      }
    }
  }
}

INLINE workspace workspace_of(const simd_task *task, int thread) {
  const int64_t d = task->view.d;
  workspace w = {.queries = task->scratch + thread * task->slice};
  w.sums = w.queries + PANELS * d * GEMM_NR;
  w.tops = w.sums + PANELS * round_up(d, VEC_LANES) * GEMM_NR;
  w.totals = w.tops + PANELS * GEMM_NR;
  w.scores = w.totals + PANELS * GEMM_NR;
  w.clean = w.scores + BLOCK_MOST * GEMM_NR;
  w.tile = w.clean + (task->tile_floats - task->k_floats);
  return w;
}

INLINE int64_t slice_floats(const simd_task *task) {
  const int64_t d = task->view.d;
  const int64_t panels = PANELS * GEMM_NR * (d + round_up(d, VEC_LANES) + 2);
  const int64_t own = task->packed == NULL ? task->tile_floats : 0;
  return panels + BLOCK_MOST * GEMM_NR + task->tile_floats - task->k_floats + own + LINE;
}

INLINE void start_panels(const attention_view *view, int64_t head, int64_t first, const workspace *w) {
  const int64_t columns = round_up(view->d, VEC_LANES);
  memset(w->sums, 0, (size_t)(PANELS * columns * GEMM_NR) * sizeof(float));
  for (int i = 0; i < PANELS * GEMM_NR; ++i) {
    w->tops[i] = -INFINITY;
    w->totals[i] = 0.0f;
  }
  for (int64_t p = 0; p < PANELS && first + p * GEMM_NR < view->n; ++p) {
    float *to = w->queries + p * view->d * GEMM_NR;
    if (view->dtype == ASSAY_FP16) pack_queries(view, ASSAY_FP16, head, first + p * GEMM_NR, to);
    if (view->dtype == ASSAY_BF16) pack_queries(view, ASSAY_BF16, head, first + p * GEMM_NR, to);
  }
}

static void run_unit(const void *context, int64_t unit, int thread) {
  const simd_task *task = context;
  const attention_view *view = &task->view;
  const int64_t group_head = unit / task->units;
  const int64_t head = task->head + group_head;
  const int64_t first = (task->units - 1 - unit % task->units) * UNIT_QUERIES; /* causal: longest first */
  const int64_t last = least(first + UNIT_QUERIES, view->n) - 1;
  const workspace w = workspace_of(task, thread);
  start_panels(view, head, first, &w);
  for (int64_t t = 0; t < task->tiles; ++t) {
    const int64_t first_key = t * view->block;
    if (view->causal && first_key > last) break; /* this tile and all others are in the future */
    const int64_t index = group_head * task->tiles + t;
    const float *tile = w.tile;
    bool odd;
    if (task->packed != NULL) {
      tile = task->packed + index * task->tile_floats;
      odd = task->odd[index];
    } else {
      odd = pack_tile(task, head, first_key, w.tile);
    }
    for (int64_t p = 0; p < PANELS; ++p) {
      const int64_t query = first + p * GEMM_NR;
      const bool future = view->causal && first_key > least(query + GEMM_NR - 1, last);
      if (query <= last && !future) meet(task, &w, p, query, first_key, tile, odd);
    }
  }
  for (int64_t p = 0; p < PANELS && first + p * GEMM_NR <= last; ++p) {
    const float *sums = w.sums + p * round_up(view->d, VEC_LANES) * GEMM_NR;
    const int64_t row = first + p * GEMM_NR;
    const int64_t rows = least(GEMM_NR, last - row + 1);
    const float *totals = w.totals + p * GEMM_NR;
    if (view->dtype == ASSAY_FP16) store_panel(view, ASSAY_FP16, sums, totals, head, row, rows);
    if (view->dtype == ASSAY_BF16) store_panel(view, ASSAY_BF16, sums, totals, head, row, rows);
  }
}

/* The whole operator. */
INLINE assay_status simd_attention(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                   assay_queue *queue) {
  simd_task task = {.view = attention_view_of(in, out, opt)};
  const attention_view *view = &task.view;
  if (attention_empty(view)) return ASSAY_OK;
  const int64_t heads = view->batch * view->heads;
  task.tiles = (view->n + view->block - 1) / view->block;
  task.units = (view->n + UNIT_QUERIES - 1) / UNIT_QUERIES;
  /* The last vector of a tile may reach beyond it: hence a line more. */
  task.k_floats = round_up(view->block, GEMM_MR) * view->d + LINE;
  task.k_floats = round_up(task.k_floats, LINE);
  task.tile_floats = task.k_floats + round_up(round_up(view->d, GEMM_MR) * view->block + LINE, LINE);

  /* With a single unit there is nobody to share packed tiles with. */
  const int64_t head_floats = task.tiles * task.tile_floats;
  int64_t group = heads;
  if (task.units > 1 && head_floats <= SHARED_FLOATS_MOST) {
    const int64_t room = GROUP_FLOATS_MOST * (int64_t)queue->threads / head_floats;
    group = least(heads, room > 0 ? room : 1);
    task.packed = assay_queue_scratch(queue, (size_t)(group * head_floats) * sizeof(float));
    task.odd = assay_queue_scratch(queue, (size_t)(group * task.tiles) * sizeof(bool));
    if (task.packed == NULL || task.odd == NULL) return ASSAY_NO_MEMORY;
  }
  const int threads = attention_threads(view, group * task.units, queue->threads);
  task.slice = slice_floats(&task);
  task.scratch = assay_queue_scratch(queue, (size_t)(threads * task.slice) * sizeof(float));
  if (task.scratch == NULL) return ASSAY_NO_MEMORY;
  for (; task.head < heads; task.head += group) {
    const int64_t now = least(group, heads - task.head);
    if (task.packed != NULL) attention_parallel(pack_unit, &task, now * task.tiles, threads);
    attention_parallel(run_unit, &task, now * task.units, threads);
  }
  return ASSAY_OK;
}

#endif
