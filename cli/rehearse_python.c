/* SPDX-License-Identifier: MIT */
/* rehearse_python.c - runs of a session that Python times, on arrays of PyTorch: whether they can be, and
 * how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/engine.h"
#include "cli.h"
#include "core/file.h"
#include "core/process.h"
#include "interrupt.h"
#include "output.h"
#include "rehearse.h"

enum { WORDS = 32, IMPORT_SECONDS = 120, RUN_SECONDS = 3600 };

/* The words before those of a program in Python: "env", what is set, and the interpreter. */
typedef struct python_call {
  char path[3 * ASSAY_PATH_SIZE];
  char library[2 * ASSAY_PATH_SIZE];
  const char *words[WORDS];
  int count;
} python_call;

static const char *interpreter(void) {
  const char *asked = getenv("ASSAY_PYTHON");
  return asked != NULL && asked[0] != '\0' ? asked : "python3";
}

/* The package of the source folder goes before one that is installed. */
static bool set_package(char *text, size_t size) {
  char package[ASSAY_PATH_SIZE];
  const char *source = assay_source_folder();
  const char *before = getenv("PYTHONPATH");
  const bool more = before != NULL && before[0] != '\0';
  return source != NULL && assay_path_format(package, "%s/python/assay/__init__.py", source) &&
         assay_file_exists(package) &&
         (size_t)snprintf(text, size, "PYTHONPATH=%s/python%s%s", source, more ? ":" : "",
                          more ? before : "") < size;
}

/* The library that was built with this program, unless the user has named one. */
static bool set_library(char *text, size_t size) {
  char library[ASSAY_PATH_SIZE];
  const char *program = assay_program_path();
  const char *slash = strrchr(program, '/');
  return getenv("ASSAY_LIBRARY") == NULL && slash != NULL &&
         assay_path_format(library, "%.*s/libassay.so.0", (int)(slash - program), program) &&
         assay_file_exists(library) && (size_t)snprintf(text, size, "ASSAY_LIBRARY=%s", library) < size;
}

static void begin(python_call *call) {
  const bool package = set_package(call->path, sizeof call->path);
  const bool library = set_library(call->library, sizeof call->library);
  call->count = 0;
  if (package || library) call->words[call->count++] = "env";
  if (package) call->words[call->count++] = call->path;
  if (library) call->words[call->count++] = call->library;
  call->words[call->count++] = interpreter();
}

/* Whether "import MODULE" works; else the last line that it printed. */
static bool imports(const char *module, char why[200]) {
  python_call call;
  char code[64];
  assay_process_result result;
  begin(&call);
  snprintf(code, sizeof code, "import %s", module);
  call.words[call.count++] = "-c";
  call.words[call.count++] = code;
  call.words[call.count] = NULL;
  assay_process_run(call.words, NULL, IMPORT_SECONDS, &result);
  const bool good = result.exit_code == 0;
  char *text = result.output != NULL ? result.output : "";
  for (char *end = text + strlen(text); end > text && end[-1] == '\n';) *--end = '\0';
  const char *last = strrchr(text, '\n');
  snprintf(why, 200, "%s", last != NULL ? last + 1 : text);
  free(result.output);
  return good;
}

const char *rehearse_python_missing(void) {
  static char text[640];
  char why[200];
  const char *python = interpreter();
  if (!assay_program_exists(python)) {
    snprintf(
        text, sizeof text,
        "UNAVAILABLE: PyTorch: there is no %.200s: install Python 3 and PyTorch, or name an interpreter in "
        "ASSAY_PYTHON",
        python);
  } else if (!imports("torch", why)) {
    snprintf(text, sizeof text,
             "UNAVAILABLE: PyTorch: %.200s cannot import torch: `%.200s -m pip install torch`, or name an "
             "interpreter that has it in ASSAY_PYTHON",
             python, python);
  } else if (!imports("assay.bench", why)) {
    snprintf(
        text, sizeof text,
        "UNAVAILABLE: PyTorch: %.200s cannot import assay.bench: %s; `pip install ./python` in the source "
        "tree installs it",
        python, why);
  } else {
    return NULL;
  }
  return text;
}

int rehearse_python(int argc, const char *const *argv) {
  python_call call;
  char module[64];
  assay_process_result result;
  begin(&call);
  snprintf(module, sizeof module, "assay.%s", argv[0]);
  call.words[call.count++] = "-m";
  call.words[call.count++] = module;
  for (int i = 1; i < argc && call.count < WORDS - 1; i++) call.words[call.count++] = argv[i];
  call.words[call.count] = NULL;
  putchar('$');
  rehearse_print_words(call.count, call.words);
  putchar('\n');
  fflush(stdout);
  interrupt_hold();
  assay_process_show(call.words, RUN_SECONDS, check_interrupted, &result);
  interrupt_release();
  if (!result.started) output_error("%s cannot be run: %s", call.words[0], strerror(result.error));
  if (result.timed_out) output_error("it had not ended after %d minutes", RUN_SECONDS / 60);
  if (result.signal != 0 && !result.timed_out)
    output_error("it was ended by %s", assay_signal_name(result.signal));
  return interrupt_code(result.exit_code >= 0 ? result.exit_code : CLI_FAILED);
}
