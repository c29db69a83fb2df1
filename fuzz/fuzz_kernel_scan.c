/* SPDX-License-Identifier: MIT */
/*
 * fuzz_kernel_scan.c - the scan of a kernel's source on arbitrary text.
 *
 * A learner's file may hold anything. The scan must stay within the text and its tables, end, and leave
 * either nothing or one sentence that begins with the file and a line that the text has.
 */
#include "kernel_scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  assay_message why = {""};
  if (text == NULL) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  long lines = 1;
  for (const char *at = text; *at != '\0'; at++) lines += *at == '\n';
  const assay_status status = assay_kernel_scan("k.cu", text, &why);
  if (status == ASSAY_OK) {
    if (why.text[0] != '\0') abort();
  } else {
    const long line = strtol(why.text + strlen("k.cu:"), NULL, 10);
    if (status != ASSAY_KERNEL_FAULT || strncmp(why.text, "k.cu:", strlen("k.cu:")) != 0) abort();
    if (line < 1 || line > lines || strchr(why.text, '\n') != NULL) abort();
  }
  free(text);
  return 0;
}
