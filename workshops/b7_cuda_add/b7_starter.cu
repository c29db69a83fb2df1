/* SPDX-License-Identifier: MIT */
/*
 * The sum of two arrays on a GPU: your file.
 *
 * Write, for every i,
 *
 *     y[i] = a[i] + b[i]
 *
 * with one thread for each element.
 *
 *     ./assay lesson cuda_add    what a grid, a block and a thread are, with a worked example
 *     ./assay check cuda_add     is it right? On a GPU, or emulated where there is none
 *     ./assay hint cuda_add      when you are stuck
 *
 * The file has two halves: the kernel, which every thread runs, and the host function, which starts the
 * threads. The function is only called with valid arguments.
 */
#include "assay/kernel.h"

/* What a thread has to know: one struct, passed by value. */
typedef struct add_args {
  const float *a;
  const float *b;
  float *y;
  int64_t count;
} add_args;

#ifdef ASSAY_DEVICE

/* Every thread runs this. It knows threadIdx.x (its number in its block), blockIdx.x (the number of its
 * block), blockDim.x (threads a block) and args. */
KERNEL(add, add_args, 1024) {
  /* Step 1. Which element is this thread's? Which type must the index have, when there may be more than 2^31
   * elements? */

  /* Step 2. Which threads have no element? */

  /* Step 3. One line does the work. */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel cuda_add;

assay_status cuda_add(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                      assay_queue *queue) {
  /* The addresses are the GPU's: hand them on, the host must not read or write there. */
  const add_args args = {in[0].data, in[1].data, out[0].data, in[0].shape[0]};
  const int64_t threads = opt[0] != 0 ? opt[0] : 256; /* a block: a multiple of 32, 32 to 1024 */

  /*
   * Step 4. How many blocks are needed? And what is to be done when there is no element at all, since a grid
   * of 0 blocks is an error? The launch, which does not wait for the kernel's end:
   *
   *   const assay_define defines[] = {{NULL, 0}};
   *   return LAUNCH(queue, "add", assay_dim(blocks), assay_dim(threads), 0, 1, defines, args);
   */
  (void)args, (void)threads, (void)queue; /* delete this line */
  return ASSAY_TODO;
}

#endif
