/* SPDX-License-Identifier: MIT */
/* prove.h - are the checks able to fail? Every defect of broken.txt against the check that must catch it. */
#ifndef ASSAY_PROVE_H
#define ASSAY_PROVE_H

#include <jansson.h>

#include "engine.h"

typedef struct prove_options {
  uint64_t seed;
  const char *filter; /* POSIX extended regular expression over defect names, NULL for all */
  double seconds;     /* limit of one call, 0 for 2 s */
  bool one_stage;     /* stop behind the first stage that has a failure */
  bool on_gpu; /* defects of .cu files on the GPU, and no others; else on the emulator, beside all others */
  bool named_only; /* run only the check that each defect names: the same proof, a smaller matrix */
} prove_options;

/* One defect or built-in kernel, as soon as it is decided. */
typedef struct prove_step {
  const char *exercise;
  bool honest; /* the starter or the solution: "caught" means that it is as it must be */
  const char *defect;
  const char *file;
  const char *caught_by; /* the check named in broken.txt; "any" for a built-in must-fail kernel */
  bool caught;
  const char *reason; /* the verdict and reason of the check that had to catch it, or what went wrong */
  int killers;        /* how many checks did not pass */
  double seconds;
} prove_step;

typedef void prove_sink(void *user, const prove_step *step);

/* Proves one exercise. Adds to `report` ("defects", "caught", "survived", "unavailable", "unproved",
 * "matrix"). True when every defect was caught by its named check, every check is failed by something, the
 * starter says TODO and the solution passes. Defects of the program itself need its source tree: without it
 * they are counted as unavailable, and no check is called unproved. */
bool prove_exercise(const assay_exercise *exercise, const prove_options *options, prove_sink *sink,
                    void *user, json_t *report, assay_message *why);

#endif
