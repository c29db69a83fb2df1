/* SPDX-License-Identifier: MIT */
/*
 * pretend_driver.c - the fake driver, made to run a few kernels by itself and to let time pass, so that
 * `assay bench --backend cuda` can be tried from end to end without a GPU (test_bench_gpu.sh).
 *
 * A capture keeps what is launched, and a graph launch runs it. Event times are the host's.
 */
#define cuLaunchKernel          noted_launch
#define cuGraphLaunch           noted_graph_launch
#define cuEventCreate           noted_event_create
#define cuEventRecord           noted_event_record
#define cuEventElapsedTime      noted_event_elapsed
#define cuFuncGetParamInfo      noted_parameter_info
#define cuStreamBeginCapture_v2 noted_capture_begin
#define cuStreamEndCapture      noted_capture_end
#define cuDeviceGetAttribute    noted_attribute
#include "fake_driver.c"
#undef cuLaunchKernel
#undef cuGraphLaunch
#undef cuEventCreate
#undef cuEventRecord
#undef cuEventElapsedTime
#undef cuStreamBeginCapture_v2
#undef cuStreamEndCapture
#undef cuDeviceGetAttribute

#include <math.h>
#include <time.h>

enum { KEPT_MOST = 1 << 17, CLOCK_KHZ = 1980000, CACHE_BYTES = 1 << 20 };

typedef union kept_args {
  struct {
    const float *x;
    float *y;
    int64_t rows, columns, row_stride, column_stride;
  } softmax;
  struct {
    int64_t *answer;
    const unsigned char *left, *right;
    int64_t bytes;
  } differs;
} kept_args;

typedef struct kept_launch {
  const char *kernel;
  kept_args args;
} kept_launch;

static kept_launch kept[KEPT_MOST];
static long kept_count;
static int capturing;

static void run_softmax(const kept_args *args) {
  for (int64_t r = 0; r < args->softmax.rows; r++) {
    const float *x = args->softmax.x + r * args->softmax.row_stride;
    const int64_t step = args->softmax.column_stride;
    double most = -INFINITY;
    double sum = 0;
    for (int64_t c = 0; c < args->softmax.columns; c++) most = fmax(most, (double)x[c * step]);
    for (int64_t c = 0; c < args->softmax.columns; c++) sum += exp((double)x[c * step] - most);
    for (int64_t c = 0; c < args->softmax.columns; c++) {
      args->softmax.y[r * args->softmax.columns + c] = (float)(exp((double)x[c * step] - most) / sum);
    }
  }
}

/* With PRETEND=writes a softmax also changes its input; with PRETEND=elsewhere it is not in the graph. */
static void run(const kept_launch *one) {
  const char *pretend = getenv("PRETEND");
  const kept_args *args = &one->args;
  if (strcmp(one->kernel, "softmax_row") == 0) {
    run_softmax(args);
    if (pretend != NULL && strcmp(pretend, "writes") == 0) {
      unsigned char *x = (unsigned char *)(uintptr_t)args->softmax.x;
      x[0] ^= 1;
    }
  } else if (strcmp(one->kernel, "sm_clock") == 0) {
    args->differs.answer[0] = 170000;
    args->differs.answer[1] = 100000;
  } else if (strcmp(one->kernel, "differs") == 0) {
    if (memcmp(args->differs.left, args->differs.right, (size_t)args->differs.bytes) != 0)
      args->differs.answer[1] = 1;
  }
}

FAKE int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, fake_stream *stream, void **arguments,
                        void **extra);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared_bytes, fake_stream *stream, void **arguments, void **extra) {
  static const char *const small[] = {"sm_clock", "nothing", "burst"}; /* arguments of two words */
  kept_launch one = {.kernel = function};
  size_t bytes = strcmp(function, "differs") == 0 ? sizeof one.args.differs : sizeof one.args.softmax;
  (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared_bytes, (void)stream, (void)extra;
  for (int i = 0; i < 3; i++) {
    if (strcmp(function, small[i]) == 0) bytes = 16;
  }
  memcpy(&one.args, arguments[0], bytes);
  const char *pretend = getenv("PRETEND");
  const int elsewhere = pretend != NULL && strcmp(pretend, "elsewhere") == 0 && bytes != 16;
  if (!elsewhere || !capturing) launches++;
  if (!capturing) {
    run(&one);
  } else if (kept_count < KEPT_MOST) {
    kept[kept_count++] = one;
  }
  return 0;
}

/* There is one graph at a time: what was captured last. */
FAKE int cuStreamBeginCapture_v2(fake_stream *stream, int mode);
int cuStreamBeginCapture_v2(fake_stream *stream, int mode) {
  capturing = 1;
  kept_count = 0;
  return noted_capture_begin(stream, mode);
}

FAKE int cuStreamEndCapture(fake_stream *stream, void **graph);
int cuStreamEndCapture(fake_stream *stream, void **graph) {
  capturing = 0;
  return noted_capture_end(stream, graph);
}

FAKE int cuGraphLaunch(void *exec, fake_stream *stream);
int cuGraphLaunch(void *exec, fake_stream *stream) {
  (void)exec, (void)stream;
  for (long i = 0; i < kept_count; i++) run(&kept[i]);
  return 0;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

FAKE int cuEventCreate(void **event, unsigned flags);
int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof(struct timespec));
  return *event != NULL ? 0 : 2;
}

FAKE int cuEventRecord(void *event, fake_stream *stream);
int cuEventRecord(void *event, fake_stream *stream) {
  (void)stream;
  return clock_gettime(CLOCK_MONOTONIC, event) == 0 ? 0 : 1;
}

FAKE int cuEventElapsedTime(float *milliseconds, void *start, void *end);
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  const struct timespec *from = start;
  const struct timespec *to = end;
  *milliseconds =
      (float)((double)(to->tv_sec - from->tv_sec) * 1e3 + (double)(to->tv_nsec - from->tv_nsec) * 1e-6);
  return 0;
}

FAKE int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const int result = noted_attribute(value, attribute, device);
  if (attribute == 13) *value = CLOCK_KHZ;
  if (attribute == 38) *value = CACHE_BYTES;
  return result;
}
