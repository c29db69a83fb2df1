/* SPDX-License-Identifier: MIT */
/* test_launch.c - opening an emulator's queue, launches that no GPU takes, and kernels that do not compile.
 */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emulator.h"
#include "file.h"
#include "launch_table.h"
#include "queue.h"
#include "assay/kernel.h"

typedef struct word_args {
  uint32_t *out;
  int64_t value;
} word_args;

static char folder[ASSAY_PATH_SIZE];
static char path[ASSAY_PATH_SIZE];

static int make_folder(void **state) {
  (void)state;
  return assay_make_temp_folder(folder) && assay_path_format(path, "%s/word.cu", folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return assay_remove_tree(folder) ? 0 : -1;
}

static const char head[] = "#include \"assay/kernel.h\"\n"
                           "typedef struct word_args { uint32_t *out; int64_t value; } word_args;\n";

/* Line 3 is the first of `body`. */
static void write_kernel(const char *body) {
  char text[2048];
  const int length = snprintf(text, sizeof text, "%s%s", head, body);
  assert_true(length > 0 && length < (int)sizeof text);
  assert_true(assay_write_file(path, text, (size_t)length, 0600));
}

/* A source is compiled once in a process, so every test uses defines of its own. */
static assay_status launch_word(assay_queue *queue, const char *kernel, uint32_t *out, int64_t unique) {
  word_args args = {NULL, 3};
  args.out = out;
  const assay_define defines[] = {{"UNIQUE", unique}, {NULL, 0}};
  const assay_launch launch = {.file = path,
                               .kernel = kernel,
                               .grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .defines = defines,
                               .args = &args,
                               .arg_bytes = sizeof args};
  return queue->calls->launch(queue, &launch);
}

static assay_queue *open_queue(void) {
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(1, &queue), ASSAY_OK);
  return queue;
}

static void test_queue(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(3, &queue), ASSAY_OK);
  assert_int_equal(queue->device, ASSAY_DEVICE_EMULATOR);
  assert_int_equal(assay_queue_threads(queue), 3);
  assert_int_equal(assay_queue_wait(queue), ASSAY_OK);
  assert_string_equal(assay_emulator_message(queue), "");
  assert_string_equal(assay_emulator_log(queue), "");
  assert_true(assay_queue_uses_arena(queue));
  assert_non_null(assay_queue_scratch(queue, 100));
  assay_scratch_release();
  assay_queue_close(queue);
  assert_int_equal(assay_queue_open_emulator(0, &queue), ASSAY_OK);
  assert_true(assay_queue_threads(queue) >= 1);
  assay_queue_close(queue);
  assert_int_equal(assay_queue_open_emulator(1, NULL), ASSAY_BAD_POINTER);
  assert_int_equal(assay_queue_open_emulator(-1, &queue), ASSAY_BAD_OPTION);
  assert_null(queue);
  assert_non_null(strstr(assay_last_error(), "threads is -1"));
  assert_int_equal(assay_queue_wait(NULL), ASSAY_BAD_POINTER);
  assert_non_null(strstr(assay_last_error(), "queue is NULL"));
  assert_string_equal(assay_status_name(ASSAY_KERNEL_FAULT), "kernel fault");
}

static void test_macro(void **state) {
  (void)state;
  assay_queue *queue = NULL;
  const word_args args = {NULL, 0};
  assert_int_equal(assay_queue_open_cpu(1, &queue), ASSAY_OK);
  assert_int_equal(assay_queue_wait(queue), ASSAY_OK);
  assert_int_equal(LAUNCH(queue, "word", assay_dim(1), assay_dim(1), 0, 1, NULL, args), ASSAY_BAD_DEVICE);
  assay_queue_close(queue);
  queue = open_queue();
  /* This file is where LAUNCH looks, and it is no kernel. */
  assert_int_equal(LAUNCH(queue, "word", assay_dim2(1, 2), assay_dim(1), 0, 1, NULL, args),
                   ASSAY_KERNEL_FAULT);
  assert_int_equal(LAUNCH(queue, "word", assay_dim(0), assay_dim(1), 0, 1, NULL, args), ASSAY_KERNEL_FAULT);
  assert_non_null(strstr(assay_last_error(), "the grid is 0 x 1 x 1 blocks"));
  assert_int_equal(assay_dim(INT64_C(1) << 31).x, 0);
  assert_int_equal(assay_dim2(3, -1).y, 0);
  assay_queue_close(queue);
}

typedef struct bad_launch {
  assay_dim3 grid, block;
  uint32_t shared, cluster;
  size_t arg_bytes;
  const char *says;
} bad_launch;

static void test_sizes(void **state) {
  (void)state;
  static const bad_launch bad[] = {
      {{0, 1, 1}, {1, 1, 1}, 0, 1, 16, "the grid is 0 x 1 x 1"},
      {{1, 65536, 1}, {1, 1, 1}, 0, 1, 16, "the grid is 1 x 65536 x 1"},
      {{1, 1, 1}, {0, 1, 1}, 0, 1, 16, "the block is 0 x 1 x 1"},
      {{1, 1, 1}, {1025, 1, 1}, 0, 1, 16, "it must have 1 to 1024"},
      {{1, 1, 1}, {32, 33, 1}, 0, 1, 16, "the block is 32 x 33 x 1"},
      {{1, 1, 1}, {1, 1, 65}, 0, 1, 16, "z at most 64"},
      {{1, 1, 1}, {4294967295u, 4294967295u, 2}, 0, 1, 16, "threads; it must have"},
      {{1, 1, 1}, {1, 1, 1}, 232449, 1, 16, "232449 bytes of dynamic shared memory"},
      {{4, 1, 1}, {1, 1, 1}, 0, 3, 16, "clusters of 3 blocks in a grid of 4"},
      {{16, 1, 1}, {1, 1, 1}, 0, 16, 16, "it must be 1 to 8"},
      {{1, 1, 1}, {64, 1, 1}, 0, 1, 16, "a block of 64 threads; KERNEL allows 32"},
      {{1, 1, 1}, {32, 1, 1}, 0, 1, 24, "its struct of arguments has 24 bytes; KERNEL takes 16"},
  };
  assay_queue *queue = open_queue();
  uint32_t word = 0;
  const word_args args[2] = {{&word, 3}, {NULL, 0}};
  write_kernel(
      "#ifdef ASSAY_DEVICE\nKERNEL(word, word_args, 32) { *args.out = (uint32_t)args.value; }\n#endif\n");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    const assay_launch launch = {.file = path,
                                 .kernel = "word",
                                 .grid = bad[i].grid,
                                 .block = bad[i].block,
                                 .shared_bytes = bad[i].shared,
                                 .cluster = bad[i].cluster,
                                 .args = args,
                                 .arg_bytes = bad[i].arg_bytes};
    assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_KERNEL_FAULT);
    if (strstr(assay_emulator_message(queue), bad[i].says) == NULL)
      fail_msg("launch %zu: '%s', not '%s'", i, assay_emulator_message(queue), bad[i].says);
  }
  assert_int_equal(word, 0);
  assert_int_equal(launch_word(queue, "word", &word, 0), ASSAY_OK);
  assert_int_equal(word, 3);
  assert_int_equal(launch_word(queue, "wird", &word, 0), ASSAY_KERNEL_FAULT);
  assert_non_null(strstr(assay_last_error(), "has no KERNEL named wird"));
  assay_queue_close(queue);
}

static void expect_broken(assay_queue *queue, const char *body, int64_t unique, const char *says) {
  uint32_t word = 0;
  write_kernel(body);
  assert_int_equal(launch_word(queue, "word", &word, unique), ASSAY_KERNEL_FAULT);
  if (strstr(assay_emulator_message(queue), says) == NULL)
    fail_msg("'%s' lacks '%s'", assay_emulator_message(queue), says);
}

/* What C++ refuses is refused here, on the learner's line. */
static void test_broken_sources(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  expect_broken(queue, "KERNEL(word, word_args, 32) {\n  *args.out = undeclared;\n}\n", 10, "word.cu:4:");
  assert_non_null(strstr(assay_emulator_log(queue), "undeclared"));
  expect_broken(queue, "KERNEL(word, word_args, 32) {\n  *args.out = nobody_knows(3);\n}\n", 11,
                "word.cu:4:");
  expect_broken(queue,
                "KERNEL(word, word_args, 32) {\n  int x[args.value];\n  *args.out = (uint32_t)x[0];\n}\n", 12,
                "word.cu:4:");
  expect_broken(queue, "KERNEL(word, word_args, 32) {\n  float *p = args.out;\n  *p = 1;\n}\n", 13,
                "word.cu:4:");
  expect_broken(queue, "KERNEL(word, word_args, 32) {\n  *args.out = (uint32_t)INFINITY;\n}\n", 14,
                "word.cu:4: INFINITY in a kernel: write ASSAY_INFINITY");
  assert_string_equal(assay_emulator_log(queue), "");
  assert_true(assay_write_file(path, "int x;\n", 7, 0600));
  uint32_t word = 0;
  assert_int_equal(launch_word(queue, "word", &word, 15), ASSAY_KERNEL_FAULT);
  assert_non_null(strstr(assay_last_error(), "does not include \"assay/kernel.h\""));
  /* A source that was wrong is compiled anew when it is right. */
  write_kernel("KERNEL(word, word_args, 32) { *args.out = UNIQUE; }\n");
  assert_int_equal(launch_word(queue, "word", &word, 10), ASSAY_OK);
  assert_int_equal(word, 10);
  assert_string_equal(assay_emulator_message(queue), "");
  assay_queue_close(queue);
}

static void test_unavailable(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  uint32_t word = 0;
  write_kernel("KERNEL(word, word_args, 32) { *args.out = UNIQUE; }\n");
  const char *before = getenv("CC");
  char *kept = before != NULL ? strdup(before) : NULL;
  setenv("CC", "/nowhere/cc", 1);
  assert_int_equal(launch_word(queue, "word", &word, 20), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(assay_last_error(), "/nowhere/cc cannot be run"));
  setenv("CC", "  ", 1);
  assert_int_equal(launch_word(queue, "word", &word, 20), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(assay_last_error(), "CC is blank"));
  if (kept != NULL) {
    setenv("CC", kept, 1);
    free(kept);
  } else {
    unsetenv("CC");
  }
  assert_int_equal(unlink(path), 0);
  assert_int_equal(launch_word(queue, "word", &word, 20), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(assay_last_error(), "word.cu"));
  assay_queue_close(queue);
}

static void *launch_many(void *argument) {
  uint32_t *word = argument;
  assay_queue *queue = open_queue();
  for (int i = 0; i < 50; ++i) {
    *word = 0;
    if (launch_word(queue, "word", word, 30 + i % 2) != ASSAY_OK || *word != 30u + (uint32_t)i % 2) break;
    if (i == 49) *word = 1000;
  }
  assay_queue_close(queue);
  return NULL;
}

/* Several threads want the same kernels at once. */
static void test_concurrent(void **state) {
  (void)state;
  pthread_t threads[4];
  uint32_t words[4] = {0};
  write_kernel("KERNEL(word, word_args, 32) { *args.out = UNIQUE; }\n");
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &words[i]), 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 4; ++i) assert_int_equal(words[i], 1000);
}

static void test_table(void **state) {
  (void)state;
  static assay_launch_table table;
  static int values[600];
  char name[16];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 600; ++i) {
      snprintf(name, sizeof name, "k%d", i / 3);
      const assay_define defines[] = {{i % 3 == 1 ? "A" : "B", i % 3 == 0 ? 1 : 2}, {NULL, 0}};
      const assay_launch launch = {.file = "f.cu", .kernel = name, .defines = defines};
      if (round == 0) {
        assert_null(assay_launch_find(&table, &launch));
        assert_true(assay_launch_add(&table, &launch, &values[i]));
      }
      assert_ptr_equal(assay_launch_find(&table, &launch), &values[i]);
    }
  }
  const assay_launch without = {.file = "f.cu", .kernel = "k0"};
  assert_null(assay_launch_find(&table, &without));
  const assay_define empty[] = {{NULL, 0}};
  const assay_define one[] = {{"A", 1}, {NULL, 0}};
  assert_true(assay_defines_equal(NULL, empty));
  assert_false(assay_defines_equal(one, NULL));
  assert_false(assay_defines_equal(empty, one));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_queue),       cmocka_unit_test(test_macro),
      cmocka_unit_test(test_sizes),       cmocka_unit_test(test_broken_sources),
      cmocka_unit_test(test_unavailable), cmocka_unit_test(test_concurrent),
      cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
