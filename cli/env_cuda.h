/* SPDX-License-Identifier: MIT */
/* env_cuda.h - what `env` says about CUDA: the driver and its devices, the compiler, the cache of kernels. */
#ifndef ASSAY_ENV_CUDA_H
#define ASSAY_ENV_CUDA_H

#include <jansson.h>

/* {"driver", "driver_reason", "devices": [{"device", "name", "architecture", "memory_mib"}], "nvrtc":
 * {"version", "path"}, "nvrtc_reason", "nvrtc_found": [paths], "cache"}; what is missing is null, and its
 * reason a sentence. This starts the driver: the only command that does so without running a kernel. */
json_t *env_cuda(void);

/* The same as lines of text. */
void env_cuda_print(const json_t *cuda);

#endif
