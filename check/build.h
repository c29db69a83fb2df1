/* SPDX-License-Identifier: MIT */
/* build.h - a learner's source file becomes a shared object. */
#ifndef ASSAY_BUILD_H
#define ASSAY_BUILD_H

#include "verdict.h"

/* Compiles `source` (C, or the host half of a .cu file) with $CC (else cc) to the shared object `object`
 * against include/assay of the source folder; every symbol must be defined. PASS; FAIL with the compiler's
 * first lines in *log (to be freed); UNAVAILABLE when there is no compiler; TIMEOUT after 60 s. `reason` is
 * one line. */
verdict build_object(const char *source, const char *object, assay_message *reason, char **log);

/* The compiler's command line without file names, as reports and `env` show it. */
const char *kernel_compiler(void);
extern const char *const build_flags[];

#endif
