/* SPDX-License-Identifier: MIT */
/*
 * normalizer_trees.c - checks of partitions and merge trees. The kernel itself summarises the parts of a set
 * and merges its own states; what comes out is compared with the definition on the whole set.
 */
#include <stdlib.h>

#include "normalizer_sets.h"

enum { MOST_PARTS = 64 };

typedef enum tree_order { LEFT_FOLD, RIGHT_FOLD, BALANCED, RANDOM_TREE } tree_order;

/* A partition: part i is [cut[i], cut[i + 1]). */
typedef struct partition {
  int parts;
  int64_t cut[MOST_PARTS + 1];
} partition;

static void even_cuts(int64_t count, int parts, partition *result) {
  result->parts = parts;
  for (int i = 0; i <= parts; i++) result->cut[i] = count * i / parts;
}

/* Anywhere, so that some parts are empty or single elements when there are few elements. */
static void random_cuts(assay_rng *rng, int64_t count, int parts, partition *result) {
  result->parts = parts;
  result->cut[0] = 0;
  result->cut[parts] = count;
  for (int i = 1; i < parts; i++) {
    int k = i;
    const int64_t at = (int64_t)assay_rng_below(rng, (uint64_t)count + 1);
    for (; k > 1 && result->cut[k - 1] > at; k--) result->cut[k] = result->cut[k - 1];
    result->cut[k] = at;
  }
}

/* The kernel's states of all parts. Operands are given back after each, since there may be many sizes. */
static bool summarise_parts(assay_probe *probe, const normalizer_set *set, const partition *cuts,
                            double states[][2]) {
  assay_case *operands = NULL;
  int64_t made = -1;
  for (int i = 0; i < cuts->parts; i++) {
    const int64_t count = cuts->cut[i + 1] - cuts->cut[i];
    if (count != made) {
      assay_probe_release(probe);
      operands = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_SUMMARISE, set->dtype, count);
      made = count;
    }
    if (!assay_normalizer_put_elements(probe, operands, 0, set, cuts->cut[i])) return false;
    if (!assay_probe_run_one(probe, operands)) return false;
    assay_normalizer_read_state(probe, operands, states[i]);
  }
  assay_probe_release(probe);
  return true;
}

/* Merges neighbours in pairs, level by level, into states[0]. */
static bool merge_balanced(assay_probe *probe, assay_case *merging, double states[][2], int count) {
  for (int step = 1; step < count; step *= 2) {
    for (int i = 0; i + step < count; i += 2 * step) {
      if (!assay_normalizer_run_merge(probe, merging, states[i], states[i + step], states[i])) return false;
    }
  }
  return true;
}

/* Takes any two states out and puts their merge back, until one is left. */
static bool merge_randomly(assay_probe *probe, assay_case *merging, double states[][2], int count) {
  for (; count > 1; count--) {
    const int a = (int)assay_rng_below(&probe->rng, (uint64_t)count);
    int b = (int)assay_rng_below(&probe->rng, (uint64_t)count - 1);
    if (b >= a) b++;
    double merged[2];
    if (!assay_normalizer_run_merge(probe, merging, states[a], states[b], merged)) return false;
    states[a][0] = merged[0];
    states[a][1] = merged[1];
    states[b][0] = states[count - 1][0];
    states[b][1] = states[count - 1][1];
    if (a == count - 1) {
      states[b][0] = merged[0];
      states[b][1] = merged[1];
    }
  }
  return true;
}

static bool merge_all(assay_probe *probe, assay_case *merging, tree_order order, double states[][2],
                      int count) {
  if (order == BALANCED) return merge_balanced(probe, merging, states, count);
  if (order == RANDOM_TREE) return merge_randomly(probe, merging, states, count);
  double total[2] = {states[0][0], states[0][1]};
  if (order == LEFT_FOLD) {
    for (int i = 1; i < count; i++) {
      if (!assay_normalizer_run_merge(probe, merging, total, states[i], total)) return false;
    }
    return true;
  }
  total[0] = states[count - 1][0];
  total[1] = states[count - 1][1];
  for (int i = count - 2; i >= 0; i--) {
    if (!assay_normalizer_run_merge(probe, merging, states[i], total, total)) return false;
  }
  return true;
}

/* What the merges of `parts` states may add to the bound of one summary: every one is FP64. */
static double merge_bound(const normalizer_set *set, int parts) {
  return (4.0 * parts + assay_normalizer_set_spread(set)) * 0x1p-53;
}

/* At least two parts: summarises them, merges them in the given order, compares with the whole set. */
static bool check_tree(assay_probe *probe, const normalizer_set *set, const partition *cuts,
                       tree_order order) {
  double states[MOST_PARTS][2];
  double want[2];
  double allowed[2];
  if (!summarise_parts(probe, set, cuts, states)) return false;
  assay_case *merging = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_FP64, 2);
  if (!merge_all(probe, merging, order, states, cuts->parts)) return false;
  assay_normalizer_set_state(set, 0, set->count, want, allowed);
  allowed[1] += want[1] * merge_bound(set, cuts->parts);
  return assay_normalizer_expect_state(probe, merging, want, allowed);
}

static bool open_row(assay_probe *probe, normalizer_set *set) {
  const assay_row *row = probe->row;
  return assay_normalizer_set_open(probe, set, probe->dtype, row->dims[0], row->fill, row->a, row->b);
}

/* The row's contents in its number of parts, all of one size. */
static void even_tree(assay_probe *probe, tree_order order) {
  normalizer_set set;
  partition cuts;
  if (!open_row(probe, &set)) return;
  even_cuts(set.count, (int)probe->row->dims[1], &cuts);
  (void)check_tree(probe, &set, &cuts, order);
  assay_normalizer_set_close(&set);
}

/* In parts of any sizes. */
static void uneven_tree(assay_probe *probe, tree_order order) {
  normalizer_set set;
  partition cuts;
  if (!open_row(probe, &set)) return;
  random_cuts(&probe->rng, set.count, (int)probe->row->dims[1], &cuts);
  (void)check_tree(probe, &set, &cuts, order);
  assay_normalizer_set_close(&set);
}

void assay_normalizer_every_cut(assay_probe *probe) {
  normalizer_set set;
  if (!open_row(probe, &set)) return;
  for (int64_t at = 0; at <= set.count; at++) {
    const partition cuts = {.parts = 2, .cut = {0, at, set.count}};
    if (!check_tree(probe, &set, &cuts, at % 2 == 0 ? LEFT_FOLD : RIGHT_FOLD)) break;
  }
  assay_normalizer_set_close(&set);
}

void assay_normalizer_single_elements(assay_probe *probe) {
  even_tree(probe, LEFT_FOLD);
  even_tree(probe, BALANCED);
}

void assay_normalizer_left_fold(assay_probe *probe) {
  uneven_tree(probe, LEFT_FOLD);
}

void assay_normalizer_right_fold(assay_probe *probe) {
  uneven_tree(probe, RIGHT_FOLD);
}

void assay_normalizer_balanced_tree(assay_probe *probe) {
  uneven_tree(probe, BALANCED);
}

void assay_normalizer_random_tree(assay_probe *probe) {
  for (int i = 0; i < 4; i++) uneven_tree(probe, RANDOM_TREE);
}

void assay_normalizer_masked_part(assay_probe *probe) {
  even_tree(probe, LEFT_FOLD);
  even_tree(probe, RIGHT_FOLD);
}

void assay_normalizer_rising_parts(assay_probe *probe) {
  even_tree(probe, LEFT_FOLD);
  even_tree(probe, RIGHT_FOLD);
  even_tree(probe, BALANCED);
}

void assay_normalizer_huge_in_each_part(assay_probe *probe) {
  even_tree(probe, LEFT_FOLD);
  even_tree(probe, RANDOM_TREE);
}

void assay_normalizer_tree_then_finish(assay_probe *probe) {
  normalizer_set set;
  partition cuts;
  double states[MOST_PARTS][2];
  double state[2];
  double allowed[2];
  if (!open_row(probe, &set)) return;
  double *want = malloc(sizeof *want * 2 * (size_t)set.count);
  even_cuts(set.count, (int)probe->row->dims[1], &cuts);
  if (want != NULL && summarise_parts(probe, &set, &cuts, states)) {
    double *room = want + set.count;
    assay_case *merging = assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_FP64, 2);
    bool right = merge_balanced(probe, merging, states, cuts.parts);
    assay_case *finishing =
        assay_normalizer_case(probe, ASSAY_ONLINE_NORMALIZER_FINISH, set.dtype, set.count);
    right = right && finishing != NULL && assay_probe_fill(probe, finishing, 0, states[0]) &&
            assay_normalizer_put_elements(probe, finishing, 1, &set, 0) &&
            assay_probe_run_one(probe, finishing);
    if (right) {
      /* Against the exact state: what the kernel's own one is off by comes on top. */
      assay_normalizer_set_state(&set, 0, set.count, state, allowed);
      const double off = allowed[1] / state[1] + merge_bound(&set, cuts.parts);
      assay_tensor in[] = {assay_probe_in(probe, finishing, 0), assay_probe_in(probe, finishing, 1)};
      in[0].data = state;
      assay_normalizer_oracle(ASSAY_ONLINE_NORMALIZER_FINISH, in, NULL, NULL, 0, set.count, want, room);
      for (int64_t i = 0; right && i < set.count; i++) {
        right = assay_probe_expect(probe, finishing, i, want[i], room[i] + want[i] * off);
      }
    }
  }
  free(want);
  assay_normalizer_set_close(&set);
}
