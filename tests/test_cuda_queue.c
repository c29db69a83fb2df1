/* SPDX-License-Identifier: MIT */
/*
 * test_cuda_queue.c - CUDA queues over a driver that only keeps a diary (fake_driver.c), so that everything
 * but the kernels themselves is tested without a GPU. Kernels are compiled by the real NVRTC.
 */
#include "folder.h"

#include <stdio.h>

#include "clock.h"
#include "cuda_queue.h"
#include "cuda_tools.h"
#include "fake_driver.h"

typedef struct note_args {
  int32_t mark;
  int32_t more;
} note_args;

static const char source[] = "#include \"assay/kernel.h\"\n"
                             "typedef struct note_args { int32_t mark; int32_t more; } note_args;\n"
                             "KERNEL(note, note_args, 256) { (void)args; }\n"
                             "KERNEL(absent, note_args, 256) { (void)args; }\n"
                             "#ifdef BROKEN\n"
                             "int broken = undeclared;\n"
                             "#endif\n";

static int set_up_queue(void **state) {
  if (set_up(state) != 0) return -1;
  if (setenv("ASSAY_CACHE", in_folder("cache"), 1) != 0) return -1;
  fake.argument_bytes(sizeof(note_args));
  fake.forget();
  return assay_write_file(in_folder("note.cu"), source, strlen(source), 0600) ? 0 : -1;
}

#define WITH_QUEUE(test) cmocka_unit_test_setup_teardown(test, set_up_queue, tear_down)

static assay_queue *opened(int device) {
  assay_queue *queue = NULL;
  if (assay_queue_open_cuda(device, NULL, &queue) != ASSAY_OK) fail_msg("%s", assay_last_error());
  return queue;
}

static const note_args some_args = {.mark = 41, .more = 2};

static assay_launch some_launch(const assay_define *defines) {
  return (assay_launch){.file = in_folder("note.cu"),
                        .kernel = "note",
                        .grid = {3, 2, 1},
                        .block = {64, 1, 1},
                        .shared_bytes = 50000,
                        .defines = defines,
                        .args = &some_args,
                        .arg_bytes = sizeof some_args};
}

static assay_status start(assay_queue *queue, const assay_launch *launch) {
  return queue->calls->launch(queue, launch);
}

static void test_opening(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cuda(0, NULL, NULL), ASSAY_BAD_POINTER);
  const int absent[] = {-1, 2, 99};
  for (int i = 0; i < 3; i++) {
    queue = (assay_queue *)&state;
    assert_int_equal(assay_queue_open_cuda(absent[i], NULL, &queue), ASSAY_BAD_DEVICE);
    says(assay_last_error(), "this machine has 2");
    assert_null(queue);
  }
  fake.refuse("cuDevicePrimaryCtxRetain", 2);
  assert_int_equal(assay_queue_open_cuda(0, NULL, &queue), ASSAY_NO_MEMORY);
  says(assay_last_error(), "CUDA_ERROR_OUT_OF_MEMORY (words of the driver)");
  fake.refuse("cuStreamCreate", 999);
  assert_int_equal(assay_queue_open_cuda(0, NULL, &queue), ASSAY_UNAVAILABLE);
  says(assay_last_error(), "CUDA_ERROR_FAKE");
  queue = opened(1);
  assert_int_equal(queue->device, 1);
  assert_int_equal(assay_queue_threads(queue), 1);
  assert_string_equal(assay_queue_log(queue), "");
  assert_int_equal(assay_queue_wait(queue), ASSAY_OK);
  assay_queue_close(queue);
  assert_int_equal(times("cuStreamDestroy_v2"), 1);
  assert_int_equal(fake.depth(), 0);
}

/* A caller's stream keeps its context, and is not ours to destroy. */
static void test_wrapping(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cuda(0, fake.stream_of(1), &queue), ASSAY_BAD_DEVICE);
  says(assay_last_error(), "another device");
  assert_int_equal(assay_queue_open_cuda(1, fake.stream_of(1), &queue), ASSAY_OK);
  assert_ptr_equal(assay_cuda_queue_of(queue)->stream, fake.stream_of(1));
  assay_queue_close(queue);
  assert_int_equal(times("cuStreamDestroy_v2"), 0);
  assert_int_equal(fake.depth(), 0);
}

/* Compiled and loaded once for each set of defines and context; the disk serves the second context. */
static void test_launching(void **state) {
  (void)state;
  const assay_define four[] = {{"WARPS", 4}, {NULL, 0}};
  const assay_define eight[] = {{"WARPS", 8}, {NULL, 0}};
  assay_queue *queue = opened(0);
  assay_queue *second = opened(0);
  assay_queue *other = opened(1);
  fake.forget();
  assay_launch launch = some_launch(four);
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  says(fake.diary(), "launch note grid 3 2 1 block 64 1 1 shared 50000 cluster 1 argument 41\n");
  assert_int_equal(times("cuModuleLoadDataEx"), 1);
  assert_int_equal(entries(in_folder("cache")), 1);
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  assert_int_equal(start(second, &launch), ASSAY_OK);
  assert_int_equal(times("cuModuleLoadDataEx"), 1);
  launch.defines = eight;
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  launch.defines = NULL;
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  assert_int_equal(times("cuModuleLoadDataEx"), 3);
  assert_int_equal(entries(in_folder("cache")), 3);
  assert_int_equal(start(other, &launch), ASSAY_OK);
  assert_int_equal(times("cuModuleLoadDataEx"), 4);
  assert_int_equal(entries(in_folder("cache")), 3);
  launch.cluster = 3;
  assert_int_equal(start(other, &launch), ASSAY_OK);
  says(fake.diary(), "cluster 3 argument 41\n");
  assert_int_equal(times("cuLaunch"), 0);
  assert_int_equal(fake.depth(), 0);
  assay_queue_close(queue);
  assay_queue_close(second);
  assay_queue_close(other);
}

/* An object on the disk that the driver does not take is made anew. */
static void test_damaged_cache(void **state) {
  (void)state;
  const assay_define defines[] = {{"ONLY_HERE", 1}, {NULL, 0}};
  assay_queue *queue = opened(0);
  assay_queue *other = opened(1);
  const assay_launch launch = some_launch(defines);
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  DIR *listing = opendir(in_folder("cache"));
  assert_non_null(listing);
  for (const struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
    if (entry->d_name[0] == '.') continue;
    char path[ASSAY_PATH_SIZE];
    size_t bytes = 0;
    assert_true(assay_path_format(path, "%s/%s", in_folder("cache"), entry->d_name));
    char *data = assay_read_file(path, 1 << 20, &bytes);
    assert_non_null(data);
    data[0] = 'x';
    assert_true(assay_write_file(path, data, bytes, 0600));
    free(data);
  }
  closedir(listing);
  fake.forget();
  assert_int_equal(start(other, &launch), ASSAY_OK);
  assert_int_equal(times("cuModuleLoadDataEx"), 2);
  assay_queue_close(queue);
  assay_queue_close(other);
}

static void refused(assay_queue *queue, const assay_launch *launch, assay_status want, const char *words) {
  fake.forget();
  const assay_status status = start(queue, launch);
  says(assay_last_error(), words);
  assert_int_equal(status, want);
  assert_int_equal(times("launch "), 0);
  assert_int_equal(fake.depth(), 0);
}

static void test_refused_launches(void **state) {
  (void)state;
  const assay_define defines[] = {{"REFUSED", 1}, {NULL, 0}};
  assay_queue *queue = opened(0);
  const assay_launch good = some_launch(defines);
  assay_launch launch = good;
  launch.grid.y = 0;
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "kernel note: the grid is 3 x 0 x 1");
  launch = good;
  launch.block = (assay_dim3){257, 1, 1};
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "takes 256 at most");
  launch = good;
  launch.block = (assay_dim3){1, 1, 65};
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "1 x 1 x 65");
  launch = good;
  launch.grid.z = 65536;
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "65535");
  launch = good;
  launch.shared_bytes = 232448 - 1024 + 1;
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "231424");
  launch = good;
  launch.arg_bytes = 12;
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "of 8 bytes, and the launch gives one of 12");
  launch = good;
  launch.cluster = 2;
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "multiple");
  launch.cluster = 17;
  launch.grid.x = 34;
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "16 are the most");
  launch = good;
  launch.kernel = "absent";
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "has no kernel absent");
  launch = good;
  launch.file = "nowhere/absent.cu";
  refused(queue, &launch, ASSAY_UNAVAILABLE, "nowhere/absent.cu, cannot be read");
  fake.refuse("cuLaunchKernel", 701);
  assert_int_equal(start(queue, &good), ASSAY_UNAVAILABLE);
  says(assay_last_error(),
       "launching note (grid 3 x 2 x 1, block 64 x 1 x 1, 50000 bytes) failed: CUDA_ERROR_FAKE");
  assay_queue_close(queue);
}

static void test_source_that_does_not_compile(void **state) {
  (void)state;
  const assay_define broken[] = {{"BROKEN", 1}, {NULL, 0}};
  assay_queue *queue = opened(0);
  assay_launch launch = some_launch(broken);
  refused(queue, &launch, ASSAY_KERNEL_FAULT, "note.cu(6): error");
  says(assay_queue_log(queue), "undeclared");
  assert_false(assay_file_exists(in_folder("cache")) && entries(in_folder("cache")) > 0);
  launch.defines = NULL;
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  assay_queue_close(queue);
}

static void test_scratch(void **state) {
  (void)state;
  assay_queue *queue = opened(0);
  const assay_launch launch = some_launch(NULL);
  fake.forget();
  unsigned char *pieces[20];
  for (int i = 0; i < 20; i++) {
    pieces[i] = assay_queue_scratch(queue, (size_t)i * 100);
    assert_non_null(pieces[i]);
    memset(pieces[i], i, (size_t)i * 100);
  }
  for (int i = 0; i < 20; i++) assert_true(i == 0 || pieces[i][i * 100 - 1] == i);
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  assert_int_equal(times("cuMemFreeAsync"), 0);
  assay_queue_release(queue);
  assert_int_equal(times("cuMemFreeAsync"), 20);
  assert_true(strstr(fake.diary(), "launch note") < strstr(fake.diary(), "cuMemFreeAsync"));
  assay_queue_release(queue);
  assert_int_equal(times("cuMemFreeAsync"), 20);
  fake.refuse("cuMemAllocFromPoolAsync", 2);
  assert_null(assay_queue_scratch(queue, 1000));
  says(assay_last_error(), "taking 1000 bytes of scratch failed: CUDA_ERROR_OUT_OF_MEMORY");
  assert_non_null(assay_queue_scratch(queue, 10));
  assay_queue_close(queue); /* with scratch that nobody released */
  assert_int_equal(times("cuMemFreeAsync"), 21);
  assert_int_equal(times("cuStreamSynchronize"), 0);
}

/* Another device is current in the caller's thread, and stays so; what a queue does is its own device's. */
static void test_other_device_current(void **state) {
  (void)state;
  const cuda_driver *driver = assay_cuda_driver(&(assay_message){""});
  assay_queue *queues[] = {opened(0), opened(1)};
  cuda_context contexts[2];
  const assay_launch launch = some_launch(NULL);
  for (int device = 0; device < 2; device++)
    contexts[device] = assay_cuda_queue_of(queues[device])->space->context;
  for (int device = 0; device < 2; device++) {
    char wanted[64];
    cuda_context current = NULL;
    fake.forget();
    assert_int_equal(driver->context_push(contexts[1 - device]), 0);
    assert_non_null(assay_queue_scratch(queues[device], 100));
    assert_int_equal(start(queues[device], &launch), ASSAY_OK);
    assay_queue_release(queues[device]);
    assert_int_equal(assay_queue_wait(queues[device]), ASSAY_OK);
    assert_int_equal(fake.depth(), 1);
    assert_int_equal(driver->context_pop(&current), 0);
    assert_ptr_equal(current, contexts[1 - device]);
    snprintf(wanted, sizeof wanted, "launch: current %d, stream %d\n", device, device);
    says(fake.diary(), wanted);
    snprintf(wanted, sizeof wanted, "scratch: current %d, stream %d\n", device, device);
    says(fake.diary(), wanted);
    assay_queue_close(queues[device]);
  }
}

static void test_fault(void **state) {
  (void)state;
  assay_queue *queue = opened(0);
  const assay_launch launch = some_launch(NULL);
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  fake.refuse("cuStreamSynchronize", 700);
  assert_int_equal(assay_queue_wait(queue), ASSAY_KERNEL_FAULT);
  says(assay_last_error(), "a kernel failed on device 0: CUDA_ERROR_ILLEGAL_ADDRESS (words of the driver)");
  says(assay_last_error(), "launched last: note of");
  says(assay_last_error(), "can no longer use the device");
  assay_queue_close(queue);
}

static void test_tools(void **state) {
  (void)state;
  assay_queue *queue = opened(0);
  assay_message why = {""};
  const assay_launch launch = some_launch(NULL);
  const char sent[] = "some bytes";
  char got[sizeof sent] = "";
  void *memory = NULL;
  assert_int_equal(assay_cuda_memory_open(queue, sizeof sent, &memory, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_copy_in(queue, memory, sent, sizeof sent, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_fill(queue, memory, 'S', 1, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_copy_out(queue, got, memory, sizeof sent, &why), ASSAY_OK);
  assert_string_equal(got, "Some bytes");
  assay_cuda_memory_close(queue, memory);
  assay_cuda_memory_close(queue, NULL);
  fake.refuse("cuMemAlloc_v2", 2);
  assert_int_equal(assay_cuda_memory_open(queue, 5, &memory, &why), ASSAY_NO_MEMORY);
  assert_null(memory);

  cuda_event event = NULL;
  double time_ms = 0.0;
  assert_int_equal(assay_cuda_event_open(queue, &event, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_event_record(queue, event, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_event_follow(queue, event, &why), ASSAY_OK);
  assert_int_equal(assay_cuda_event_elapsed(queue, event, event, &time_ms, &why), ASSAY_OK);
  assert_true(time_ms == 2.5);
  assay_cuda_event_close(queue, event);

  cuda_captured captured;
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  assert_int_equal(assay_cuda_capture_begin(queue, &why), ASSAY_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(start(queue, &launch), ASSAY_OK);
  assert_int_equal(assay_cuda_capture_end(queue, &captured, &why), ASSAY_OK);
  assert_int_equal(captured.nodes, 3);
  assert_int_equal(assay_cuda_captured_launch(queue, &captured, &why), ASSAY_OK);
  assay_cuda_captured_close(queue, &captured);
  assert_int_equal(times("cuGraphExecDestroy"), 1);
  assert_int_equal(times("cuGraphDestroy"), 1);
  fake.refuse("cuStreamEndCapture", 901);
  assert_int_equal(assay_cuda_capture_end(queue, &captured, &why), ASSAY_UNAVAILABLE);
  says(why.text, "ending a capture failed");
  assert_int_equal(fake.depth(), 0);
  assay_queue_close(queue);
}

/* What a launch of a loaded kernel costs beside the driver's part: under 100 ns on an idle machine, and far
 * from what a lock or an allocation under load would make of it in any case. */
static void test_time_of_a_hit(void **state) {
  (void)state;
  enum { CALLS = 1000000 };
  const assay_define defines[] = {{"WARPS", 4}, {"DTYPE", 1}, {"COLUMNS", 1024}, {NULL, 0}};
  assay_queue *queue = opened(0);
  const assay_launch launch = some_launch(defines);
  assert_int_equal(start(queue, &launch), ASSAY_OK);
  fake.quiet(1);
  const int64_t begin = assay_now_ns();
  for (int i = 0; i < CALLS; i++) (void)start(queue, &launch);
  const int64_t time_ns = (assay_now_ns() - begin) / CALLS;
  fake.quiet(0);
  print_message("# a launch that hits: %lld ns\n", (long long)time_ns);
  assert_true(time_ns < 5000);
  assay_queue_close(queue);
}

int main(int argc, char **argv) {
  (void)argc;
  if (!fake_driver_ready(argv)) return 1;
  if (fake_driver_skips()) return 0;
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_opening),
      WITH_QUEUE(test_wrapping),
      WITH_QUEUE(test_launching),
      WITH_QUEUE(test_damaged_cache),
      WITH_QUEUE(test_refused_launches),
      WITH_QUEUE(test_source_that_does_not_compile),
      WITH_QUEUE(test_scratch),
      WITH_QUEUE(test_other_device_current),
      WITH_QUEUE(test_fault),
      WITH_QUEUE(test_tools),
      WITH_QUEUE(test_time_of_a_hit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
