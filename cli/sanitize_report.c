/* SPDX-License-Identifier: MIT */
/* sanitize_report.c - a line a finding, the table of counts, and speed where it was asked for. */
#include "sanitize_report.h"
#include "sanitize_json.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "core/json.h"

void sanitize_tool_names(uint32_t tools, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < SANITIZE_TOOLS; i++) {
    const size_t used = strlen(text);
    if ((tools >> i & 1u) == 0) continue;
    snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", assay_tool_name((assay_tool)(1 << i)));
  }
}

void sanitize_report_begin(sanitize_report *report, output_colour colour, bool json, uint32_t tools) {
  *report = (sanitize_report){.json = json, .tools = tools, .targets = json_array()};
  output_begin(&report->out, colour);
}

void sanitize_report_free(sanitize_report *report) {
  json_decref(report->targets);
}

void sanitize_report_start(const sanitize_report *report, const sanitize_subject *subject) {
  char tools[64];
  if (report->json) return;
  sanitize_tool_names(report->tools, tools, sizeof tools);
  if (subject->path != NULL) {
    printf("sanitizing %s  sha256 %s  (emulated on the CPU: %s)\n", subject->path, subject->sha256, tools);
  } else {
    printf("sanitizing libassay, %s, variant %s  (emulated on the CPU: %s)\n", subject->workshop,
           subject->variant, tools);
  }
}

/* ---- findings ------------------------------------------------------------------------------------------ */

static const char *plural(int64_t count) {
  return count == 1 ? "" : "s";
}

static void print_findings(sanitize_report *report, const sanitize_result *result) {
  for (int i = 0; i < result->finding_count; i++) {
    const sanitize_finding *finding = &result->findings[i];
    output_word(&report->out, OUTPUT_BAD, assay_tool_name(finding->found.tool));
    printf("%*s%s  (%lld time%s in %d case%s; first: %s)\n",
           8 - (int)strlen(assay_tool_name(finding->found.tool)), "", finding->found.text,
           (long long)finding->found.times, plural(finding->found.times), finding->cases,
           plural(finding->cases), finding->where);
  }
  for (int i = 0; i < result->failure_count; i++) {
    const sanitize_failure *failure = &result->failures[i];
    output_word(&report->out, OUTPUT_BAD, verdict_name(failure->verdict));
    printf("  %s  (%d case%s; first: %s)\n", failure->reason, failure->cases, plural(failure->cases),
           failure->where);
  }
  if (result->not_run > 0 && !check_interrupted())
    printf("%d case%s not run: the kernel had taken its process down too often\n", result->not_run,
           result->not_run == 1 ? " was" : "s were");
}

/* ---- counts -------------------------------------------------------------------------------------------- */

/* "12345      4115   3.00": moved, needed, how often. */
static void print_moved(int64_t moved, int64_t least, int64_t sectors) {
  printf("  %12lld", (long long)moved);
  if (least > 0) {
    printf(" %12lld %6.2f", (long long)least, (double)moved / (double)least);
  } else {
    printf(" %12s %6s", "-", "-");
  }
  printf(" %10lld", (long long)sectors);
}

static void print_operand(const char *name, const assay_counts *counts, int64_t least_read,
                          int64_t least_written) {
  printf("  %-10.10s", name);
  print_moved(counts->bytes_read, least_read, counts->sectors_read);
  print_moved(counts->bytes_written, least_written, counts->sectors_written);
  putchar('\n');
}

static void print_memory(const sanitize_result *result, const assay_export *function) {
  int64_t read = 0;
  int64_t written = 0;
  printf("  %-10s  %12s %12s %6s %10s  %12s %12s %6s %10s\n", "", "bytes read", "at least", "times",
         "sectors", "bytes written", "at least", "times", "sectors");
  for (int i = 0; i < function->in_count; i++) {
    print_operand(function->in_names[i], &result->in[i], result->in_bytes[i], 0);
    read += result->in_bytes[i];
  }
  for (int i = 0; i < function->out_count; i++) {
    print_operand(function->out_names[i], &result->out[i], 0, result->out_bytes[i]);
    written += result->out_bytes[i];
  }
  print_operand("all", &result->all, read, written);
}

static void print_counts(const sanitize_result *result, const assay_export *function) {
  const assay_counts *all = &result->all;
  printf("\ncounts of %d case%s: %lld launch%s, %lld block%s, %lld thread%s\n", result->cases,
         plural(result->cases), (long long)all->launches, all->launches == 1 ? "" : "es",
         (long long)all->blocks, plural(all->blocks), (long long)all->threads, plural(all->threads));
  print_memory(result, function);
  const double passes =
      all->shared_accesses > 0 ? (double)all->shared_passes / (double)all->shared_accesses : 0;
  printf("  shared memory: %lld accesses of warps in %lld passes over the banks (%.2f each)\n",
         (long long)all->shared_accesses, (long long)all->shared_passes, passes);
  printf("  thread-steps %lld, barriers %lld, warp operations %lld, atomics %lld, matrix FLOPs %lld\n",
         (long long)all->steps, (long long)all->barriers, (long long)all->warp_operations,
         (long long)all->atomics, (long long)all->matrix_flops);
}

/* ---- speed --------------------------------------------------------------------------------------------- */

static void print_rate(const sanitize_speed *speed, const char *tools, double seconds) {
  printf("  %-8s %12.3f", tools, seconds > 0 ? (double)speed->steps / seconds * 1e-6 : 0.0);
  if (speed->plain > 0 && seconds > 0) printf(" %10.1f", seconds / speed->plain);
  putchar('\n');
}

static void print_speed(const sanitize_speed *speed) {
  printf("\nspeed of the emulator on one thread, %s, %lld thread-steps\n", speed->where,
         (long long)speed->steps);
  printf("  %-8s %12s %10s\n", "tools", "M steps/s", "slowdown");
  print_rate(speed, "none", speed->plain);
  for (int i = 0; i < SANITIZE_TOOLS; i++)
    print_rate(speed, assay_tool_name((assay_tool)(1 << i)), speed->with[i]);
  print_rate(speed, "all four", speed->with_all);
}

/* ---- results ------------------------------------------------------------------------------------------- */

static verdict verdict_of(const sanitize_result *result) {
  if (result->verdict != VERDICT_PASS) return result->verdict;
  return result->finding_count > 0 || result->failure_count > 0 ? VERDICT_FAIL : VERDICT_PASS;
}

static void print_verdict(sanitize_report *report, verdict value, const char *reason) {
  const bool open = value == VERDICT_TODO || value == VERDICT_UNAVAILABLE;
  output_word(&report->out, open ? OUTPUT_OPEN : OUTPUT_BAD, verdict_name(value));
  printf("  %s\n", reason);
}

static void print_result(sanitize_report *report, const sanitize_job *job, const sanitize_result *result) {
  print_findings(report, result);
  if (result->verdict != VERDICT_PASS) {
    print_verdict(report, result->verdict, result->reason);
    return;
  }
  if (verdict_of(result) == VERDICT_PASS)
    printf("no finding in %d case%s\n", result->cases, plural(result->cases));
  print_counts(result, &job->target->subject->exports[0]);
  if (result->speed.steps > 0) print_speed(&result->speed);
  if (job->speed && result->speed.steps == 0)
    puts("\nspeed was not measured: that needs a case with elements that runs without a finding");
}

void sanitize_report_result(sanitize_report *report, const sanitize_subject *subject, const sanitize_job *job,
                            const sanitize_result *result) {
  const verdict value = verdict_of(result);
  output_clear(&report->out);
  check_totals_add(&report->totals, value);
  report->findings += result->finding_count;
  report->failures += result->failure_count;
  report->cases += result->cases;
  json_array_append_new(report->targets, sanitize_json(subject, job, result, value));
  if (!report->json) print_result(report, job, result);
}

void sanitize_report_missing(sanitize_report *report, const sanitize_subject *subject, verdict value,
                             const char *reason) {
  check_totals_add(&report->totals, value);
  json_array_append_new(report->targets, sanitize_json_missing(subject, value, reason));
  if (report->json) return;
  output_word(&report->out, OUTPUT_OPEN, verdict_name(value));
  printf("  %s, %s: %s\n", subject->workshop, subject->variant, reason);
}

void sanitize_report_end(sanitize_report *report, uint64_t seed) {
  output_clear(&report->out);
  if (report->json) {
    json_t *tools = json_array();
    for (int i = 0; i < SANITIZE_TOOLS; i++) {
      if ((report->tools >> i & 1u) != 0)
        json_array_append_new(tools, json_string(assay_tool_name((assay_tool)(1 << i))));
    }
    json_t *answer =
        json_pack("{s:i, s:i, s:i, s:I, s:b, s:o, s:O}", "findings", report->findings, "failures",
                  report->failures, "cases", report->cases, "seed", (json_int_t)seed, "interrupted",
                  check_interrupted(), "tools", tools, "targets", report->targets);
    assay_json_print(answer, stdout);
    json_decref(answer);
    return;
  }
  printf("\nseed %llu\n", (unsigned long long)seed);
  if (check_interrupted()) puts("interrupted: the cases that are left were not run");
  printf("%d finding%s", report->findings, plural(report->findings));
  if (report->failures > 0) printf(" and %d other failure%s", report->failures, plural(report->failures));
  printf(" in %d case%s\n", report->cases, plural(report->cases));
}
