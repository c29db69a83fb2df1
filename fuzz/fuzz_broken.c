/* SPDX-License-Identifier: MIT */
/*
 * fuzz_broken.c - the reader of broken.txt on arbitrary text, and its defects applied to that same text.
 *
 * What is read must be complete and free of line breaks where a line is meant; what is refused must say why.
 */
#include "check/broken.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
  if (!holds) abort();
}

static void inspect(const broken_list *list, const char *source) {
  for (int i = 0; i < list->count; i++) {
    const broken_defect *defect = &list->defects[i];
    demand(defect->name != NULL && defect->file != NULL && defect->caught_by != NULL && defect->why != NULL);
    demand(strchr(defect->name, '\n') == NULL && strchr(defect->file, '\n') == NULL);
    demand(defect->old_text[0] != '\0' && strcmp(defect->old_text, defect->new_text) != 0);
    assay_message why = {""};
    char *changed = broken_apply(defect, source, &why);
    demand(changed != NULL || why.text[0] != '\0');
    if (changed != NULL) {
      demand(strlen(changed) + strlen(defect->old_text) == strlen(source) + strlen(defect->new_text));
    }
    free(changed);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  broken_list list;
  assay_message why = {""};
  if (broken_parse(text, &list, &why)) {
    inspect(&list, text);
    broken_free(&list);
  } else {
    demand(why.text[0] != '\0' && list.count == 0);
  }
  free(text);
  return 0;
}
