/* SPDX-License-Identifier: MIT */
/* test_watch_clean.c - where nothing is wrong a watch finds nothing, and changes no result. */
#include "unit.h"

#include <stdlib.h>

#include "ops/strided_softmax/softmax.h"
#include "primitives.h"
#include "primitives_memory.h"
#include "primitives_warps.h"
#include "queue.h"
#include "watching.h"

static const char clean_file[] = "tests/kernels/watch_clean.cu";

typedef struct clean_case {
  const char *kernel, *second; /* the second reads what the first left in scratch */
  uint32_t blocks, cluster;
  bool written; /* out begins with zeros that the kernel adds to */
} clean_case;

static const clean_case clean[] = {
    {"barrier_reduction", NULL, 4, 1, false},
    {"warp_reduction", NULL, 4, 1, false},
    {"last_block", NULL, 4, 1, true},
    {"double_buffer", NULL, 4, 1, false},
    {"cluster_exchange", NULL, 4, 2, false},
    {"histogram", NULL, 4, 1, true},
    {"chain", NULL, 1, 1, true},
    {"volatile_flag", NULL, 4, 1, false},
    {"lock", NULL, 4, 1, true},
    {"small_elements", NULL, 4, 1, false},
    {"transpose", NULL, 4, 1, false},
    {"copies_of_structs", NULL, 4, 1, false},
    {"first_half", "second_half", 4, 1, false},
};

static void launch_clean(assay_queue *queue, const clean_case *one, const char *kernel,
                         const watch_args *args) {
  const assay_finding *found = NULL;
  const assay_launch launch = launch_of(clean_file, kernel, args, one->blocks, one->cluster);
  const assay_status status = assay_emulator_launch(queue, &launch);
  if (status != ASSAY_OK || assay_emulator_findings(queue, &found) != 0)
    fail_msg("%s: %s, %s", kernel, assay_status_name(status), assay_emulator_message(queue));
}

static void test_clean(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  for (uint64_t seed = 0; seed < SEEDS; ++seed) {
    assay_emulator_seed(queue, seed);
    for (size_t i = 0; i < sizeof clean / sizeof clean[0]; ++i) {
      watch(queue, ASSAY_TOOLS_ALL | ASSAY_TOOL_COUNTS, clean[i].written);
      const watch_args args = {memory.out, memory.in, assay_queue_scratch(queue, 4 * WORDS), WORDS};
      launch_clean(queue, &clean[i], clean[i].kernel, &args);
      if (clean[i].second != NULL) launch_clean(queue, &clean[i], clean[i].second, &args);
      assert_int_equal(assay_emulator_counts(queue, -1).launches, clean[i].second != NULL ? 2 : 1);
      assay_scratch_release();
    }
  }
  assay_queue_close(queue);
}

/* Every word of kernel.h once more: the same results, and no finding. */
static void watch_primitive(assay_queue *queue, const primitive *one) {
  uint32_t *in = calloc(one->in_words + 4, sizeof *in);
  uint32_t *got = calloc(one->out_words + 4, sizeof *got);
  uint32_t *plain = calloc(one->out_words + 4, sizeof *plain);
  assert_true(in != NULL && got != NULL && plain != NULL);
  one->fill(in, one->in_words);
  const assay_region regions[] = {
      {.name = "in",
       .start = in,
       .bytes = 4 * (int64_t)one->in_words,
       .element_bytes = 4,
       .written = true,
       .constant = true},
      {.name = "out",
       .start = got,
       .bytes = 4 * (int64_t)one->out_words,
       .element_bytes = 4,
       .written = true},
  };
  assert_int_equal(assay_emulator_watch(queue, 0, NULL, 0), ASSAY_OK);
  assert_int_equal(primitive_launch(one, queue, in, plain), ASSAY_OK);
  assert_int_equal(assay_emulator_watch(queue, ASSAY_TOOLS_ALL, regions, 2), ASSAY_OK);
  const assay_status status = primitive_launch(one, queue, in, got);
  if (status != ASSAY_OK) fail_msg("%s: %s", one->name, assay_emulator_message(queue));
  assert_memory_equal(got, plain, 4 * (size_t)one->out_words);
  free(in);
  free(got);
  free(plain);
}

static void test_primitives(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  for (size_t i = 0; i < sizeof warp_primitives / sizeof warp_primitives[0]; ++i)
    watch_primitive(queue, &warp_primitives[i]);
  for (size_t i = 0; i < sizeof memory_primitives / sizeof memory_primitives[0]; ++i)
    watch_primitive(queue, &memory_primitives[i]);
  assay_queue_close(queue);
}

/* ---- kernels that are used ----------------------------------------------------------------------------- */

typedef struct softmax_case {
  assay_dtype dtype;
  int64_t rows, columns, row_stride, column_stride;
} softmax_case;

/* All kernels of the variant: rows of vectors and of elements, a warp and a block a row, columns. */
static const softmax_case softmaxes[] = {
    {ASSAY_FP32, 5, 64, 64, 1},     {ASSAY_FP16, 3, 257, 257, 1}, {ASSAY_BF16, 2, 1056, 1056, 1},
    {ASSAY_FP32, 2, 1037, 1040, 1}, {ASSAY_FP16, 33, 70, 1, 34},  {ASSAY_FP32, 1, 1, 1, 1},
    {ASSAY_BF16, 2, 4100, 4100, 1}, {ASSAY_FP32, 40, 129, 1, 40},
};

typedef struct solution_args {
  const void *x;
  void *y;
  int64_t rows, columns, row_stride, column_stride;
} solution_args;

static assay_status run_solution(assay_queue *queue, const assay_tensor *x, const assay_tensor *y) {
  const solution_args args = {x->data, y->data, x->shape[0], x->shape[1], x->stride[0], x->stride[1]};
  const assay_define defines[] = {{"DTYPE", x->dtype}, {"WARPS", 4}, {NULL, 0}};
  const assay_launch launch = {.file = "workshops/w1_strided_softmax/w1_solution.cu",
                               .kernel = "softmax_row",
                               .grid = {(uint32_t)x->shape[0], 1, 1},
                               .block = {128, 1, 1},
                               .cluster = 1,
                               .defines = defines,
                               .args = &args,
                               .arg_bytes = sizeof args};
  return assay_emulator_launch(queue, &launch);
}

static void watch_softmax(assay_queue *queue, const softmax_case *one, bool solution) {
  const int64_t size = one->dtype == ASSAY_FP32 ? 4 : 2;
  const int64_t span = (one->rows - 1) * one->row_stride + (one->columns - 1) * one->column_stride + 1;
  const int64_t count = one->rows * one->columns;
  unsigned char *data = aligned_alloc(64, (size_t)(span * size + 63) / 64 * 64);
  unsigned char *result = aligned_alloc(64, (size_t)(count * size + 63) / 64 * 64);
  assert_true(data != NULL && result != NULL);
  for (int64_t i = 0; i < span; ++i) assay_store(data + i * size, one->dtype, 0, (float)(i % 23) / 8);
  const assay_region regions[] = {
      {.name = "x",
       .start = data,
       .bytes = span * size,
       .element_bytes = (int32_t)size,
       .written = true,
       .constant = true},
      {.name = "y", .start = result, .bytes = count * size, .element_bytes = (int32_t)size},
  };
  const assay_tensor x = {.data = data,
                          .dtype = one->dtype,
                          .device = ASSAY_DEVICE_EMULATOR,
                          .rank = 2,
                          .shape = {one->rows, one->columns},
                          .stride = {one->row_stride, one->column_stride}};
  const assay_tensor y = {.data = result,
                          .dtype = one->dtype,
                          .device = ASSAY_DEVICE_EMULATOR,
                          .rank = 2,
                          .shape = {one->rows, one->columns},
                          .stride = {one->columns, 1}};
  const int64_t opt[4] = {0};
  assert_int_equal(assay_emulator_watch(queue, ASSAY_TOOLS_ALL, regions, 2), ASSAY_OK);
  const assay_status status = solution ? run_solution(queue, &x, &y) : assay_softmax_cuda(&x, &y, opt, queue);
  if (status != ASSAY_OK) fail_msg("%d x %d: %s", (int)one->rows, (int)one->columns, assay_last_error());
  double sum = 0;
  for (int64_t i = 0; i < one->columns; ++i) sum += (double)assay_load(result, one->dtype, i);
  assert_near(sum, 1, 0.02);
  free(data);
  free(result);
}

static void test_softmax(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  for (uint64_t seed = 0; seed < 3; ++seed) {
    assay_emulator_seed(queue, seed);
    for (size_t i = 0; i < sizeof softmaxes / sizeof softmaxes[0]; ++i) {
      watch_softmax(queue, &softmaxes[i], false);
      watch_softmax(queue, &softmaxes[i], true);
    }
  }
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clean),
      cmocka_unit_test(test_primitives),
      cmocka_unit_test(test_softmax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
