/* SPDX-License-Identifier: MIT */
/*
 * fuzz_report.c - the reader of reports on arbitrary bytes.
 *
 * What it refuses gets one short sentence; what it accepts is written and read again as the same value.
 */
#include "evidence/report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char message[300] = "";
  json_t *value = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  if (value == NULL) return 0;
  report *read = report_from_json(value, "file", message, sizeof message);
  if (read == NULL) {
    demand(strncmp(message, "file: ", 6) == 0 && strchr(message, '\n') == NULL);
  } else {
    json_t *written = report_to_json(read);
    demand(written != NULL);
    report *again = report_from_json(written, "file", message, sizeof message);
    demand(again != NULL);
    json_t *twice = report_to_json(again);
    demand(json_equal(written, twice));
    json_decref(written);
    json_decref(twice);
    report_free(again);
  }
  report_free(read);
  json_decref(value);
  return 0;
}
