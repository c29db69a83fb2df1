/* SPDX-License-Identifier: MIT */
/*
 * emulator_compile.c - emulated kernels: from a source file to a loaded object.
 *
 * A watched one is compiled and linked in two steps, so that gaps can be put between its arrays.
 */
#include "emulator_compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "kernel_cache.h"
#include "kernel_scan.h"
#include "kernel_source.h"
#include "process.h"

enum { ARGUMENTS_MOST = 96, COMPILER_WORDS_MOST = 16, DEFINES_MOST = 32, DEFINE_BYTES = 96 };
static const double compile_seconds = 60;

/* What C++ refuses is an error in C too. The common part has no inline functions as C99 means them, and
 * signed numbers wrap as on a GPU. */
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

/* -z defs: a word that is missing is found now, by its name. */
static const char *const link_flags[] = {"-shared", "-Wl,-z,defs"};

/* ---- compiling ----------------------------------------------------------------------------------------- */

typedef struct command {
  const char *words[ARGUMENTS_MOST];
  size_t count;
  size_t compiler_words; /* of those, the first: CC */
  bool watched;
  char *version; /* what CC says of itself */
  const char *watch_flags[WATCH_FLAGS_MOST];
  char compiler[ASSAY_PATH_SIZE];
  char defines[DEFINES_MOST][DEFINE_BYTES];
  char include[ASSAY_PATH_SIZE + 8];
  char source[ASSAY_PATH_SIZE];
  char relocatable[ASSAY_PATH_SIZE];
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
  build->compiler_words = build->count;
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

/* What `CC --version` says; "" when it cannot be run, which the compilation will tell. To be freed. */
static char *compiler_version(const command *build) {
  const char *words[COMPILER_WORDS_MOST + 2] = {NULL};
  assay_process_result result;
  memcpy(words, build->words, build->compiler_words * sizeof words[0]);
  words[build->compiler_words] = "--version";
  assay_process_run(words, NULL, compile_seconds, &result);
  return result.output != NULL ? result.output : strdup("");
}

static void add_words(command *build, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) build->words[build->count++] = words[i];
}

/* The words of the command but for the names of files. */
static assay_status begin_command(command *build, const assay_define *defines, assay_message *why) {
  const assay_status status = name_compiler(build, why);
  if (status != ASSAY_OK) return status;
  build->version = compiler_version(build);
  if (build->version == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for a compiler's version");
  add_words(build, compile_flags, sizeof compile_flags / sizeof compile_flags[0]);
  if (build->watched) {
    size_t count = 0;
    assay_watch_flags(build->version, build->watch_flags);
    while (build->watch_flags[count] != NULL) count++;
    add_words(build, build->watch_flags, count);
  }
  return add_defines(build, defines, why);
}

/* All that decides what the compiler makes; to be freed, NULL without memory. */
static char *cache_key(const command *build, const char *file, const assay_kernel_source *source) {
  char *key = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&key, &size);
  if (text == NULL) return NULL;
  fprintf(text, "emulator %d\n%s", ASSAY_EMULATOR_VERSION, build->version);
  for (size_t i = 0; i < build->count; i++) fprintf(text, "%s\n", build->words[i]);
  fprintf(text, "%s\n%s", file, source->text);
  for (int i = 0; i < source->header_count; i++)
    fprintf(text, "%s\n%s", source->headers[i].name, source->headers[i].text);
  if (fclose(text) == 0) return key;
  free(key);
  return NULL;
}

/* Runs one command of the compiler. */
static assay_status run(const command *build, const char *const *words, char **log, assay_message *why) {
  assay_process_result result;
  assay_process_run(words, NULL, compile_seconds, &result);
  const assay_status status = judge(build, &result, why);
  if (status == ASSAY_KERNEL_FAULT) {
    *log = result.output;
  } else {
    free(result.output);
  }
  return status;
}

static assay_status link_watched(const command *build, char **log, assay_message *why) {
  const char *words[COMPILER_WORDS_MOST + 8] = {NULL};
  size_t count = build->compiler_words;
  memcpy(words, build->words, count * sizeof words[0]);
  for (size_t i = 0; i < sizeof link_flags / sizeof link_flags[0]; i++) words[count++] = link_flags[i];
  const char *const tail[] = {build->relocatable, "-o", build->object, "-lm"};
  for (size_t i = 0; i < sizeof tail / sizeof tail[0]; i++) words[count++] = tail[i];
  /* Without the gaps an index that is too large changes a neighbour, as in a kernel that is not watched. */
  (void)assay_watch_widen(build->relocatable);
  return run(build, words, log, why);
}

static assay_status compile(command *build, const char *folder, char **log, assay_message *why) {
  snprintf(build->include, sizeof build->include, "-I%s", folder);
  const char *const source[] = {build->include, "-x", "c", build->source};
  const char *const relocatable[] = {"-c", "-o", build->relocatable};
  const char *const object[] = {"-o", build->object, "-lm"};
  add_words(build, source, sizeof source / sizeof source[0]);
  if (build->watched) {
    add_words(build, relocatable, sizeof relocatable / sizeof relocatable[0]);
    const assay_status status = run(build, build->words, log, why);
    return status == ASSAY_OK ? link_watched(build, log, why) : status;
  }
  add_words(build, link_flags, sizeof link_flags / sizeof link_flags[0]);
  add_words(build, object, sizeof object / sizeof object[0]);
  return run(build, build->words, log, why);
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
                             const char *key, const assay_emulator_calls *calls, void **handle,
                             char kept[ASSAY_PATH_SIZE], char **log, assay_message *why) {
  char folder[ASSAY_PATH_SIZE];
  assay_status status = ASSAY_OK;
  if (!assay_make_temp_folder(folder)) {
    return assay_explain(why, ASSAY_UNAVAILABLE, "no temporary folder for a compiler could be made: %s",
                         strerror(errno));
  }
  if (!assay_path_format(build->source, "%s/kernel.cu", folder) ||
      !assay_path_format(build->relocatable, "%s/kernel.o", folder) ||
      !assay_path_format(build->object, "%s/kernel.so", folder) || !write_source(build, file, source) ||
      !assay_kernel_source_headers(source, folder)) {
    status = assay_explain(why, ASSAY_UNAVAILABLE, "a kernel's source could not be written to %.200s: %s",
                           folder, strerror(errno));
  }
  if (status == ASSAY_OK) status = compile(build, folder, log, why);
  if (status == ASSAY_OK) status = load(build->object, calls, handle, why);
  /* A full disk costs the next run a compilation, and this one the lines of what it finds. */
  if (status == ASSAY_OK && !assay_cache_put_file(key, build->object, kept)) kept[0] = '\0';
  assay_remove_tree(folder);
  return status;
}

/* The name without its folder: a copy of a file in another place is the same source. */
static const char *base_name(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash != NULL ? slash + 1 : file;
}

/* From the cache, or compiled now. */
static assay_status find_or_make(const assay_launch *launch, bool watched, const assay_kernel_source *source,
                                 const assay_emulator_calls *calls, void **handle, char kept[ASSAY_PATH_SIZE],
                                 char **log, assay_message *why) {
  const char *file = base_name(launch->file);
  command *build = calloc(1, sizeof *build);
  if (build == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for a compiler's command");
  build->watched = watched;
  assay_status status = begin_command(build, launch->defines, why);
  char *key = status == ASSAY_OK ? cache_key(build, file, source) : NULL;
  if (status == ASSAY_OK && key == NULL) {
    status = assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for a kernel's source");
  } else if (status == ASSAY_OK && assay_cache_get(key, kept)) {
    status = load(kept, calls, handle, why);
  } else if (status == ASSAY_OK) {
    status = make_new(build, file, source, key, calls, handle, kept, log, why);
  }
  free(key);
  free(build->version);
  free(build);
  return status;
}

assay_status assay_emulator_object(const assay_launch *launch, bool watched,
                                   const assay_emulator_calls *calls, void **handle,
                                   char kept[ASSAY_PATH_SIZE], char **log, assay_message *why) {
  assay_kernel_source source;
  assay_status status = assay_kernel_source_load(launch->file, &source, why);
  if (status != ASSAY_OK) return status;
  status = assay_kernel_scan(launch->file, source.text, why);
  if (status == ASSAY_OK) status = find_or_make(launch, watched, &source, calls, handle, kept, log, why);
  assay_kernel_source_free(&source);
  return status;
}

assay_status assay_emulator_can_watch(assay_message *why) {
  static atomic_bool known;
  if (atomic_load(&known)) return ASSAY_OK;
  assay_process_result result;
  command *build = calloc(1, sizeof *build);
  if (build == NULL)
    return assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for a compiler's command");
  build->watched = true;
  assay_status status = begin_command(build, NULL, why);
  if (status == ASSAY_OK) {
    const char *const tail[] = {"-x", "c", "-c", "/dev/null", "-o", "/dev/null"};
    add_words(build, tail, sizeof tail / sizeof tail[0]);
    assay_process_run(build->words, NULL, compile_seconds, &result);
    if (!result.started) {
      status = judge(build, &result, why);
    } else if (result.exit_code != 0) {
      status =
          assay_explain(why, ASSAY_UNAVAILABLE,
                        "%s cannot watch kernels: it has no -fsanitize=thread; set CC to gcc 11 or later, "
                        "or clang 14 or later",
                        build->words[0]);
    }
    free(result.output);
  }
  if (status == ASSAY_OK) atomic_store(&known, true);
  free(build->version);
  free(build);
  return status;
}
