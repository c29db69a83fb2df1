/* SPDX-License-Identifier: MIT */
/* output.c - the two streams, each judged by itself. */
#include "output.h"

#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool dumb_terminal(void) {
  const char *term = getenv("TERM");
  return term != NULL && strcmp(term, "dumb") == 0;
}

void output_begin(output *out, output_colour colour) {
  const char *no_color = getenv("NO_COLOR");
  const bool wanted = (no_color == NULL || *no_color == '\0') && !dumb_terminal() && isatty(STDOUT_FILENO);
  out->colour = colour == OUTPUT_COLOUR_ALWAYS || (colour == OUTPUT_COLOUR_AUTO && wanted);
  out->progress = isatty(STDERR_FILENO) && !dumb_terminal();
  out->pending = false;
  setvbuf(stdout, NULL, _IOLBF, 0); /* results are seen as they come, in a pipe too */
}

void output_word(output *out, output_style style, const char *word) {
  static const char *const codes[] = {
      [OUTPUT_PLAIN] = "0", [OUTPUT_GOOD] = "32", [OUTPUT_BAD] = "31", [OUTPUT_OPEN] = "33"};
  if (out->colour && style != OUTPUT_PLAIN) {
    printf("\033[%sm%s\033[0m", codes[style], word);
  } else {
    fputs(word, stdout);
  }
}

void output_progress(output *out, const char *format, ...) {
  if (!out->progress) return;
  fflush(stdout);
  char line[80]; /* a longer one would wrap, and a wrapped line cannot be taken away */
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  fprintf(stderr, "\r\033[K%s", line);
  fflush(stderr);
  out->pending = true;
}

void output_clear(output *out) {
  if (!out->pending) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  out->pending = false;
}

void output_error(const char *format, ...) {
  char line[2 * 4096 + 512]; /* two paths and a sentence */
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  for (char *p = line; *p != '\0'; p++) {
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  }
  fflush(stdout);
  fprintf(stderr, "error: %s\n", line);
}

int output_close(int code) {
  const bool failed_before = ferror(stdout) != 0;
  errno = 0;
  const bool failed_now = fclose(stdout) != 0;
  if (!failed_before && !failed_now) return code;
  if (code > CLI_SIGNAL) return code; /* a closed pipe or an interrupt: the cause is known */
  fprintf(stderr, "error: the output could not be written whole: %s\n",
          failed_now && errno != 0 ? strerror(errno) : "an earlier write failed");
  return CLI_FAILED;
}
