/* SPDX-License-Identifier: MIT */
/* cmd_env.c - `assay env`: what a report of a problem should hold about the machine and the build. */
#include "check/build.h"
#include "cli.h"
#include "core/buffer.h"
#include "core/file.h"
#include "core/json.h"
#include "core/process.h"
#include "cpu.h"
#include "env_cuda.h"
#include "exercise.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { ENV_JSON = 0, ENV_OPTIONS };

static const cli_option options[ENV_OPTIONS] = {
    [ENV_JSON] = CLI_OPTION_JSON,
};

/* The first line of `CC --version`, for the compiler that checks use; false when it cannot be run. */
static bool find_compiler(char *line, size_t size) {
  enum { MOST_WORDS = 8 };
  char words[ASSAY_PATH_SIZE];
  const char *argv[MOST_WORDS + 2];
  size_t count = 0;
  snprintf(words, sizeof words, "%s", kernel_compiler());
  char *rest = NULL;
  for (char *word = strtok_r(words, " ", &rest); word != NULL && count < MOST_WORDS;
       word = strtok_r(NULL, " ", &rest)) {
    argv[count++] = word;
  }
  if (count == 0) return false;
  argv[count] = "--version";
  argv[count + 1] = NULL;

  assay_process_result result;
  assay_process_run(argv, NULL, 10.0, &result);
  const bool found = result.started && result.exit_code == 0 && result.output != NULL;
  if (found) {
    const int length = (int)strcspn(result.output, "\n");
    snprintf(line, size, "%s: %.*s", kernel_compiler(), length, result.output);
  }
  free(result.output);
  return found;
}

static json_t *environment(void) {
  struct utsname host = {0};
  uname(&host);
  char system[sizeof host.sysname + sizeof host.release + sizeof host.machine + 2];
  snprintf(system, sizeof system, "%s %s %s", host.sysname, host.release, host.machine);

  char compiler[256] = "";
  const bool has_compiler = find_compiler(compiler, sizeof compiler);
  char folder[ASSAY_PATH_SIZE];
  work_folder(folder);
  char work[ASSAY_PATH_SIZE];
  const bool has_work = assay_file_exists(folder) && realpath(folder, work) != NULL;
  const char *source = assay_source_folder();
  const size_t memory = assay_memory_bytes();

  json_t *answer = json_object();
  json_object_set_new(answer, "version", json_string(assay_version()));
  json_object_set_new(answer, "built_by", json_string(built_by()));
  json_object_set_new(answer, "openmp", built_openmp() == 0 ? json_null() : json_integer(built_openmp()));
  json_object_set_new(answer, "source_folder", source == NULL ? json_null() : assay_json_text(source));
  json_object_set_new(answer, "work_folder", has_work ? assay_json_text(work) : json_null());
  json_object_set_new(answer, "system", assay_json_text(system));
  json_object_set_new(answer, "cpu", assay_json_text(assay_cpu_model()));
  json_object_set_new(answer, "cpu_features", json_string(assay_cpu_feature_names(assay_cpu_features())));
  json_object_set_new(answer, "threads", json_integer(assay_default_threads()));
  json_object_set_new(answer, "memory_mib",
                      memory != SIZE_MAX ? json_integer((json_int_t)(memory >> 20)) : json_null());
  json_object_set_new(answer, "compiler", has_compiler ? assay_json_text(compiler) : json_null());
  json_object_set_new(answer, "cuda", env_cuda());
  return answer;
}

/* One line of text: what a null means is said in words. */
static void print_line(const json_t *answer, const char *key, const char *title, const char *missing) {
  const json_t *value = json_object_get(answer, key);
  printf("%-15s", title);
  if (json_is_integer(value)) {
    printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
  } else {
    puts(json_is_string(value) ? json_string_value(value) : missing);
  }
}

static int run_env(const cli_args *args) {
  json_t *answer = environment();
  if (args->values[ENV_JSON].given) {
    assay_json_print(answer, stdout);
  } else {
    print_line(answer, "version", "version", "");
    print_line(answer, "built_by", "built by", "");
    print_line(answer, "openmp", "OpenMP", "not in this build");
    print_line(answer, "source_folder", "source folder", "not found: set ASSAY_SOURCE_DIR");
    print_line(answer, "work_folder", "work folder", "none yet: " PROGRAM " start makes it");
    print_line(answer, "system", "system", "");
    print_line(answer, "cpu", "CPU", "");
    print_line(answer, "cpu_features", "CPU features", "");
    print_line(answer, "threads", "threads", "");
    print_line(answer, "memory_mib", "memory in MiB", "unknown");
    print_line(answer, "compiler", "compiler", "not found: install one as cc, or name it in CC");
    env_cuda_print(json_object_get(answer, "cuda"));
  }
  json_decref(answer);
  return CLI_OK;
}

static const char *const examples[] = {"env", "env --json", NULL};

const cli_command command_env = {
    .name = "env",
    .summary = "show the machine and the build, for a report of a problem",
    .about = "Shows the version, the folders, the machine, the compiler that checks use, and what there is "
             "of CUDA.",
    .examples = examples,
    .options = options,
    .option_count = ENV_OPTIONS,
    .run = run_env,
};
