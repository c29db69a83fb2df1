/* SPDX-License-Identifier: MIT */
/* progress.c - reading, changing and writing work/progress.json, one event at a time. */
#include "progress.h"

#include "cli.h"
#include "core/hash.h"
#include "core/json.h"
#include "evidence/utc.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PROGRESS_VERSION = 1, MOST_SET_ASIDE = 10000 };

/* ---- reading ------------------------------------------------------------------------------------------- */

static json_t *new_root(void) {
  json_t *root = json_pack("{s:i, s:{}}", "version", PROGRESS_VERSION, "exercises");
  return root;
}

/* Whether every part that this program reads has the type that it expects: "" or what is wrong. */
static const char *what_is_wrong(json_t *root) {
  const json_t *version = json_object_get(root, "version");
  json_t *exercises = json_object_get(root, "exercises");
  if (!json_is_object(root)) return "it holds no JSON object";
  if (!json_is_integer(version) || json_integer_value(version) < 1) return "it has no version number";
  if (!json_is_object(exercises)) return "it has no object \"exercises\"";
  static const char *const objects[] = {"passed", "checked"};
  const char *name;
  json_t *entry;
  json_object_foreach(exercises, name, entry) {
    if (!json_is_object(entry)) return "an exercise is no object";
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
      json_t *part = json_object_get(entry, objects[i]);
      const char *backend;
      json_t *of_backend;
      if (part != NULL && !json_is_object(part)) return "\"passed\" or \"checked\" is no object";
      json_object_foreach(part, backend, of_backend) {
        if (!json_is_object(of_backend)) return "a backend's entry is no object";
      }
    }
  }
  return "";
}

/* A file that stays where it is would be complained about by every reading of a command. */
static void complain_once(const char *path, const char *why) {
  static bool said;
  if (!said) output_error("%s is left as it is, so progress is not kept: %s", path, why);
  said = true;
}

/* Moves a file that cannot be read to the first free PATH.damaged-N, and says so in one line. */
static void set_aside(progress *state, const char *why) {
  char aside[ASSAY_PATH_SIZE] = "";
  bool moved = false;
  for (int i = 1; i <= MOST_SET_ASIDE && !moved; i++) {
    if (!assay_path_format(aside, "%s.damaged-%d", state->path, i)) break;
    moved = link(state->path, aside) == 0; /* unlike rename it never replaces a file */
    if (!moved && errno != EEXIST) break;
  }
  if (moved) moved = unlink(state->path) == 0;
  state->frozen = !moved;
  if (moved) {
    output_error("%s cannot be read, is kept as %s and begun anew: %s", state->path, aside, why);
  } else {
    complain_once(state->path, why);
  }
}

void progress_read(progress *state) {
  *state = (progress){.lock = -1};
  char folder[ASSAY_PATH_SIZE];
  char message[ASSAY_PATH_SIZE + 256];
  work_folder(folder);
  if (assay_path_format(state->path, "%s/progress.json", folder) && assay_file_exists(state->path)) {
    errno = 0;
    state->root = assay_json_load(state->path, message, sizeof message);
    const char *wrong = state->root == NULL ? message : what_is_wrong(state->root);
    if (wrong[0] != '\0') {
      /* A file that only these rights cannot read is not damaged. */
      if (errno == EACCES || errno == EPERM) {
        state->frozen = true;
        complain_once(state->path, wrong);
      } else {
        set_aside(state, wrong);
      }
      json_decref(state->root);
      state->root = NULL;
    }
  }
  if (state->root == NULL) state->root = new_root();
}

void progress_free(progress *state) {
  json_decref(state->root);
  state->root = NULL;
  if (state->lock >= 0) close(state->lock);
  state->lock = -1;
}

/* ---- questions ----------------------------------------------------------------------------------------- */

static json_t *entry_of(const progress *state, const assay_exercise *exercise) {
  return json_object_get(json_object_get(state->root, "exercises"), exercise->name);
}

static const char *text_in(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text == NULL ? "" : text;
}

progress_view progress_of(const progress *state, const assay_exercise *exercise) {
  json_t *entry = entry_of(state, exercise);
  progress_view view = {.hints = (int)json_integer_value(json_object_get(entry, "hints")),
                        .lesson = text_in(entry, "lesson"),
                        .shown = text_in(entry, "solution_shown"),
                        .passed = "",
                        .sha256 = ""};
  const char *backend;
  json_t *pass;
  json_object_foreach(json_object_get(entry, "passed"), backend, pass) {
    if (strcmp(text_in(pass, "date"), view.passed) < 0) continue; /* such dates sort as texts */
    view.passed = text_in(pass, "date");
    view.sha256 = text_in(pass, "sha256");
  }
  return view;
}

const char *progress_verdict(const progress *state, const assay_exercise *exercise, const char *sha256,
                             const char **check) {
  json_t *entry = entry_of(state, exercise);
  const char *backend;
  json_t *last;
  *check = "";
  json_object_foreach(json_object_get(entry, "checked"), backend, last) {
    if (strcmp(text_in(last, "sha256"), sha256) != 0) continue;
    *check = text_in(last, "check");
    return text_in(last, "state");
  }
  return "";
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Reads the file for a change; the lock of its folder keeps a second command from writing meanwhile. NULL
 * after one line that says why nothing can be kept. */
static json_t *open_entry(progress *state, const assay_exercise *exercise) {
  char folder[ASSAY_PATH_SIZE];
  work_folder(folder);
  int lock = -1;
  if (assay_make_folders(folder)) lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) {
    output_error("progress is not kept: cannot make or open the folder %s: %s", folder, strerror(errno));
    *state = (progress){.lock = -1};
    return NULL;
  }
  while (flock(lock, LOCK_EX) != 0 && errno == EINTR) { /* a signal came while another command writes */
  }
  progress_read(state);
  state->lock = lock;
  if (state->frozen) return NULL;
  json_t *exercises = json_object_get(state->root, "exercises");
  json_t *entry = json_object_get(exercises, exercise->name);
  if (entry == NULL) {
    entry = json_object();
    json_object_set_new(exercises, exercise->name, entry);
  }
  return entry;
}

static void close_entry(progress *state, bool changed) {
  if (changed && !assay_json_save(state->root, state->path)) {
    output_error("progress is not kept: cannot write %s: %s", state->path, strerror(errno));
  }
  progress_free(state);
}

static void set_date(json_t *object, const char *key) {
  char date[UTC_TEXT];
  utc_now(date);
  json_object_set_new(object, key, json_string(date));
}

/* Notes the date of what happened for the first time; a later time changes nothing. */
static void note_once(const assay_exercise *exercise, const char *key) {
  progress state;
  json_t *entry = open_entry(&state, exercise);
  const bool is_new = entry != NULL && json_object_get(entry, key) == NULL;
  if (is_new) set_date(entry, key);
  close_entry(&state, is_new);
}

void progress_note_lesson(const assay_exercise *exercise) {
  note_once(exercise, "lesson");
}

void progress_note_solution(const assay_exercise *exercise) {
  note_once(exercise, "solution_shown");
}

void progress_note_hint(const assay_exercise *exercise, int level) {
  progress state;
  json_t *entry = open_entry(&state, exercise);
  const bool higher = entry != NULL && json_integer_value(json_object_get(entry, "hints")) < level;
  if (higher) json_object_set_new(entry, "hints", json_integer(level));
  close_entry(&state, higher);
}

/* The object under `key`, made when there is none. */
static json_t *object_in(json_t *object, const char *key) {
  json_t *inner = json_object_get(object, key);
  if (inner != NULL) return inner;
  inner = json_object();
  json_object_set_new(object, key, inner);
  return inner;
}

/* What is kept of a pass: when it was first reached, with which help, and which file it is now. */
static void note_pass(json_t *entry, const char *backend, const char *sha256) {
  json_t *pass = object_in(object_in(entry, "passed"), backend);
  if (json_object_get(pass, "first") == NULL) {
    set_date(pass, "first");
    json_object_set_new(pass, "hints", json_integer(json_integer_value(json_object_get(entry, "hints"))));
    json_object_set_new(pass, "solution_shown",
                        json_boolean(json_object_get(entry, "solution_shown") != NULL));
  }
  set_date(pass, "date");
  json_object_set_new(pass, "sha256", json_string(sha256));
}

void progress_note_check(const assay_exercise *exercise, assay_backend backend, const char *sha256,
                         const check_totals *totals, const char *check) {
  progress state;
  json_t *entry = open_entry(&state, exercise);
  if (entry != NULL) {
    const bool passed = totals->passed > 0 && totals->failed == 0 && totals->unfinished == 0;
    json_t *last = object_in(object_in(entry, "checked"), cli_backend_names[backend]);
    set_date(last, "date");
    json_object_set_new(last, "sha256", json_string(sha256));
    json_object_set_new(last, "state",
                        json_string(passed               ? "passed"
                                    : totals->failed > 0 ? "failed"
                                                         : "unfinished"));
    json_object_set_new(last, "check", json_string(check == NULL ? "" : check));
    if (passed) note_pass(entry, cli_backend_names[backend], sha256);
  }
  close_entry(&state, entry != NULL);
}
