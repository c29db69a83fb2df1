/* SPDX-License-Identifier: MIT */
/*
 * kernel_scan.c - one pass over the characters: comments and literals are skipped, words are looked up,
 * brackets are followed as far as it takes to see a compound literal, a designator, or a function without
 * __device__.
 */
#include "kernel_scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "kernel_words.h"

enum { NESTING_MOST = 64, WORD_BYTES = 64 };

/* What is known about a condition of the preprocessor, for one of the two compilers. */
typedef enum known { UNKNOWN, TRUE, FALSE } known;

typedef struct conditional {
  known nvrtc, emulator; /* the branch that is being read */
  int depth;             /* of braces where the condition began: every branch begins there */
} conditional;

typedef struct scanner {
  const char *file;
  const char *at;
  int line;
  assay_message *why;
  assay_status status;
  conditional conditionals[NESTING_MOST];
  int conditional_count;
  int depth;                 /* of braces */
  char before[NESTING_MOST]; /* for every open parenthesis, what stood before it: 'w' a word, 'r' return */
  int parentheses;
  char last;        /* the last token: its character, 'w' for a word, 'r' for return, '0' for a number */
  char closed_over; /* what stood before the parenthesis that closed last */
  bool device;      /* __device__ or KERNEL since the last declaration at file level */
  bool define;      /* in the body of a macro, where any part of a function may stand */
  int depth_before; /* the macro */
} scanner;

static void refuse(scanner *self, int line, const char *what, size_t length, const char *advice) {
  if (self->status != ASSAY_OK) return;
  const char *slash = strrchr(self->file, '/');
  self->status = assay_explain(self->why, ASSAY_KERNEL_FAULT, "%.80s:%d: %.*s in a kernel: %s",
                               slash != NULL ? slash + 1 : self->file, line, (int)length, what, advice);
}

static bool reaches(const scanner *self, bool nvrtc) {
  for (int i = 0; i < self->conditional_count; i++) {
    const conditional *one = &self->conditionals[i];
    if ((nvrtc ? one->nvrtc : one->emulator) == FALSE) return false;
  }
  return true;
}

static bool is(const char *word, size_t length, const char *other) {
  return length == strlen(other) && memcmp(word, other, length) == 0;
}

static size_t word_length(const char *text) {
  size_t length = 0;
  while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
  return length;
}

static void look_up(scanner *self, const char *word, size_t length) {
  const char *advice = reaches(self, true) ? assay_word_refused_by_nvrtc(word, length) : NULL;
  if (advice == NULL && reaches(self, false)) advice = assay_word_refused_by_emulator(word, length);
  if (advice != NULL) refuse(self, self->line, word, length, advice);
}

/* ---- the preprocessor's lines -------------------------------------------------------------------------- */

static known opposite(known value) {
  return value == TRUE ? FALSE : value == FALSE ? TRUE : UNKNOWN;
}

static const char *skip_blanks(const char *text) {
  while (*text == ' ' || *text == '\t') text++;
  return text;
}

/* `text` begins at the name or at the expression; `negated` is for #ifndef. */
static conditional judge_condition(const char *text, bool expression, bool negated) {
  conditional result = {UNKNOWN, UNKNOWN, 0};
  text = skip_blanks(text);
  if (expression) {
    for (; *text == '!'; text = skip_blanks(text + 1)) negated = !negated;
    if (!is(text, word_length(text), "defined")) return result;
    text = skip_blanks(text + strlen("defined"));
    if (*text == '(') text = skip_blanks(text + 1);
  }
  const size_t length = word_length(text);
  const char *rest = skip_blanks(text + length);
  if (expression && *rest == ')') rest = skip_blanks(rest + 1);
  if (*rest == '&' || *rest == '|') return result;
  if (is(text, length, "ASSAY_DEVICE")) {
    result.nvrtc = result.emulator = TRUE;
  } else if (is(text, length, "ASSAY_EMULATED")) {
    result.nvrtc = FALSE;
    result.emulator = TRUE;
  }
  if (negated) {
    result.nvrtc = opposite(result.nvrtc);
    result.emulator = opposite(result.emulator);
  }
  return result;
}

static void check_include(scanner *self, const char *text) {
  static const char ours[] = "assay/kernel.h";
  text = skip_blanks(text);
  const size_t length = strcspn(text, "\r\n");
  if (!reaches(self, true)) return;
  if (length >= strlen(ours) + 2 && strncmp(text + 1, ours, strlen(ours)) == 0) return;
  refuse(self, self->line, "#include", strlen("#include"),
         "kernels include \"assay/kernel.h\" and nothing else");
}

static void directive(scanner *self) {
  const char *text = skip_blanks(self->at + 1);
  const size_t length = word_length(text);
  const char *rest = text + length;
  conditional *top = self->conditional_count > 0 ? &self->conditionals[self->conditional_count - 1] : NULL;
  if (is(text, length, "if") || is(text, length, "ifdef") || is(text, length, "ifndef")) {
    if (self->conditional_count == NESTING_MOST) return;
    conditional fresh = judge_condition(rest, is(text, length, "if"), is(text, length, "ifndef"));
    fresh.depth = self->depth;
    self->conditionals[self->conditional_count++] = fresh;
  } else if (is(text, length, "else") && top != NULL) {
    top->nvrtc = opposite(top->nvrtc);
    top->emulator = opposite(top->emulator);
    self->depth = top->depth;
  } else if (is(text, length, "elif") && top != NULL) {
    top->nvrtc = top->emulator = UNKNOWN;
    self->depth = top->depth;
  } else if (is(text, length, "endif") && top != NULL) {
    self->conditional_count--;
  } else if (is(text, length, "include")) {
    check_include(self, rest);
  } else if (is(text, length, "define")) {
    self->at = rest; /* its words are looked up like others */
    self->define = true;
    self->depth_before = self->depth;
    return;
  }
  while (*self->at != '\0' && *self->at != '\n') self->at++;
}

/* ---- what is no word ----------------------------------------------------------------------------------- */

static void skip_comment(scanner *self) {
  const bool block = self->at[1] == '*';
  for (self->at += 2; *self->at != '\0'; self->at++) {
    if (!block && *self->at == '\n') return;
    if (block && self->at[0] == '*' && self->at[1] == '/') {
      self->at += 2;
      return;
    }
    if (*self->at == '\n') self->line++;
  }
}

static void skip_literal(scanner *self) {
  const char quote = *self->at++;
  while (*self->at != '\0' && *self->at != quote && *self->at != '\n') {
    if (self->at[0] == '\\' && self->at[1] != '\0' && self->at[1] != '\n') self->at++;
    self->at++;
  }
  if (*self->at == quote) self->at++;
  self->last = '0';
}

static void skip_number(scanner *self) {
  while (isalnum((unsigned char)*self->at) || *self->at == '.' || *self->at == '_' ||
         ((*self->at == '+' || *self->at == '-') && strchr("eEpP", self->at[-1]) != NULL)) {
    self->at++;
  }
  self->last = '0';
}

static void word(scanner *self) {
  const size_t length = word_length(self->at);
  look_up(self, self->at, length);
  const char *next = skip_blanks(self->at + length);
  if (is(self->at, length, "extern") && is(next, word_length(next), "__shared__"))
    refuse(self, self->line, self->at, length, "write DYNAMIC_SHARED(name) for dynamic shared memory");
  if (is(self->at, length, "__device__") || is(self->at, length, "KERNEL")) self->device = true;
  self->last = is(self->at, length, "return") ? 'r' : 'w';
  self->at += length;
}

static void open_brace(scanner *self) {
  if (self->last == '(') refuse(self, self->line, "({", 2, "a statement is no expression in C++");
  if (self->last == ')' && self->closed_over != 'w' && self->closed_over != ')' && self->closed_over != ']')
    refuse(self, self->line, "a compound literal", 18, "C++ does not have them: declare a variable");
  if (self->last == ')' && self->depth == 0 && self->closed_over == 'w' && !self->device && !self->define)
    refuse(self, self->line, "a function", 10, "without __device__ NVRTC does not compile it");
  self->depth++;
}

static void punctuation(scanner *self) {
  const char c = *self->at++;
  const char before = self->last;
  const bool in_list = before == '{' || before == ',';
  if (c == '(') {
    if (self->parentheses < NESTING_MOST) self->before[self->parentheses] = before;
    self->parentheses++;
  } else if (c == ')' && self->parentheses > 0) {
    self->parentheses--;
    self->closed_over = self->parentheses < NESTING_MOST ? self->before[self->parentheses] : 'w';
  } else if (c == '{') {
    open_brace(self);
  } else if (c == '}') {
    if (self->depth > 0) self->depth--;
  } else if ((c == '.' || c == '[') && in_list) {
    refuse(self, self->line, "a designated initialiser", 24,
           "C++17 does not have them: list the values in order");
  } else if (c == ':' && before == '?') {
    refuse(self, self->line, "?:", 2, "the middle operand must stand there in C++");
  }
  if ((c == ';' || c == '}') && self->depth == 0) self->device = false;
  self->last = c;
}

static void token(scanner *self) {
  const char c = *self->at;
  if (c == '"' || c == '\'') {
    skip_literal(self);
  } else if (!reaches(self, true) && !reaches(self, false)) {
    self->at++;
  } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)self->at[1]))) {
    skip_number(self);
  } else if (isalpha((unsigned char)c) || c == '_') {
    word(self);
  } else {
    punctuation(self);
  }
}

static void end_line(scanner *self) {
  if (self->define) self->depth = self->depth_before;
  self->define = false;
  self->line++;
  self->at++;
}

assay_status assay_kernel_scan(const char *file, const char *text, assay_message *why) {
  scanner self = {.file = file, .at = text, .line = 1, .why = why, .status = ASSAY_OK, .last = ';'};
  bool line_start = true;
  while (*self.at != '\0' && self.status == ASSAY_OK) {
    const char c = *self.at;
    if (c == '\n') {
      end_line(&self);
      line_start = true;
    } else if (c == '\\' && self.at[1] == '\n') {
      self.line++;
      self.at += 2;
    } else if (isspace((unsigned char)c) || c == '\\') {
      self.at++;
    } else if (c == '/' && (self.at[1] == '/' || self.at[1] == '*')) {
      skip_comment(&self);
    } else if (c == '#' && line_start) {
      directive(&self);
      line_start = false;
    } else {
      token(&self);
      line_start = false;
    }
  }
  return self.status;
}
