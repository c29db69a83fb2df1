/* SPDX-License-Identifier: MIT */
/*
 * fuzz_json.c - the strict JSON reader on arbitrary bytes.
 *
 * What is accepted must come back the same after printing; what is refused must say where in one line. Any
 * bytes become a valid string.
 */
#include "core/json.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
  if (!holds) abort();
}

static void inspect_value(const json_t *value) {
  char message[256];
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  if (stream == NULL) return;
  demand(assay_json_print(value, stream));
  fclose(stream);
  demand(size > 0 && text[size - 1] == '\n');
  json_t *again = assay_json_parse(text, size, "again", message, sizeof message);
  demand(again != NULL && json_equal(again, value));
  json_decref(again);
  free(text);
}

static void inspect_message(const char *message) {
  demand(strncmp(message, "fuzz:", 5) == 0);
  for (const char *c = message; *c != '\0'; c++) demand(!iscntrl((unsigned char)*c));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char message[256] = "";
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  json_t *value = assay_json_parse(text, size, "fuzz", message, sizeof message);
  if (value != NULL) {
    inspect_value(value);
    json_decref(value);
  } else {
    inspect_message(message);
  }
  json_t *string = assay_json_text(text);
  demand(string != NULL);
  json_t *list = json_pack("[o]", string);
  demand(list != NULL);
  inspect_value(list);
  json_decref(list);
  free(text);
  return 0;
}
