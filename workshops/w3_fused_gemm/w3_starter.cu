/* SPDX-License-Identifier: MIT */
/*
 * Fused GEMM on a GPU: your file.
 *
 * Write, for every row i < m and column j < n,
 *
 *     c[i,j] = relu(a[i,0]*b[0,j] + a[i,1]*b[1,j] + ... + a[i,k-1]*b[k-1,j] + bias[j])
 *
 * where relu(x) is 0 for x below 0 and x otherwise; relu(NaN) is NaN. The sum, bias and relu are FP32; there
 * is one rounding to 16 bits, the store.
 *
 *     ./assay lesson fused_gemm    the formula and tiles; its last part is about GPUs
 *     ./assay check fused_gemm     is it right? On a GPU, or emulated where there is none
 *     ./assay hint fused_gemm      when you are stuck
 *
 * The file has two halves: kernels, which run on the GPU, and the host function, which starts them. It is
 * written in the part of CUDA that is C as well as C++. Everything that a kernel may call stands in
 * include/assay/kernel.h.
 */
#include "assay/kernel.h"

/* Columns of a tile of C, and steps along k that are in shared memory at a time. Yours to choose; multiples
 * of 16 suit the tensor cores. */
enum { TILE_N = 64, TILE_K = 32 };

/* What your kernel needs to know: one struct, passed by value. */
typedef struct gemm_args {
  const void *a; /* 16-bit elements; with k = 0 a and b may be NULL */
  const void *b;
  const void *bias;
  void *c; /* contiguous */
  int64_t m, n, k;
  int64_t a_stride, b_stride;             /* from row to row, in elements: any number, also 0 */
  int64_t grid_rows, grid_columns, group; /* tiles of C, and the knob: rows of tiles walked together */
} gemm_args;

#ifdef ASSAY_DEVICE

/*
 * In every thread: args (the struct), threadIdx.x, blockIdx.x, blockDim.x, gridDim.x. Compile-time: TILE_M
 * (rows of a tile of C: 16, 32 or 64) and `element`, the type of all operands.
 *
 *   float v = element_load(x, i);               element i of x, as a float
 *   element_store(y, i, v);                     rounds v once
 *   __shared__ __align__(16) element tile[..];  memory that the threads of a block share
 *   __syncthreads();                            every thread of the block waits here for all others
 *   ldmatrix_x4(to, row);                       all 32 lanes: four matrices of 8 x 8 elements out of shared
 *   ldmatrix_x4_trans(to, row);                 memory into registers, uint32_t to[4]; rows of 16 bytes
 *   mma_m16n8k16(d, a, b);                      all 32 lanes: float d[4] += uint32_t a[4] * uint32_t b[2]
 *
 * A first version needs none of the last three: let every thread add up one element of C in a loop over k.
 */
KERNEL(gemm_tiles, gemm_args, 2 * TILE_M) {
  /* Step 1. Which tile of C does this block own, in the grouped order, and when there may be more tiles than
   * blocks? How many rows and columns does an incomplete tile own? */

  /* Step 2. Which elements of A and B does this thread bring into shared memory? What stands in the places
   * that lie outside A or B, and which of these places does a sum see? */

  /* Step 3. Between which two accesses to the shared tiles must a barrier stand? There are two such pairs.
   */

  /* Step 4. Which lane holds which sums of the tile? Whose row does it name to ldmatrix? */

  /* Step 5. Bias, relu, the one rounding; and only what lies in C. What comes out when k is 0? */

  (void)args; /* delete this line */
}

#else

/* Makes the function visible to the judge, and lets the compiler check its signature. Leave it as it is. */
ASSAY_API assay_kernel fused_gemm;

assay_status fused_gemm(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                        assay_queue *queue) {
  /* Their data is memory of the GPU: the host must not read it. */
  const assay_tensor *a = &in[ASSAY_FUSED_GEMM_A];
  const assay_tensor *b = &in[ASSAY_FUSED_GEMM_B];
  const assay_tensor *bias = &in[ASSAY_FUSED_GEMM_BIAS];
  const assay_tensor *c = &out[ASSAY_FUSED_GEMM_C];
  const int64_t tile_m = opt[ASSAY_FUSED_GEMM_TILE_M] != 0 ? opt[ASSAY_FUSED_GEMM_TILE_M] : 32;
  const int64_t group = opt[ASSAY_FUSED_GEMM_GROUP] != 0 ? opt[ASSAY_FUSED_GEMM_GROUP] : 8;

  /*
   * The host fills in the struct, starts the kernel, and returns without waiting for it:
   *
   *   const assay_define defines[] = {{"DTYPE", a->dtype}, {"TILE_M", tile_m}, {NULL, 0}};
   *   return LAUNCH(queue, "gemm_tiles", assay_dim(blocks), assay_dim(2 * tile_m), 0, 1, defines, args);
   *
   * How many rows and columns of tiles cover C? How many blocks? And what is to be done when m or n is 0,
   * since a grid of 0 blocks is an error?
   */
  (void)a, (void)b, (void)bias, (void)c, (void)tile_m, (void)group, (void)queue;
  return ASSAY_TODO;
}

#endif
