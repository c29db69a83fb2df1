/* SPDX-License-Identifier: MIT */
/*
 * fake_driver.c - a libcuda.so.1 for tests without a GPU: it keeps a diary of what it was asked, gives host
 * memory as device memory, runs no kernel, and fails where a test tells it to.
 *
 * It has two devices of architecture 9.0, each with a primary context, and one stream a context that a test
 * may wrap. Blocks of the second have less shared memory, as those of newer architectures may.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE __attribute__((visibility("default")))

enum { DEVICES = 2 };

typedef struct fake_context {
  int device;
} fake_context;

typedef struct fake_stream {
  fake_context *context;
} fake_stream;

static fake_context primary[DEVICES] = {{0}, {1}};
static fake_stream foreign[DEVICES] = {{&primary[0]}, {&primary[1]}};
static _Thread_local fake_context *stack[8];
static _Thread_local int depth;
static char diary[1 << 16];
static char failing[64];
static int failing_with;
static size_t argument_bytes;
static int quiet; /* launches are only counted */
static long launches;
static long capture_from = -1;

/* ---- for the test -------------------------------------------------------------------------------------- */

FAKE const char *fake_diary(void);
FAKE void fake_forget(void);
FAKE void fake_refuse(const char *symbol, int result);
FAKE void *fake_stream_of(int device);
FAKE void fake_argument_bytes(size_t bytes);
FAKE void fake_quiet(int on);
FAKE int fake_depth(void);

const char *fake_diary(void) {
  return diary;
}

void fake_forget(void) {
  diary[0] = '\0';
}

/* The next call of `symbol` answers `result`. */
void fake_refuse(const char *symbol, int result) {
  snprintf(failing, sizeof failing, "%s", symbol);
  failing_with = result;
}

void *fake_stream_of(int device) {
  return &foreign[device];
}

/* What cuFuncGetParamInfo tells of kernels that are loaded from now on. */
void fake_argument_bytes(size_t bytes) {
  argument_bytes = bytes;
}

void fake_quiet(int on) {
  quiet = on;
}

/* How many contexts are current on this thread, one over another. */
int fake_depth(void) {
  return depth;
}

static int answer(const char *symbol) {
  if (strcmp(failing, symbol) != 0) return 0;
  failing[0] = '\0';
  return failing_with;
}

static void note(const char *text) {
  const size_t used = strlen(diary);
  snprintf(diary + used, sizeof diary - used, "%s\n", text);
}

/* An entry that only keeps the diary and answers. */
#define NOTED(symbol, parameters)                                                                            \
  FAKE int symbol parameters;                                                                                \
  int symbol parameters {                                                                                    \
    note(#symbol);                                                                                           \
    return answer(#symbol);                                                                                  \
  }

/* ---- devices and contexts ------------------------------------------------------------------------------ */

NOTED(cuInit, (unsigned flags))
NOTED(cuStreamDestroy_v2, (fake_stream * stream))
NOTED(cuStreamSynchronize, (fake_stream * stream))
NOTED(cuStreamWaitEvent, (fake_stream * stream, void *event, unsigned flags))
NOTED(cuModuleUnload, (void *module))
NOTED(cuFuncSetAttribute, (void *function, int attribute, int value))
NOTED(cuMemPoolSetAttribute, (void *pool, int attribute, void *value))
NOTED(cuEventDestroy_v2, (void *event))
NOTED(cuStreamQuery, (fake_stream * stream))
NOTED(cuCtxSetLimit, (int limit, size_t value))
NOTED(cuCtxResetPersistingL2Cache, (void))
NOTED(cuEventRecord, (void *event, fake_stream *stream))
NOTED(cuEventSynchronize, (void *event))
NOTED(cuGraphDestroy, (void *graph))
NOTED(cuGraphUpload, (void *exec, fake_stream *stream))
NOTED(cuGraphLaunch, (void *exec, fake_stream *stream))
NOTED(cuGraphExecDestroy, (void *exec))

/* An entry that fills in an answer. */
#define GIVES(symbol, parameters, statement)                                                                 \
  FAKE int symbol parameters;                                                                                \
  int symbol parameters {                                                                                    \
    const int result = answer(#symbol);                                                                      \
    if (result == 0) statement;                                                                              \
    return result;                                                                                           \
  }

GIVES(cuDriverGetVersion, (int *version), *version = 13000)
/* NVRTC opens the driver as well, and asks it for a table whose first word is its size. This one holds
 * nothing. */
static uint64_t export_table[1] = {sizeof export_table};
GIVES(cuGetExportTable, (const void **table, const void *id), *table = export_table)
GIVES(cuDeviceGetCount, (int *count), *count = DEVICES)
GIVES(cuDeviceGet, (int *device, int ordinal), *device = 10 + ordinal) /* a handle is not its number */
GIVES(cuDeviceGetName, (char *name, int size, int device),
      snprintf(name, (size_t)size, "Fake %d", device - 10))
GIVES(cuDeviceTotalMem_v2, (size_t * bytes, int device), *bytes = (size_t)(device - 9) << 30)
GIVES(cuDevicePrimaryCtxRetain, (fake_context * *context, int device), *context = &primary[device - 10])
GIVES(cuCtxGetCurrent, (fake_context * *context), *context = depth > 0 ? stack[depth - 1] : NULL)
GIVES(cuCtxPushCurrent_v2, (fake_context * context), stack[depth++] = context)
GIVES(cuCtxPopCurrent_v2, (fake_context * *context), *context = stack[--depth])
GIVES(cuCtxGetDevice, (int *device), *device = 10 + stack[depth - 1]->device)
GIVES(cuCtxGetId, (fake_context * context, unsigned long long *id),
      *id = 7 + (unsigned long long)context->device)
GIVES(cuStreamCreate, (fake_stream * *stream, unsigned flags), *stream = &foreign[stack[depth - 1]->device])
GIVES(cuStreamGetCtx, (fake_stream * stream, fake_context **context), *context = stream->context)
GIVES(cuThreadExchangeStreamCaptureMode, (int *mode), *mode = 0)
GIVES(cuGetErrorString, (int error, const char **text), *text = "words of the driver")
GIVES(cuGetErrorName, (int error, const char **name),
      *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
              : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                             : "CUDA_ERROR_FAKE")

FAKE int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const int shared_bytes = device == 10 ? 232448 : 101376;
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 97 ? shared_bytes : 132;
  return answer("cuDeviceGetAttribute");
}

/* ---- modules and launches ------------------------------------------------------------------------------ */

FAKE int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values);
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  (void)count, (void)options, (void)values;
  const int result = answer("cuModuleLoadDataEx");
  if (result != 0) return result;
  note("cuModuleLoadDataEx");
  if (memcmp(image, "\177ELF", 4) != 0) return 200;
  *module = failing;
  return 0;
}

/* Functions are their names, so that launches can be told apart. They are never freed: a driver has its own.
 */
static char names[64][64];
static int name_count;

FAKE int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  if (strcmp(name, "absent") == 0) return 500;
  snprintf(names[name_count % 64], sizeof names[0], "%s", name);
  *function = names[name_count++ % 64];
  return answer("cuModuleGetFunction");
}

GIVES(cuFuncGetAttribute, (int *value, int attribute, void *function), *value = attribute == 0 ? 256 : 1024)
GIVES(cuFuncGetParamInfo, (void *function, size_t index, size_t *offset, size_t *bytes),
      (*offset = 0, *bytes = argument_bytes))

/* "alone: current 1, stream 0": the device that is current, and that of the stream. */
static void note_device(const char *what, const fake_stream *stream) {
  char line[100];
  snprintf(line, sizeof line, "%s: current %d, stream %d", what, depth > 0 ? stack[depth - 1]->device : -1,
           stream->context->device);
  note(line);
}

static void note_launch(const char *kind, const void *function, const fake_stream *stream,
                        const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
                        unsigned cluster, void *const *arguments) {
  char line[200];
  launches++;
  if (quiet) return;
  note_device(kind, stream);
  snprintf(line, sizeof line, "%s %s grid %u %u %u block %u %u %u shared %u cluster %u argument %d", kind,
           (const char *)function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes,
           cluster, *(const int *)arguments[0]);
  note(line);
}

FAKE int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared_bytes, fake_stream *stream, void **arguments,
                        void **extra);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared_bytes, fake_stream *stream, void **arguments, void **extra) {
  (void)extra;
  const unsigned grid[] = {gx, gy, gz};
  const unsigned block[] = {bx, by, bz};
  note_launch("launch", function, stream, grid, block, shared_bytes, 1, arguments);
  return answer("cuLaunchKernel");
}

typedef struct fake_config {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  fake_stream *stream;
  const unsigned *attributes; /* id, padding, cluster */
  unsigned attribute_count;
} fake_config;

FAKE int cuLaunchKernelEx(const fake_config *config, void *function, void **arguments, void **extra);
int cuLaunchKernelEx(const fake_config *config, void *function, void **arguments, void **extra) {
  (void)extra;
  if (config->attribute_count != 1 || config->attributes[0] != 4) return 1;
  note_launch("launch", function, config->stream, config->grid, config->block, config->shared_bytes,
              config->attributes[2], arguments);
  return answer("cuLaunchKernelEx");
}

/* ---- memory, events, graphs ---------------------------------------------------------------------------- */

static int give_memory(uint64_t *address, size_t bytes, const char *symbol) {
  const int result = answer(symbol);
  if (result != 0) return result;
  void *memory = malloc(bytes);
  *address = (uint64_t)(uintptr_t)memory;
  note(symbol);
  return memory != NULL ? 0 : 2;
}

static int take_memory(uint64_t address, const char *symbol) {
  free((void *)(uintptr_t)address);
  note(symbol);
  return answer(symbol);
}

FAKE int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  return give_memory(address, bytes, "cuMemAlloc_v2");
}

FAKE int cuMemFree_v2(uint64_t address);
int cuMemFree_v2(uint64_t address) {
  return take_memory(address, "cuMemFree_v2");
}

FAKE int cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, fake_stream *stream);
int cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, fake_stream *stream) {
  (void)pool;
  note_device("scratch", stream);
  return give_memory(address, bytes, "cuMemAllocFromPoolAsync");
}

FAKE int cuMemFreeAsync(uint64_t address, fake_stream *stream);
int cuMemFreeAsync(uint64_t address, fake_stream *stream) {
  (void)stream;
  return take_memory(address, "cuMemFreeAsync");
}

GIVES(cuMemPoolCreate, (void **pool, const void *properties), *pool = diary)
GIVES(cuMemsetD8Async, (uint64_t address, unsigned char value, size_t bytes, fake_stream *stream),
      memset((void *)(uintptr_t)address, value, bytes))
GIVES(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags), *memory = malloc(bytes))
GIVES(cuMemHostGetDevicePointer_v2, (uint64_t * address, void *memory, unsigned flags),
      *address = (uint64_t)(uintptr_t)memory)
GIVES(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, fake_stream *stream),
      memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes))
GIVES(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, fake_stream *stream),
      memcpy((void *)(uintptr_t)to, from, bytes))
GIVES(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, fake_stream *stream),
      memcpy(to, (const void *)(uintptr_t)from, bytes))
GIVES(cuEventCreate, (void **event, unsigned flags), *event = diary)
GIVES(cuEventElapsedTime, (float *milliseconds, void *start, void *end), *milliseconds = 2.5f)
GIVES(cuStreamBeginCapture_v2, (fake_stream * stream, int mode), capture_from = launches)
GIVES(cuStreamEndCapture, (fake_stream * stream, void **graph), *graph = diary)
GIVES(cuGraphGetNodes, (void *graph, void **nodes, size_t *count), *count = (size_t)(launches - capture_from))
GIVES(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags), *exec = diary)
