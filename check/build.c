/* SPDX-License-Identifier: MIT */
/* build.c - compiling a kernel's source to a shared object. */
#include "build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

/* -z defs: an object that needs a symbol of Assay fails here, with the linker's own words. */
const char *const build_flags[] = {"-std=gnu11",      "-O3",     "-g",          "-march=native",
                                   "-fno-math-errno", "-Wall",   "-Wextra",     "-fopenmp",
                                   "-fPIC",           "-shared", "-Wl,-z,defs", NULL};

enum { MAX_ARGUMENTS = 32 };
static const double build_seconds = 60;
static const size_t source_limit = (size_t)4 << 20;

const char *kernel_compiler(void) {
  const char *compiler = getenv("CC");
  return compiler != NULL && compiler[0] != '\0' ? compiler : "cc";
}

/* The first line that says what is wrong, without the path in front of the file name. */
static void first_error(const char *log, assay_message *reason) {
  const char *error = strstr(log, "undefined reference"); /* the linker's own "error" says less */
  if (error == NULL) error = strstr(log, "error");
  if (error == NULL) error = log;
  const char *start = error;
  while (start > log && start[-1] != '\n') start--;
  const char *end = strchr(start, '\n');
  const size_t length = end != NULL ? (size_t)(end - start) : strlen(start);
  const char *slash = memrchr(start, '/', (size_t)(error - start));
  const size_t skip = slash != NULL ? (size_t)(slash + 1 - start) : 0;
  (void)assay_explain(reason, ASSAY_OK, "the source does not compile: %.*s", (int)(length - skip),
                      start + skip);
}

static verdict judge_build(const assay_process_result *result, assay_message *reason) {
  if (!result->started) {
    (void)assay_explain(reason, ASSAY_OK,
                        "no C compiler: %s cannot be run (%s); install gcc or clang, or set CC",
                        kernel_compiler(), strerror(result->error));
    return VERDICT_UNAVAILABLE;
  }
  if (result->timed_out) {
    (void)assay_explain(reason, ASSAY_OK, "the compiler took more than %g s", build_seconds);
    return VERDICT_TIMEOUT;
  }
  if (result->exit_code == 0) return VERDICT_PASS;
  if (result->output == NULL || result->output[0] == '\0') {
    (void)assay_explain(reason, ASSAY_OK, "the compiler ended with status %d and no message",
                        result->exit_code);
  } else {
    first_error(result->output, reason);
  }
  return VERDICT_FAIL;
}

verdict build_object(const char *source, const char *object, assay_message *reason, char **log) {
  const char *argv[MAX_ARGUMENTS];
  char compiler[ASSAY_PATH_SIZE];
  char include[ASSAY_PATH_SIZE + 16];
  size_t count = 0;
  *log = NULL;
  const char *folder = assay_source_folder();
  if (folder == NULL ||
      snprintf(compiler, sizeof compiler, "%s", kernel_compiler()) >= (int)sizeof compiler) {
    (void)assay_explain(reason, ASSAY_OK,
                        "Assay's own files were not found; set ASSAY_SOURCE_DIR to their folder");
    return VERDICT_UNAVAILABLE;
  }
  snprintf(include, sizeof include, "-I%s/include", folder);
  /* CC may carry options, as make has it: "ccache gcc". */
  char *rest = NULL;
  for (const char *word = strtok_r(compiler, " ", &rest); word != NULL && count < 8;
       word = strtok_r(NULL, " ", &rest)) {
    argv[count++] = word;
  }
  for (size_t i = 0; build_flags[i] != NULL; i++) argv[count++] = build_flags[i];
  /* The host half of a .cu file is C. Its kernels are compiled when they are launched. */
  const char *const tail[] = {include, "-o", object, "-x", "c", source, "-x", "none", "-lm", NULL};
  for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++) argv[count++] = tail[i];

  assay_process_result result;
  assay_process_run(argv, NULL, build_seconds, &result);
  const verdict value = judge_build(&result, reason);
  if (value == VERDICT_FAIL) {
    *log = result.output;
  } else {
    free(result.output);
  }
  return value;
}

/* Gives the path to compile, NULL with errno set. */
static const char *copy_source(const char *source, const char *folder, char copy[ASSAY_PATH_SIZE]) {
  const char *slash = strrchr(source, '/');
  size_t size = 0;
  char *text = assay_read_file(source, source_limit, &size);
  const bool copied = text != NULL &&
                      assay_path_format(copy, "%s/%s", folder, slash != NULL ? slash + 1 : source) &&
                      assay_write_file(copy, text, size, 0600);
  free(text);
  return copied ? copy : NULL;
}

verdict build_in_folder(const char *source, bool is_cuda, char folder[ASSAY_PATH_SIZE],
                        char object[ASSAY_PATH_SIZE], assay_message *reason, char **log) {
  char copy[ASSAY_PATH_SIZE] = "";
  *log = NULL;
  if (!assay_make_temp_folder(folder) || !assay_path_format(object, "%s/kernel.so", folder)) {
    (void)assay_explain(reason, ASSAY_OK, "no temporary folder could be made; is TMPDIR writable?");
    return VERDICT_UNAVAILABLE;
  }
  const char *path = is_cuda ? copy_source(source, folder, copy) : source;
  if (path == NULL) {
    (void)assay_explain(reason, ASSAY_OK, "%s cannot be copied: %s", source, strerror(errno));
    return VERDICT_UNAVAILABLE;
  }
  return build_object(path, object, reason, log);
}
