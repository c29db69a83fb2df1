/* SPDX-License-Identifier: MIT */
/* test_gauge.c - clocks, empty calls and the shared cache, over the driver that only keeps a diary. */
#include "folder.h"

#include "bench/overhead.h"
#include "check/gauge.h"
#include "fake_driver.h"

static int set_up_cache(void **state) {
  if (set_up(state) != 0) return -1;
  if (setenv("ASSAY_CACHE", in_folder("cache"), 1) != 0) return -1;
  fake.argument_bytes(2 * sizeof(int64_t));
  fake.forget();
  return 0;
}

static assay_queue *opened(void) {
  assay_queue *queue = NULL;
  if (assay_queue_open_cuda(0, NULL, &queue) != ASSAY_OK) fail_msg("%s", assay_last_error());
  return queue;
}

/* Device memory of the fake driver is ours: what the kernel would have counted is written there. */
static void test_clock(void **state) {
  (void)state;
  static const struct {
    int64_t cycles, nanoseconds;
    int mhz;
  } answers[] = {{198000, 100000, 1980}, {34507, 100020, 345}, {0, 100000, 0},
                 {198000, 0, 0},         {-5, -5, 0},          {1000000000, 1, 0}};
  assay_message why = {""};
  assay_queue *queue = opened();
  gauge one;
  assert_int_equal(gauge_open(&one, queue, &why), ASSAY_OK);
  assert_int_equal(times("launch nothing grid 1 1 1 block 32 1 1"), 1);
  assert_int_equal(times("launch sm_clock grid 1 1 1 block 32 1 1"), 1);
  for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
    int mhz = -1;
    const int64_t counted[2] = {answers[i].cycles, answers[i].nanoseconds};
    assert_int_equal(gauge_start(&one, queue, &why), ASSAY_OK);
    memcpy(one.memory, counted, sizeof counted);
    assert_int_equal(gauge_read(&one, queue, &mhz, &why), ASSAY_OK);
    assert_int_equal(mhz, answers[i].mhz);
  }
  int mhz = -1;
  fake.refuse("cuStreamSynchronize", 700);
  assert_int_equal(gauge_read(&one, queue, &mhz, &why), ASSAY_KERNEL_FAULT);
  assert_int_equal(mhz, -1);
  gauge_close(&one, queue);
  assay_queue_close(queue);
  assert_int_equal(fake.depth(), 0);
}

/* The fake driver runs no kernel: what one would have found is there before the answer is fetched, or not. */
static void test_comparing(void **state) {
  (void)state;
  assay_message why = {""};
  assay_queue *queue = opened();
  gauge one;
  bool same = false;
  assert_int_equal(gauge_open(&one, queue, &why), ASSAY_OK);
  fake.argument_bytes(4 * sizeof(int64_t));
  assert_int_equal(gauge_same(&one, queue, one.memory, one.memory, 16, &same, &why), ASSAY_OK);
  assert_true(same);
  assert_int_equal(times("launch differs"), 1);
  fake.refuse("cuLaunchKernel", 700);
  assert_int_equal(gauge_same(&one, queue, one.memory, one.memory, 16, &same, &why), ASSAY_KERNEL_FAULT);
  assert_false(same);
  gauge_close(&one, queue);
  assay_queue_close(queue);
}

static void test_empty_calls(void **state) {
  (void)state;
  assay_message why = {""};
  gpu_overhead empty[OVERHEADS];
  if (overheads_measure(empty, &why) != ASSAY_OK) fail_msg("%s", why.text);
  for (int i = 0; i < OVERHEADS; i++) {
    assert_int_equal(empty[i].count, OVERHEAD_SAMPLES);
    assert_int_equal(empty[i].calls, 20);
    assert_int_equal(empty[i].samples[0], 2500000); /* what the fake driver says of any two events */
    assert_near(empty[i].call_ns, 125000, 0);
  }
  assert_string_equal(empty[OVERHEAD_GRAPH].name, "empty graph node");
  assert_string_equal(empty[OVERHEAD_EVENTS].name, "empty launch");
  assert_int_equal(times("cuGraphLaunch"), 1 + OVERHEAD_SAMPLES);
  /* Captured once; launched one by one in every sample; and once to compile it. */
  assert_int_equal(times("launch nothing"), 20 + 20 * (1 + OVERHEAD_SAMPLES) + 1);
  assert_int_equal(times("launch sm_clock"),
                   1 + OVERHEAD_SAMPLES + 1); /* before each graph, and once to compile */
  assert_int_equal(times("cuGraphExecDestroy"), 1);
  fake.refuse("cuStreamEndCapture", 901);
  assert_int_equal(overheads_measure(empty, &why), ASSAY_UNAVAILABLE);
  says(why.text, "ending a capture failed");
  assert_int_equal(fake.depth(), 0);
}

/* A device without a share to set aside answers with an error, which nobody has to hear of. */
static void test_shared_cache(void **state) {
  (void)state;
  assay_queue *queue = opened();
  fake.forget();
  assay_cuda_share_cache(queue);
  assert_int_equal(times("cuCtxSetLimit"), 1);
  assert_int_equal(times("cuCtxResetPersistingL2Cache"), 1);
  fake.refuse("cuCtxSetLimit", 801);
  assay_cuda_share_cache(queue);
  fake.refuse("cuCtxResetPersistingL2Cache", 801);
  assay_cuda_share_cache(queue);
  assert_int_equal(times("cuCtxResetPersistingL2Cache"), 3);
  assert_int_equal(assay_queue_wait(queue), ASSAY_OK);
  assay_queue_close(queue);
  assert_int_equal(fake.depth(), 0);
}

#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up_cache, tear_down)

int main(int argc, char **argv) {
  (void)argc;
  if (!fake_driver_ready(argv)) return 1;
  if (fake_driver_skips()) return 0;
  const struct CMUnitTest tests[] = {WITH_CACHE(test_clock), WITH_CACHE(test_comparing),
                                     WITH_CACHE(test_empty_calls), WITH_CACHE(test_shared_cache)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
