/* SPDX-License-Identifier: MIT */
/* plot_text.c - plots where there is nothing but a terminal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

enum { NAME_WIDTH = 20, NUMBER_WIDTH = 22, LEAST_AXIS = 20, MOST_AXIS = 200 };

double plot_ceiling(const report *from, const char *unit) {
  double most = 0;
  for (int64_t i = 0; i < from->ceilings.count; i++) {
    const report_ceiling *ceiling = &from->ceilings.items[i];
    if (strcmp(ceiling->unit, unit) == 0 && ceiling->rate > most) most = ceiling->rate;
  }
  return most;
}

double plot_share_of_roof(const report *from, const report_case *one, const report_variant *variant) {
  const double bytes = plot_ceiling(from, "bytes");
  const double flops = plot_ceiling(from, "flops");
  if (variant->statistics == NULL || (bytes == 0 && flops == 0)) return (double)NAN;
  const double seconds = variant->statistics->median_ns * 1e-9;
  const double moved = bytes > 0 ? one->work.bytes / seconds / bytes : 0;
  const double computed = flops > 0 ? one->work.flops / seconds / flops : 0;
  return fmax(moved, computed);
}

/* The axis of a case: all its samples, as logarithms of nanoseconds. */
static bool limits(const report_case *one, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int64_t v = 0; v < one->variants.count; v++) {
    const report_variant *variant = &one->variants.items[v];
    for (int64_t s = 0; s < variant->samples.count; s++) {
      const double value = log(report_call_ns(&variant->samples.items[s]));
      *low = fmin(*low, value);
      *high = fmax(*high, value);
    }
  }
  if (!(*low <= *high)) return false;
  if (*high - *low < 1e-6) *high = *low + 1e-6;
  return true;
}

static int place_of(double ns, double low, double high, int width) {
  const int place = (int)lround((log(ns) - low) / (high - low) * (width - 1));
  return place < 0 ? 0 : place >= width ? width - 1 : place;
}

/* Dots where samples are, denser signs where there are more, the median as a bar. */
static void strip(const report_variant *variant, double low, double high, int width, FILE *out) {
  static const char signs[] = " .:*#";
  int counts[MOST_AXIS] = {0};
  for (int64_t s = 0; s < variant->samples.count; s++) {
    counts[place_of(report_call_ns(&variant->samples.items[s]), low, high, width)]++;
  }
  const int median = place_of(variant->statistics->median_ns, low, high, width);
  for (int i = 0; i < width; i++) {
    const int level = counts[i] >= 8 ? 4 : counts[i] >= 4 ? 3 : counts[i] >= 2 ? 2 : counts[i];
    fputc(i == median ? '|' : signs[level], out);
  }
}

void plot_text_case(const report *from, const report_case *one, int columns, FILE *out) {
  double low;
  double high;
  int width = columns - NAME_WIDTH - NUMBER_WIDTH - 4;
  if (width < LEAST_AXIS) width = LEAST_AXIS;
  if (width > MOST_AXIS) width = MOST_AXIS;
  fprintf(out, "%s, %s\n", one->op, one->name);
  if (!limits(one, &low, &high)) {
    fputs("  no samples\n", out);
    return;
  }
  for (int64_t v = 0; v < one->variants.count; v++) {
    const report_variant *variant = &one->variants.items[v];
    if (variant->statistics == NULL) {
      fprintf(out, "  %-*.*s %s\n", NAME_WIDTH, NAME_WIDTH, variant->name, variant->gate.verdict);
      continue;
    }
    const double share = plot_share_of_roof(from, one, variant);
    fprintf(out, "  %-*.*s ", NAME_WIDTH, NAME_WIDTH, variant->name);
    strip(variant, low, high, width, out);
    fprintf(out, " %9.4g us", variant->statistics->median_ns * 1e-3);
    if (!isnan(share)) fprintf(out, " %5.1f %%", 100 * share);
    fputc('\n', out);
  }
  fprintf(out, "  %-*s %-*.4g%*.4g us a call, logarithmic\n", NAME_WIDTH, "", width / 2, exp(low) * 1e-3,
          width - width / 2, exp(high) * 1e-3);
}

void plot_text(const report *from, int columns, FILE *out) {
  fputs("each sample a dot (. 1, : 2, * 4, # 8 and more), | the median, % of the measured ceiling\n", out);
  for (int64_t i = 0; i < from->cases.count; i++) {
    fputc('\n', out);
    plot_text_case(from, &from->cases.items[i], columns, out);
  }
}
