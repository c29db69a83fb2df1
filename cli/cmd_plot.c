/* SPDX-License-Identifier: MIT */
/* cmd_plot.c - `assay plot`: a report as a picture, a page, or dots in the terminal. */
#include "cli.h"
#include "core/file.h"
#include "evidence/plot.h"
#include "evidence/verify.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PLOT_OUTPUT = 0, PLOT_OPTIONS };

static const cli_option plot_options[PLOT_OPTIONS] = {
    [PLOT_OUTPUT] = {"output", OPTION_TEXT, "FILE", NULL, 0, 0,
                     "a picture (.svg, .png) or one self-contained page (.html); without it, text"},
};

static int terminal_columns(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60) return size.ws_col;
  return 100;
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text);
  return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static int write_out(const char *path, const char *data, size_t size) {
  if (!assay_write_file(path, data, size, 0666)) {
    output_error("cannot write %s: %s", path, strerror(errno));
    return CLI_FAILED;
  }
  printf("wrote %s\n", path);
  return CLI_OK;
}

static int draw_picture(const report *loaded, const char *path, plot_format format) {
  size_t size = 0;
  assay_message why = {""};
  if (!plot_has_gnuplot()) {
    output_error("gnuplot was not found, so %s was not drawn: the same as text follows", path);
    plot_text(loaded, terminal_columns(), stdout);
    return CLI_UNAVAILABLE;
  }
  char *picture = plot_picture(loaded, PLOT_WHOLE, format, &size, &why);
  if (picture == NULL) {
    output_error("%s", why.text);
    return CLI_FAILED;
  }
  const int code = write_out(path, picture, size);
  free(picture);
  return code;
}

static int draw_page(const report *loaded, const char *file, const char *path) {
  verify_outcome outcome;
  assay_message why = {""};
  char status[400];
  if (!verify_quietly(file, VERIFY_ALL, &outcome, &why)) {
    snprintf(status, sizeof status, "not valid: %s", why.text);
  } else {
    snprintf(status, sizeof status, "%s%s",
             outcome.current ? "valid and current" : "valid, not current: changed since: ", outcome.changed);
  }
  char *page = plot_page(loaded, file, status);
  if (page == NULL) {
    output_error("out of memory");
    return CLI_FAILED;
  }
  const int code = write_out(path, page, strlen(page));
  free(page);
  return code;
}

static int run_plot(const cli_args *args) {
  const char *file = args->names[0];
  const char *path = args->values[PLOT_OUTPUT].text;
  char message[512];
  if (path != NULL && !ends_with(path, ".svg") && !ends_with(path, ".png") && !ends_with(path, ".html")) {
    output_error("--output takes a name that ends with .svg, .png or .html, not \"%.80s\"", path);
    return CLI_USAGE;
  }
  report *loaded = report_load(file, message, sizeof message);
  if (loaded == NULL) {
    output_error("%s", message);
    return CLI_USAGE;
  }
  int code = CLI_OK;
  if (path == NULL) {
    plot_text(loaded, terminal_columns(), stdout);
  } else if (ends_with(path, ".html")) {
    code = draw_page(loaded, file, path);
  } else {
    code = draw_picture(loaded, path, ends_with(path, ".svg") ? PLOT_SVG : PLOT_PNG);
  }
  report_free(loaded);
  return code;
}

static const char *const plot_examples[] = {"plot r.json", "plot r.json -o r.svg", "plot r.json -o r.html",
                                            NULL};

const cli_command command_plot = {
    .name = "plot",
    .summary = "show a report: dots in the terminal, a picture, a page",
    .about = "Shows every raw sample of a report as a dot, with the medians, case by case. With --output "
             "(-o) gnuplot "
             "draws a picture of all cases and a roofline, or the page holds environment, tables, plots and "
             "verdicts in "
             "one file. Without gnuplot the plots are text, and the command says so; a picture is then not "
             "available "
             "(exit code 3).",
    .names = "REPORT",
    .names_min = 1,
    .names_max = 1,
    .examples = plot_examples,
    .options = plot_options,
    .option_count = PLOT_OPTIONS,
    .run = run_plot,
};
