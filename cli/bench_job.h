/* SPDX-License-Identifier: MIT */
/* bench_job.h - what the files of `assay bench` share: the options, the kernels that were built, the run. */
#ifndef ASSAY_BENCH_JOB_H
#define ASSAY_BENCH_JOB_H

#include "apply.h"
#include "bench/bench.h"
#include "cli.h"
#include "evidence/measured.h"
#include "exercise.h"
#include "output.h"

enum {
  BENCH_OPT_SOLUTION = 0,
  BENCH_OPT_LIBRARY,
  BENCH_OPT_BACKEND,
  BENCH_OPT_SHAPE,
  BENCH_OPT_INPUT,
  BENCH_OPT_SLICE,
  BENCH_OPT_TRANSPOSE,
  BENCH_OPT_DTYPE,
  BENCH_OPT_SET,
  BENCH_OPT_VARIANT,
  BENCH_OPT_BASELINE,
  BENCH_OPT_AGAINST,
  BENCH_OPT_CACHE,
  BENCH_OPT_MODE,
  BENCH_OPT_PROTOCOL,
  BENCH_OPT_QUICK,
  BENCH_OPT_THREADS,
  BENCH_OPT_SEED,
  BENCH_OPT_PREDICTION,
  BENCH_OPT_RESUME,
  BENCH_OPT_OUTPUT,
  BENCH_OPT_JSON,
  BENCH_OPT_COLOUR,
  BENCH_OPTIONS
};

enum { BENCH_JOB_CASES = 128, BENCH_JOB_LOADS = 64, BENCH_JOB_SHAPES = 32 };

typedef struct bench_job {
  const cli_args *args;
  output out;
  bench_run run;
  bench_load loads[BENCH_JOB_LOADS];
  char *texts[2 * BENCH_JOB_LOADS]; /* paths that loads and variants point to */
  int text_count;
  char folder[ASSAY_PATH_SIZE]; /* of what is built; empty: not made yet */
  apply_job given;              /* of --input: the files and their views */
  bench_input inputs[ASSAY_MAX_OPERANDS];
  measured_context context;
  prediction declared;
  char created[UTC_TEXT];
  bool asked_unavailable; /* something named on the command line cannot run here */
  bool variant_found;     /* --variant names something */
  bool baseline_found;
} bench_job;

static inline bool bench_given(const bench_job *job, int option) {
  return job->args->values[option].given;
}

/* Sizes, and words for layout, type and options, from "512x64:fp16:causal=1"; the row begins as `row`, dtype
 * and layout as they are. False after an error message. */
bool bench_shape_parse(const assay_operator *op, const char *text, assay_row *row, assay_dtype *dtype,
                       int *layout);

/* The case whose operands are the files of --input; CLI_OK, or an exit code after an error message. */
int bench_add_inputs(bench_job *job, const assay_operator *op);
void bench_close_inputs(bench_job *job);

/* One more case; NULL after an error message. */
bench_case *bench_add_case(bench_job *job, const bench_case *one);

/* "" or the sentence with which validation refuses the case. */
void bench_validate_case(const bench_case *one, assay_limits limits, assay_message *why);

/* Cases, kernels and variants of one exercise; CLI_OK, or an exit code after an error message. */
int bench_setup(bench_job *job, const assay_exercise *exercise);

/* Builds a kernel's source. The index of its load; the verdict and reason when it cannot be built. */
int bench_build(bench_job *job, const assay_subject *subject, const char *source, verdict *value,
                assay_message *reason);

/* The source that --against names, as a file: itself, or what git has under a revision. False after an error
 * message. */
bool bench_against(bench_job *job, const char *own, char path[ASSAY_PATH_SIZE]);

/* A kept copy of a text; NULL after an error message. */
const char *bench_keep(bench_job *job, const char *text);

/* The table of all cases on stdout. */
void bench_print(bench_job *job);

/* The command's code for what became of the variants. */
int bench_code(const bench_job *job);

#endif
