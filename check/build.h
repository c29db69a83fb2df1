/* SPDX-License-Identifier: MIT */
/* build.h - a learner's source file becomes a shared object. */
#ifndef ASSAY_BUILD_H
#define ASSAY_BUILD_H

#include "file.h"
#include "verdict.h"

/* Compiles `source` (C, or the host half of a .cu file) with $CC (else cc) to the shared object `object`
 * against include/assay of the source folder; every symbol must be defined. PASS; FAIL with the compiler's
 * first lines in *log (to be freed); UNAVAILABLE when there is no compiler; TIMEOUT after 60 s. `reason` is
 * one line. */
verdict build_object(const char *source, const char *object, assay_message *reason, char **log);

/* The same in a new temporary folder: `object` is the shared object, `folder` goes with assay_remove_tree
 * ("": there is none). A .cu file is copied there first: its kernels are compiled when they are launched, and
 * must still be those that the run began with. */
verdict build_in_folder(const char *source, bool is_cuda, char folder[ASSAY_PATH_SIZE],
                        char object[ASSAY_PATH_SIZE], assay_message *reason, char **log);

/* The compiler's command line without file names, as reports and `env` show it. */
const char *kernel_compiler(void);
extern const char *const build_flags[];

#endif
