/* SPDX-License-Identifier: MIT */
/* record_text.c - writes the fifteen fields. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "predict_check.h"
#include "record.h"

const char *const record_titles[RECORD_FIELDS] = {
    "What is asked, and of which workload",
    "Shapes, strides, types and layouts",
    "Machine and software",
    "Contract and tolerance",
    "Reference and independent check",
    "Hypothesis, before timing",
    "The one thing that was changed",
    "Baseline, its expression and its rounding",
    "Command, sources and raw data",
    "Timing mode, samples, calls and warm-up",
    "Median, smallest and largest time of each variant",
    "Denominator of each ratio",
    "What won, what lost, and the claim that follows",
    "What this does not show",
    "Next experiment",
};

/* What a person is asked to write; NULL where a report leaves nothing open. */
static const char *const questions[RECORD_FIELDS] = {
    "the question, in one sentence",
    "sizes, strides, element type, layout",
    "CPU or GPU, driver, compiler, library versions",
    "what must hold for the output, and how far it may be off",
    "what the output is compared with, and why that is independent",
    "what you expect, by how much and why, written before the first timing",
    "the single thing that differs between the variants",
    "what the baseline computes, pass by pass, and where it rounds",
    "the command, the SHA-256 of each source, the file with the raw samples",
    "what is timed, how many samples of how many calls, after how many untimed ones",
    "of all samples, losers too",
    "for each ratio: BASELINE / CANDIDATE",
    "the claim that the verdicts support, no wider than the shapes measured",
    "what would have to be measured before more can be said",
    "one bounded step",
};

void record_blank(FILE *out, int field) {
  fprintf(out, RECORD_BLANK " %s\n", questions[field]);
}

static void named(FILE *out, const report_named_list *list) {
  for (int64_t i = 0; i < list->count; i++) {
    fprintf(out, "%s%s %lld", i > 0 ? ", " : "", list->items[i].name, (long long)list->items[i].value);
  }
}

static void cases(FILE *out, const report *from) {
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    fprintf(out, "- %s, %s: ", one->op, one->name);
    named(out, &one->dims);
    fprintf(out, "; %s, layout %s", report_dtype_names[one->dtype], one->layout);
    if (one->opt.count > 0) fputs("; ", out);
    named(out, &one->opt);
    for (int64_t k = 0; k < one->inputs.count; k++) {
      const report_input *input = &one->inputs.items[k];
      fprintf(out, "; %s from `%s`, SHA-256 %s", input->operand, input->file, input->sha256);
    }
    fputc('\n', out);
  }
}

static void machine(FILE *out, const report *from) {
  const report_environment *here = &from->environment;
  fprintf(out, "- CPU: %s (%s); %lld thread%s%s\n", here->cpu, here->features, (long long)here->threads,
          here->threads == 1 ? "" : "s", here->pinned ? ", pinned" : "");
  fprintf(out, "- memory: %.1f GiB, %s pages; system: %s\n", (double)here->memory_bytes / 1073741824.0,
          here->pages, here->system);
  fprintf(out, "- compiler: %s; program built by %s\n", here->compiler, here->built_by);
  if (here->gpu != NULL) {
    fprintf(out, "- GPU: %s (%s), driver %s, compiler %s\n", here->gpu->name, here->gpu->architecture,
            here->gpu->driver, here->gpu->compiler);
    report_clocks clocks;
    if (report_all_clocks(from, &clocks))
      fprintf(out, "- SM clock: %lld to %lld MHz behind the samples\n", (long long)clocks.least,
              (long long)clocks.most);
  } else {
    fputs("- GPU: none was used\n", out);
  }
  for (int64_t i = 0; i < from->overheads.count; i++) {
    const report_overhead *one = &from->overheads.items[i];
    fprintf(out, "- %s: %.3g us%s\n", one->name, one->call_ns * 1e-3,
            report_overhead_is_empty(one) ? ", included in every time" : " a call");
  }
  fprintf(out, "- load average: %.2f at the start, %.2f at the end\n", here->load_start, here->load_end);
}

/* One line for each different text. */
static void contracts(FILE *out, const report *from) {
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    bool said = false;
    for (int64_t k = 0; k < i && !said; k++) {
      const report_case *before = &from->cases.items[k];
      said = strcmp(before->contract, one->contract) == 0 && strcmp(before->tolerance, one->tolerance) == 0;
    }
    if (!said) fprintf(out, "- %s: %s; allowed error: %s\n", one->op, one->contract, one->tolerance);
  }
}

static void gates(FILE *out, const report *from) {
  fputs("Each variant was held against the operator's FP64 definition, which shares no code with it.\n\n",
        out);
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_variant *variant = &one->variants.items[v];
      fprintf(out,
              "- %s, %s, %s: %s, %lld elements compared%s, largest error %.3g ULP, %.3g of the allowed\n",
              one->op, one->name, variant->name, variant->gate.verdict, (long long)variant->gate.compared,
              one->sampled_gate ? " (sampled rows)" : "", variant->gate.max_error_ulps,
              variant->gate.max_error_share);
    }
  }
}

static void hypothesis(FILE *out, const report *from) {
  if (from->prediction == NULL) {
    fputs("None was declared before timing: this run is exploratory.\n", out);
    return;
  }
  fprintf(out, "Declared %s, SHA-256 %s:\n\n", from->prediction->created, from->prediction->hash);
  for (const char *at = from->prediction->text; *at != '\0';) {
    const int length = (int)strcspn(at, "\n");
    fprintf(out, "    %.*s\n", length, at);
    at += length + (at[length] == '\n');
  }
}

static void baselines(FILE *out, const report *from) {
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_variant *variant = &one->variants.items[v];
      bool used = variant->kind == REPORT_BASELINE;
      for (int64_t c = 0; c < one->comparisons.count && !used; c++)
        used = strcmp(one->comparisons.items[c].baseline, variant->name) == 0;
      if (used)
        fprintf(out, "- %s, %s, %s: %s; rounding: %s\n", one->op, one->name, variant->name,
                variant->expression, variant->rounding);
    }
  }
}

static void sources(FILE *out, const report *from, const char *path, const char *sha256) {
  fprintf(out, "- report: `%s`, SHA-256 %s\n- command: `", path, sha256);
  for (int64_t i = 0; i < from->command.count; i++)
    fprintf(out, "%s%s", i > 0 ? " " : "", from->command.items[i]);
  fprintf(out, "`\n- revision: %s%s\n", from->git.revision != NULL ? from->git.revision : "none",
          from->git.dirty ? ", with changes" : "");
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_variant *variant = &one->variants.items[v];
      if (variant->sources.count > 0)
        fprintf(out, "- %s, %s, %s: `%s` %s\n", one->op, one->name, variant->name,
                variant->sources.items[0].path, variant->sources.items[0].sha256);
    }
  }
}

static void settings(FILE *out, const report *from) {
  const report_protocol *protocol = &from->protocol;
  fprintf(out, "- mode %s, cache %s, protocol %s: %lld process%s of %lld rounds",
          report_mode_names[from->mode], report_cache_names[from->cache],
          report_protocol_names[protocol->name], (long long)protocol->processes,
          protocol->processes == 1 ? "" : "es", (long long)protocol->rounds);
  fprintf(out, ", samples of %lld calls, %lld untimed before; seed %lld\n", (long long)protocol->calls,
          (long long)protocol->warmup, (long long)from->seed);
}

static void times(FILE *out, const report *from) {
  fputs("| case | variant | median us | smallest us | largest us | samples |\n|---|---|--:|--:|--:|--:|\n",
        out);
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_variant *variant = &one->variants.items[v];
      if (variant->statistics == NULL) continue;
      fprintf(out, "| %s, %s | %s | %.4g | %.4g | %.4g | %lld |\n", one->op, one->name, variant->name,
              variant->statistics->median_ns * 1e-3, variant->statistics->min_ns * 1e-3,
              variant->statistics->max_ns * 1e-3, (long long)variant->samples.count);
    }
  }
}

static void ratios(FILE *out, const report *from, bool verdicts) {
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    for (int64_t c = 0; c < one->comparisons.count; c++) {
      const report_comparison *pair = &one->comparisons.items[c];
      if (verdicts) {
        fprintf(out, "- %s, %s: %s against %s: %s\n", one->op, one->name, pair->candidate, pair->baseline,
                report_verdict_names[pair->verdict]);
        continue;
      }
      fprintf(out, "- %s, %s: %.3gx: %s / %s", one->op, one->name, pair->ratio, pair->baseline,
              pair->candidate);
      if (!isnan(pair->low))
        fprintf(out, " (%.0f %%: %.3g to %.3g)", 100 * pair->confidence, pair->low, pair->high);
      fputc('\n', out);
    }
  }
}

/* What the report itself admits. */
static void limits(FILE *out, const report *from) {
  if (!from->complete) fputs("- the run was interrupted: cases are missing\n", out);
  if (from->prediction == NULL) fputs("- exploratory: no hypothesis was declared before the timing\n", out);
  if (from->protocol.name == REPORT_QUICK)
    fputs("- protocol quick: the range of three processes is no interval of 95 %\n", out);
  if (from->protocol.name == REPORT_SEEDS)
    fputs("- protocol seeds: one process describes itself and decides nothing\n", out);
  if (from->git.dirty) fputs("- the sources differ from the revision named above\n", out);
  fputs("- one machine, this mode and this cache state only; no hardware counters were read\n", out);
  for (int64_t i = 0; i < from->cases.count; i++) {
    const report_case *one = &from->cases.items[i];
    if (one->sampled_gate) fprintf(out, "- %s, %s: the gate looked at sampled rows\n", one->op, one->name);
    for (int64_t s = 0; s < one->skipped.count; s++)
      fprintf(out, "- %s, %s: %s was skipped: %s\n", one->op, one->name, one->skipped.items[s].name,
              one->skipped.items[s].reason);
  }
}

/* Returns whether the field still needs a person. */
static bool field(FILE *out, const report *from, int index, const char *path, const char *sha256) {
  switch (index) {
  case 1:
    cases(out, from);
    return false;
  case 2:
    machine(out, from);
    return false;
  case 3:
    contracts(out, from);
    return false;
  case 4:
    gates(out, from);
    return false;
  case 5:
    hypothesis(out, from);
    return false;
  case 7:
    baselines(out, from);
    return false;
  case 8:
    sources(out, from, path, sha256);
    return false;
  case 9:
    settings(out, from);
    return false;
  case 10:
    times(out, from);
    return false;
  case 11:
    ratios(out, from, false);
    return false;
  case 12:
    ratios(out, from, true);
    break;
  case 13:
    limits(out, from);
    break;
  default: /* what is asked, what was changed, what comes next: only a person knows */
    return true;
  }
  fputc('\n', out);
  return true;
}

char *record_text(const report *from, const char *path, const char *sha256) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  fputs("# Experiment record\n", out);
  for (int i = 0; i < RECORD_FIELDS; i++) {
    fprintf(out, "\n## %d. %s\n\n", i + 1, record_titles[i]);
    if (from == NULL || field(out, from, i, path, sha256)) record_blank(out, i);
  }
  const bool written = ferror(out) == 0;
  if (fclose(out) == 0 && written) return text;
  free(text);
  return NULL;
}
