/* SPDX-License-Identifier: MIT */
/* cmd_watch.c - `assay watch`: a check at every save, and keys for what a learner wants next. */
#include "cli.h"
#include "core/clock.h"
#include "output.h"
#include "watch_files.h"
#include "watch_run.h"
#include "watch_terminal.h"
#include "where.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WATCH_POLL = 0, WATCH_OPTIONS };

static const cli_option options[WATCH_OPTIONS] = {
    [WATCH_POLL] = {"poll", OPTION_FLAG, NULL, NULL, 0, 0,
                    "look at the files four times a second; default: the system tells of changes"},
};

/* An editor writes in several steps: the files must be quiet for this long, but not for ever; and a file that
 * is gone may be on its way back. */
enum { QUIET_MS = 150, LONGEST_MS = 1000, GONE_MS = 600 };

typedef struct watcher {
  const assay_exercise *exercise;
  bool fixed; /* only files of this exercise; else of any, and the one that was saved becomes it */
  bool keys;
  bool listens; /* standard input may be read: a terminal stops who reads it from the background */
  bool input;   /* standard input is not at its end */
  watch_files files;
  pid_t run;          /* 0: none */
  int code;           /* of the last check */
  int64_t changed_ns; /* when the change that is waited for was first seen, 0: none */
  int64_t due_ns;
  char key; /* waits for the end of the run, 0: none */
} watcher;

static int64_t after_ms(int64_t from_ns, int milliseconds) {
  return from_ns + (int64_t)milliseconds * 1000000;
}

/* ---- what is shown ------------------------------------------------------------------------------------- */

static void print_prompt(const watcher *self) {
  if (self->keys) {
    printf("\nwatching %s   [h] hint  [l] lesson  [n] next  [r] run again  [q] quit\n", self->exercise->name);
  } else {
    printf("\nwatching %s\n", self->exercise->name);
  }
}

static void print_time(void) {
  const time_t now = time(NULL);
  struct tm parts;
  char text[32] = "";
  localtime_r(&now, &parts);
  strftime(text, sizeof text, "%H:%M:%S", &parts);
  printf("\n---- %s ----\n", text);
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void break_off(watcher *self) {
  if (self->run == 0) return;
  run_cancel(self->run);
  self->run = 0;
}

static bool has_file(const assay_exercise *exercise, assay_backend backend) {
  char path[ASSAY_PATH_SIZE];
  work_file(exercise, backend, path);
  return exercise_has(exercise, backend) && assay_file_exists(path);
}

/* `saved`: ASSAY_CPU or ASSAY_CUDA, of two files only that one is checked. */
static void begin_check(watcher *self, assay_backend saved) {
  const char *words[8] = {"check", self->exercise->name, "--failures"};
  if (has_file(self->exercise, ASSAY_CPU) && has_file(self->exercise, ASSAY_CUDA)) {
    words[3] = "--backend";
    words[4] = cli_backend_names[saved == ASSAY_CPU ? ASSAY_CPU : default_gpu()];
  }
  break_off(self);
  print_time();
  const pid_t run = run_start(words, false);
  self->run = run > 0 ? run : 0;
}

static standing stands(const watcher *self) {
  progress state;
  progress_read(&state);
  const standing at = where_is(&state, self->exercise);
  progress_free(&state);
  return at;
}

static const assay_exercise *next_exercise(const watcher *self) {
  progress state;
  progress_read(&state);
  const assay_exercise *next = where_next(&state, self->exercise);
  progress_free(&state);
  return next;
}

static void look_for_end(watcher *self) {
  if (self->run == 0 || !run_ended(self->run, &self->code)) return;
  self->run = 0;
  const assay_exercise *next = self->code == CLI_OK && self->keys ? next_exercise(self) : NULL;
  if (next != NULL) printf("passed: n goes on with %s\n", next->name);
  print_prompt(self);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void look_at_files(watcher *self, bool news) {
  const assay_exercise *only = self->fixed ? self->exercise : NULL;
  const int64_t now = assay_now_ns();
  if (news) watch_files_drain(&self->files);
  if (self->changed_ns == 0) {
    if (!watch_files_differ(&self->files, only)) return;
    self->changed_ns = now;
    self->due_ns = after_ms(now, QUIET_MS);
    return;
  }
  if (news) self->due_ns = after_ms(now, QUIET_MS);
  if (now < self->due_ns && now < after_ms(self->changed_ns, LONGEST_MS)) return;

  /* Between a deletion and the new file of the same name there is no file: give it time to come. */
  const standing at = stands(self);
  if (!assay_file_exists(at.file) && now < after_ms(self->changed_ns, GONE_MS)) {
    self->due_ns = after_ms(now, QUIET_MS);
    return;
  }
  self->changed_ns = 0;
  assay_backend backend = ASSAY_CPU;
  bool exists = false;
  const assay_exercise *changed = watch_files_changed(&self->files, only, &backend, &exists);
  if (changed == NULL) return; /* it is as it was before */
  if (exists) {
    self->exercise = changed;
    begin_check(self, backend);
  } else if (changed == self->exercise) {
    char path[ASSAY_PATH_SIZE];
    work_file(changed, backend, path);
    break_off(self);
    printf("\n%s is gone: it is checked when it is there again (" PROGRAM " start %s writes the starter)\n",
           path, changed->name);
  }
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void show_hint(watcher *self) {
  const char *const words[] = {"hint", self->exercise->name, NULL};
  putchar('\n');
  run_whole(words, false);
  print_prompt(self);
}

static void show_lesson(watcher *self) {
  const char *const words[] = {"lesson", self->exercise->name, NULL};
  putchar('\n');
  terminal_release();
  run_whole(words, true);
  terminal_take();
  print_prompt(self);
}

/* The next exercise that has not passed; its starter is written when there is no file yet. */
static void go_on(watcher *self) {
  const assay_exercise *next = next_exercise(self);
  if (next == NULL) {
    puts("\nevery other exercise has passed");
    print_prompt(self);
    return;
  }
  self->exercise = next;
  const standing at = stands(self);
  if (at.state != WHERE_NOT_STARTED) {
    begin_check(self, at.backend);
    return;
  }
  const char *const words[] = {"start", next->name, NULL};
  assay_backend backend;
  bool exists;
  putchar('\n');
  run_whole(words, false);
  watch_files_changed(&self->files, NULL, &backend, &exists); /* the starter is no save of the learner's */
  print_prompt(self);
}

static void obey(watcher *self) {
  const char key = self->key;
  self->key = 0;
  if (key == 'h') show_hint(self);
  if (key == 'l') show_lesson(self);
  if (key == 'n') go_on(self);
  if (key == 'r') begin_check(self, stands(self).backend);
}

/* Takes what was typed; true: quit. Where there are no keys, only the end of the input counts. */
static bool take_input(watcher *self) {
  char typed[64];
  const ssize_t count = read(STDIN_FILENO, typed, sizeof typed);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (count <= 0) {
    self->input = false;
    return self->keys;
  }
  for (ssize_t i = 0; i < count && self->keys; i++) {
    if (typed[i] == 'q' || typed[i] == 4) return true;
    if (strchr("hlnr", typed[i]) != NULL && typed[i] != '\0') self->key = typed[i];
  }
  return false;
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static int pause_of(const watcher *self) {
  if (self->changed_ns != 0) return 50;
  return watch_files_pause(&self->files);
}

/* The exit code. Without keys the end of the input ends it, behind the run that is in hand. */
static int watch(watcher *self) {
  for (;;) {
    const int descriptors[2] = {self->input && self->listens ? STDIN_FILENO : -1, self->files.notify};
    bool readable[2];
    terminal_poll(descriptors, pause_of(self), readable);
    if (signals_end() != 0) break;
    if (readable[0] && take_input(self)) break;
    look_for_end(self);
    look_at_files(self, readable[1]);
    if (self->run == 0 && self->key != 0) obey(self);
    if (self->run == 0 && !self->input && self->changed_ns == 0) break;
  }
  break_off(self);
  return signals_end() != 0 ? CLI_SIGNAL + signals_end() : self->code;
}

/* The exercise to begin with; CLI_OK, or an exit code after an error message. */
static int choose(const cli_args *args, watcher *self) {
  progress state;
  const bool named = args->name_count > 0;
  self->exercise = named ? exercise_named(args->names[0]) : NULL;
  if (named && self->exercise == NULL) return CLI_USAGE;
  progress_read(&state);
  const standing at = named ? where_is(&state, self->exercise) : where_now(&state);
  progress_free(&state);
  if (at.exercise == NULL) {
    output_error("every exercise has passed: name the one to watch");
    return CLI_UNFINISHED;
  }
  if (!assay_file_exists(at.file)) {
    output_error("%s does not exist yet: " PROGRAM " start %s writes it", at.file, at.exercise->name);
    return CLI_UNFINISHED;
  }
  self->exercise = at.exercise;
  self->fixed = named;
  return CLI_OK;
}

static int run_watch(const cli_args *args) {
  watcher self = {.input = true};
  output out;
  output_begin(&out, OUTPUT_COLOUR_NEVER);
  const int chosen = choose(args, &self);
  if (chosen != CLI_OK) return chosen;
  signals_hold();
  self.keys = terminal_open();
  self.listens = self.keys || !isatty(STDIN_FILENO);
  watch_files_open(&self.files, args->values[WATCH_POLL].given);
  begin_check(&self, stands(&self).backend);
  const int code = watch(&self);
  watch_files_close(&self.files);
  terminal_release();
  return code;
}

static const char *const examples[] = {"watch", "watch NAME", NULL};

const cli_command command_watch = {
    .name = "watch",
    .summary = "check your file at every save",
    .about =
        "Checks your file now and after every save, and shows the first failure. Without a name it is the "
        "file that was saved last. On a terminal the keys h (the next hint), l (lesson), n (next exercise), "
        "r "
        "(run again) and q (quit) work; elsewhere it ends with its input. A save breaks off a run. The exit "
        "code is that of the last check.",
    .names = "[NAME]",
    .names_min = 0,
    .names_max = 1,
    .examples = examples,
    .options = options,
    .option_count = WATCH_OPTIONS,
    .run = run_watch,
};
