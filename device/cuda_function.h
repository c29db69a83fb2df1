/* SPDX-License-Identifier: MIT */
/*
 * cuda_function.h - what one CUDA context holds of ours: loaded kernels, the pool of scratch memory.
 *
 * A kernel is found by the text of its launch (file, name, defines) without a lock: entries are only ever
 * added, and stay until the process ends. Compiling happens outside the lock, so that several threads can do
 * it at once.
 */
#ifndef ASSAY_CUDA_FUNCTION_H
#define ASSAY_CUDA_FUNCTION_H

#include <pthread.h>
#include <stdatomic.h>

#include "cuda_driver.h"
#include "nvrtc.h"

enum { ASSAY_CUDA_BUCKETS = 512 };

typedef struct cuda_kernel {
  struct cuda_kernel *next;
  uint64_t hash;
  char *file;
  char *name;
  assay_define *defines;
  cuda_module module;
  cuda_function function;
  size_t arg_bytes;           /* of the kernel's one argument; 0: the driver cannot tell */
  int threads_most;           /* of a block */
  int dynamic_shared_most;    /* bytes */
  atomic_bool large_clusters; /* clusters of more than 8 blocks were asked for and allowed */
} cuda_kernel;

typedef struct cuda_space {
  struct cuda_space *next;
  const cuda_driver *driver;
  const assay_nvrtc *nvrtc;
  cuda_context context;
  unsigned long long id; /* of the context: a later one may stand at the same address */
  int device;
  cuda_device_info info;
  cuda_pool pool; /* NULL: the device has no pools */
  pthread_mutex_t lock;
  _Atomic(cuda_kernel *) buckets[ASSAY_CUDA_BUCKETS];
} cuda_space;

/* The space of a context on device `device`, which must be current on this thread. Errors: UNAVAILABLE (no
 * driver, no NVRTC that fits), BAD_DEVICE, NO_MEMORY. */
assay_status assay_cuda_space(int device, cuda_context context, cuda_space **space, assay_message *why);

/* The kernel of a launch when it is loaded, else NULL. No lock. */
cuda_kernel *assay_cuda_kernel_find(cuda_space *space, const assay_launch *launch);

/* Compiles (or takes from the disk) and loads the kernel of a launch; the context must be current. *log is
 * what the compiler said when it refused the source, to be freed, else NULL. Errors: as
 * assay_kernel_source_load and assay_nvrtc_compile; KERNEL_FAULT (no such kernel in the file); UNAVAILABLE
 * (the driver does not load it). */
assay_status assay_cuda_kernel_load(cuda_space *space, const assay_launch *launch, cuda_kernel **kernel,
                                    char **log, assay_message *why);

#endif
