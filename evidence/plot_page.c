/* SPDX-License-Identifier: MIT */
/* plot_page.c - a report as one HTML page that can be mailed: no script, no other file, nothing from a
 * network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "predict_check.h"

enum { PAGE_COLUMNS = 110 };

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem;border-top:1px solid #ddd;padding-top:1rem}"
    "table{border-collapse:collapse;margin:.8rem 0}td,th{padding:.2rem "
    ".7rem;text-align:left;border-bottom:1px solid "
    "#e5e5e5;vertical-align:top}.n{text-align:right;font-variant-numeric:tabular-nums}th.n{text-align:right}"
    "pre{font-size:12px;overflow-x:auto}code{font-size:.9em;overflow-wrap:anywhere}"
    ".faster{color:#00704a}.slower{color:#b33a00}.cannot{color:#6a6a6a}svg{max-width:100%;height:auto}"
    "figure{margin:1rem 0;overflow-x:auto}";

static void text(FILE *out, const char *from) {
  for (; *from != '\0'; from++) {
    switch (*from) {
    case '<':
      fputs("&lt;", out);
      break;
    case '>':
      fputs("&gt;", out);
      break;
    case '&':
      fputs("&amp;", out);
      break;
    case '"':
      fputs("&quot;", out);
      break;
    default:
      fputc(*from, out);
    }
  }
}

static void row(FILE *out, const char *name, const char *value) {
  fputs("<tr><th>", out);
  text(out, name);
  fputs("</th><td>", out);
  text(out, value);
  fputs("</td></tr>\n", out);
}

static void command_line(const report *from, char *line, size_t size) {
  size_t used = 0;
  line[0] = '\0';
  for (int64_t i = 0; i < from->command.count && used < size; i++)
    used += (size_t)snprintf(line + used, size - used, "%s%s", i > 0 ? " " : "", from->command.items[i]);
}

static void gpu_rows(FILE *out, const report *from) {
  const report_gpu *gpu = from->environment.gpu;
  char line[1024];
  if (gpu == NULL) {
    row(out, "GPU", "none was used");
    return;
  }
  snprintf(line, sizeof line, "%.200s (%.20s), driver %.60s, kernels by %.100s", gpu->name, gpu->architecture,
           gpu->driver, gpu->compiler);
  row(out, "GPU", line);
  report_clocks clocks;
  if (report_all_clocks(from, &clocks)) {
    snprintf(line, sizeof line, "%lld to %lld MHz behind the samples", (long long)clocks.least,
             (long long)clocks.most);
    row(out, "SM clock", line);
  }
  if (gpu->clock_mhz_most > 0) {
    snprintf(line, sizeof line, "%lld MHz, by its driver", (long long)gpu->clock_mhz_most);
    row(out, "highest SM clock", line);
  }
}

static void overhead_rows(FILE *out, const report *from) {
  for (int64_t i = 0; i < from->overheads.count; i++) {
    const report_overhead *one = &from->overheads.items[i];
    char line[64];
    snprintf(line, sizeof line, "%.4g us%s", one->call_ns * 1e-3,
             report_overhead_is_empty(one) ? ", included in every time" : " a call");
    row(out, one->name, line);
  }
}

static void environment(FILE *out, const report *from, const char *status) {
  const report_environment *here = &from->environment;
  char line[1024];
  fputs("<h2>Run</h2>\n<table>\n", out);
  row(out, "status", status);
  row(out, "measured", from->created);
  command_line(from, line, sizeof line);
  row(out, "command", line);
  snprintf(line, sizeof line, "%s%s", from->git.revision != NULL ? from->git.revision : "none",
           from->git.dirty ? ", with changes" : "");
  row(out, "revision", line);
  snprintf(line, sizeof line, "%s, cache %s; protocol %s, %lld x %lld samples of %lld calls; seed %lld%s",
           report_mode_names[from->mode], report_cache_names[from->cache],
           report_protocol_names[from->protocol.name], (long long)from->protocol.processes,
           (long long)from->protocol.rounds, (long long)from->protocol.calls, (long long)from->seed,
           from->complete ? "" : "; interrupted");
  row(out, "timing", line);
  snprintf(line, sizeof line, "%s (%s), %lld threads%s", here->cpu, here->features, (long long)here->threads,
           here->pinned ? ", pinned" : "");
  row(out, "CPU", line);
  snprintf(line, sizeof line, "%.1f GiB, %s pages", (double)here->memory_bytes / 1073741824.0, here->pages);
  row(out, "memory", line);
  gpu_rows(out, from);
  overhead_rows(out, from);
  row(out, "system", here->system);
  snprintf(line, sizeof line, "%s; program built by %s", here->compiler, here->built_by);
  row(out, "compiler", line);
  snprintf(line, sizeof line, "%.2f at the start, %.2f at the end", here->load_start, here->load_end);
  row(out, "load average", line);
  for (int64_t i = 0; i < from->ceilings.count; i++) {
    const report_ceiling *ceiling = &from->ceilings.items[i];
    snprintf(line, sizeof line, "%.4g %s", ceiling->rate * 1e-9,
             strcmp(ceiling->unit, "bytes") == 0 ? "GB/s" : "GFLOP/s");
    row(out, ceiling->name, line);
  }
  fputs("</table>\n", out);
}

static void claim(void *user, const claim_result *result) {
  FILE *out = user;
  fputs("<tr><td>", out);
  text(out, result->one != NULL ? result->one->name : result->claim->shape);
  fputs("</td><td>", out);
  text(out, result->claim->left);
  fprintf(out, " %s %g * ", result->claim->below ? "&lt;" : "&gt;", result->claim->factor);
  text(out, result->claim->right);
  fputs("</td><td class=\"n\">", out);
  if (!isnan(result->ratio)) fprintf(out, "%.3gx", result->ratio);
  fprintf(out, "</td><td>%s</td><td>%s</td></tr>\n", claim_fate_names[result->fate], result->reason);
}

static void predictions(FILE *out, const report *from) {
  prediction declared = {.text = NULL};
  assay_message why;
  fputs("<h2>Hypothesis</h2>\n", out);
  if (from->prediction == NULL || !prediction_parse(from->prediction->text, &declared, &why)) {
    fputs("<p>None was declared before timing: this run is exploratory.</p>\n", out);
    return;
  }
  fputs("<p>Declared ", out);
  text(out, from->prediction->created);
  fputs(
      ", before the first sample.</p>\n<table>\n<tr><th>case</th><th>claim</th><th class=\"n\">measured</th>"
      "<th>outcome</th><th></th></tr>\n",
      out);
  prediction_judge(from, &declared, claim, out);
  fputs("</table>\n", out);
}

static bool has_clocks(const report_case *one) {
  report_clocks clocks;
  for (int64_t v = 0; v < one->variants.count; v++) {
    if (report_variant_clocks(&one->variants.items[v], &clocks)) return true;
  }
  return false;
}

static void clock_cell(FILE *out, const report_variant *variant) {
  report_clocks clocks;
  fputs("<td class=\"n\">", out);
  if (report_variant_clocks(variant, &clocks))
    fprintf(out, "%lld to %lld", (long long)clocks.least, (long long)clocks.most);
  fputs("</td>", out);
}

static void variants(FILE *out, const report *from, const report_case *one) {
  const bool clocked = has_clocks(one);
  fputs(
      "<table>\n<tr><th>variant</th><th>kind</th><th class=\"n\">median us</th><th class=\"n\">smallest</th>"
      "<th class=\"n\">largest</th><th class=\"n\">deviation</th><th class=\"n\">of the ceiling</th>"
      "<th class=\"n\">error, of allowed</th>",
      out);
  fputs(clocked ? "<th class=\"n\">SM MHz</th></tr>\n" : "</tr>\n", out);
  for (int64_t v = 0; v < one->variants.count; v++) {
    const report_variant *variant = &one->variants.items[v];
    const report_statistics *statistics = variant->statistics;
    fputs("<tr><td>", out);
    text(out, variant->name);
    fprintf(out, "</td><td>%s</td>", report_kind_names[variant->kind]);
    if (statistics == NULL) {
      fprintf(out, "<td colspan=\"5\">%s ", variant->gate.verdict);
      text(out, variant->gate.reason);
      fputs(clocked ? "</td><td></td><td></td></tr>\n" : "</td><td></td></tr>\n", out);
      continue;
    }
    const double share = plot_share_of_roof(from, one, variant);
    fprintf(out,
            "<td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td "
            "class=\"n\">%.2g</td>",
            statistics->median_ns * 1e-3, statistics->min_ns * 1e-3, statistics->max_ns * 1e-3,
            statistics->mad_ns * 1e-3);
    fprintf(out, isnan(share) ? "<td></td>" : "<td class=\"n\">%.1f %%</td>", 100 * share);
    fprintf(out, "<td class=\"n\">%.2g</td>", variant->gate.max_error_share);
    if (clocked) clock_cell(out, variant);
    fputs("</tr>\n", out);
  }
  fputs("</table>\n", out);
}

static void comparisons(FILE *out, const report_case *one) {
  static const char *const classes[] = {"faster", "slower", "same", "cannot"};
  if (one->comparisons.count == 0) return;
  fputs("<table>\n<tr><th>ratio of times</th><th class=\"n\"></th><th>interval</th><th>verdict</th></tr>\n",
        out);
  for (int64_t c = 0; c < one->comparisons.count; c++) {
    const report_comparison *pair = &one->comparisons.items[c];
    fputs("<tr><td>", out);
    text(out, pair->baseline);
    fputs(" / ", out);
    text(out, pair->candidate);
    fprintf(out, "</td><td class=\"n\">%.3gx</td><td>", pair->ratio);
    if (!isnan(pair->low))
      fprintf(out, "%.3g to %.3g (%.0f %%)", pair->low, pair->high, 100 * pair->confidence);
    fprintf(out, "</td><td class=\"%s\">", classes[pair->verdict]);
    text(out, pair->candidate);
    fprintf(out, ": %s</td></tr>\n", report_verdict_names[pair->verdict]);
  }
  fputs("</table>\n", out);
}

/* The picture without the head that stands in a file of its own; as text when there is none. */
static void picture(FILE *out, const report *from, int64_t index) {
  size_t size;
  assay_message why;
  char *svg = plot_has_gnuplot() ? plot_picture(from, index, PLOT_SVG, &size, &why) : NULL;
  const char *begin = svg != NULL ? strstr(svg, "<svg") : NULL;
  if (begin != NULL) {
    fprintf(out, "<figure>%s</figure>\n", begin);
  } else if (index >= 0) {
    char *plain = NULL;
    FILE *memory = open_memstream(&plain, &size);
    if (memory != NULL) {
      plot_text_case(from, &from->cases.items[index], PAGE_COLUMNS, memory);
      fclose(memory);
      fputs("<pre>", out);
      text(out, plain);
      fputs("</pre>\n", out);
    }
    free(plain);
  }
  free(svg);
}

static void one_case(FILE *out, const report *from, int64_t index) {
  const report_case *one = &from->cases.items[index];
  fputs("<h2>", out);
  text(out, one->op);
  fputs(", ", out);
  text(out, one->name);
  fputs("</h2>\n<p>", out);
  text(out, one->contract);
  fputs("; allowed error: ", out);
  text(out, one->tolerance);
  fputs(one->sampled_gate ? "; the gate looked at sampled rows" : "", out);
  fputs("</p>\n", out);
  picture(out, from, index);
  variants(out, from, one);
  comparisons(out, one);
  for (int64_t s = 0; s < one->skipped.count; s++) {
    fputs("<p>skipped: ", out);
    text(out, one->skipped.items[s].name);
    fputs(", ", out);
    text(out, one->skipped.items[s].reason);
    fputs("</p>\n", out);
  }
}

char *plot_page(const report *from, const char *name, const char *status) {
  char *page = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&page, &size);
  if (out == NULL) return NULL;
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<title>",
        out);
  text(out, name);
  fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>Measurements: ", style);
  text(out, name);
  fputs("</h1>\n<p>Ratios are time(baseline) / time(candidate): above 1 the candidate is faster. Each dot is "
        "a sample, "
        "each bar a median.</p>\n",
        out);
  if (!plot_has_gnuplot()) fputs("<p>gnuplot was not found: the plots are text.</p>\n", out);
  environment(out, from, status);
  predictions(out, from);
  for (int64_t i = 0; i < from->cases.count; i++) one_case(out, from, i);
  fputs("<h2>Roofline</h2>\n", out);
  picture(out, from, PLOT_ROOFLINE);
  fputs("</body>\n</html>\n", out);
  const bool written = ferror(out) == 0;
  if (fclose(out) == 0 && written) return page;
  free(page);
  return NULL;
}
