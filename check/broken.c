/* SPDX-License-Identifier: MIT */
/* broken.c - reading broken.txt and applying one of its defects to a source. */
#include "broken.h"

#include <stdlib.h>
#include <string.h>

/* A growing text of lines. */
typedef struct lines {
  char *text;
  size_t size;
  bool any; /* an empty line is a line too */
} lines;

typedef struct parser {
  broken_list *list;
  assay_message *why;
  int line;
  lines old_text;
  lines new_text;
} parser;

static bool fail(const parser *self, const char *message, const char *detail) {
  (void)assay_explain(self->why, ASSAY_OK, "line %d: %s%s", self->line, message, detail);
  return false;
}

static bool append(lines *target, const char *line, size_t length) {
  char *text = realloc(target->text, target->size + length + 2);
  if (text == NULL) return false;
  if (target->any) text[target->size++] = '\n';
  memcpy(text + target->size, line, length);
  target->size += length;
  text[target->size] = '\0';
  target->text = text;
  target->any = true;
  return true;
}

static broken_defect *current(const parser *self) {
  return self->list->count > 0 ? &self->list->defects[self->list->count - 1] : NULL;
}

/* Takes over the lines of the block that ends here, and asks for what must be there. */
static bool finish(parser *self) {
  broken_defect *defect = current(self);
  if (defect == NULL) return true;
  defect->old_text = self->old_text.text;
  defect->new_text = self->new_text.text != NULL ? self->new_text.text : strdup("");
  self->old_text = self->new_text = (lines){0};
  if (defect->file == NULL) return fail(self, "no \"file:\" in the block of ", defect->name);
  if (defect->caught_by == NULL) return fail(self, "no \"caught-by:\" in the block of ", defect->name);
  if (defect->why == NULL) return fail(self, "no \"why:\" in the block of ", defect->name);
  if (defect->seen_on != NULL && strcmp(defect->seen_on, "simt") != 0 &&
      strcmp(defect->seen_on, "cuda") != 0) {
    return fail(self, "\"seen-on:\" must be simt or cuda in the block of ", defect->name);
  }
  if (defect->old_text == NULL || defect->old_text[0] == '\0') {
    return fail(self, "no old text (\"- \" lines) in the block of ", defect->name);
  }
  if (defect->new_text == NULL) return fail(self, "out of memory", "");
  if (strcmp(defect->old_text, defect->new_text) == 0) {
    return fail(self, "old and new text are the same in the block of ", defect->name);
  }
  return true;
}

static bool start_block(parser *self, const char *line, size_t length) {
  if (!finish(self)) return false;
  if (length < 3 || line[length - 1] != ']') return fail(self, "a block starts with \"[name]\"", "");
  for (size_t i = 1; i + 1 < length; i++) {
    const char c = line[i];
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) return fail(self, "a defect's name takes a-z, 0-9 and _ only", "");
  }
  broken_defect *grown =
      realloc(self->list->defects, (size_t)(self->list->count + 1) * sizeof *self->list->defects);
  if (grown == NULL) return fail(self, "out of memory", "");
  self->list->defects = grown;
  char *name = strndup(line + 1, length - 2);
  if (name == NULL) return fail(self, "out of memory", "");
  for (int i = 0; i < self->list->count; i++) {
    if (strcmp(grown[i].name, name) != 0) continue;
    free(name);
    return fail(self, "the name is taken already: ", grown[i].name);
  }
  grown[self->list->count++] = (broken_defect){.name = name, .line = self->line};
  return true;
}

static bool set_field(parser *self, const char *line, size_t length) {
  broken_defect *defect = current(self);
  const char *const keys[] = {"file: ", "caught-by: ", "why: ", "seen-on: "};
  char **const fields[] = {&defect->file, &defect->caught_by, &defect->why, &defect->seen_on};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const size_t key = strlen(keys[i]);
    if (length <= key || strncmp(line, keys[i], key) != 0) continue;
    if (*fields[i] != NULL) return fail(self, "given twice: ", keys[i]);
    *fields[i] = strndup(line + key, length - key);
    return *fields[i] != NULL || fail(self, "out of memory", "");
  }
  return fail(self, "expected \"file: \", \"caught-by: \", \"why: \", \"seen-on: \", \"- \" or \"+ \"", "");
}

static bool take_line(parser *self, const char *line, size_t length) {
  if (length == 0 || line[0] == '#') return true;
  if (line[0] == '[') return start_block(self, line, length);
  if (current(self) == NULL) return fail(self, "text before the first \"[name]\"", "");
  if (line[0] == '-' || line[0] == '+') {
    /* "-" alone is an empty line of the text. */
    if (length > 1 && line[1] != ' ') return fail(self, "a space must follow \"-\" or \"+\"", "");
    lines *target = line[0] == '-' ? &self->old_text : &self->new_text;
    const size_t skip = length > 1 ? 2 : 1;
    return append(target, line + skip, length - skip) || fail(self, "out of memory", "");
  }
  return set_field(self, line, length);
}

bool broken_parse(const char *text, broken_list *list, assay_message *why) {
  *list = (broken_list){0};
  parser self = {.list = list, .why = why};
  bool good = true;
  for (const char *line = text; good && *line != '\0';) {
    const char *end = strchr(line, '\n');
    const size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
    self.line++;
    good = take_line(&self, line, length);
    line += length + (end != NULL ? 1 : 0);
  }
  good = good && finish(&self);
  free(self.old_text.text);
  free(self.new_text.text);
  if (!good) broken_free(list);
  return good;
}

void broken_free(broken_list *list) {
  for (int i = 0; i < list->count; i++) {
    free(list->defects[i].name);
    free(list->defects[i].file);
    free(list->defects[i].caught_by);
    free(list->defects[i].why);
    free(list->defects[i].seen_on);
    free(list->defects[i].old_text);
    free(list->defects[i].new_text);
  }
  free(list->defects);
  *list = (broken_list){0};
}

/* The next place at or behind `from` where `text` stands as whole lines. */
static const char *find_lines(const char *source, const char *from, const char *text, size_t length) {
  for (const char *at = strstr(from, text); at != NULL; at = strstr(at + 1, text)) {
    const bool begins = at == source || at[-1] == '\n';
    const bool ends = at[length] == '\n' || at[length] == '\0';
    if (begins && ends) return at;
  }
  return NULL;
}

char *broken_apply(const broken_defect *defect, const char *source, assay_message *why) {
  const size_t old_length = strlen(defect->old_text);
  const size_t new_length = strlen(defect->new_text);
  const char *at = find_lines(source, source, defect->old_text, old_length);
  if (at == NULL) {
    (void)assay_explain(why, ASSAY_OK, "%s: the old text does not occur in %s", defect->name, defect->file);
    return NULL;
  }
  if (find_lines(source, at + 1, defect->old_text, old_length) != NULL) {
    (void)assay_explain(why, ASSAY_OK, "%s: the old text occurs more than once in %s", defect->name,
                        defect->file);
    return NULL;
  }
  const size_t before = (size_t)(at - source);
  const size_t after = strlen(at + old_length);
  char *result = malloc(before + new_length + after + 1);
  if (result == NULL) {
    (void)assay_explain(why, ASSAY_NO_MEMORY, "out of memory");
    return NULL;
  }
  memcpy(result, source, before);
  memcpy(result + before, defect->new_text, new_length);
  memcpy(result + before + new_length, at + old_length, after + 1);
  return result;
}
