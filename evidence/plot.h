/* SPDX-License-Identifier: MIT */
/* plot.h - a report to look at: every sample as a dot, medians, the roofline; in the terminal, by gnuplot, as
 * a page. */
#ifndef ASSAY_PLOT_H
#define ASSAY_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "report.h"
#include "status.h"

typedef enum plot_format { PLOT_SVG = 0, PLOT_PNG } plot_format;

/* Plain text, `columns` wide: one line a variant, its samples on a logarithmic axis of the case. */
void plot_text(const report *from, int columns, FILE *out);

/* The plot of one case as text. */
void plot_text_case(const report *from, const report_case *one, int columns, FILE *out);

/* The share of what the machine can do that the median reaches: by bytes or by operations, whichever is
 * larger. NaN without samples or ceilings. */
double plot_share_of_roof(const report *from, const report_case *one, const report_variant *variant);

/* The largest measured rate of "bytes" or "flops"; 0 without one. */
double plot_ceiling(const report *from, const char *unit);

/* Whether gnuplot is in PATH. */
bool plot_has_gnuplot(void);

enum { PLOT_WHOLE = -1, PLOT_ROOFLINE = -2 };

/* A picture by gnuplot: of case `index`, of the roofline, or of the whole report. The bytes are to be freed;
 * NULL with the reason. Nothing of the report reaches a shell, and nothing of it is read by gnuplot as a
 * command. */
char *plot_picture(const report *from, int64_t index, plot_format format, size_t *size, assay_message *why);

/* One page that needs no other file: environment, tables, verdicts, plots (as text without gnuplot). `status`
 * is what verify says of the report. To be freed; NULL without memory. */
char *plot_page(const report *from, const char *name, const char *status);

#endif
