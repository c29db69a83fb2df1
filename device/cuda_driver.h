/* SPDX-License-Identifier: MIT */
/*
 * cuda_driver.h - the CUDA driver, found when the program runs: no CUDA header and no toolkit is needed to
 * build.
 *
 * The types are our own declarations of what the driver's binary interface fixes. A name with a suffix _v2
 * must be looked up with it: the renaming macros of NVIDIA's header do not reach a look-up by name.
 */
#ifndef ASSAY_CUDA_DRIVER_H
#define ASSAY_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef int cuda_result; /* 0 is success; the driver names the others */
typedef int cuda_device;
typedef uint64_t cuda_address; /* of device memory */
typedef struct cuda_context_object *cuda_context;
typedef struct cuda_module_object *cuda_module;
typedef struct cuda_function_object *cuda_function;
typedef struct cuda_stream_object *cuda_stream;
typedef struct cuda_event_object *cuda_event;
typedef struct cuda_graph_object *cuda_graph;
typedef struct cuda_graph_exec_object *cuda_graph_exec;
typedef struct cuda_graph_node_object *cuda_graph_node;
typedef struct cuda_pool_object *cuda_pool;

enum {
  CUDA_OK = 0,
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_STUB_LIBRARY = 34,
  CUDA_NO_DEVICE = 100,
  CUDA_NOT_FOUND = 500,
  CUDA_NOT_READY = 600
};

enum { CUDA_LIMIT_PERSISTING_CACHE_BYTES = 6 };
enum { CUDA_STREAM_NON_BLOCKING = 1, CUDA_POOL_RELEASE_THRESHOLD = 4 };
enum { CUDA_CAPTURE_THREAD_LOCAL = 1, CUDA_CAPTURE_RELAXED = 2 };
enum { CUDA_JIT_ERROR_LOG = 5, CUDA_JIT_ERROR_LOG_BYTES = 6 };

enum {
  CUDA_DEVICE_CLOCK_KHZ = 13,
  CUDA_DEVICE_MULTIPROCESSORS = 16,
  CUDA_DEVICE_CACHE_BYTES = 38, /* of the second level */
  CUDA_DEVICE_MAJOR = 75,
  CUDA_DEVICE_MINOR = 76,
  CUDA_DEVICE_SHARED_BYTES_MOST = 97
};

enum {
  CUDA_FUNCTION_THREADS_MOST = 0,
  CUDA_FUNCTION_SHARED_BYTES = 1,
  CUDA_FUNCTION_DYNAMIC_SHARED_BYTES_MOST = 8,
  CUDA_FUNCTION_LARGE_CLUSTERS = 14
};

enum { CUDA_LAUNCH_CLUSTER = 4 };
enum { CUDA_HOST_MAPPED = 2 };

typedef struct cuda_launch_attribute {
  int id;
  int padding;
  union {
    uint32_t cluster[3];
    uint64_t words[8];
  } value;
} cuda_launch_attribute;

typedef struct cuda_launch_config {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  cuda_stream stream;
  cuda_launch_attribute *attributes;
  uint32_t attribute_count;
} cuda_launch_config;

typedef struct cuda_pool_properties {
  int kind;         /* 1: ordinary device memory, the only one there is */
  int handle_types; /* 0: not shared with other processes */
  struct {
    int kind; /* 1: a device */
    int id;
  } location;
  void *security;
  size_t bytes_most;
  uint16_t usage;
  unsigned char reserved[54];
} cuda_pool_properties;

/* X(field, symbol, parameters): without one of these there is no CUDA here. All are part of CUDA 11.4. */
#define ASSAY_CUDA_REQUIRED(X)                                                                               \
  X(init, "cuInit", (unsigned flags))                                                                        \
  X(driver_version, "cuDriverGetVersion", (int *version))                                                    \
  X(error_name, "cuGetErrorName", (cuda_result result, const char **name))                                   \
  X(error_text, "cuGetErrorString", (cuda_result result, const char **text))                                 \
  X(device_count, "cuDeviceGetCount", (int *count))                                                          \
  X(device_get, "cuDeviceGet", (cuda_device * device, int ordinal))                                          \
  X(device_name, "cuDeviceGetName", (char *name, int size, cuda_device device))                              \
  X(device_bytes, "cuDeviceTotalMem_v2", (size_t * bytes, cuda_device device))                               \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cuda_device device))               \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (cuda_context * context, cuda_device device))                \
  X(context_current, "cuCtxGetCurrent", (cuda_context * context))                                            \
  X(context_push, "cuCtxPushCurrent_v2", (cuda_context context))                                             \
  X(context_pop, "cuCtxPopCurrent_v2", (cuda_context * context))                                             \
  X(context_device, "cuCtxGetDevice", (cuda_device * device))                                                \
  X(stream_create, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                                 \
  X(stream_destroy, "cuStreamDestroy_v2", (cuda_stream stream))                                              \
  X(stream_context, "cuStreamGetCtx", (cuda_stream stream, cuda_context * context))                          \
  X(stream_query, "cuStreamQuery", (cuda_stream stream))                                                     \
  X(stream_wait, "cuStreamSynchronize", (cuda_stream stream))                                                \
  X(stream_wait_event, "cuStreamWaitEvent", (cuda_stream stream, cuda_event event, unsigned flags))          \
  X(capture_begin, "cuStreamBeginCapture_v2", (cuda_stream stream, int mode))                                \
  X(capture_end, "cuStreamEndCapture", (cuda_stream stream, cuda_graph * graph))                             \
  X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))                                          \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                                                        \
    (cuda_graph_exec * exec, cuda_graph graph, unsigned long long flags))                                    \
  X(graph_nodes, "cuGraphGetNodes", (cuda_graph graph, cuda_graph_node * nodes, size_t * count))             \
  X(graph_destroy, "cuGraphDestroy", (cuda_graph graph))                                                     \
  X(graph_upload, "cuGraphUpload", (cuda_graph_exec exec, cuda_stream stream))                               \
  X(graph_launch, "cuGraphLaunch", (cuda_graph_exec exec, cuda_stream stream))                               \
  X(exec_destroy, "cuGraphExecDestroy", (cuda_graph_exec exec))                                              \
  X(event_create, "cuEventCreate", (cuda_event * event, unsigned flags))                                     \
  X(event_destroy, "cuEventDestroy_v2", (cuda_event event))                                                  \
  X(event_record, "cuEventRecord", (cuda_event event, cuda_stream stream))                                   \
  X(event_wait, "cuEventSynchronize", (cuda_event event))                                                    \
  X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, cuda_event start, cuda_event end))            \
  X(module_load, "cuModuleLoadDataEx",                                                                       \
    (cuda_module * module, const void *image, unsigned options, int *option, void **value))                  \
  X(module_unload, "cuModuleUnload", (cuda_module module))                                                   \
  X(module_function, "cuModuleGetFunction",                                                                  \
    (cuda_function * function, cuda_module module, const char *name))                                        \
  X(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, cuda_function function))           \
  X(function_set, "cuFuncSetAttribute", (cuda_function function, int attribute, int value))                  \
  X(launch, "cuLaunchKernel",                                                                                \
    (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,            \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **arguments,        \
     void **extra))                                                                                          \
  X(memory_alloc, "cuMemAlloc_v2", (cuda_address * address, size_t bytes))                                   \
  X(memory_free, "cuMemFree_v2", (cuda_address address))                                                     \
  X(host_alloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                             \
  X(host_address, "cuMemHostGetDevicePointer_v2", (cuda_address * address, void *memory, unsigned flags))    \
  X(copy_within, "cuMemcpyDtoDAsync_v2",                                                                     \
    (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))                                  \
  X(memory_set, "cuMemsetD8Async",                                                                           \
    (cuda_address address, unsigned char value, size_t bytes, cuda_stream stream))                           \
  X(copy_in, "cuMemcpyHtoDAsync_v2", (cuda_address to, const void *from, size_t bytes, cuda_stream stream))  \
  X(copy_out, "cuMemcpyDtoHAsync_v2", (void *to, cuda_address from, size_t bytes, cuda_stream stream))       \
  X(pool_create, "cuMemPoolCreate", (cuda_pool * pool, const cuda_pool_properties *properties))              \
  X(pool_set, "cuMemPoolSetAttribute", (cuda_pool pool, int attribute, void *value))                         \
  X(scratch_alloc, "cuMemAllocFromPoolAsync",                                                                \
    (cuda_address * address, size_t bytes, cuda_pool pool, cuda_stream stream))                              \
  X(scratch_free, "cuMemFreeAsync", (cuda_address address, cuda_stream stream))

/* NULL in a driver that does not have them. */
#define ASSAY_CUDA_OPTIONAL(X)                                                                               \
  X(launch_with, "cuLaunchKernelEx", /* 11.8: clusters */                                                    \
    (const cuda_launch_config *config, cuda_function function, void **arguments, void **extra))              \
  X(limit_set, "cuCtxSetLimit", (int limit, size_t value))                                                   \
  X(persisting_reset, "cuCtxResetPersistingL2Cache", (void))                                                 \
  X(context_id, "cuCtxGetId", (cuda_context context, unsigned long long *id)) /* 12.0 */                     \
  X(parameter_info, "cuFuncGetParamInfo",                                     /* 12.4 */                     \
    (cuda_function function, size_t index, size_t * offset, size_t * bytes))

typedef struct cuda_driver {
  int version; /* 13000 for 13.0: the newest CUDA that the driver supports */
  int devices; /* at least 1 */
#define ASSAY_CUDA_FIELD(field, symbol, parameters) cuda_result(*field) parameters;
  ASSAY_CUDA_REQUIRED(ASSAY_CUDA_FIELD)
  ASSAY_CUDA_OPTIONAL(ASSAY_CUDA_FIELD)
#undef ASSAY_CUDA_FIELD
} cuda_driver;

typedef struct cuda_device_info {
  char name[128];
  int architecture; /* 90 for 9.0 */
  int multiprocessors;
  int shared_bytes_most; /* of a block, static and dynamic together */
  int cache_bytes;       /* of the second level */
  int clock_khz;         /* the highest of a multiprocessor; 0: the driver does not tell */
  size_t memory_bytes;
} cuda_device_info;

/* The driver of this process, loaded and initialised by the first call; that answer stays. NULL when there is
 * no driver, none that is new enough, or no device: `why` says what is missing and what helps. Any thread. */
const cuda_driver *assay_cuda_driver(assay_message *why);

/* What device `ordinal` is. Status: UNAVAILABLE (no driver), BAD_DEVICE (no such device). */
assay_status assay_cuda_device(int ordinal, cuda_device_info *info, assay_message *why);

/* Whether the operating system shows an NVIDIA device at all. A quick look that opens no library, for answers
 * that must not wait for a driver. */
bool assay_cuda_device_files(void);

/* "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)": the driver's own words, in `text`. */
const char *assay_cuda_error(const cuda_driver *driver, cuda_result result, char *text, size_t size);

#endif
