/* SPDX-License-Identifier: MIT */
/* emulator_build.c - emulated kernels: from a source file to functions of this process. */
#include "emulator_build.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "kernel_cache.h"
#include "kernel_scan.h"
#include "kernel_source.h"
#include "launch_table.h"
#include "process.h"

enum { ARGUMENTS_MOST = 96, COMPILER_WORDS_MOST = 16, DEFINES_MOST = 32, DEFINE_BYTES = 96 };
static const double compile_seconds = 60;

/* What C++ refuses is an error in C too. The common part has no inline functions as C99 means them, and
 * signed numbers wrap as on a GPU. -z defs: a word that is missing is found now, by its name. */
static const char *const compile_flags[] = {
    "-std=gnu11",
    "-O2",
    "-g",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fgnu89-inline",
    "-fwrapv",
    "-fPIC",
    "-fvisibility=hidden",
    "-shared",
    "-Wl,-z,defs",
    "-Wall",
    "-Wno-unknown-warning-option",
    "-Wno-unknown-pragmas",
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=discarded-qualifiers",
    "-Werror=vla",
    "-Wc++-compat",
    "-DASSAY_DEVICE",
    "-DASSAY_EMULATED",
};

static assay_launch_table kernels;
static assay_launch_table objects; /* what dlopen gave, under the empty kernel name */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* ---- compiling ----------------------------------------------------------------------------------------- */

typedef struct command {
  const char *words[ARGUMENTS_MOST];
  size_t count;
  char compiler[ASSAY_PATH_SIZE];
  char defines[DEFINES_MOST][DEFINE_BYTES];
  char include[ASSAY_PATH_SIZE + 8];
  char source[ASSAY_PATH_SIZE];
  char object[ASSAY_PATH_SIZE];
} command;

/* CC may carry options, as make has it: "ccache gcc". */
static assay_status name_compiler(command *build, assay_message *why) {
  const char *asked = getenv("CC");
  if (asked == NULL || asked[0] == '\0') asked = "cc";
  char *rest = NULL;
  if (!assay_path_format(build->compiler, "%s", asked))
    return assay_explain(why, ASSAY_UNAVAILABLE, "the value of CC is too long");
  for (char *word = strtok_r(build->compiler, " ", &rest); word != NULL && build->count < COMPILER_WORDS_MOST;
       word = strtok_r(NULL, " ", &rest)) {
    build->words[build->count++] = word;
  }
  if (build->count > 0) return ASSAY_OK;
  return assay_explain(why, ASSAY_UNAVAILABLE, "CC is blank; set it to a C compiler or unset it");
}

static assay_status add_defines(command *build, const assay_define *defines, assay_message *why) {
  for (size_t i = 0; defines != NULL && defines[i].name != NULL; i++) {
    if (i == DEFINES_MOST)
      return assay_explain(why, ASSAY_KERNEL_FAULT, "a launch has more than %d defines", DEFINES_MOST);
    const int length =
        snprintf(build->defines[i], DEFINE_BYTES, "-D%s=%" PRId64, defines[i].name, defines[i].value);
    if (length >= DEFINE_BYTES)
      return assay_explain(why, ASSAY_KERNEL_FAULT, "the name of the define %.40s... is too long",
                           defines[i].name);
    build->words[build->count++] = build->defines[i];
  }
  return ASSAY_OK;
}

/* The first line that says what is wrong, without the path in front of the file name. */
static void first_error(const char *log, assay_message *why) {
  const char *error = strstr(log, "undefined reference"); /* the linker's own "error" says less */
  if (error == NULL) error = strstr(log, "error");
  if (error == NULL) error = log;
  const char *start = error;
  while (start > log && start[-1] != '\n') start--;
  const char *slash = memrchr(start, '/', (size_t)(error - start));
  if (slash != NULL) start = slash + 1;
  (void)assay_explain(why, ASSAY_KERNEL_FAULT, "the kernel does not compile: %.*s", (int)strcspn(start, "\n"),
                      start);
}

static assay_status judge(const command *build, const assay_process_result *result, assay_message *why) {
  if (!result->started) {
    return assay_explain(
        why, ASSAY_UNAVAILABLE,
        "no C compiler for the emulated kernel: %s cannot be run (%s); install gcc or clang, or set CC",
        build->words[0], strerror(result->error));
  }
  if (result->timed_out)
    return assay_explain(why, ASSAY_KERNEL_FAULT, "the compiler took more than %g s for the kernel",
                         compile_seconds);
  if (result->exit_code == 0) return ASSAY_OK;
  if (result->output == NULL || result->output[0] == '\0') {
    return assay_explain(why, ASSAY_KERNEL_FAULT, "the compiler ended with status %d and no message",
                         result->exit_code);
  }
  first_error(result->output, why);
  return ASSAY_KERNEL_FAULT;
}

/* The source is written beside the object under a line that keeps its own name in messages and for debuggers.
 */
static bool write_source(const command *build, const char *file, const assay_kernel_source *source) {
  char *text = NULL;
  const int length = asprintf(&text, "#line 1 \"%s\"\n%s", file, source->text);
  if (length < 0) return false;
  const bool written = assay_write_file(build->source, text, (size_t)length, 0600);
  free(text);
  return written;
}

/* The words of the command but for the names of files. */
static assay_status begin_command(command *build, const assay_define *defines, assay_message *why) {
  const assay_status status = name_compiler(build, why);
  if (status != ASSAY_OK) return status;
  for (size_t i = 0; i < sizeof compile_flags / sizeof compile_flags[0]; i++)
    build->words[build->count++] = compile_flags[i];
  return add_defines(build, defines, why);
}

/* What `CC --version` says; "" when it cannot be run, which the compilation will tell. To be freed. */
static char *compiler_version(const command *build) {
  const char *words[COMPILER_WORDS_MOST + 2] = {NULL};
  assay_process_result result;
  size_t count = 0;
  while (count < COMPILER_WORDS_MOST && build->words[count] != compile_flags[0]) {
    words[count] = build->words[count];
    count++;
  }
  words[count] = "--version";
  assay_process_run(words, NULL, compile_seconds, &result);
  return result.output != NULL ? result.output : strdup("");
}

/* All that decides what the compiler makes; to be freed, NULL without memory. */
static char *cache_key(const command *build, const char *file, const assay_kernel_source *source) {
  char *key = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&key, &size);
  char *version = compiler_version(build);
  if (text == NULL || version == NULL) {
    if (text != NULL) fclose(text);
    free(key);
    free(version);
    return NULL;
  }
  fprintf(text, "emulator %d\n%s", ASSAY_EMULATOR_VERSION, version);
  for (size_t i = 0; i < build->count; i++) fprintf(text, "%s\n", build->words[i]);
  fprintf(text, "%s\n%s", file, source->text);
  for (int i = 0; i < source->header_count; i++)
    fprintf(text, "%s\n%s", source->headers[i].name, source->headers[i].text);
  free(version);
  if (fclose(text) == 0) return key;
  free(key);
  return NULL;
}

static assay_status compile(command *build, const char *folder, char **log, assay_message *why) {
  snprintf(build->include, sizeof build->include, "-I%s", folder);
  const char *const tail[] = {build->include, "-x", "c", build->source, "-o", build->object, "-lm", NULL};
  for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++) build->words[build->count++] = tail[i];
  assay_process_result result;
  assay_process_run(build->words, NULL, compile_seconds, &result);
  const assay_status status = judge(build, &result, why);
  if (status == ASSAY_KERNEL_FAULT) {
    *log = result.output;
  } else {
    free(result.output);
  }
  return status;
}

/* ---- loading ------------------------------------------------------------------------------------------- */

/* The object stays mapped when its file is gone. */
static assay_status load(const char *path, const assay_emulator_calls *calls, void **handle,
                         assay_message *why) {
  void (*bind)(const assay_emulator_calls *) = NULL;
  *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL)
    return assay_explain(why, ASSAY_KERNEL_FAULT, "the emulated kernel cannot be loaded: %s", dlerror());
  void *symbol = dlsym(*handle, "assay_emulator_bind");
  if (symbol == NULL) {
    dlclose(*handle);
    return assay_explain(why, ASSAY_KERNEL_FAULT, "the source does not include \"assay/kernel.h\"");
  }
  memcpy(&bind, &symbol, sizeof bind); /* POSIX's way around object and function pointers */
  bind(calls);
  return ASSAY_OK;
}

/* Compiles in a private folder, keeps the object for the next run of the program, and loads it. */
static assay_status make_new(command *build, const char *file, const assay_kernel_source *source,
                             const char *key, const assay_emulator_calls *calls, void **handle, char **log,
                             assay_message *why) {
  char folder[ASSAY_PATH_SIZE];
  assay_status status = ASSAY_OK;
  if (!assay_make_temp_folder(folder)) {
    return assay_explain(why, ASSAY_UNAVAILABLE, "no temporary folder for a compiler could be made: %s",
                         strerror(errno));
  }
  if (!assay_path_format(build->source, "%s/kernel.cu", folder) ||
      !assay_path_format(build->object, "%s/kernel.so", folder) || !write_source(build, file, source) ||
      !assay_kernel_source_headers(source, folder)) {
    status = assay_explain(why, ASSAY_UNAVAILABLE, "a kernel's source could not be written to %.200s: %s",
                           folder, strerror(errno));
  }
  if (status == ASSAY_OK) status = compile(build, folder, log, why);
  if (status == ASSAY_OK) status = load(build->object, calls, handle, why);
  /* A full disk costs the next run a compilation, and this one nothing. */
  if (status == ASSAY_OK) (void)assay_cache_put_file(key, build->object, NULL);
  assay_remove_tree(folder);
  return status;
}

/* The name without its folder: a copy of a file in another place is the same source. */
static const char *base_name(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash != NULL ? slash + 1 : file;
}

/* From the cache, or compiled now. */
static assay_status find_or_make(const assay_launch *launch, const assay_kernel_source *source,
                                 const assay_emulator_calls *calls, void **handle, char **log,
                                 assay_message *why) {
  const char *file = base_name(launch->file);
  char kept[ASSAY_PATH_SIZE];
  command *build = calloc(1, sizeof *build);
  if (build == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for a compiler's command");
  assay_status status = begin_command(build, launch->defines, why);
  char *key = status == ASSAY_OK ? cache_key(build, file, source) : NULL;
  if (status == ASSAY_OK && key == NULL) {
    status = assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for a kernel's source");
  } else if (status == ASSAY_OK && assay_cache_get(key, kept)) {
    status = load(kept, calls, handle, why);
  } else if (status == ASSAY_OK) {
    status = make_new(build, file, source, key, calls, handle, log, why);
  }
  free(key);
  free(build);
  return status;
}

static assay_status make_object(const assay_launch *launch, const assay_emulator_calls *calls, void **handle,
                                char **log, assay_message *why) {
  assay_kernel_source source;
  assay_status status = assay_kernel_source_load(launch->file, &source, why);
  if (status != ASSAY_OK) return status;
  status = assay_kernel_scan(launch->file, source.text, why);
  if (status == ASSAY_OK) status = find_or_make(launch, &source, calls, handle, log, why);
  assay_kernel_source_free(&source);
  return status;
}

/* The object of this file and these defines, which other kernels of the file may have needed before. */
static assay_status object_of(const assay_launch *launch, const assay_emulator_calls *calls, void **handle,
                              char **log, assay_message *why) {
  assay_launch whole = *launch;
  whole.kernel = "";
  *handle = (void *)(uintptr_t)assay_launch_find(&objects, &whole);
  if (*handle != NULL) return ASSAY_OK;
  const assay_status status = make_object(launch, calls, handle, log, why);
  if (status != ASSAY_OK) return status;
  if (assay_launch_add(&objects, &whole, *handle)) return ASSAY_OK;
  return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory to remember the kernel");
}

static void *symbol_of(void *handle, const char *prefix, const char *kernel) {
  char name[256];
  if (snprintf(name, sizeof name, "%s%s", prefix, kernel) >= (int)sizeof name) return NULL;
  return dlsym(handle, name);
}

static assay_status make_kernel(const assay_launch *launch, const assay_emulator_calls *calls,
                                const emulated_kernel **made, char **log, assay_message *why) {
  void *handle = NULL;
  const assay_status status = object_of(launch, calls, &handle, log, why);
  if (status != ASSAY_OK) return status;
  void *entry = symbol_of(handle, "assay_entry_", launch->kernel);
  const uint32_t *threads = symbol_of(handle, "assay_threads_", launch->kernel);
  const uint32_t *bytes = symbol_of(handle, "assay_bytes_", launch->kernel);
  void *self = dlsym(handle, "assay_emulator_self");
  if (entry == NULL || threads == NULL || bytes == NULL || self == NULL) {
    return assay_explain(why, ASSAY_KERNEL_FAULT, "%.200s has no KERNEL named %.60s", launch->file,
                         launch->kernel);
  }
  emulated_kernel *kernel = malloc(sizeof *kernel);
  if (kernel == NULL) return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory to remember the kernel");
  memcpy(&kernel->entry, &entry, sizeof entry);
  memcpy(&kernel->self, &self, sizeof self);
  kernel->threads_most = *threads;
  kernel->arg_bytes = *bytes;
  if (!assay_launch_add(&kernels, launch, kernel)) {
    free(kernel);
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory to remember the kernel");
  }
  *made = kernel;
  return ASSAY_OK;
}

assay_status assay_emulator_find(const assay_launch *launch, const assay_emulator_calls *calls,
                                 const emulated_kernel **kernel, char **log, assay_message *why) {
  assay_status status = ASSAY_OK;
  *log = NULL;
  *kernel = assay_launch_find(&kernels, launch);
  if (*kernel != NULL) return ASSAY_OK;
  pthread_mutex_lock(&gate);
  *kernel = assay_launch_find(&kernels, launch); /* another thread may have been faster */
  if (*kernel == NULL) status = make_kernel(launch, calls, kernel, log, why);
  pthread_mutex_unlock(&gate);
  return status;
}
