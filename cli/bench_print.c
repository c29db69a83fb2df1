/* SPDX-License-Identifier: MIT */
/* bench_print.c - the table of a measurement, and the exit code for it. */
#include "bench_job.h"
#include "check/timer.h"

#include <math.h>
#include <string.h>

/* "12.3 us": three digits in the unit that suits `unit_of`. */
static void show_ns(double ns, double unit_of, char text[24]) {
  static const struct {
    double size;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  int u = 0;
  while (u < 3 && unit_of < units[u].size) u++;
  const double value = ns / units[u].size;
  snprintf(text, 24, value >= 100 ? "%.0f %s" : value >= 10 ? "%.1f %s" : "%.2f %s", value, units[u].name);
}

static bool counts(const bench_variant *variant) {
  return variant->gate == VERDICT_PASS && variant->sample_count > 0;
}

/* What ratios are printed to: --baseline, or the first baseline that was timed. */
static const bench_variant *main_baseline(const bench_job *job, const bench_case *one) {
  const char *named = job->args->values[BENCH_OPT_BASELINE].text;
  for (int v = 0; v < one->variant_count; v++) {
    const bench_variant *variant = &one->variants[v];
    if (!counts(variant)) continue;
    if (named != NULL ? strcmp(named, variant->name) == 0 : variant->kind == BENCH_BASELINE) return variant;
  }
  return NULL;
}

static void print_ratio(bench_job *job, const bench_variant *variant, const bench_variant *baseline) {
  schedule_ratio ratio;
  bench_compare(&job->run, variant, baseline, &ratio);
  if (isnan(ratio.ratio)) return;
  static const output_style styles[] = {OUTPUT_GOOD, OUTPUT_BAD, OUTPUT_PLAIN, OUTPUT_OPEN};
  printf("  %.2fx: %s / %s", ratio.ratio, baseline->name, variant->name);
  if (!isnan(ratio.low)) printf(" [%.2f, %.2f]", ratio.low, ratio.high);
  fputs("  ", stdout);
  output_word(&job->out, styles[ratio.verdict], schedule_verdict_name(ratio.verdict));
}

static void print_variant(bench_job *job, const bench_case *one, const bench_variant *variant,
                          const bench_variant *baseline) {
  schedule_summary summary;
  char median[24], least[24], most[24];
  if (!counts(variant)) {
    const bool bad = variant->gate != VERDICT_PASS && variant->gate != VERDICT_TODO &&
                     variant->gate != VERDICT_UNAVAILABLE;
    printf("  %-26s ", variant->name);
    output_word(&job->out, bad ? OUTPUT_BAD : OUTPUT_OPEN,
                variant->gate == VERDICT_PASS ? "skipped" : verdict_name(variant->gate));
    printf("  %s\n", variant->reason[0] != '\0' ? variant->reason : "not timed yet");
    return;
  }
  if (!schedule_summarise(variant->samples, variant->sample_count, &summary)) return;
  show_ns(summary.median_ns, summary.median_ns, median);
  show_ns(summary.min_ns, summary.median_ns, least);
  show_ns(summary.max_ns, summary.median_ns, most);
  const double floor = bench_floor_ns(&job->run, one);
  printf("  %-26s %9s  %9s .. %-9s %4.0f %%", variant->name, median, least, most,
         100 * floor / summary.median_ns);
  if (baseline != NULL && baseline != variant && variant->kind != BENCH_BASELINE) {
    print_ratio(job, variant, baseline);
  }
  putchar('\n');
}

static bool cannot_tell(bench_job *job, const bench_case *one) {
  const bench_variant *baseline = main_baseline(job, one);
  for (int v = 0; baseline != NULL && v < one->variant_count; v++) {
    schedule_ratio ratio;
    if (!counts(&one->variants[v]) || one->variants[v].kind == BENCH_BASELINE ||
        baseline == &one->variants[v])
      continue;
    bench_compare(&job->run, &one->variants[v], baseline, &ratio);
    if (ratio.verdict == SCHEDULE_CANNOT_TELL) return true;
  }
  return false;
}

/* The clock that the samples had, from the slowest to the fastest; and what a call costs that does nothing.
 */
static void print_gpu(const bench_job *job) {
  const gpu_overhead *empty =
      &job->run.overheads[job->run.timer == TIMER_GRAPH ? OVERHEAD_GRAPH : OVERHEAD_EVENTS];
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (int c = 0; c < job->run.case_count; c++) {
    for (int v = 0; v < job->run.cases[c].variant_count; v++) {
      const bench_variant *variant = &job->run.cases[c].variants[v];
      for (int64_t s = 0; s < variant->sample_count; s++) {
        const int64_t mhz = variant->samples[s].sm_mhz;
        if (mhz > 0 && mhz < least) least = mhz;
        if (mhz > most) most = mhz;
      }
    }
  }
  printf("; timed by %s\n", timers[job->run.timer].name);
  if (most > 0) printf("SM clock behind the samples %lld to %lld MHz; ", (long long)least, (long long)most);
  printf("%s %.2f us, included in all times\n", empty->name, empty->call_ns * 1e-3);
}

static void print_ceilings(const bench_job *job) {
  printf("ceilings:");
  for (int i = 0; i < CEILINGS; i++) {
    const ceiling *one = &job->run.ceilings[i];
    if (one->count == 0) continue;
    printf("%s %s %.1f %s", i > 0 ? "," : "", one->name, one->rate * 1e-9, one->flops ? "Gflop/s" : "GB/s");
  }
  if (job->run.backend == ASSAY_CUDA) {
    print_gpu(job);
    return;
  }
  printf("; %d thread%s%s, operands %d to %d %% in huge pages\n", job->run.threads,
         job->run.threads == 1 ? "" : "s", job->run.pinned ? " pinned" : "", job->run.huge_low,
         job->run.huge_high);
}

/* The files that a case was timed on. */
static void print_inputs(const bench_job *job, const bench_case *one) {
  for (int i = 0; one->inputs != NULL && i < job->given.input_count; i++) {
    char shape[ASSAY_NPY_SHAPE_TEXT];
    const bench_input *input = &one->inputs[i];
    assay_npy_shape(input->tensor.rank, input->tensor.shape, shape);
    printf("  %s  %s  %s%s\n", input->operand, input->path, shape,
           job->given.inputs[i].viewed ? ", a view" : "");
  }
}

void bench_print(bench_job *job) {
  bool open = false;
  const char *operator_name = NULL;
  print_ceilings(job);
  printf("seed %llu, protocol %s: %d process%s x %d samples, cache %s\n", (unsigned long long)job->run.seed,
         report_protocol_names[job->run.protocol.name], job->run.protocol.processes,
         job->run.protocol.processes == 1 ? "" : "es", job->run.protocol.rounds,
         job->run.cold ? "cold" : "warm");
  for (int c = 0; c < job->run.case_count; c++) {
    const bench_case *one = &job->run.cases[c];
    const bench_variant *baseline = main_baseline(job, one);
    if (operator_name != one->op->subject.name) {
      operator_name = one->op->subject.name;
      printf("\n%s\n", operator_name);
    }
    printf("%s%s\n", one->name, one->sampled ? "  (64 rows are checked)" : "");
    print_inputs(job, one);
    printf("  %-26s %9s  %9s .. %-9s %6s  ratio: baseline / variant\n", "", "median", "min", "max", "of max");
    for (int v = 0; v < one->variant_count; v++) print_variant(job, one, &one->variants[v], baseline);
    open = open || cannot_tell(job, one);
  }
  if (!job->run.complete) puts("\nincomplete: the rest was not measured");
  if (!open) return;
  if (job->run.protocol.name == SCHEDULE_ASSAY) {
    puts("\ncannot tell: differences are within the noise of this run; run it again when the machine is "
         "quiet");
  } else {
    puts("\ncannot tell: this protocol is too short for a claim; run it again without --quick or --protocol");
  }
}

/* Baselines that cannot run here were not asked for, unless by name. */
int bench_code(const bench_job *job) {
  bool failed = false;
  bool unfinished = false;
  bool any = false;
  for (int c = 0; c < job->run.case_count; c++) {
    for (int v = 0; v < job->run.cases[c].variant_count; v++) {
      const bench_variant *variant = &job->run.cases[c].variants[v];
      if (counts(variant) && variant->kind != BENCH_BASELINE) any = true;
      if (variant->gate == VERDICT_TODO) unfinished = true;
      if (variant->gate != VERDICT_PASS && variant->gate != VERDICT_TODO &&
          variant->gate != VERDICT_UNAVAILABLE) {
        failed = true;
      }
    }
  }
  if (failed) return CLI_FAILED;
  if (unfinished) return CLI_UNFINISHED;
  return !any || job->asked_unavailable ? CLI_UNAVAILABLE : CLI_OK;
}
