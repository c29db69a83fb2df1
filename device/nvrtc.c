/* SPDX-License-Identifier: MIT */
/* nvrtc.c - loads libnvrtc and compiles with it. */
#include "nvrtc.h"

#include <assert.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvrtc_program_object *nvrtc_program;
typedef int nvrtc_code; /* 0 is success */

enum { NVRTC_OUT_OF_MEMORY = 1, NVRTC_COMPILATION = 6 };

struct assay_nvrtc {
  assay_nvrtc *next; /* all that were loaded, the latest first */
  char path[ASSAY_PATH_SIZE];
  int major;
  int minor;
  int architectures[ASSAY_ARCHITECTURES_MOST]; /* ascending */
  int architecture_count;
  /* All are in NVRTC 11.2, and none has a suffix. */
  const char *(*error_text)(nvrtc_code code);
  nvrtc_code (*version)(int *major, int *minor);
  nvrtc_code (*target_count)(int *count);
  nvrtc_code (*targets)(int *architectures);
  nvrtc_code (*create)(nvrtc_program *program, const char *text, const char *file, int headers,
                       const char *const *texts, const char *const *names);
  nvrtc_code (*destroy)(nvrtc_program *program);
  nvrtc_code (*compile)(nvrtc_program program, int count, const char *const *options);
  nvrtc_code (*log_size)(nvrtc_program program, size_t *bytes);
  nvrtc_code (*log)(nvrtc_program program, char *log);
  nvrtc_code (*cubin_size)(nvrtc_program program, size_t *bytes);
  nvrtc_code (*cubin)(nvrtc_program program, char *image);
  nvrtc_code (*ptx_size)(nvrtc_program program, size_t *bytes);
  nvrtc_code (*ptx)(nvrtc_program program, char *image);
};

/* -v has the assembler report registers and spills; line information costs nothing at run time and lets tools
 * name the line of a fault. */
const char *const assay_nvrtc_options[] = {"--std=c++17", "-DASSAY_DEVICE", "--ptxas-options=-v", "-lineinfo",
                                           NULL};

enum { DEFINES_MOST = 24, OPTIONS_MOST = DEFINES_MOST + 8, HEADERS_MOST = 32 };

/* ---- loading ------------------------------------------------------------------------------------------- */

static const struct {
  const char *symbol;
  size_t offset; /* of the pointer in struct assay_nvrtc */
} entries[] = {
    {"nvrtcGetErrorString", offsetof(assay_nvrtc, error_text)},
    {"nvrtcVersion", offsetof(assay_nvrtc, version)},
    {"nvrtcGetNumSupportedArchs", offsetof(assay_nvrtc, target_count)},
    {"nvrtcGetSupportedArchs", offsetof(assay_nvrtc, targets)},
    {"nvrtcCreateProgram", offsetof(assay_nvrtc, create)},
    {"nvrtcDestroyProgram", offsetof(assay_nvrtc, destroy)},
    {"nvrtcCompileProgram", offsetof(assay_nvrtc, compile)},
    {"nvrtcGetProgramLogSize", offsetof(assay_nvrtc, log_size)},
    {"nvrtcGetProgramLog", offsetof(assay_nvrtc, log)},
    {"nvrtcGetCUBINSize", offsetof(assay_nvrtc, cubin_size)},
    {"nvrtcGetCUBIN", offsetof(assay_nvrtc, cubin)},
    {"nvrtcGetPTXSize", offsetof(assay_nvrtc, ptx_size)},
    {"nvrtcGetPTX", offsetof(assay_nvrtc, ptx)},
};

static bool look_up(void *library, assay_nvrtc *nvrtc) {
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    void *symbol = dlsym(library, entries[i].symbol);
    if (symbol == NULL) return false;
    memcpy((char *)nvrtc + entries[i].offset, &symbol, sizeof symbol);
  }
  return true;
}

static bool ask(assay_nvrtc *nvrtc) {
  int count = 0;
  if (nvrtc->version(&nvrtc->major, &nvrtc->minor) != 0) return false;
  if (nvrtc->target_count(&count) != 0 || count < 1 || count > ASSAY_ARCHITECTURES_MOST) return false;
  nvrtc->architecture_count = count;
  return nvrtc->targets(nvrtc->architectures) == 0;
}

/* NVRTC opens a second library by its bare name, which the loader finds for a toolkit but not in a Python
 * package: when it is loaded already, that name is enough. Without one beside it NVRTC looks where it always
 * does. */
static void load_builtins(const assay_nvrtc *nvrtc) {
  char path[ASSAY_PATH_SIZE];
  const char *slash = strrchr(nvrtc->path, '/');
  if (slash == NULL) return;
  if (assay_path_format(path, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(slash - nvrtc->path), nvrtc->path,
                        nvrtc->major, nvrtc->minor))
    (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* A library that works, or NULL. It stays loaded: others may be compiling with it. Under the lock of the
 * search. */
static assay_nvrtc *load(const char *path) {
  static assay_nvrtc *loaded;
  for (assay_nvrtc *one = loaded; one != NULL; one = one->next) {
    if (strcmp(one->path, path) == 0) return one;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  assay_nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
  if (nvrtc != NULL && look_up(library, nvrtc) && ask(nvrtc) && assay_path_format(nvrtc->path, "%s", path)) {
    load_builtins(nvrtc);
    nvrtc->next = loaded;
    loaded = nvrtc;
    return nvrtc;
  }
  free(nvrtc);
  return NULL;
}

static const char cure[] = "install the CUDA toolkit, or nvidia-cuda-nvrtc==13.0.* with pip into build/venv";

static void explain_missing(const assay_nvrtc_place *places, int count, int driver_major,
                            assay_message *why) {
  if (count == 0) {
    (void)assay_explain(
        why, ASSAY_UNAVAILABLE,
        "there is no NVRTC here: no libnvrtc.so in the loader's folders, /usr/local/cuda*, build/venv, "
        "VIRTUAL_ENV or Python's packages; %s",
        cure);
    return;
  }
  int oldest = INT_MAX;
  for (int i = 0; i < count; i++) oldest = places[i].major < oldest ? places[i].major : oldest;
  if (oldest > driver_major) {
    (void)assay_explain(
        why, ASSAY_UNAVAILABLE,
        "NVRTC %d (%s) is newer than the driver, which supports CUDA %d: update the driver, or install "
        "NVRTC %d",
        oldest, places[0].path, driver_major, driver_major);
  } else {
    (void)assay_explain(why, ASSAY_UNAVAILABLE, "NVRTC could not be loaded from %s; %s", places[0].path,
                        cure);
  }
}

/* Newest major first, the order of the search among equals. */
static const assay_nvrtc *find(int driver_major, assay_message *why) {
  assay_nvrtc_place *places = calloc(ASSAY_NVRTC_MOST, sizeof *places);
  if (places == NULL) {
    (void)assay_explain(why, ASSAY_NO_MEMORY, "there is no memory for the search for NVRTC");
    return NULL;
  }
  const int count = assay_nvrtc_places(places);
  bool tried[ASSAY_NVRTC_MOST] = {false};
  assay_nvrtc *nvrtc = NULL;
  for (int round = 0; round < count && nvrtc == NULL; round++) {
    int best = -1;
    for (int i = 0; i < count; i++) {
      if (tried[i] || places[i].major > driver_major) continue;
      if (best < 0 || places[i].major > places[best].major) best = i;
    }
    if (best < 0) break;
    tried[best] = true;
    nvrtc = load(places[best].path);
    if (nvrtc != NULL && nvrtc->major > driver_major) nvrtc = NULL; /* its name had no number */
  }
  if (nvrtc == NULL) explain_missing(places, count, driver_major, why);
  free(places);
  return nvrtc;
}

const assay_nvrtc *assay_nvrtc_find(int driver_major, assay_message *why) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static const assay_nvrtc *kept;
  static int kept_for = -1; /* the answer is kept for one driver, and a process has one */
  static assay_message kept_why;
  pthread_mutex_lock(&lock);
  if (kept_for != driver_major) {
    kept = find(driver_major, &kept_why);
    kept_for = driver_major;
  }
  const assay_nvrtc *answer = kept;
  if (answer == NULL) *why = kept_why;
  pthread_mutex_unlock(&lock);
  return answer;
}

const char *assay_nvrtc_path(const assay_nvrtc *nvrtc) {
  return nvrtc->path;
}

void assay_nvrtc_version(const assay_nvrtc *nvrtc, int *major, int *minor) {
  *major = nvrtc->major;
  *minor = nvrtc->minor;
}

bool assay_nvrtc_target(const assay_nvrtc *nvrtc, int architecture, char target[32]) {
  int before = 0;
  for (int i = 0; i < nvrtc->architecture_count; i++) {
    const int known = nvrtc->architectures[i];
    if (known == architecture) {
      snprintf(target, 32, "sm_%d%s", architecture, architecture >= 90 ? "a" : "");
      return true;
    }
    if (known < architecture && known > before) before = known;
  }
  snprintf(target, 32, "compute_%d", before);
  return before > 0;
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

/* The first line with an error, else the first line. */
static void first_error(const char *log, assay_message *why) {
  const char *error = strstr(log, "error");
  if (error == NULL) error = log;
  while (error > log && error[-1] != '\n') error--;
  const int length = (int)strcspn(error, "\n");
  (void)assay_explain(why, ASSAY_OK, "%.*s", length, length > 0 ? error : "");
  if (length == 0) (void)assay_explain(why, ASSAY_OK, "the compiler gave no reason");
}

typedef struct option_list {
  const char *words[OPTIONS_MOST];
  int count;
  char target[64];
  char defines[DEFINES_MOST][96];
} option_list;

static bool make_options(const assay_nvrtc_request *request, option_list *options, assay_message *why) {
  options->count = 0;
  snprintf(options->target, sizeof options->target, "--gpu-architecture=%s", request->target);
  options->words[options->count++] = options->target;
  for (int i = 0; assay_nvrtc_options[i] != NULL; i++)
    options->words[options->count++] = assay_nvrtc_options[i];
  const assay_define *define = request->defines;
  for (int i = 0; define != NULL && define->name != NULL; i++, define++) {
    const bool fits =
        i < DEFINES_MOST && snprintf(options->defines[i], sizeof options->defines[i], "-D%s=%" PRId64,
                                     define->name, define->value) < (int)sizeof options->defines[i];
    if (!fits) {
      (void)assay_explain(why, ASSAY_KERNEL_FAULT, "%s has more than %d defines, or one of a long name",
                          request->file, (int)DEFINES_MOST);
      return false;
    }
    options->words[options->count++] = options->defines[i];
  }
  assert(options->count <= OPTIONS_MOST);
  return true;
}

static char *fetch_log(const assay_nvrtc *nvrtc, nvrtc_program program) {
  size_t bytes = 0;
  if (nvrtc->log_size(program, &bytes) != 0) bytes = 0;
  char *log = calloc(1, bytes + 1);
  if (log != NULL && bytes > 0 && nvrtc->log(program, log) != 0) log[0] = '\0';
  return log;
}

/* A real architecture has a cubin, a virtual one only PTX. */
static nvrtc_code fetch_image(const assay_nvrtc *nvrtc, nvrtc_program program, assay_nvrtc_result *result) {
  size_t bytes = 0;
  nvrtc_code code = nvrtc->cubin_size(program, &bytes);
  const bool machine = code == 0 && bytes > 0;
  if (!machine) code = nvrtc->ptx_size(program, &bytes);
  if (code != 0) return code;
  result->image = calloc(1, bytes + 1);
  if (result->image == NULL) return NVRTC_OUT_OF_MEMORY;
  result->image_bytes = bytes;
  return machine ? nvrtc->cubin(program, result->image) : nvrtc->ptx(program, result->image);
}

static assay_status judge(const assay_nvrtc *nvrtc, nvrtc_code code, const assay_nvrtc_request *request,
                          const assay_nvrtc_result *result, assay_message *why) {
  if (code == 0) return ASSAY_OK;
  if (code == NVRTC_OUT_OF_MEMORY) {
    return assay_explain(why, ASSAY_NO_MEMORY, "NVRTC ran out of memory over %s", request->file);
  }
  if (code == NVRTC_COMPILATION) {
    assay_message line;
    first_error(result->log != NULL ? result->log : "", &line);
    return assay_explain(why, ASSAY_KERNEL_FAULT, "the source does not compile for %s: %s", request->target,
                         line.text);
  }
  return assay_explain(why, ASSAY_UNAVAILABLE, "NVRTC %d.%d (%s) failed over %s: %s", nvrtc->major,
                       nvrtc->minor, nvrtc->path, request->file, nvrtc->error_text(code));
}

assay_status assay_nvrtc_compile(const assay_nvrtc *nvrtc, const assay_nvrtc_request *request,
                                 assay_nvrtc_result *result, assay_message *why) {
  *result = (assay_nvrtc_result){0};
  assert(request->header_count >= 0 && request->header_count <= HEADERS_MOST);
  const char *names[HEADERS_MOST];
  const char *texts[HEADERS_MOST];
  for (int i = 0; i < request->header_count; i++) {
    names[i] = request->headers[i].name;
    texts[i] = request->headers[i].text;
  }
  option_list options;
  if (!make_options(request, &options, why)) return ASSAY_KERNEL_FAULT;

  nvrtc_program program = NULL;
  nvrtc_code code =
      nvrtc->create(&program, request->text, request->file, request->header_count, texts, names);
  if (code == 0) {
    code = nvrtc->compile(program, options.count, options.words);
    result->log = fetch_log(nvrtc, program);
    if (code == 0) code = fetch_image(nvrtc, program, result);
  }
  const assay_status status = judge(nvrtc, code, request, result, why);
  if (program != NULL) nvrtc->destroy(&program);
  if (status != ASSAY_OK) {
    free(result->image);
    result->image = NULL;
    result->image_bytes = 0;
  }
  return status;
}

void assay_nvrtc_free(assay_nvrtc_result *result) {
  free(result->image);
  free(result->log);
  *result = (assay_nvrtc_result){0};
}
