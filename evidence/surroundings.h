/* SPDX-License-Identifier: MIT */
/* surroundings.h - what a report says about machine, build and sources. */
#ifndef ASSAY_SURROUNDINGS_H
#define ASSAY_SURROUNDINGS_H

#include "bench/bench.h"
#include "report.h"

/* Everything but loads, pinned and pages, which belong to the run. False without memory. */
bool surroundings_take(report_environment *environment, int threads);

/* Average load of the last minute. */
double surroundings_load(void);

/* The GPU that was timed: its name, the CUDA that its driver supports, and NVRTC. False without memory. */
bool surroundings_gpu(report_environment *environment);

/* The revision of the source folder; NULL and clean outside a repository. */
bool surroundings_git(report_git *git);

/* What was compiled for a variant, by its kind: an own file with the headers it may include, or the files of
 * the operator's folder that make the variant. False without memory. */
bool surroundings_sources(const bench_run *run, const bench_case *one, const bench_variant *variant,
                          report_variant *target);

/* The same for a variant of the library, wherever it would run. */
bool surroundings_library_sources(const assay_operator *op, const assay_variant *variant,
                                  report_variant *target);

/* The compiler's flags: of an object that is built from a source file, or of this program and the library in
 * it; on a GPU also those that every kernel is compiled with. Owned by the caller, NULL without memory. */
char *surroundings_flags(bool object, bool on_gpu);

#endif
