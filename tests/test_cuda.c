/* SPDX-License-Identifier: MIT */
/*
 * test_cuda.c - CUDA queues on a real GPU: launches, order of streams, scratch, events, graphs, a caller's
 * stream and context, and what a faulty kernel leaves behind. Without a GPU every test is skipped, with the
 * reason.
 */
#include "folder.h"

#include <dlfcn.h>
#include <stdio.h>

#include "clock.h"
#include "cuda_queue.h"
#include "cuda_tools.h"

enum { COUNT = 1 << 16, BLOCK = 256 };

static const char source[] =
    "#include \"assay/kernel.h\"\n"
    "typedef struct work_args { float *x; float *y; int64_t count; int64_t cycles; } work_args;\n"
    "KERNEL(scale, work_args, 256) {\n" /* y = FACTOR * x */
    "  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < args.count) args.y[i] = FACTOR * args.x[i];\n"
    "}\n"
    "KERNEL(spin, work_args, 32) {\n" /* takes at least that many cycles */
    "  const int64_t begin = clock64();\n"
    "  while (clock64() - begin < args.cycles) {}\n"
    "}\n"
    "KERNEL(reverse, work_args, 256) {\n" /* of 1024 words, through more shared memory than is static */
    "  DYNAMIC_SHARED(bytes);\n"
    "  float *kept = (float *)bytes;\n"
    "  for (int i = threadIdx.x; i < args.count; i += blockDim.x) kept[i] = args.x[i];\n"
    "  __syncthreads();\n"
    "  for (int i = threadIdx.x; i < args.count; i += blockDim.x) args.y[i] = kept[args.count - 1 - i];\n"
    "}\n"
    "#if __CUDA_ARCH__ >= 900\n"
    "KERNEL(ranks, work_args, 32) {\n" /* each block writes its neighbour's rank, read from its shared memory
                                        */
    "  DYNAMIC_SHARED(bytes);\n"
    "  uint32_t *mine = (uint32_t *)bytes;\n"
    "  if (threadIdx.x == 0) *mine = cluster_rank();\n"
    "  cluster_sync();\n"
    "  const uint32_t next = (cluster_rank() + 1) % cluster_size();\n"
    "  if (threadIdx.x == 0) args.y[blockIdx.x] = (float)*(uint32_t *)cluster_shared(bytes, next);\n"
    "  cluster_sync();\n"
    "}\n"
    "#endif\n"
    "KERNEL(fault, work_args, 32) { *(float *)(args.count + 64) = 1.0f; }\n";

typedef struct work_args {
  const void *x;
  void *y;
  int64_t count;
  int64_t cycles;
} work_args;

static const assay_define factor_two[] = {{"FACTOR", 2}, {NULL, 0}};
static const assay_define factor_three[] = {{"FACTOR", 3}, {NULL, 0}};
static assay_message why;
static float host[COUNT];

static void ok(assay_status status, const char *what) {
  if (status != ASSAY_OK)
    fail_msg("%s: %s, %s; last error: %s", what, assay_status_name(status), why.text, assay_last_error());
}

#define assert_ok(call) ok((call), #call)

/* A queue on device 0, or the end of this test. */
static assay_queue *opened(void) {
  assay_queue *queue = NULL;
  if (assay_queue_open_cuda(0, NULL, &queue) == ASSAY_OK) return queue;
  print_message("# %s\n", assay_last_error());
  skip();
  return NULL;
}

static float *memory(assay_queue *queue, int64_t count) {
  void *data = NULL;
  assert_ok(assay_cuda_memory_open(queue, (size_t)count * sizeof(float), &data, &why));
  return data;
}

static void put(assay_queue *queue, float *device, float first) {
  for (int i = 0; i < COUNT; i++) host[i] = first + (float)i;
  assert_ok(assay_cuda_copy_in(queue, device, host, sizeof host, &why));
}

/* y must be factor * (first + i). */
static void expect(assay_queue *queue, const float *device, float factor, float first) {
  assert_ok(assay_cuda_copy_out(queue, host, device, sizeof host, &why));
  assert_ok(assay_queue_wait(queue));
  for (int i = 0; i < COUNT; i++) {
    if (host[i] != factor * (first + (float)i))
      fail_msg("element %d is %g, not %g", i, (double)host[i], (double)(factor * (first + (float)i)));
  }
}

static assay_status start(assay_queue *queue, const char *kernel, uint32_t blocks, uint32_t threads,
                          uint32_t shared, uint32_t cluster, const assay_define *defines,
                          const work_args *args) {
  const assay_launch launch = {
      in_folder("work.cu"), kernel, {blocks, 1, 1}, {threads, 1, 1}, shared, cluster, defines, args,
      sizeof *args};
  return queue->calls->launch(queue, &launch);
}

static void scale(assay_queue *queue, const assay_define *defines, const void *x, void *y) {
  const work_args args = {.x = x, .y = y, .count = COUNT};
  assert_ok(start(queue, "scale", COUNT / BLOCK, BLOCK, 0, 1, defines, &args));
}

/* Keeps the queue's stream busy for about `time_ms`, at any clock up to 2 GHz. */
static void spin(assay_queue *queue, int64_t time_ms) {
  const work_args args = {.cycles = time_ms * 2000000};
  assert_ok(start(queue, "spin", 1, 32, 0, 1, factor_two, &args));
}

static int set_up_source(void **state) {
  if (set_up(state) != 0) return -1;
  return assay_write_file(in_folder("work.cu"), source, strlen(source), 0600) ? 0 : -1;
}

#define ON_GPU(test) cmocka_unit_test_setup_teardown(test, set_up_source, tear_down)

static void test_launch(void **state) {
  (void)state;
  assay_queue *queue = opened();
  float *x = memory(queue, COUNT);
  float *y = memory(queue, COUNT);
  put(queue, x, 1.0f);
  scale(queue, factor_two, x, y);
  expect(queue, y, 2.0f, 1.0f);
  scale(queue, factor_three, x, y);
  expect(queue, y, 3.0f, 1.0f);
  assay_queue *other = opened(); /* finds both kernels loaded */
  const int64_t begin = assay_now_ns();
  for (int i = 0; i < 1000; i++) scale(other, factor_two, x, y);
  print_message("# a launch takes %lld ns of the host\n", (long long)(assay_now_ns() - begin) / 1000);
  expect(other, y, 2.0f, 1.0f);
  assay_cuda_memory_close(queue, x);
  assay_cuda_memory_close(queue, y);
  assay_queue_close(other);
  assay_queue_close(queue);
}

static void test_large_shared_memory(void **state) {
  (void)state;
  assay_queue *queue = opened();
  float *x = memory(queue, COUNT);
  float *y = memory(queue, COUNT);
  cuda_device_info info;
  assert_ok(assay_cuda_device(0, &info, &why));
  const int64_t count = info.shared_bytes_most / (int64_t)sizeof(float);
  const work_args args = {.x = x, .y = y, .count = count};
  put(queue, x, 0.0f);
  const uint32_t bytes = (uint32_t)(count * (int64_t)sizeof(float));
  assert_ok(start(queue, "reverse", 1, BLOCK, bytes, 1, factor_two, &args));
  assert_ok(assay_cuda_copy_out(queue, host, y, (size_t)bytes, &why));
  assert_ok(assay_queue_wait(queue));
  for (int64_t i = 0; i < count; i++) assert_true(host[i] == (float)(count - 1 - i));
  assert_int_equal(start(queue, "reverse", 1, BLOCK, bytes + 16, 1, factor_two, &args), ASSAY_KERNEL_FAULT);
  assert_int_equal(start(queue, "reverse", 1, BLOCK + 1, 0, 1, factor_two, &args), ASSAY_KERNEL_FAULT);
  assay_cuda_memory_close(queue, x);
  assay_cuda_memory_close(queue, y);
  assay_queue_close(queue);
}

static void test_clusters(void **state) {
  (void)state;
  assay_queue *queue = opened();
  cuda_device_info info;
  assert_ok(assay_cuda_device(0, &info, &why));
  if (info.architecture < 90) {
    print_message("# clusters need architecture 9.0\n");
    assay_queue_close(queue);
    skip();
  }
  float *y = memory(queue, COUNT);
  const uint32_t sizes[] = {2, 8, 16}; /* the last is not portable and must be asked for */
  for (int i = 0; i < 3; i++) {
    const work_args args = {.y = y};
    assert_ok(start(queue, "ranks", 2 * sizes[i], 32, 16, sizes[i], factor_two, &args));
    assert_ok(assay_cuda_copy_out(queue, host, y, 2 * sizes[i] * sizeof(float), &why));
    assert_ok(assay_queue_wait(queue));
    for (uint32_t k = 0; k < 2 * sizes[i]; k++) assert_true(host[k] == (float)((k + 1) % sizes[i]));
  }
  assay_cuda_memory_close(queue, y);
  assay_queue_close(queue);
}

/* A call returns before its kernel runs; the same stream keeps the order; another one is not waited for. */
static void test_order(void **state) {
  (void)state;
  assay_queue *slow = opened();
  assay_queue *quick = opened();
  float *x = memory(slow, COUNT);
  float *y = memory(slow, COUNT);
  put(slow, x, 5.0f);
  spin(slow, 1);
  scale(slow, factor_three, x, y);
  scale(slow, factor_two, x, y); /* all is loaded now: loading waits for the device */
  expect(slow, y, 2.0f, 5.0f);
  const int64_t begin = assay_now_ns();
  spin(slow, 300);
  scale(slow, factor_three, x, y);
  scale(quick, factor_two, x, x);
  assert_ok(assay_queue_wait(quick));
  const int64_t other_ms = (assay_now_ns() - begin) / 1000000;
  assert_ok(assay_queue_wait(slow));
  const int64_t all_ms = (assay_now_ns() - begin) / 1000000;
  print_message("# the other stream took %lld ms, both %lld ms\n", (long long)other_ms, (long long)all_ms);
  assert_true(all_ms >= 200);
  assert_true(other_ms < 100);
  expect(slow, y, 6.0f, 5.0f); /* x had been doubled by the stream that did not wait */
  assay_cuda_memory_close(slow, x);
  assay_cuda_memory_close(slow, y);
  assay_queue_close(quick);
  assay_queue_close(slow);
}

static void test_scratch(void **state) {
  (void)state;
  assay_queue *queue = opened();
  float *x = memory(queue, COUNT);
  float *y = memory(queue, COUNT);
  put(queue, x, 2.0f);
  for (int i = 0; i < 50; i++) {
    float *between = assay_queue_scratch(queue, COUNT * sizeof(float));
    float *second = assay_queue_scratch(queue, 0);
    assert_non_null(between);
    assert_non_null(second);
    assert_int_equal((uintptr_t)between % 256, 0);
    scale(queue, factor_two, x, between);
    scale(queue, factor_three, between, y);
    assay_queue_release(queue); /* before the kernels have run */
  }
  expect(queue, y, 6.0f, 2.0f);
  assert_null(assay_queue_scratch(queue, (size_t)1 << 50));
  assert_non_null(strstr(assay_last_error(), "bytes of scratch failed: CUDA_ERROR_"));
  scale(queue, factor_two, x, y); /* goes on after that */
  expect(queue, y, 2.0f, 2.0f);
  assay_cuda_memory_close(queue, x);
  assay_cuda_memory_close(queue, y);
  assay_queue_close(queue);
}

static void test_events(void **state) {
  (void)state;
  assay_queue *queue = opened();
  assay_queue *other = opened();
  cuda_event start_event = NULL;
  cuda_event end_event = NULL;
  double time_ms = 0.0;
  assert_ok(assay_cuda_event_open(queue, &start_event, &why));
  assert_ok(assay_cuda_event_open(queue, &end_event, &why));
  spin(queue, 1);
  assert_ok(assay_cuda_event_record(queue, start_event, &why));
  spin(queue, 20);
  assert_ok(assay_cuda_event_record(queue, end_event, &why));
  assert_ok(assay_cuda_event_elapsed(queue, start_event, end_event, &time_ms, &why));
  print_message("# a kernel of 40 million cycles took %.3f ms\n", time_ms);
  assert_true(time_ms > 15.0 && time_ms < 1000.0);
  const int64_t begin = assay_now_ns();
  spin(queue, 100);
  assert_ok(assay_cuda_event_record(queue, end_event, &why));
  assert_ok(assay_cuda_event_follow(other, end_event, &why));
  assert_ok(assay_queue_wait(other));
  assert_true(assay_now_ns() - begin > 50000000);
  assay_cuda_event_close(queue, start_event);
  assay_cuda_event_close(queue, end_event);
  assay_queue_close(other);
  assay_queue_close(queue);
}

/* Captured once, replayed with new data; scratch is part of the graph; a kernel may even be compiled
 * meanwhile. */
static void test_graph(void **state) {
  (void)state;
  const assay_define factor_five[] = {{"FACTOR", 5}, {NULL, 0}};
  assay_queue *queue = opened();
  float *x = memory(queue, COUNT);
  float *y = memory(queue, COUNT);
  cuda_captured captured;
  put(queue, x, 0.0f);
  assert_ok(assay_queue_wait(queue));
  assert_ok(assay_cuda_capture_begin(queue, &why));
  float *between = assay_queue_scratch(queue, COUNT * sizeof(float));
  assert_non_null(between);
  scale(queue, factor_five, x, between);
  scale(queue, factor_two, between, y);
  assay_queue_release(queue);
  assert_ok(assay_cuda_capture_end(queue, &captured, &why));
  assert_int_equal(captured.nodes, 4); /* memory, two kernels, memory back */
  for (int round = 1; round <= 3; round++) {
    put(queue, x, (float)round);
    assert_ok(assay_cuda_captured_launch(queue, &captured, &why));
    expect(queue, y, 10.0f, (float)round);
  }
  assay_cuda_captured_close(queue, &captured);
  assay_cuda_memory_close(queue, x);
  assay_cuda_memory_close(queue, y);
  assay_queue_close(queue);
}

/* A stream of another context than the device's primary one: kernels are loaded there anew. */
static void test_callers_stream(void **state) {
  (void)state;
  assay_queue *own = opened();
  const cuda_driver *driver = assay_cuda_driver(&why);
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  cuda_result (*create)(cuda_context *, unsigned, cuda_device) = NULL;
  cuda_context context = NULL;
  cuda_context left = NULL;
  cuda_stream stream = NULL;
  assert_non_null(library);
  void *symbol = dlsym(library, "cuCtxCreate_v2");
  assert_non_null(symbol);
  memcpy(&create, &symbol, sizeof symbol);
  assert_int_equal(create(&context, 0, 0), 0); /* current from here on */
  assert_int_equal(driver->stream_create(&stream, CUDA_STREAM_NON_BLOCKING), 0);
  assert_int_equal(driver->context_pop(&left), 0);

  assay_queue *queue = NULL;
  assert_ok(assay_queue_open_cuda(0, stream, &queue));
  assert_ptr_not_equal(assay_cuda_queue_of(queue)->space, assay_cuda_queue_of(own)->space);
  float *x = memory(queue, COUNT);
  put(queue, x, 1.0f);
  scale(queue, factor_two, x, x);
  expect(queue, x, 2.0f, 1.0f);
  assay_cuda_memory_close(queue, x);
  assay_queue_close(queue);
  assert_int_equal(driver->context_push(context), 0);
  assert_int_equal(driver->stream_wait(stream), 0); /* it is still there */
  assert_int_equal(driver->stream_destroy(stream), 0);
  assert_int_equal(driver->context_pop(&left), 0);
  assay_queue_close(own);
}

static void test_other_device(void **state) {
  (void)state;
  assay_queue *queue = opened();
  const cuda_driver *driver = assay_cuda_driver(&why);
  assay_queue *second = NULL;
  assert_int_equal(assay_queue_open_cuda(driver->devices, NULL, &second), ASSAY_BAD_DEVICE);
  if (driver->devices < 2) {
    print_message("# there is one device only\n");
  } else {
    assert_ok(assay_queue_open_cuda(1, NULL, &second));
    assay_queue *wrapped = NULL;
    assert_int_equal(assay_queue_open_cuda(0, assay_cuda_queue_of(second)->stream, &wrapped),
                     ASSAY_BAD_DEVICE);
    float *x = memory(second, COUNT);
    put(second, x, 3.0f);
    scale(second, factor_two, x, x);
    expect(second, x, 2.0f, 3.0f);
    assay_cuda_memory_close(second, x);
    assay_queue_close(second);
  }
  assay_queue_close(queue);
}

/* The last test: after it this process has no device any more. */
static void test_fault(void **state) {
  (void)state;
  assay_queue *queue = opened();
  const work_args args = {.count = 0};
  assert_ok(start(queue, "fault", 1, 32, 0, 1, factor_two, &args));
  assert_int_equal(assay_queue_wait(queue), ASSAY_KERNEL_FAULT);
  print_message("# %s\n", assay_last_error());
  assert_non_null(strstr(assay_last_error(), "CUDA_ERROR_ILLEGAL_ADDRESS ("));
  assert_non_null(strstr(assay_last_error(), "launched last: fault of "));
  assert_int_equal(start(queue, "fault", 1, 32, 0, 1, factor_two, &args), ASSAY_KERNEL_FAULT);
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_GPU(test_launch),       ON_GPU(test_large_shared_memory),
      ON_GPU(test_clusters),     ON_GPU(test_order),
      ON_GPU(test_scratch),      ON_GPU(test_events),
      ON_GPU(test_graph),        ON_GPU(test_callers_stream),
      ON_GPU(test_other_device), ON_GPU(test_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
