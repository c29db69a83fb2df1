/* SPDX-License-Identifier: MIT */
/* nvrtc_log.c - reads registers, memory and remarks out of what the assembler wrote into a log. */
#include "nvrtc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t line_length(const char *line) {
  return strcspn(line, "\n");
}

/* The number in front of `words` on this line, 0 when they do not stand there. */
static int number_before(const char *line, const char *words) {
  const char *at = strstr(line, words);
  if (at == NULL || at >= line + line_length(line)) return 0;
  while (at > line && at[-1] == ' ') at--;
  while (at > line && isdigit((unsigned char)at[-1])) at--;
  return atoi(at);
}

/* "C75" and two digits, as a word of its own. */
static bool is_remark(const char *line) {
  const char *end = line + line_length(line);
  for (const char *at = strstr(line, "C75"); at != NULL && at < end; at = strstr(at + 1, "C75")) {
    const bool starts = at == line || !isalnum((unsigned char)at[-1]);
    if (starts && isdigit((unsigned char)at[3]) && isdigit((unsigned char)at[4])) return true;
  }
  return false;
}

static void note_remark(const char *line, assay_nvrtc_usage *usage) {
  if (usage->remarks++ > 0) return;
  snprintf(usage->remark, sizeof usage->remark, "%.*s", (int)line_length(line), line);
}

bool assay_nvrtc_usage_of(const char *log, const char *kernel, assay_nvrtc_usage *usage) {
  char heading[256];
  *usage = (assay_nvrtc_usage){0};
  snprintf(heading, sizeof heading, "Compiling entry function '%s'", kernel);
  bool ours = false; /* lines between this kernel's heading and the next one */
  bool found = false;
  for (const char *line = log; *line != '\0';) {
    const char *end = line + line_length(line);
    const char *compiling = strstr(line, "Compiling entry function '");
    if (compiling != NULL && compiling < end) {
      const char *at = strstr(line, heading);
      ours = at != NULL && at < end;
    } else if (is_remark(line)) {
      note_remark(line, usage);
    } else if (ours) {
      usage->stack_bytes += number_before(line, "bytes stack frame");
      usage->spill_bytes +=
          number_before(line, "bytes spill stores") + number_before(line, "bytes spill loads");
      const int registers = number_before(line, "registers");
      if (registers > 0) {
        usage->registers = registers;
        usage->shared_bytes = number_before(line, "bytes smem");
        found = true;
      }
    }
    line = *end == '\0' ? end : end + 1;
  }
  return found;
}
