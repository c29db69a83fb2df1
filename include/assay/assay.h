/* SPDX-License-Identifier: MIT */
/*
 * assay.h - the library: fast operators of the transformer on strided tensors.
 *
 * Every call validates its arguments before it computes, never prints, never exits, and returns a status;
 * assay_last_error() then holds one sentence that names the argument and what would be right.
 *
 * Contract of all operators: inputs are read and never written; outputs are contiguous, written whole and
 * overlap no input; accumulation is in FP32 with one rounding to the output type; NaN propagates; calls on
 * different queues may run at the same time. Strides count elements, not bytes.
 */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_VERSION_MAJOR 0
#define ASSAY_VERSION_MINOR 1
#define ASSAY_VERSION_PATCH 0

#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#else
#define ASSAY_API
#endif

enum { ASSAY_MAX_RANK = 4 };

/* What a call answers. 0 is success; every other value leaves the outputs of a rejected call untouched. */
typedef enum assay_status {
  ASSAY_OK = 0,
  ASSAY_TODO,         /* an exercise that is not written yet */
  ASSAY_BAD_POINTER,  /* NULL where data is needed, or not aligned to its element */
  ASSAY_BAD_SHAPE,    /* rank or a size is out of range, or sizes do not fit each other */
  ASSAY_BAD_DTYPE,    /* element type not supported, or types that must agree differ */
  ASSAY_BAD_STRIDE,   /* negative, not contiguous where that is needed, or the span overflows */
  ASSAY_BAD_DEVICE,   /* a tensor is not where the queue runs */
  ASSAY_BAD_ALIAS,    /* an output overlaps an input */
  ASSAY_BAD_OPTION,   /* a knob has no such value, or the variant has no such knob */
  ASSAY_NO_MEMORY,    /* scratch could not be allocated */
  ASSAY_UNAVAILABLE,  /* no such operator or variant, or this machine cannot run it */
  ASSAY_KERNEL_FAULT, /* a kernel does not compile, or broke a rule of the GPU while it ran */
  ASSAY_STATUS_COUNT
} assay_status;

typedef enum assay_dtype {
  ASSAY_FP32 = 0,
  ASSAY_FP16,
  ASSAY_BF16,
  ASSAY_FP64,
  ASSAY_DTYPE_COUNT
} assay_dtype;

/* Device numbers: host memory, host memory of the CUDA emulator; CUDA devices count from 0. */
enum { ASSAY_DEVICE_CPU = -1, ASSAY_DEVICE_EMULATOR = -2 };

/*
 * A view of memory that somebody else owns. Element (i0, i1, ...) is at data + sum(i[k] * stride[k])
 * elements. Entries of shape and stride at and above `rank` are ignored.
 */
typedef struct assay_tensor {
  void *data;
  assay_dtype dtype;
  int32_t device;
  int32_t rank; /* 0..ASSAY_MAX_RANK */
  int64_t shape[ASSAY_MAX_RANK];
  int64_t stride[ASSAY_MAX_RANK];
} assay_tensor;

/* Where and with how many threads a call runs. A CPU queue is synchronous. */
typedef struct assay_queue assay_queue;

/* "0.1.0" of the linked library; static storage. */
ASSAY_API const char *assay_version(void);

/* The name of a status ("bad stride") or of an element type ("fp16"); "?" for a value out of range. */
ASSAY_API const char *assay_status_name(assay_status status);
ASSAY_API const char *assay_dtype_name(assay_dtype dtype);

/* Bytes of one element; 0 for a value out of range. */
ASSAY_API size_t assay_dtype_size(assay_dtype dtype);

/* One sentence on the last call of this thread that did not return ASSAY_OK; "" before that. */
ASSAY_API const char *assay_last_error(void);

/*
 * Opens a CPU queue of `threads` threads. 0 takes OMP_NUM_THREADS, else the CPUs this process may use.
 * The caller owns *queue and closes it. Errors: ASSAY_BAD_POINTER (queue is NULL), ASSAY_BAD_OPTION (threads
 * outside 0..1024), ASSAY_NO_MEMORY. Closing NULL does nothing.
 */
ASSAY_API assay_status assay_queue_open_cpu(int threads, assay_queue **queue);
ASSAY_API void assay_queue_close(assay_queue *queue);

/*
 * Opens a queue on CUDA device `device`, whose tensors and workspaces are device memory. With `stream` NULL
 * the queue makes a stream of its own in the device's primary context; otherwise it wraps the caller's
 * CUstream (and that stream's context), which must outlive it. Calls are asynchronous: they return when their
 * kernels are launched. Errors: ASSAY_BAD_POINTER, ASSAY_BAD_DEVICE (no such device), ASSAY_NO_MEMORY,
 * ASSAY_UNAVAILABLE (no driver, or no NVRTC that fits it; assay_last_error() says which).
 */
ASSAY_API assay_status assay_queue_open_cuda(int device, void *stream, assay_queue **queue);

/*
 * Opens a queue that runs the CUDA kernels on the CPU, emulated: for tests and for learning, not for speed.
 * Its tensors are host memory with device ASSAY_DEVICE_EMULATOR. Blocks run on up to `threads` threads, 0 as
 * for a CPU queue. Kernels are compiled by $CC, else cc, when first launched; without a compiler a call
 * answers ASSAY_UNAVAILABLE; a kernel that breaks a rule (a barrier that not all threads reach, say) ends
 * with ASSAY_KERNEL_FAULT, and its outputs are undefined. Errors of opening: as for a CPU queue.
 */
ASSAY_API assay_status assay_queue_open_emulator(int threads, assay_queue **queue);

/* Waits until everything that was given to the queue has run; at once on the CPU and the emulator. Errors:
 * ASSAY_BAD_POINTER, ASSAY_KERNEL_FAULT (a kernel failed on the device), ASSAY_UNAVAILABLE (the device). */
ASSAY_API assay_status assay_queue_wait(assay_queue *queue);

/* The number of threads that a call on this queue may use. */
ASSAY_API int assay_queue_threads(const assay_queue *queue);

/*
 * Runs an operator by name on described tensors: what every typed function below does. `variant` NULL picks
 * the first variant of the operator's table that this machine can run; a name forces that one and is an error
 * if it cannot run. The order of in, out and opt is named by the operator's enum; opt NULL means all
 * defaults, and 0 in opt means the default of that knob.
 */
ASSAY_API assay_status assay_call(const char *name, const char *variant, const assay_tensor *in,
                                  const assay_tensor *out, const int64_t *opt, assay_queue *queue);

/* ---- strided_softmax ----------------------------------------------------------------------------------- */

enum { ASSAY_STRIDED_SOFTMAX_X = 0, ASSAY_STRIDED_SOFTMAX_INPUTS };
enum { ASSAY_STRIDED_SOFTMAX_Y = 0, ASSAY_STRIDED_SOFTMAX_OUTPUTS };
enum { ASSAY_STRIDED_SOFTMAX_WARPS = 0, ASSAY_STRIDED_SOFTMAX_OPTIONS };

/*
 * y[r,c] = exp(x[r,c] - max_c x[r,c]) / sum_c exp(x[r,c] - max_c x[r,c])         for r < rows, c < columns
 *
 * dtype          ASSAY_FP32, ASSAY_FP16 or ASSAY_BF16, of x and of y
 * x              input; element (r,c) is at x + r*row_stride + c*column_stride
 * rows           0 or more; with 0 rows nothing is read or written and the call succeeds
 * columns        1 or more
 * row_stride, column_stride   0 or more elements; 0 repeats one element (a broadcast view)
 * y              output, rows*columns elements, contiguous, overlapping no element of x
 * warps          CUDA only: warps a block, 4 or 8; 0 is the default and the only value on the CPU
 *
 * Special rows: all -inf, any +inf or any NaN gives a row of NaN; -inf beside finite entries gives exact 0.
 * Subnormal FP32 and BF16 results may be 0. Errors: BAD_POINTER, BAD_SHAPE, BAD_DTYPE, BAD_STRIDE,
 * BAD_DEVICE, BAD_ALIAS, BAD_OPTION, NO_MEMORY. Formula: the maximum is subtracted as in Milakov and
 * Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867, algorithm 2.
 */
ASSAY_API assay_status assay_strided_softmax(assay_dtype dtype, const void *x, int64_t rows, int64_t columns,
                                             int64_t row_stride, int64_t column_stride, void *y,
                                             int64_t warps, assay_queue *queue);

/* ---- softmax_backward ---------------------------------------------------------------------------------- */

enum { ASSAY_SOFTMAX_BACKWARD_Y = 0, ASSAY_SOFTMAX_BACKWARD_G, ASSAY_SOFTMAX_BACKWARD_INPUTS };
enum { ASSAY_SOFTMAX_BACKWARD_DX = 0, ASSAY_SOFTMAX_BACKWARD_OUTPUTS };
enum { ASSAY_SOFTMAX_BACKWARD_WARPS = 0, ASSAY_SOFTMAX_BACKWARD_OPTIONS };

/*
 * The vector-Jacobian product of the softmax, from its result y and the gradient g of what follows:
 *
 * dx[r,c] = y[r,c] * (g[r,c] - sum_k y[r,k] * g[r,k])                              for r < rows, c < columns
 *
 * dtype          ASSAY_FP32, ASSAY_FP16 or ASSAY_BF16, of y, g and dx
 * y, g           inputs, each with its own nonnegative strides in elements; y is used as given, rounded or
 * not rows           0 or more; with 0 rows nothing is read or written columns        1 or more dx output,
 * rows*columns elements, contiguous, overlapping neither input warps          CUDA only: warps a block, 4 or
 * 8; 0 is the default and the only value on the CPU
 *
 * Errors: BAD_POINTER, BAD_SHAPE, BAD_DTYPE, BAD_STRIDE, BAD_DEVICE, BAD_ALIAS, BAD_OPTION, NO_MEMORY.
 * Formula: the Jacobian of the softmax is diag(y) - y*y^T; Bridle, "Probabilistic interpretation of
 * feedforward classification network outputs", 1990.
 */
ASSAY_API assay_status assay_softmax_backward(assay_dtype dtype, const void *y, int64_t y_row_stride,
                                              int64_t y_column_stride, const void *g, int64_t g_row_stride,
                                              int64_t g_column_stride, int64_t rows, int64_t columns,
                                              void *dx, int64_t warps, assay_queue *queue);

/* ---- fused_gemm ---------------------------------------------------------------------------------------- */

enum { ASSAY_FUSED_GEMM_A = 0, ASSAY_FUSED_GEMM_B, ASSAY_FUSED_GEMM_BIAS, ASSAY_FUSED_GEMM_INPUTS };
enum { ASSAY_FUSED_GEMM_C = 0, ASSAY_FUSED_GEMM_OUTPUTS };
enum { ASSAY_FUSED_GEMM_GROUP = 0, ASSAY_FUSED_GEMM_TILE_M, ASSAY_FUSED_GEMM_OPTIONS };

/*
 * c[i,j] = relu(sum_p a[i,p] * b[p,j] + bias[j])                               for i < m, j < n, p < k
 *
 * dtype          ASSAY_FP16 or ASSAY_BF16, of all operands
 * a, b           inputs [m,k] and [k,n], inner stride 1, row strides in elements, 0 or more
 * bias           input [n], contiguous
 * m, n, k        0 or more; with m or n 0 nothing is written, with k 0 every row is relu(bias)
 * c              output [m,n], contiguous, overlapping no input
 * group          rows of tiles that are walked together: 1, 4 or 8; 0 is the default
 * tile_m         rows of a tile: 16, 32 or 64; 0 is the default
 *
 * Products are summed in FP32, bias and relu follow in FP32, then one rounding. relu(NaN) is NaN. Errors:
 * BAD_POINTER, BAD_SHAPE, BAD_DTYPE, BAD_STRIDE, BAD_DEVICE, BAD_ALIAS, BAD_OPTION, NO_MEMORY.
 */
ASSAY_API assay_status assay_fused_gemm(assay_dtype dtype, const void *a, int64_t a_row_stride, const void *b,
                                        int64_t b_row_stride, const void *bias, int64_t m, int64_t n,
                                        int64_t k, void *c, int64_t group, int64_t tile_m,
                                        assay_queue *queue);

/* ---- online_normalizer --------------------------------------------------------------------------------- */

/* Three functions, in this order: summarise(x) -> state, merge(left, right) -> state, finish(state, x) -> y.
 */
enum { ASSAY_ONLINE_NORMALIZER_SUMMARISE = 0, ASSAY_ONLINE_NORMALIZER_MERGE, ASSAY_ONLINE_NORMALIZER_FINISH };

/*
 * The state of a softmax over the elements seen so far: their maximum m and s = sum exp(x - m). Two FP64
 * numbers, so that states of FP32 data merge without a loss that matters. The empty state is (-infinity, 0).
 *
 * summarise      state of `count` elements (0 gives the empty state)
 * merge          state of two parts: m = max(m1, m2), s = s1*exp(m1 - m) + s2*exp(m2 - m); the empty state is
 * the identity on both sides, bit for bit finish         y[i] = exp(x[i] - m) / s, of the type of x
 *
 * dtype          ASSAY_FP32 or ASSAY_FP64, of x and y; x and y are contiguous, y overlaps neither x nor the
 * state state          {m, s}; a NaN or +infinity among the elements makes s NaN
 *
 * Any partition of the elements and any tree of merges gives the same state within the bound of the
 * operator's README. Errors: BAD_POINTER, BAD_SHAPE, BAD_DTYPE, BAD_ALIAS, NO_MEMORY. Formula: Milakov and
 * Gimelshein, arXiv:1805.02867, section 3.
 */
ASSAY_API assay_status assay_normalizer_summarise(assay_dtype dtype, const void *x, int64_t count,
                                                  double state[2], assay_queue *queue);
ASSAY_API assay_status assay_normalizer_merge(const double left[2], const double right[2], double state[2],
                                              assay_queue *queue);
ASSAY_API assay_status assay_normalizer_finish(const double state[2], assay_dtype dtype, const void *x,
                                               int64_t count, void *y, assay_queue *queue);

/* ---- split_softmax ------------------------------------------------------------------------------------- */

enum { ASSAY_SPLIT_SOFTMAX_X = 0, ASSAY_SPLIT_SOFTMAX_INPUTS };
enum { ASSAY_SPLIT_SOFTMAX_Y = 0, ASSAY_SPLIT_SOFTMAX_WORKSPACE, ASSAY_SPLIT_SOFTMAX_OUTPUTS };
enum { ASSAY_SPLIT_SOFTMAX_CHUNK = 0, ASSAY_SPLIT_SOFTMAX_OPTIONS };

/*
 * The softmax of few wide rows, each split into chunks that are worked on separately: the state of every
 * chunk, the merged state of every row, then y = exp(x - m) / s.
 *
 * dtype          ASSAY_FP32, ASSAY_FP16 or ASSAY_BF16, of x and y
 * x, y           [rows,columns], both contiguous, not overlapping; columns 1 or more, rows 0 or more
 * chunk          elements of a chunk: 256, 1024 or 4096; 0 is the default
 * workspace      NULL: private scratch is taken. Else at least the bytes and the alignment that
 *                assay_split_softmax_workspace names; it belongs to this call until it returns (on CUDA:
 * until the stream has passed it), so concurrent calls need one each; contents before and after are undefined
 *
 * Special rows as in assay_strided_softmax. Errors: BAD_POINTER, BAD_SHAPE, BAD_DTYPE, BAD_STRIDE,
 * BAD_DEVICE, BAD_ALIAS, BAD_OPTION, NO_MEMORY.
 */
ASSAY_API assay_status assay_split_softmax(assay_dtype dtype, const void *x, int64_t rows, int64_t columns,
                                           void *y, int64_t chunk, void *workspace, size_t workspace_bytes,
                                           assay_queue *queue);

/* Bytes and alignment of a workspace for these sizes. Errors: BAD_POINTER, BAD_SHAPE, BAD_OPTION. */
ASSAY_API assay_status assay_split_softmax_workspace(int64_t rows, int64_t columns, int64_t chunk,
                                                     size_t *bytes, size_t *alignment);

/* ---- streaming_attention ------------------------------------------------------------------------------- */

enum {
  ASSAY_STREAMING_ATTENTION_Q = 0,
  ASSAY_STREAMING_ATTENTION_K,
  ASSAY_STREAMING_ATTENTION_V,
  ASSAY_STREAMING_ATTENTION_INPUTS
};
enum { ASSAY_STREAMING_ATTENTION_O = 0, ASSAY_STREAMING_ATTENTION_OUTPUTS };
enum {
  ASSAY_STREAMING_ATTENTION_CAUSAL = 0,
  ASSAY_STREAMING_ATTENTION_BLOCK_N,
  ASSAY_STREAMING_ATTENTION_OPTIONS
};

/*
 * o[b,h,i,:] = sum_j p[i,j] * v[b,h,j,:] / sum_j p[i,j],   p[i,j] = exp((q[b,h,i,:] . k[b,h,j,:]) / sqrt(d) -
 * m[i])
 *
 * over all j < n, or over j <= i when causal; m[i] is the maximum of row i's scores. The n-by-n scores are
 * never stored: key tiles are streamed, and numerator and denominator rescaled when the maximum rises.
 *
 * dtype          ASSAY_FP16 or ASSAY_BF16, of all operands
 * q, k, v        inputs [batch,heads,n,d], inner stride 1; strides of batch, head and row in elements, 0 or
 * more batch, heads, n   0 or more; with any of them 0 nothing is written d              1 to 256 o output
 * [batch,heads,n,d], contiguous, overlapping no input causal         1: key j is absent from rows i < j, and
 * not even NaN there changes a bit of them; 0: all keys block_n        keys of a tile: 32 or 64; 0 is the
 * default
 *
 * Tensors of rank 2, [n,d], are accepted by assay_call. The unnormalised weights p may be rounded to dtype
 * before they meet v; the denominator stays FP32. Errors: BAD_POINTER, BAD_SHAPE, BAD_DTYPE, BAD_STRIDE,
 * BAD_DEVICE, BAD_ALIAS, BAD_OPTION, NO_MEMORY. Formula: Dao et al., "FlashAttention", arXiv:2205.14135,
 * algorithm 1.
 */
ASSAY_API assay_status assay_streaming_attention(assay_dtype dtype, const void *q, const int64_t q_strides[3],
                                                 const void *k, const int64_t k_strides[3], const void *v,
                                                 const int64_t v_strides[3], int64_t batch, int64_t heads,
                                                 int64_t n, int64_t d, void *o, int64_t causal,
                                                 int64_t block_n, assay_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
