/* SPDX-License-Identifier: MIT */
/* fake_driver.h - a test program's way to the CUDA driver that only keeps a diary (fake_driver.c). */
#ifndef ASSAY_FAKE_DRIVER_H
#define ASSAY_FAKE_DRIVER_H

#include "unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda_driver.h"
#include "file.h"
#include "nvrtc.h"

static struct {
  const char *(*diary)(void);
  void (*forget)(void);
  void (*refuse)(const char *symbol, int result); /* the next call of that function answers this */
  void *(*stream_of)(int device);
  void (*argument_bytes)(size_t bytes);
  void (*quiet)(int on);
  int (*depth)(void); /* contexts that are current on this thread */
} fake;

static inline void says(const char *text, const char *words) {
  if (strstr(text, words) == NULL) fail_msg("'%s' does not hold '%s'", text, words);
}

/* How often a word stands in the diary. */
static inline int times(const char *word) {
  int count = 0;
  for (const char *at = strstr(fake.diary(), word); at != NULL; at = strstr(at + 1, word)) count++;
  return count;
}

/* The loader reads LD_LIBRARY_PATH when a program starts, so this one starts again with the fake driver in
 * it. Called first in main; false when there is no fake driver beside the program. */
static inline bool fake_driver_ready(char **argv) {
  static const char *const symbols[] = {"fake_diary",          "fake_forget", "fake_refuse", "fake_stream_of",
                                        "fake_argument_bytes", "fake_quiet",  "fake_depth"};
  char program[ASSAY_PATH_SIZE];
  char path[ASSAY_PATH_SIZE];
  if (getenv("ASSAY_FAKE_DRIVER") == NULL && assay_path_format(program, "%s", assay_program_path())) {
    const char *others = getenv("LD_LIBRARY_PATH");
    const int length = (int)(strrchr(program, '/') - program);
    const bool fits = assay_path_format(path, "%.*s/fake%s%s", length, program, others != NULL ? ":" : "",
                                        others != NULL ? others : "");
    if (fits && setenv("LD_LIBRARY_PATH", path, 1) == 0 && setenv("ASSAY_FAKE_DRIVER", "1", 1) == 0) {
      execv(program, argv);
    }
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *symbol = library != NULL ? dlsym(library, symbols[i]) : NULL;
    if (symbol == NULL) {
      fputs("the fake driver was not loaded: 'make tests' builds it beside this program\n", stderr);
      return false;
    }
    memcpy((char *)&fake + i * sizeof symbol, &symbol, sizeof symbol);
  }
  return true;
}

/* Queues need NVRTC too. True, with the reason printed, when there is none that fits the fake driver. */
static inline bool fake_driver_skips(void) {
  assay_message why = {""};
  const cuda_driver *driver = assay_cuda_driver(&why);
  if (driver == NULL || assay_nvrtc_find(driver->version / 1000, &why) != NULL) return false;
  printf("1..0 # SKIP %s\n", why.text);
  return true;
}

#endif
