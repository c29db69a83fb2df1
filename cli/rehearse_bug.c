/* SPDX-License-Identifier: MIT */
/* rehearse_bug.c - the bug drill: a broken kernel, its failing check, and two questions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/broken.h"
#include "check/engine.h"
#include "cli.h"
#include "output.h"
#include "rehearse.h"
#include "rng.h"

enum { CHOICES = 4, LINE_TEXT = 120, LARGEST_SOURCE = 4 << 20 };

typedef struct drill {
  const rehearsal *how;
  const assay_exercise *exercise;
  broken_list list;
  const broken_defect *defect; /* the one that is asked about */
  char *source;                /* of the solution */
  char *changed;               /* with the defect in it */
  char path[ASSAY_PATH_SIZE];  /* of the broken kernel */
  assay_rng rng;
  bool failed; /* its check did not pass */
} drill;

/* ---- the broken kernel --------------------------------------------------------------------------------- */

/* Only the exercise's own source can be read and judged alone. */
static bool is_candidate(const drill *self, const broken_defect *defect) {
  char name[128];
  exercise_file_name(self->exercise, "solution", ASSAY_CPU, name);
  return strcmp(defect->file, name) == 0;
}

static void show(void *user, const check_result *result) {
  drill *self = user;
  if (result->verdict == VERDICT_PASS || result->verdict == VERDICT_UNAVAILABLE) return;
  self->failed = true;
  printf("%s  %s  %s\n", verdict_name(result->verdict), result->check, result->reason);
  for (const char *at = result->detail; *at != '\0';) {
    const int length = (int)strcspn(at, "\n");
    printf("      %.*s\n", length, at);
    at += length + (at[length] == '\n');
  }
}

/* Builds the broken kernel and runs the check that must catch it. */
static bool fails(drill *self, const broken_defect *defect) {
  char filter[160];
  char folder[ASSAY_PATH_SIZE];
  assay_message why = {""};
  check_totals totals = {0};
  free(self->changed);
  self->changed = broken_apply(defect, self->source, &why);
  if (self->changed == NULL) return false;
  if (self->path[0] == '\0') {
    if (!rehearse_folder("practice-bug", folder)) return false;
    if (!assay_path_format(self->path, "%s/%s.c", folder, self->exercise->name)) return false;
  }
  if (!assay_write_file(self->path, self->changed, strlen(self->changed), 0666)) {
    output_error("cannot write %s: %s", self->path, strerror(errno));
    return false;
  }
  snprintf(filter, sizeof filter, "^%s$", defect->caught_by);
  const check_options options = {
      .seed = self->how->seed, .tier = ASSAY_TIER_M, .filter = filter, .seconds = 5};
  const check_target target = {.kind = TARGET_OBJECT,
                               .subject = self->exercise->subject,
                               .op = self->exercise->op,
                               .source = self->path,
                               .label = "broken",
                               .repeat_command = PROGRAM " practice bug"};
  self->failed = false;
  return check_run(&target, &options, show, self, &totals, &why) && self->failed;
}

/* A defect that fails now: a race may pass when it likes, then another one is taken. */
static bool find_defect(drill *self) {
  const int count = self->list.count;
  const int start = count > 0 ? (int)assay_rng_below(&self->rng, (uint64_t)count) : 0;
  for (int i = 0; i < count && !check_interrupted(); i++) {
    const broken_defect *defect = &self->list.defects[(start + i) % count];
    if (!is_candidate(self, defect) || !fails(self, defect)) continue;
    self->defect = defect;
    return true;
  }
  return false;
}

/* ---- the questions ------------------------------------------------------------------------------------- */

/* The first line, from 1, in which the two texts differ. */
static int first_difference(const char *left, const char *right) {
  int line = 1;
  for (; *left != '\0' && *left == *right; left++, right++) line += *left == '\n';
  return line;
}

static const char *line_at(const char *text, int line) {
  while (line > 1 && *text != '\0') {
    text += strcspn(text, "\n");
    if (*text == '\n') text++;
    line--;
  }
  return text;
}

static int line_of(const char *text, const char *place) {
  int line = 1;
  for (; text < place; text++) line += *text == '\n';
  return line;
}

static void describe(const char *text, int line, char out[LINE_TEXT]) {
  const char *at = line_at(text, line);
  at += strspn(at, " ");
  snprintf(out, LINE_TEXT, "line %d: %.*s", line, (int)(strcspn(at, "\n") < 90 ? strcspn(at, "\n") : 90), at);
}

/* Puts choice 0, the right one, anywhere; returns where it went. */
static int shuffle(drill *self, const char **choices, int count) {
  int right = 0;
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)assay_rng_below(&self->rng, (uint64_t)i + 1);
    const char *kept = choices[i];
    choices[i] = choices[other];
    choices[other] = kept;
    if (right == i) {
      right = other;
    } else if (right == other) {
      right = i;
    }
  }
  return right;
}

/* Lines where other defects would be: each is a line that could be wrong. */
static int gather_lines(drill *self, char texts[CHOICES][LINE_TEXT], int *right_line) {
  int lines[CHOICES] = {first_difference(self->source, self->changed)};
  int count = 1;
  *right_line = lines[0];
  describe(self->changed, lines[0], texts[0]);
  const int start = (int)assay_rng_below(&self->rng, (uint64_t)self->list.count);
  for (int i = 0; i < self->list.count && count < CHOICES; i++) {
    const broken_defect *other = &self->list.defects[(start + i) % self->list.count];
    const char *place = is_candidate(self, other) ? strstr(self->changed, other->old_text) : NULL;
    if (place == NULL || other == self->defect) continue;
    const int line = line_of(self->changed, place);
    bool near = false;
    for (int k = 0; k < count; k++) near = near || abs(lines[k] - line) < 2;
    if (near) continue;
    lines[count] = line;
    describe(self->changed, line, texts[count]);
    count++;
  }
  return count;
}

static int gather_causes(drill *self, const char *causes[CHOICES]) {
  int count = 1;
  causes[0] = self->defect->why;
  const int start = (int)assay_rng_below(&self->rng, (uint64_t)self->list.count);
  for (int i = 0; i < self->list.count && count < CHOICES; i++) {
    const broken_defect *other = &self->list.defects[(start + i) % self->list.count];
    bool known = !is_candidate(self, other);
    for (int k = 0; k < count; k++) known = known || strcmp(causes[k], other->why) == 0;
    if (!known) causes[count++] = other->why;
  }
  return count;
}

/* The score, -1 when the input ended. */
static int ask(drill *self) {
  char texts[CHOICES][LINE_TEXT];
  const char *choices[CHOICES];
  int right_line;
  const int lines = gather_lines(self, texts, &right_line);
  for (int i = 0; i < lines; i++) choices[i] = texts[i];
  const int line_right = shuffle(self, choices, lines);
  const int line_given =
      rehearse_choose(self->how, "\nWhere is it, or what stands just below what is missing?", choices, lines);
  if (line_given < 0) return -1;
  const int causes = gather_causes(self, choices);
  const int cause_right = shuffle(self, choices, causes);
  const int cause_given = rehearse_choose(self->how, "\nAnd why is that wrong?", choices, causes);
  if (cause_given < 0) return -1;
  printf("\nline:  %s, %s\n", line_given == line_right ? "right" : "wrong", texts[0]);
  printf("cause: %s, %s\n", cause_given == cause_right ? "right" : "wrong", self->defect->why);
  return (line_given == line_right) + (cause_given == cause_right);
}

/* ---- the drill ----------------------------------------------------------------------------------------- */

static bool load(drill *self) {
  char name[128];
  size_t size;
  assay_message why = {""};
  exercise_file_name(self->exercise, "solution", ASSAY_CPU, name);
  self->source = exercise_read(self->exercise, name, &size);
  char *defects = self->source != NULL ? exercise_read(self->exercise, "broken.txt", &size) : NULL;
  if (defects == NULL) return false;
  const bool parsed = broken_parse(defects, &self->list, &why);
  free(defects);
  if (!parsed) output_error("broken.txt of %s: %s", self->exercise->name, why.text);
  return parsed;
}

int rehearse_bug(const rehearsal *how, const assay_exercise *exercise) {
  drill self = {.how = how, .exercise = exercise};
  int code = CLI_FAILED;
  assay_rng_seed(&self.rng, how->seed);
  printf("A kernel of %s with one mistake in it, seed %llu. Its check says:\n\n", exercise->name,
         (unsigned long long)how->seed);
  if (load(&self)) {
    if (find_defect(&self)) {
      printf("\nThe kernel: %s\nRead it before you answer.\n", self.path);
      const int score = ask(&self);
      if (score >= 0) {
        printf("score: %d of 2\n", score);
        code = CLI_OK;
      } else {
        puts("\nstopped before the last answer");
      }
    } else {
      output_error("no defect of %s could be shown failing here: is there a C compiler?", exercise->name);
      code = CLI_UNAVAILABLE;
    }
  }
  broken_free(&self.list);
  free(self.source);
  free(self.changed);
  return code;
}
