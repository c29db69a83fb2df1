/* SPDX-License-Identifier: MIT */
/*
 * nvrtc.h - NVIDIA's run-time compiler, found when the program runs: CUDA C becomes machine code of one
 * architecture.
 *
 * No GPU is needed to compile. Code is made for a real architecture ("sm_90a"), never left as PTX where that
 * can be avoided: only then the assembler sees it, and its remarks reach the log.
 * NVRTC itself opens the driver when there is one, so work for the CPU must not come here.
 */
#ifndef ASSAY_NVRTC_H
#define ASSAY_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/workshop.h"
#include "file.h"
#include "status.h"

enum { ASSAY_NVRTC_MOST = 16, ASSAY_ARCHITECTURES_MOST = 64 };

typedef struct assay_nvrtc assay_nvrtc;

/* One file that was found, loaded or not. */
typedef struct assay_nvrtc_place {
  char path[ASSAY_PATH_SIZE];
  int major; /* from the name of the file, 0 where it has none */
} assay_nvrtc_place;

/* Every libnvrtc on this machine, in the order of the search: the loader's own folders, CUDA's, Python's.
 * Each file once. Returns how many were found, ASSAY_NVRTC_MOST at most. Opens only those that the loader
 * finds. */
int assay_nvrtc_places(assay_nvrtc_place places[ASSAY_NVRTC_MOST]);

/* The newest NVRTC whose major version is at most `driver_major` (INT_MAX: any), the first found among
 * equals. Loaded once and kept. NULL: `why` says which versions there are, or where was looked, and what
 * helps. Any thread. */
const assay_nvrtc *assay_nvrtc_find(int driver_major, assay_message *why);

const char *assay_nvrtc_path(const assay_nvrtc *nvrtc);
void assay_nvrtc_version(const assay_nvrtc *nvrtc, int *major, int *minor);

/* Where `architecture` (90 for 9.0) can be compiled for: "sm_90a" itself, else the newest "compute_NN" before
 * it, as PTX that the driver translates. False when it is older than all that this NVRTC knows. */
bool assay_nvrtc_target(const assay_nvrtc *nvrtc, int architecture, char target[32]);

typedef struct assay_nvrtc_header {
  const char *name; /* as the source includes it */
  const char *text;
} assay_nvrtc_header;

typedef struct assay_nvrtc_request {
  const char *file; /* the name that messages show */
  const char *text;
  const assay_nvrtc_header *headers;
  int header_count;
  const assay_define *defines; /* ends with a NULL name; NULL: none */
  const char *target;          /* "sm_90a", "compute_90" */
} assay_nvrtc_request;

typedef struct assay_nvrtc_result {
  void *image; /* a cubin, or PTX with a NUL behind it; NULL unless ASSAY_OK */
  size_t image_bytes;
  char *log; /* what compiler and assembler said, also on success; NULL only without memory */
} assay_nvrtc_result;

/* Compiles. `why` is the first error with its line. Errors: KERNEL_FAULT (the source does not compile),
 * UNAVAILABLE (the compiler itself failed), NO_MEMORY. The result is to be freed in every case. */
assay_status assay_nvrtc_compile(const assay_nvrtc *nvrtc, const assay_nvrtc_request *request,
                                 assay_nvrtc_result *result, assay_message *why);
void assay_nvrtc_free(assay_nvrtc_result *result);

/* Options of every compilation, for keys and reports; ends with NULL. */
extern const char *const assay_nvrtc_options[];

/* What the assembler reports of one kernel. */
typedef struct assay_nvrtc_usage {
  int registers;
  int shared_bytes; /* static */
  int stack_bytes;
  int spill_bytes;  /* stores and loads */
  int remarks;      /* C75xx: an instruction was ignored, or wgmma was serialised; of the whole file */
  char remark[160]; /* the first of them */
} assay_nvrtc_usage;

/* Reads the usage of `kernel` out of a log; false when the log does not have it. */
bool assay_nvrtc_usage_of(const char *log, const char *kernel, assay_nvrtc_usage *usage);

#endif
