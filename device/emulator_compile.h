/* SPDX-License-Identifier: MIT */
/* emulator_compile.h - from a launch to the loaded object of its source file and defines. */
#ifndef ASSAY_EMULATOR_COMPILE_H
#define ASSAY_EMULATOR_COMPILE_H

#include "emulator_build.h"

/* Scans, compiles unless the cache has it, loads and binds to `calls`. `kept` is the object's file, "" when
 * it could not be kept. *log as for assay_emulator_find, and the same errors. */
assay_status assay_emulator_object(const assay_launch *launch, bool watched,
                                   const assay_emulator_calls *calls, void **handle,
                                   char kept[ASSAY_PATH_SIZE], char **log, assay_message *why);

#endif
