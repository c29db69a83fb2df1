/* SPDX-License-Identifier: MIT */
/* bench_setup.c - from the options to cases and variants: which shapes, which kernels, against what. */
#include "bench_job.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tensor.h"

static const char own_rounding[] = "as the source has it; every output is held to the contract";
static const char library_rounding[] = "once, to the output's type; sums are FP32 or better";

/* ---- cases --------------------------------------------------------------------------------------------- */

bench_case *bench_add_case(bench_job *job, const bench_case *one) {
  bench_run *run = &job->run;
  if (run->case_count == BENCH_JOB_CASES) {
    output_error("more than %d cases at once: name fewer exercises", BENCH_JOB_CASES);
    return NULL;
  }
  bench_case *added = &run->cases[run->case_count++];
  *added = *one;
  bench_case_describe(added);
  return added;
}

static bool same_sizes(const assay_row *row, const assay_row *asked) {
  return memcmp(row->dims, asked->dims, sizeof row->dims) == 0;
}

/* The suite of this backend; or those of its cases that `asked` picks by its sizes. How many cases there
 * were, -1 after an error. */
static int add_rows(bench_job *job, const assay_operator *op, const assay_row *asked) {
  bench_case one;
  int count = 0;
  for (int i = 0; bench_suite_case(op, job->run.backend, i, &one); i++) {
    if (asked != NULL && !same_sizes(&one.row, asked)) continue;
    if (bench_add_case(job, &one) == NULL) return -1;
    count++;
  }
  return count;
}

static int lowest(uint32_t bits) {
  int index = 0;
  while (index < 31 && (bits >> index & 1u) == 0) index++;
  return index;
}

/* Addresses are of nothing, and far apart. */
void bench_validate_case(const bench_case *one, assay_limits limits, assay_message *why) {
  const assay_subject *subject = &one->op->subject;
  assay_plan plan;
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  bench_case_plan(one, &plan);
  for (int i = 0; i < 2 * ASSAY_MAX_OPERANDS; i++) {
    const assay_operand_plan *from = i % 2 == 0 ? &plan.in[i / 2] : &plan.out[i / 2];
    assay_tensor *to = i % 2 == 0 ? &in[i / 2] : &out[i / 2];
    *to = assay_tensor_make(from->absent ? NULL : (void *)((uintptr_t)(i + 1) << 42), from->dtype, from->rank,
                            from->shape);
    memcpy(to->stride, from->stride, sizeof to->stride);
  }
  why->text[0] = '\0';
  if (subject->validate(plan.entry, in, out, plan.opt, limits, why) == ASSAY_OK) why->text[0] = '\0';
}

/* The shapes of --shape, joined by commas. */
static int add_shapes(bench_job *job, const assay_operator *op) {
  char words[1024];
  char *rest = NULL;
  snprintf(words, sizeof words, "%s", job->args->values[BENCH_OPT_SHAPE].text);
  for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
    assay_row row = op->bench->rows[0];
    assay_dtype dtype = (assay_dtype)lowest(row.dtypes);
    int layout = lowest(row.layouts);
    if (!bench_shape_parse(op, word, &row, &dtype, &layout)) return CLI_USAGE;
    const int known = strchr(word, ':') == NULL ? add_rows(job, op, &row) : 0;
    if (known < 0) return CLI_USAGE;
    if (known > 0) continue;
    const bench_case one = {.op = op, .row = row, .dtype = dtype, .layout = layout};
    if (bench_add_case(job, &one) == NULL) return CLI_USAGE;
    assay_message why;
    bench_validate_case(&job->run.cases[job->run.case_count - 1], ASSAY_LIMITS_LIBRARY, &why);
    if (why.text[0] != '\0') {
      output_error("--shape %.60s: %s", word, why.text);
      return CLI_USAGE;
    }
  }
  return CLI_OK;
}

/* ---- variants ------------------------------------------------------------------------------------------ */

/* Adds the variant to every case from `first` on, unless --variant asks for another. NULL texts are the
 * operator's own. */
static void add_variant(bench_job *job, int first, const bench_variant *variant) {
  const char *wanted = job->args->values[BENCH_OPT_VARIANT].text;
  const char *baseline = job->args->values[BENCH_OPT_BASELINE].text;
  const bool is_baseline = baseline != NULL && strcmp(baseline, variant->name) == 0;
  if (is_baseline) job->baseline_found = true;
  if (variant->kind != BENCH_BASELINE) {
    const bool found = wanted != NULL && strcmp(wanted, variant->name) == 0;
    if (found) job->variant_found = true;
    if (wanted != NULL && !found && !is_baseline) return;
  } else if (baseline != NULL && !is_baseline) {
    return;
  }
  for (int c = first; c < job->run.case_count; c++) {
    bench_case *one = &job->run.cases[c];
    if (one->variant_count == BENCH_VARIANTS) continue;
    bench_variant *added = &one->variants[one->variant_count++];
    *added = *variant;
    if (variant->kind != BENCH_YOURS && variant->kind != BENCH_SOLUTION) continue;
    assay_message why;
    bench_validate_case(one, ASSAY_LIMITS_WORKSHOP, &why);
    if (why.text[0] == '\0' || added->reason[0] != '\0') continue;
    added->gate = VERDICT_UNAVAILABLE;
    snprintf(added->reason, sizeof added->reason, "beyond the workshop: %s", why.text);
  }
}

static const assay_variant *last_variant(const assay_operator *op, assay_backend backend) {
  const assay_variant *last = &op->variants[op->variant_count - 1];
  for (int i = 0; i < op->variant_count; i++) {
    if (op->variants[i].backend == backend) last = &op->variants[i];
  }
  return last;
}

/* The knob's values by the operator's table: what the last variant of the backend, the plain one, has. */
static void add_knobs(bench_job *job, int first, const assay_operator *op, const bench_variant *plain) {
  const assay_variant *by = last_variant(op, job->run.backend);
  for (int k = 0; k < by->knob_count; k++) {
    const assay_knob *knob = &by->knobs[k];
    if ((op->bench->knobs >> knob->opt & 1u) == 0) continue;
    for (int i = 0; i < knob->value_count; i++) {
      bench_variant one = *plain;
      one.knobs[knob->opt] = knob->values[i];
      snprintf(one.name, sizeof one.name, "%.40s %s=%lld", plain->name, op->subject.opt_names[knob->opt],
               (long long)knob->values[i]);
      add_variant(job, first, &one);
    }
  }
}

/* The learner's or the solution's file. The path is what messages show; NULL source: not started. */
static int add_own(bench_job *job, int first, const assay_exercise *exercise) {
  const assay_operator *op = exercise->op;
  const bool solution = bench_given(job, BENCH_OPT_SOLUTION);
  char name[128];
  char shown[ASSAY_PATH_SIZE];
  char file[PATH_MAX] = "";
  const bool exists = exercise_has(exercise, job->run.backend);
  if (!exists) {
    assay_path_format(shown, "%s", exercise->name);
  } else if (solution) {
    exercise_file_name(exercise, "solution", job->run.backend, name);
    exercise_shown_path(exercise, name, shown);
    if (!exercise_full_path(exercise, name, file)) return CLI_FAILED;
  } else {
    work_file(exercise, job->run.backend, shown);
    if (assay_file_exists(shown) && realpath(shown, file) == NULL) file[0] = '\0';
  }
  assay_message reason = {""};
  bench_variant one = {.kind = solution ? BENCH_SOLUTION : BENCH_YOURS,
                       .expression = op->subject.formula,
                       .rounding = own_rounding,
                       .source = bench_keep(job, solution ? shown : file)};
  snprintf(one.name, sizeof one.name, "%s", solution ? "solution" : "yours");
  one.load = bench_build(job, &op->subject, file[0] != '\0' ? file : NULL, &one.gate, &reason);
  if (one.load < 0 || one.source == NULL) return CLI_FAILED;
  if (file[0] == '\0') {
    (void)assay_explain(&reason, ASSAY_OK,
                        exists ? "not started: " PROGRAM " start %s" : "%s has no exercise for a GPU",
                        exercise->name);
  }
  if (one.gate != VERDICT_PASS) snprintf(one.reason, sizeof one.reason, "%s", reason.text);
  add_variant(job, first, &one);
  if (solution && !bench_given(job, BENCH_OPT_AGAINST)) add_knobs(job, first, op, &one);
  if (!bench_given(job, BENCH_OPT_AGAINST)) return CLI_OK;

  char other[ASSAY_PATH_SIZE];
  if (file[0] == '\0') {
    output_error("--against compares with your file, and %s is not there: " PROGRAM " start %s", shown,
                 exercise->name);
    return CLI_USAGE;
  }
  if (!bench_against(job, file, other)) return CLI_USAGE;
  bench_variant old = one;
  old.kind = BENCH_BASELINE;
  old.reason[0] = '\0';
  old.source = bench_keep(job, other);
  snprintf(old.name, sizeof old.name, "against %.60s", job->args->values[BENCH_OPT_AGAINST].text);
  old.load = bench_build(job, &op->subject, other, &old.gate, &reason);
  if (old.load < 0 || old.source == NULL) return CLI_FAILED;
  if (old.gate != VERDICT_PASS) snprintf(old.reason, sizeof old.reason, "%s", reason.text);
  add_variant(job, first, &old);
  return CLI_OK;
}

static bool add_load(bench_job *job, bench_load load, int *index) {
  if (job->run.load_count == BENCH_JOB_LOADS) {
    output_error("more than %d kernels at once: name fewer exercises", BENCH_JOB_LOADS);
    return false;
  }
  *index = job->run.load_count;
  job->loads[job->run.load_count++] = load;
  return true;
}

static int add_library(bench_job *job, int first, const assay_operator *op) {
  for (int i = 0; i < op->variant_count; i++) {
    const assay_variant *variant = &op->variants[i];
    assay_message why = {""};
    if (variant->backend != job->run.backend) continue;
    bench_variant one = {
        .kind = BENCH_LIBRARY, .expression = op->subject.formula, .rounding = library_rounding, .source = ""};
    snprintf(one.name, sizeof one.name, "%s", variant->name);
    /* Whether a GPU fits is found out by the worker. */
    if (variant->backend == ASSAY_CPU && !assay_variant_runs_here(variant, &why)) {
      one.gate = VERDICT_UNAVAILABLE;
      snprintf(one.reason, sizeof one.reason, "%s", why.text);
    }
    const bench_load load = {.target = TARGET_LIBRARY, .subject = &op->subject, .index = i};
    if (!add_load(job, load, &one.load)) return CLI_USAGE;
    add_variant(job, first, &one);
  }
  return CLI_OK;
}

/* A baseline may cover only some of an operator's functions. */
static bool covers(const assay_bench_baseline *baseline, const bench_case *one) {
  assay_plan plan;
  bench_case_plan(one, &plan);
  return baseline->entry[plan.entry] != NULL;
}

static int add_baselines(bench_job *job, int first, const assay_operator *op) {
  const assay_bench_baseline *baseline;
  for (int i = 0; (baseline = assay_operator_baseline(op, i)) != NULL; i++) {
    if (baseline->backend != job->run.backend) continue;
    bench_variant one = {.kind = BENCH_BASELINE,
                         .expression = baseline->expression,
                         .rounding = baseline->rounding,
                         .source = ""};
    const bench_load load = {.target = TARGET_BASELINE, .subject = &op->subject, .index = i};
    snprintf(one.name, sizeof one.name, "%s", baseline->name);
    if (!add_load(job, load, &one.load)) return CLI_USAGE;
    const int count = job->run.case_count;
    for (int c = first; c < count; c++) {
      if (!covers(baseline, &job->run.cases[c])) continue;
      job->run.case_count = c + 1; /* this case alone */
      add_variant(job, c, &one);
    }
    job->run.case_count = count;
  }
  return CLI_OK;
}

int bench_setup(bench_job *job, const assay_exercise *exercise) {
  const assay_operator *op = exercise->op;
  const int first = job->run.case_count;
  int code = CLI_OK;
  if (bench_given(job, BENCH_OPT_SHAPE)) {
    code = add_shapes(job, op);
  } else if (bench_given(job, BENCH_OPT_INPUT)) {
    code = bench_add_inputs(job, op);
  } else if (add_rows(job, op, NULL) < 0) {
    code = CLI_USAGE;
  }
  if (code == CLI_OK) {
    code = bench_given(job, BENCH_OPT_LIBRARY) ? add_library(job, first, op) : add_own(job, first, exercise);
  }
  if (code == CLI_OK && !bench_given(job, BENCH_OPT_AGAINST)) code = add_baselines(job, first, op);
  return code;
}
