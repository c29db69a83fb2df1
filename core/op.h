/* SPDX-License-Identifier: MIT */
/*
 * op.h - how an operator describes itself: one subject (definition, validation, checks) and one table of
 * variants.
 *
 * Dispatch, checks, bench and `list` walk these tables; none of them knows an operator by name.
 */
#ifndef ASSAY_OP_H
#define ASSAY_OP_H

#include <stdbool.h>

#include "assay/workshop.h"
#include "rng.h"
#include "status.h"

enum { ASSAY_MAX_OPERANDS = 4, ASSAY_MAX_OPTIONS = 8, ASSAY_MAX_EXPORTS = 3, ASSAY_MAX_DIMS = 4 };

typedef enum assay_backend { ASSAY_CPU = 0, ASSAY_CUDA, ASSAY_SIMT, ASSAY_BACKEND_COUNT } assay_backend;

/* A workshop accepts smaller problems than the library does; validation takes the one that applies. */
typedef enum assay_limits { ASSAY_LIMITS_LIBRARY = 0, ASSAY_LIMITS_WORKSHOP } assay_limits;

/* Bit sets in a check. */
enum { ASSAY_ON_CPU = 1 << ASSAY_CPU, ASSAY_ON_CUDA = 1 << ASSAY_CUDA, ASSAY_ON_SIMT = 1 << ASSAY_SIMT };
enum { ASSAY_ON_ALL = ASSAY_ON_CPU | ASSAY_ON_CUDA | ASSAY_ON_SIMT };
enum { ASSAY_HAS_FP32 = 1 << ASSAY_FP32, ASSAY_HAS_FP16 = 1 << ASSAY_FP16, ASSAY_HAS_BF16 = 1 << ASSAY_BF16 };
enum { ASSAY_HAS_FP64 = 1 << ASSAY_FP64 };
enum {
  ASSAY_HAS_16BIT = ASSAY_HAS_FP16 | ASSAY_HAS_BF16,
  ASSAY_HAS_FLOATS = ASSAY_HAS_FP32 | ASSAY_HAS_16BIT
};

/* ---- cases: how a check asks for operands -------------------------------------------------------------- */

/* What a fill function gets: which operand, its logical shape, the row's two parameters, a seeded generator.
 */
typedef struct assay_fill_args {
  int operand;
  int rank;
  int64_t shape[ASSAY_MAX_RANK];
  double a;
  double b;
  assay_rng *rng;
} assay_fill_args;

/* Writes one operand's logical values in row-major order; the engine rounds them to the element type. */
typedef void assay_fill(const assay_fill_args *args, double *values);

/* One line of a check's table: it expands to dtypes x layouts cases. */
typedef struct assay_row {
  int64_t dims[ASSAY_MAX_DIMS]; /* the operator's sizes, e.g. rows and columns */
  uint32_t dtypes;              /* ASSAY_HAS_... */
  uint32_t layouts;             /* bit set over the subject's layout_names */
  assay_fill *fill;
  double a, b; /* parameters of the fill */
  int64_t opt[ASSAY_MAX_OPTIONS];
  int64_t shift;   /* elements by which every base is moved off its natural alignment */
  bool degenerate; /* a constant, copied or zero output would pass; the engine proves it from the oracle */
} assay_row;

typedef struct assay_operand_plan {
  assay_dtype dtype;
  int rank;
  int64_t shape[ASSAY_MAX_RANK];
  int64_t stride[ASSAY_MAX_RANK];
  int64_t shift;
  bool absent; /* an optional operand that this call leaves out: data is NULL */
} assay_operand_plan;

typedef struct assay_plan {
  assay_operand_plan in[ASSAY_MAX_OPERANDS];
  assay_operand_plan out[ASSAY_MAX_OPERANDS];
  int64_t opt[ASSAY_MAX_OPTIONS];
  int entry; /* index into the subject's exports */
} assay_plan;

/* ---- checks -------------------------------------------------------------------------------------------- */

typedef struct assay_probe assay_probe;

typedef enum assay_scope { ASSAY_SCOPE_BOTH = 0, ASSAY_SCOPE_EXERCISE, ASSAY_SCOPE_LIBRARY } assay_scope;
typedef enum assay_tier { ASSAY_TIER_S = 0, ASSAY_TIER_M, ASSAY_TIER_L } assay_tier;

typedef struct assay_check {
  const char *name;    /* snake_case, named for the mistake or the situation */
  const char *stage;   /* in lesson order; a learner's run stops at the first failing stage */
  const char *catches; /* the mistake, as a clause: "the maximum is not subtracted" */
  assay_scope scope;
  uint32_t backends; /* ASSAY_ON_... */
  assay_tier tier;
  const assay_row *rows;
  int row_count;
  /* NULL: call once per case and compare with the oracle. Otherwise called once per case (once in all when
   * there are no rows) and uses probe.h. */
  void (*run)(assay_probe *probe);
  int reads; /* of a check of traffic: how often a kernel may read each byte of an input */
} assay_check;

/* ---- subjects, variants, operators --------------------------------------------------------------------- */

/* A function that a learner's object exports and a variant has an entry for; most subjects have one. */
typedef struct assay_export {
  const char *name;
  const char *in_names[ASSAY_MAX_OPERANDS];
  int in_count;
  const char *out_names[ASSAY_MAX_OPERANDS]; /* out[0] is compared with the oracle; others are workspaces */
  int out_count;
  uint32_t in_fp64; /* bit set: inputs that are FP64 whatever the type of the others is */
} assay_export;

/* What is judged: an operator's mathematics, or an exercise's own. Arrays of names have their count beside.
 */
typedef struct assay_subject {
  const char *name;
  const char *summary; /* one line for `list` */
  const char *formula; /* one line, plain text */
  assay_export exports[ASSAY_MAX_EXPORTS];
  int export_count;
  const char *opt_names[ASSAY_MAX_OPTIONS];
  int opt_count;
  const char *dim_names[ASSAY_MAX_DIMS];
  int dim_count;
  const char *const *layout_names;
  int layout_count;

  /* Everything but the variant's knobs: ASSAY_OK, or a status and a sentence that names the argument. */
  assay_status (*validate)(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_limits limits, assay_message *why);

  /* Shapes and strides of a case; `plan` arrives zeroed but for opt. */
  void (*plan)(const assay_row *row, assay_dtype dtype, int layout, assay_plan *plan);

  /* Operators only: the type and the shape, contiguous, that out[0] has for these inputs; its data stays
   * NULL. The inputs need not be valid: `validate` judges both. */
  assay_tensor (*shape_out)(int entry, const assay_tensor *in);

  /* The FP64 definition of export `entry`. For units [first, first + count) of the first dimension of out[0]
   * (rows, for the softmaxes) writes the expected values, not rounded to the element type, and the allowed
   * absolute errors, that rounding included; row-major from the first unit. Derivation of the bound: the
   * operator's README. */
  void (*oracle)(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                 int64_t first, int64_t count, double *want, double *allowed);

  const assay_check *checks; /* in lesson order; an entry without a name ends the table */
} assay_subject;

/* A knob that a variant has: the index into opt and the values it takes besides 0. */
typedef struct assay_knob {
  int opt;
  int value_count;
  int64_t values[8];
} assay_knob;

typedef struct assay_variant {
  const char *name;
  const char *note; /* one line: how it works */
  assay_backend backend;
  uint32_t features; /* ASSAY_CPU_... of device/cpu.h that it needs; 0 runs on every CPU */
  int lowest_arch;   /* CUDA: lowest compute capability, 80 for 8.0 */
  bool cuda_only;    /* CUDA: it uses what the emulator does not have (wgmma, TMA); others run on simt too */
  /* Whether dispatch should take it where it runs; NULL: yes. For what features do not tell, such as a rate:
   * called whenever there is a choice, from any thread, with always the same answer. */
  bool (*preferred)(void);
  const assay_knob *knobs;
  int knob_count;
  assay_kernel *entry[ASSAY_MAX_EXPORTS];
} assay_variant;

struct assay_bench_table;

typedef struct assay_operator {
  assay_subject subject;
  const assay_variant *variants; /* the best first: dispatch takes the first that runs and is preferred */
  int variant_count;
  const struct assay_bench_table *bench; /* what is timed and against what: bench_table.h; NULL: nothing */
} assay_operator;

#endif
