/* SPDX-License-Identifier: MIT */
/* rehearse_demo.c - a demonstration of five minutes as a script: what to say, and what to run while saying
 * it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_table.h"
#include "check/broken.h"
#include "cli.h"
#include "output.h"
#include "rehearse.h"

enum { PARTS = 5 };

typedef struct demo {
  const rehearsal *how;
  const assay_exercise *exercise;
  char folder[ASSAY_PATH_SIZE];
  char report[ASSAY_PATH_SIZE];
} demo;

static void heading(int number, const char *title) {
  printf("\n%d of %d, a minute: %s\n", number, PARTS, title);
}

static int run(int count, const char *const *words) {
  fputs("$ " PROGRAM, stdout);
  for (int i = 0; i < count; i++) printf(strpbrk(words[i], "^|$() ") != NULL ? " '%s'" : " %s", words[i]);
  putchar('\n');
  return rehearse_command(count, words);
}

static int contract(const demo *self) {
  const assay_subject *subject = self->exercise->subject;
  heading(1, "what is promised, and who writes what");
  printf("  %s\n", subject->formula);
  for (int e = 0; e < subject->export_count; e++) {
    const assay_export *function = &subject->exports[e];
    printf("  %s reads", function->name);
    for (int i = 0; i < function->in_count; i++) printf(" %s", function->in_names[i]);
    fputs(", writes", stdout);
    for (int i = 0; i < function->out_count; i++) printf(" %s", function->out_names[i]);
    putchar('\n');
  }
  printf("  the contract: ops/%s/README.md\n", subject->name);
  puts("Say what the output holds, to which error, and what happens to NaN. Draw one tile of the output and "
       "mark who "
       "writes each of its elements: nobody else may.");
  return CLI_OK;
}

/* The first check of a table is the one that the lesson can be followed with by hand. */
static int derivation(const demo *self) {
  char filter[160];
  const char *first = self->exercise->subject->checks[0].name;
  heading(2, "one formula, by hand");
  printf("Work the smallest example of workshops/%s/lesson.md on the board, index by index.\n",
         self->exercise->folder);
  if (first == NULL) return CLI_OK;
  snprintf(filter, sizeof filter, "^%s$", first);
  const char *const words[] = {"check", self->exercise->name, "--solution", "--filter", filter};
  return run(5, words);
}

/* The name of the first defect of the exercise's own file; false when there is none. */
static bool first_defect(const demo *self, char name[160]) {
  size_t size;
  broken_list list;
  assay_message why;
  char *text = exercise_read(self->exercise, "broken.txt", &size);
  if (text == NULL) return false;
  bool found = false;
  if (broken_parse(text, &list, &why)) {
    for (int i = 0; i < list.count && !found; i++) {
      found = strchr(list.defects[i].file, '/') == NULL;
      if (found) snprintf(name, 160, "^%s$", list.defects[i].name);
    }
    broken_free(&list);
  }
  free(text);
  return found;
}

static int independent_check(const demo *self) {
  char defect[160];
  heading(3, "a check that shares no code with the kernel, and that can fail");
  puts("Say what the expected values come from. Then break the kernel on purpose and let the check find it.");
  if (!first_defect(self, defect)) return CLI_OK;
  const char *const words[] = {"prove", self->exercise->name, "--filter", defect};
  return run(4, words);
}

/* The first shape of the suite, which is its smallest, as --shape takes it. */
static void small_shape(const demo *self, char text[96]) {
  const assay_operator *op = self->exercise->op;
  assert(op->bench != NULL && op->bench->row_count > 0); /* what is taught is timed */
  const assay_row *row = &op->bench->rows[0];
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < op->subject.dim_count && row->dims[i] > 0; i++) {
    used += (size_t)snprintf(text + used, 96 - used, "%s%lld", i > 0 ? "x" : "", (long long)row->dims[i]);
  }
  assert(used > 0 && used < 96);
}

static int measurement(const demo *self) {
  char shape[96];
  heading(4, "raw samples against a named baseline");
  puts("Name the baseline and say where it rounds. Point at the dots, not at the smallest one of them.");
  small_shape(self, shape);
  const char *const bench[] = {"bench",   self->exercise->name, "--library", "--shape", shape,
                               "--quick", "--output",           self->report};
  const char *const plot[] = {"plot", self->report};
  const int code = run(8, bench);
  return code == CLI_OK ? run(2, plot) : code;
}

static int limitation(const demo *self) {
  const char *const record[] = {"record", "new", self->report};
  heading(5, "what this does not show, and one next step");
  puts("Say where the kernel loses, what was not measured, and which single experiment would tell more. "
       "Write both into "
       "fields 14 and 15 of the record.");
  return run(3, record);
}

int rehearse_demo(const rehearsal *how, const assay_exercise *exercise) {
  static int (*const parts[PARTS])(const demo *) = {contract, derivation, independent_check, measurement,
                                                    limitation};
  demo self = {.how = how, .exercise = exercise};
  if (!rehearse_folder("practice-demo", self.folder)) return CLI_FAILED;
  if (!assay_path_format(self.report, "%s/report.json", self.folder)) {
    output_error("the path of the practice folder is too long: %.80s...", self.folder);
    return CLI_FAILED;
  }
  printf("Five minutes about %s (%s).\n", exercise->title, exercise->name);
  for (int i = 0; i < PARTS; i++) {
    const int code = parts[i](&self);
    if (code != CLI_OK) {
      output_error("the demonstration ended early: part %d ended with exit code %d", i + 1, code);
      return code;
    }
    if (i + 1 < PARTS && !rehearse_pause(how)) {
      puts("\nstopped");
      return CLI_FAILED;
    }
  }
  puts("\nA loss that is shown with its samples convinces more than a win that is only claimed.");
  return CLI_OK;
}
