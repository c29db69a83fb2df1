/* SPDX-License-Identifier: MIT */
/*
 * plot_gnuplot.c - pictures by gnuplot.
 *
 * gnuplot runs what stands between backquotes in a string, and a report may hold any text. So numbers and
 * names go to it in data files, names hold letters, digits and a few signs only, and the program is started
 * without a shell.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "plot.h"
#include "process.h"

static const double gnuplot_seconds = 60;
static const size_t largest_picture = (size_t)64 << 20;

typedef struct drawing {
  char folder[ASSAY_PATH_SIZE];
  const report *from;
} drawing;

bool plot_has_gnuplot(void) {
  return assay_program_exists("gnuplot");
}

/* `text` with everything else than harmless signs replaced. */
static const char *harmless(const char *text, char *clean, size_t size) {
  size_t used = 0;
  for (; *text != '\0' && used + 1 < size; text++) {
    const bool plain =
        strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,=+-/()", *text) != NULL;
    clean[used++] = plain ? *text : '?';
  }
  clean[used] = '\0';
  return clean;
}

static FILE *open_in(const drawing *self, const char *format, long long index) {
  char name[64];
  char path[ASSAY_PATH_SIZE];
  snprintf(name, sizeof name, format, index);
  return assay_path_format(path, "%s/%s", self->folder, name) ? fopen(path, "w") : NULL;
}

/* ---- data ---------------------------------------------------------------------------------------------- */

/* samplesN: microseconds, row, kind; mediansN: the same and the name. Rows count from the top. */
static bool write_case(const drawing *self, int64_t index) {
  const report_case *one = &self->from->cases.items[index];
  FILE *samples = open_in(self, "samples%lld", (long long)index);
  FILE *medians = open_in(self, "medians%lld", (long long)index);
  for (int64_t v = 0; samples != NULL && medians != NULL && v < one->variants.count; v++) {
    const report_variant *variant = &one->variants.items[v];
    char name[64];
    const double row = (double)(one->variants.count - v);
    for (int64_t s = 0; s < variant->samples.count; s++) {
      const bench_sample *sample = &variant->samples.items[s];
      const double spread =
          (double)(sample->process + 1) / (double)(self->from->protocol.processes + 1) - 0.5;
      fprintf(samples, "%.9g\t%.4f\t%lld\n", report_call_ns(sample) * 1e-3, row + 0.6 * spread,
              (long long)variant->kind);
    }
    if (variant->statistics != NULL) {
      fprintf(medians, "%.9g\t%.4f\t%lld\t%s\n", variant->statistics->median_ns * 1e-3, row,
              (long long)variant->kind, harmless(variant->name, name, sizeof name));
    }
  }
  const bool opened = samples != NULL && medians != NULL;
  if (samples != NULL) fclose(samples);
  if (medians != NULL) fclose(medians);
  return opened;
}

/* Operations a byte, GFLOP/s, kind. */
static bool write_roofline(const drawing *self) {
  FILE *points = open_in(self, "points", 0);
  if (points == NULL) return false;
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    const report_case *one = &self->from->cases.items[i];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_variant *variant = &one->variants.items[v];
      if (variant->statistics == NULL || !(one->work.bytes > 0) || !(one->work.flops > 0)) continue;
      fprintf(points, "%.9g\t%.9g\t%lld\n", one->work.flops / one->work.bytes,
              one->work.flops / variant->statistics->median_ns, (long long)variant->kind);
    }
  }
  return fclose(points) == 0;
}

/* ---- commands ------------------------------------------------------------------------------------------ */

static bool has_samples(const report_case *one) {
  for (int64_t v = 0; v < one->variants.count; v++) {
    if (one->variants.items[v].samples.count > 0) return true;
  }
  return false;
}

/* A linear axis from just below the quickest sample to just above the slowest; a logarithmic one where these
 * are far apart and the quick ones would lie in a heap. */
static void command_axis(const report_case *one, FILE *script) {
  double low = INFINITY;
  double high = 0;
  for (int64_t v = 0; v < one->variants.count; v++) {
    const report_statistics *statistics = one->variants.items[v].statistics;
    if (statistics == NULL) continue;
    low = fmin(low, statistics->min_ns * 1e-3);
    high = fmax(high, statistics->max_ns * 1e-3);
  }
  if (high > 20 * low) {
    fprintf(script, "set logscale x\nset xrange [%.9g:%.9g]\n", low / 1.2, high * 1.2);
  } else {
    const double room = fmax(0.05 * (high - low), 0.01 * high);
    fprintf(script, "unset logscale x\nset xrange [%.9g:%.9g]\n", low - room, high + room);
  }
}

static void command_case(const drawing *self, int64_t index, FILE *script) {
  const report_case *one = &self->from->cases.items[index];
  char name[160];
  char op[80];
  fprintf(script, "set title '%s, %s (%s, %s)'\n", harmless(one->op, op, sizeof op),
          harmless(one->name, name, sizeof name), report_mode_names[self->from->mode],
          report_cache_names[self->from->cache]);
  fputs(
      "set xlabel 'microseconds a call'\nunset ylabel\nunset logscale y\nset format x '%g'\nset grid xtics\n"
      "unset key\n",
      script);
  command_axis(one, script);
  fprintf(script,
          "set yrange [0.4:%lld.6]\n"
          "plot 'samples%lld' using 1:2:($3+1) with points pt 7 ps 0.4 lc variable, "
          "'medians%lld' using 1:($2-0.4):(0):(0.8) with vectors nohead lw 2 lc rgb '#111111', "
          "'' using 1:2:ytic(4) with points pt 7 ps 0.1 lc rgb '#111111'\n",
          (long long)one->variants.count, (long long)index, (long long)index);
}

/* Room on both sides of the cases, so that both parts of the roof are seen. */
static void command_roof_axes(const drawing *self, FILE *script) {
  double low = INFINITY;
  double high = 0;
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    const report_case *one = &self->from->cases.items[i];
    if (!(one->work.bytes > 0) || !(one->work.flops > 0)) continue;
    low = fmin(low, one->work.flops / one->work.bytes);
    high = fmax(high, one->work.flops / one->work.bytes);
  }
  const double bytes = plot_ceiling(self->from, "bytes");
  const double flops = plot_ceiling(self->from, "flops");
  if (bytes > 0 && flops > 0) high = fmax(high, flops / bytes);
  fprintf(
      script,
      "set logscale xy\nset xrange [%.9g:%.9g]\nset yrange [*:*]\nset offsets 0, 0, graph 0.05, graph 0.05\n",
      low / 4, high * 4);
}

static void command_roofline(const drawing *self, FILE *script) {
  const double bytes = plot_ceiling(self->from, "bytes") * 1e-9;
  const double flops = plot_ceiling(self->from, "flops") * 1e-9;
  fputs("set title 'Roofline: medians under the measured ceilings'\nset xlabel 'operations a byte'\n"
        "set ylabel 'GFLOP/s'\nset format x '%g'\nset format y '%g'\nset grid\nset key outside right top\n"
        "set ytics auto\n",
        script);
  command_roof_axes(self, script);
  fputs("plot ", script);
  if (bytes > 0 && flops > 0) {
    fprintf(
        script,
        "(%.9g*x < %.9g ? %.9g*x : %.9g) with lines lw 2 lc rgb '#444444' title '%.3g GB/s, %.3g GFLOP/s', ",
        bytes, flops, bytes, flops, bytes, flops);
  }
  for (int kind = 0; report_kind_names[kind] != NULL; kind++) {
    fprintf(script, "%s'points' using ($3==%d?$1:NaN):2 with points pt 7 ps 0.8 lc %d title '%s'",
            kind > 0 ? ", " : "", kind, kind + 1, report_kind_names[kind]);
  }
  fputc('\n', script);
}

static bool any_work(const report *from) {
  for (int64_t i = 0; i < from->cases.count; i++) {
    if (from->cases.items[i].work.flops > 0 && has_samples(&from->cases.items[i])) return true;
  }
  return false;
}

/* What `index` asks for: which cases, and whether the roofline. */
static bool wanted(const drawing *self, int64_t index, int64_t i) {
  return (index == PLOT_WHOLE || index == i) && has_samples(&self->from->cases.items[i]);
}

static bool write_script(const drawing *self, int64_t index, plot_format format, assay_message *why) {
  int plots = 0;
  const bool roof = (index == PLOT_WHOLE || index == PLOT_ROOFLINE) && any_work(self->from);
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    if (!wanted(self, index, i)) continue;
    plots++;
    if (!write_case(self, i)) plots = -1000000;
  }
  if (roof && ++plots > 0 && !write_roofline(self)) plots = -1000000;
  if (plots == 0) {
    (void)assay_explain(why, ASSAY_OK, "there are no samples to plot");
    return false;
  }
  FILE *script = plots > 0 ? open_in(self, "script", 0) : NULL;
  if (script == NULL) {
    (void)assay_explain(why, ASSAY_OK, "the temporary folder cannot be written: %s", strerror(errno));
    return false;
  }
  fprintf(script,
          format == PLOT_SVG ? "set terminal svg size 860,%d noenhanced font 'sans,12' background '#ffffff'\n"
                             : "set terminal pngcairo size 860,%d noenhanced font 'sans,10'\n",
          plots * 280);
  fputs("set output 'picture'\nset datafile separator '\\t'\nset linetype 1 lc rgb '#cc79a7'\n"
        "set linetype 2 lc rgb '#0072b2'\nset linetype 3 lc rgb '#009e73'\nset linetype 4 lc rgb '#d55e00'\n",
        script);
  if (plots > 1) fprintf(script, "set multiplot layout %d,1\n", plots);
  for (int64_t i = 0; i < self->from->cases.count; i++) {
    if (wanted(self, index, i)) command_case(self, i, script);
  }
  if (roof) command_roofline(self, script);
  if (plots > 1) fputs("unset multiplot\n", script);
  return fclose(script) == 0;
}

static char *draw(const drawing *self, size_t *size, assay_message *why) {
  static const char *const command[] = {"gnuplot", "script", NULL};
  char path[ASSAY_PATH_SIZE];
  assay_process_result result;
  char *picture = NULL;
  assay_process_run(command, self->folder, gnuplot_seconds, &result);
  if (!result.started) {
    (void)assay_explain(why, ASSAY_UNAVAILABLE, "gnuplot cannot be started: %s", strerror(result.error));
  } else if (result.timed_out || result.exit_code != 0) {
    (void)assay_explain(why, ASSAY_OK, "gnuplot failed: %.200s", result.output != NULL ? result.output : "");
    for (char *c = why->text; *c != '\0'; c++) {
      if ((unsigned char)*c < 0x20) *c = ' ';
    }
  } else if (assay_path_format(path, "%s/picture", self->folder)) {
    picture = assay_read_file(path, largest_picture, size);
    if (picture == NULL) (void)assay_explain(why, ASSAY_OK, "gnuplot drew nothing: %s", strerror(errno));
  }
  free(result.output);
  return picture;
}

char *plot_picture(const report *from, int64_t index, plot_format format, size_t *size, assay_message *why) {
  drawing self = {.from = from};
  if (!assay_make_temp_folder(self.folder)) {
    (void)assay_explain(why, ASSAY_OK, "no temporary folder could be made; is TMPDIR writable?");
    return NULL;
  }
  char *picture = write_script(&self, index, format, why) ? draw(&self, size, why) : NULL;
  assay_remove_tree(self.folder);
  return picture;
}
