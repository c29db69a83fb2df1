/* SPDX-License-Identifier: MIT */
/* output.h - answers on stdout, coloured when that is wanted; one progress line and errors on stderr. */
#ifndef ASSAY_OUTPUT_H
#define ASSAY_OUTPUT_H

#include <stdbool.h>

typedef enum output_colour {
  OUTPUT_COLOUR_AUTO = 0,
  OUTPUT_COLOUR_ALWAYS,
  OUTPUT_COLOUR_NEVER
} output_colour;

typedef enum output_style { OUTPUT_PLAIN = 0, OUTPUT_GOOD, OUTPUT_BAD, OUTPUT_OPEN } output_style;

typedef struct output {
  bool colour;
  bool progress; /* stderr is a terminal that can rewrite a line */
  bool pending;  /* a progress line stands there now */
} output;

void output_begin(output *out, output_colour colour);

/* A word in its style, on stdout. The word itself carries the meaning too. */
void output_word(output *out, output_style style, const char *word);

/* Shows or replaces the progress line; takes it away, which must come before anything is printed on stdout.
 */
void output_progress(output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void output_clear(output *out);

/* "error: ..." on stderr, always one line: control characters of foreign words become '?'. */
void output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes stdout at the end of the program. Returns `code`, or 1 with a message when output was lost. */
int output_close(int code);

#endif
