/* SPDX-License-Identifier: MIT */
/* main.c - the program: a worker process when the check engine started it, else the command line. */
#include "check/engine.h"
#include "cli.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

/* The Makefile knows it. */
#ifndef ASSAY_REVISION
#define ASSAY_REVISION ""
#endif

static int worker(const char *descriptor) {
  char *end;
  const long fd = strtol(descriptor, &end, 10);
  if (end == descriptor || *end != '\0' || fd < 0 || fd > 1 << 20) {
    output_error("--worker takes the number of an open socket and is used by the check engine only");
    return CLI_USAGE;
  }
  return worker_main((int)fd);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--worker") == 0) return worker(argv[2]);
  cli_revision = ASSAY_REVISION;
  return output_close(cli_run(argc, (const char *const *)argv));
}
