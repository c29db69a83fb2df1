/* SPDX-License-Identifier: MIT */
/*
 * worker_nvrtc.c - the GPU's compiler as a second reader of emulated kernels.
 *
 * The emulator compiles CUDA C as C, which takes some things that C++ refuses: names such as `class`, an
 * integer where an enum belongs. Who has no GPU should hear of it before somebody else's GPU does.
 */
#include "worker_nvrtc.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_cache.h"
#include "kernel_source.h"
#include "nvrtc.h"

/* What a text is compiled for: the newest GPU whose instructions kernel.h uses. */
enum { ARCHITECTURE = 90 };

/* An answer that this process has had already. */
typedef struct answer {
  struct answer *next;
  char *question; /* file and defines */
  assay_status status;
  assay_message why;
} answer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int threads_left;

int worker_nvrtc_threads(void) {
  return threads_left;
}

static int count_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  if (folder == NULL) return 0;
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

static void put_defines(FILE *text, const assay_define *defines) {
  for (const assay_define *define = defines; define != NULL && define->name != NULL; define++)
    fprintf(text, " -D%s=%" PRId64, define->name, define->value);
}

/* NULL without memory. */
static char *make_question(const assay_launch *launch) {
  char *question = NULL;
  size_t bytes = 0;
  FILE *text = open_memstream(&question, &bytes);
  if (text == NULL) return NULL;
  fputs(launch->file, text);
  put_defines(text, launch->defines);
  if (fclose(text) == 0) return question;
  free(question);
  return NULL;
}

/* All that the compiler's answer depends on, but for the name of the file. */
static char *make_key(const assay_nvrtc *nvrtc, const assay_nvrtc_request *request) {
  char *key = NULL;
  size_t bytes = 0;
  int major = 0;
  int minor = 0;
  FILE *text = open_memstream(&key, &bytes);
  if (text == NULL) return NULL;
  assay_nvrtc_version(nvrtc, &major, &minor);
  fprintf(text, "accepted by nvrtc %d.%d %s", major, minor, request->target);
  for (int i = 0; assay_nvrtc_options[i] != NULL; i++) fprintf(text, " %s", assay_nvrtc_options[i]);
  put_defines(text, request->defines);
  fprintf(text, "\n%s", request->text);
  for (int i = 0; i < request->header_count; i++)
    fprintf(text, "\n%s\n%s", request->headers[i].name, request->headers[i].text);
  if (fclose(text) == 0) return key;
  free(key);
  return NULL;
}

/* "kernel.cu(12): error: what is wrong" becomes a sentence that begins "kernel.cu:12: what is wrong". */
static assay_status explain(const assay_nvrtc *nvrtc, const char *file, const char *log, assay_message *why) {
  static const char mark[] = "): error: ";
  int major = 0;
  int minor = 0;
  assay_nvrtc_version(nvrtc, &major, &minor);
  const char *error = strstr(log, mark);
  const char *line = error;
  while (line != NULL && line > log && line[-1] != '\n' && line[-1] != '(') line--;
  if (line == NULL || line == log || line[-1] != '(') {
    const int length = (int)strcspn(log, "\n");
    return assay_explain(why, ASSAY_KERNEL_FAULT,
                         "%.60s: %.*s; the emulator's compiler takes it, the GPU's (NVRTC %d.%d) does not",
                         file, length > 160 ? 160 : length, log, major, minor);
  }
  const char *words = error + strlen(mark);
  const int length = (int)strcspn(words, "\n");
  return assay_explain(why, ASSAY_KERNEL_FAULT,
                       "%.60s:%.*s: %.*s; the emulator's compiler takes it, the GPU's (NVRTC %d.%d) does not",
                       file, (int)(error - line), line, length > 160 ? 160 : length, words, major, minor);
}

static assay_status compile(const assay_nvrtc *nvrtc, const assay_nvrtc_request *request,
                            assay_message *why) {
  char *key = make_key(nvrtc, request);
  char path[ASSAY_PATH_SIZE];
  assay_status status = ASSAY_OK;
  if (key != NULL && !assay_cache_get(key, path)) {
    assay_nvrtc_result result;
    assay_message reason;
    const int before = count_threads();
    status = assay_nvrtc_compile(nvrtc, request, &result, &reason);
    const int more = count_threads() - before;
    if (more > 0) threads_left += more;
    if (status == ASSAY_OK) {
      static const char kept[] = "compiles\n";
      (void)assay_cache_put(key, kept, sizeof kept - 1, NULL); /* a cache that is full costs time only */
    }
    if (status == ASSAY_KERNEL_FAULT)
      status = explain(nvrtc, request->file, result.log != NULL ? result.log : reason.text, why);
    else
      status = ASSAY_OK; /* a compiler that failed by itself says nothing about the source */
    assay_nvrtc_free(&result);
  }
  free(key);
  return status;
}

static assay_status ask(const assay_launch *launch, assay_message *why) {
  assay_message reason;
  char target[32];
  assay_kernel_source source;
  const assay_nvrtc *nvrtc = assay_nvrtc_find(INT_MAX, &reason);
  if (nvrtc == NULL || !assay_nvrtc_target(nvrtc, ARCHITECTURE, target)) return ASSAY_OK;
  if (assay_kernel_source_load(launch->file, &source, &reason) != ASSAY_OK) return ASSAY_OK;
  const char *slash = strrchr(launch->file, '/');
  const assay_nvrtc_request request = {.file = slash != NULL ? slash + 1 : launch->file,
                                       .text = source.text,
                                       .headers = source.headers,
                                       .header_count = source.header_count,
                                       .defines = launch->defines,
                                       .target = target};
  const assay_status status = compile(nvrtc, &request, why);
  assay_kernel_source_free(&source);
  return status;
}

assay_status worker_nvrtc_check(const assay_launch *launch, assay_message *why) {
  static answer *answers;
  char *question = make_question(launch);
  if (question == NULL) return ASSAY_OK;
  pthread_mutex_lock(&lock);
  answer *known = answers;
  while (known != NULL && strcmp(known->question, question) != 0) known = known->next;
  if (known == NULL && (known = calloc(1, sizeof *known)) != NULL) {
    known->status = ask(launch, &known->why);
    known->question = question;
    known->next = answers;
    answers = known;
    question = NULL;
  }
  const assay_status status = known != NULL ? known->status : ASSAY_OK;
  if (status != ASSAY_OK) *why = known->why;
  pthread_mutex_unlock(&lock);
  free(question);
  return status;
}
