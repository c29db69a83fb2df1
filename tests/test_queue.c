/* SPDX-License-Identifier: MIT */
/* test_queue.c - opening CPU queues, their default thread count, and scratch. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "cpu.h"
#include "queue.h"

static void test_open_and_close(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_cpu(3, &queue), ASSAY_OK);
  assert_non_null(queue);
  assert_int_equal(assay_queue_threads(queue), 3);
  assert_int_equal(queue->device, ASSAY_DEVICE_CPU);
  assay_queue_close(queue);
  assert_int_equal(assay_queue_open_cpu(1024, &queue), ASSAY_OK);
  assert_int_equal(assay_queue_threads(queue), 1024);
  assay_queue_close(queue);
  assay_queue_close(NULL);
  assert_int_equal(assay_queue_threads(NULL), 0);
}

static void test_open_errors(void **state) {
  (void)state;
  assay_queue *queue;
  assert_int_equal(assay_queue_open_cpu(1, NULL), ASSAY_BAD_POINTER);
  assert_non_null(strstr(assay_last_error(), "queue"));
  const int outside[] = {-1, 1025};
  for (int i = 0; i < 2; ++i) {
    queue = (assay_queue *)&state; /* must not survive a failure */
    assert_int_equal(assay_queue_open_cpu(outside[i], &queue), ASSAY_BAD_OPTION);
    assert_non_null(strstr(assay_last_error(), "threads"));
    assert_non_null(strstr(assay_last_error(), "1024"));
    assert_null(queue);
  }
}

static int threads_with(const char *variable) {
  if (variable == NULL) {
    unsetenv("OMP_NUM_THREADS");
  } else {
    setenv("OMP_NUM_THREADS", variable, 1);
  }
  return assay_default_threads();
}

static void test_default_threads(void **state) {
  (void)state;
  cpu_set_t set;
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  const int cpus = CPU_COUNT(&set);
  assert_int_equal(threads_with("3"), 3);
  assert_int_equal(threads_with(" 7 "), 7);
  assert_int_equal(threads_with("5,2"), 5);
  assert_int_equal(threads_with("1024"), 1024);
  assert_int_equal(threads_with("4096"), 1024);
  assert_int_equal(threads_with("99999999999999999999"), 1024);
  const char *const unusable[] = {NULL, "", "0", "-2", "many", "3x", "2.5", ",4"};
  for (size_t i = 0; i < sizeof unusable / sizeof unusable[0]; ++i) {
    assert_int_equal(threads_with(unusable[i]), cpus);
  }

  assay_queue *queue = NULL;
  setenv("OMP_NUM_THREADS", "6", 1);
  assert_int_equal(assay_queue_open_cpu(0, &queue), ASSAY_OK);
  assert_int_equal(assay_queue_threads(queue), 6);
  assay_queue_close(queue);
  unsetenv("OMP_NUM_THREADS");
}

/* One CPU only: the default follows the mask of the process, not the machine. */
static void test_affinity(void **state) {
  (void)state;
  cpu_set_t all;
  cpu_set_t one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  size_t first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_int_equal(threads_with(NULL), 1);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

enum { PIECES = 40 };

/* Takes pieces of growing size, fills them, and sees that none changed another. */
static void use_scratch(assay_queue *queue) {
  unsigned char *pieces[PIECES];
  size_t sizes[PIECES];
  for (int i = 0; i < PIECES; ++i) {
    sizes[i] = (size_t)i * (size_t)i * 97;
    pieces[i] = assay_queue_scratch(queue, sizes[i]);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 64, 0);
    for (int k = 0; k < i; ++k) assert_ptr_not_equal(pieces[i], pieces[k]);
    memset(pieces[i], i + 1, sizes[i]);
  }
  for (int i = 0; i < PIECES; ++i) {
    for (size_t k = 0; k < sizes[i]; ++k) assert_int_equal(pieces[i][k], i + 1);
  }
}

static void test_scratch(void **state) {
  (void)state;
  assay_queue queue;
  assay_queue_init_cpu(&queue, 2);
  assert_int_equal(assay_queue_threads(&queue), 2);
  assay_scratch_release(); /* without any scratch it does nothing */
  for (int round = 0; round < 3; ++round) {
    use_scratch(&queue);
    assay_scratch_release();
  }
}

/* What needed several blocks at first comes from one block later, and that block stays. */
static void test_scratch_is_kept(void **state) {
  (void)state;
  assay_queue queue;
  assay_queue_init_cpu(&queue, 1);
  const size_t bytes = 1 << 20;
  for (int i = 0; i < 8; ++i) assert_non_null(assay_queue_scratch(&queue, bytes));
  assay_scratch_release();
  char *first = assay_queue_scratch(&queue, bytes);
  for (size_t i = 1; i < 8; ++i) assert_ptr_equal(assay_queue_scratch(&queue, bytes), first + i * bytes);
  assay_scratch_release();
  assert_ptr_equal(assay_queue_scratch(&queue, 1), first);
  assay_scratch_release();
}

static void test_scratch_too_large(void **state) {
  (void)state;
  assay_queue queue;
  assay_queue_init_cpu(&queue, 1);
  char *before = assay_queue_scratch(&queue, 100);
  memset(before, 9, 100);
  assert_null(assay_queue_scratch(&queue, SIZE_MAX));
  assert_null(assay_queue_scratch(&queue, SIZE_MAX - 63));
  assert_null(assay_queue_scratch(&queue, PTRDIFF_MAX));
  assert_int_equal(before[99], 9);
  assert_non_null(assay_queue_scratch(&queue, 100));
  assay_scratch_release();
}

static void *other_thread(void *queue) {
  use_scratch(queue);
  assay_scratch_release();
  use_scratch(queue); /* freed when the thread ends, as leak checkers see */
  return NULL;
}

/* A release is a matter of the calling thread alone. */
static void test_scratch_of_threads(void **state) {
  (void)state;
  assay_queue queue;
  assay_queue_init_cpu(&queue, 1);
  unsigned char *mine = assay_queue_scratch(&queue, 4096);
  memset(mine, 77, 4096);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) assert_int_equal(pthread_create(&threads[i], NULL, other_thread, &queue), 0);
  for (int i = 0; i < 3; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 4096; ++i) assert_int_equal(mine[i], 77);
  assay_scratch_release();
}

static void test_features(void **state) {
  (void)state;
  assert_int_equal(assay_cpu_features(), assay_cpu_features());
  const uint32_t all = ASSAY_CPU_AVX2 | ASSAY_CPU_AVX512 | ASSAY_CPU_AVX512_BF16;
  assert_int_equal(assay_cpu_features() & ~all, 0);
  assert_string_equal(assay_cpu_feature_names(0), "none");
  assert_string_equal(assay_cpu_feature_names(ASSAY_CPU_AVX2), "avx2");
  assert_string_equal(assay_cpu_feature_names(all), "avx2 avx512 avx512bf16");
  assert_true(strlen(assay_cpu_model()) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_and_close),    cmocka_unit_test(test_open_errors),
      cmocka_unit_test(test_default_threads),   cmocka_unit_test(test_affinity),
      cmocka_unit_test(test_scratch),           cmocka_unit_test(test_scratch_is_kept),
      cmocka_unit_test(test_scratch_too_large), cmocka_unit_test(test_scratch_of_threads),
      cmocka_unit_test(test_features),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
