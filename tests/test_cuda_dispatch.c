/* SPDX-License-Identifier: MIT */
/* test_cuda_dispatch.c - an operator with CUDA variants, called through the dispatch over the fake driver. */
#include "folder.h"

#include "cuda_queue.h"
#include "fake_driver.h"
#include "ops/ops.h"
#include "tensor.h"

static const char source[] = "#include \"assay/kernel.h\"\n"
                             "typedef struct mark_args { int32_t mark; } mark_args;\n"
                             "KERNEL(mark, mark_args, 128) { (void)args; }\n";

static char source_path[ASSAY_PATH_SIZE];
static void *given_scratch;

typedef struct mark_args {
  int32_t mark;
} mark_args;

static assay_status launch_mark(assay_queue *queue, uint32_t threads, int32_t mark) {
  const mark_args args = {mark};
  const assay_launch launch = {.file = source_path,
                               .kernel = "mark",
                               .grid = {1, 1, 1},
                               .block = {threads, 1, 1},
                               .args = &args,
                               .arg_bytes = sizeof args};
  return queue->calls->launch(queue, &launch);
}

static assay_status good(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                         assay_queue *queue) {
  (void)in, (void)out, (void)opt;
  given_scratch = assay_queue_scratch(queue, 100);
  return given_scratch == NULL ? ASSAY_NO_MEMORY : launch_mark(queue, 128, 7);
}

static assay_status too_wide(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)in, (void)out, (void)opt;
  return launch_mark(queue, 512, 8);
}

static assay_status unwilling(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                              assay_queue *queue) {
  (void)in, (void)out, (void)opt, (void)queue;
  return ASSAY_BAD_SHAPE;
}

static assay_status accept(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                           assay_limits limits, assay_message *why) {
  (void)entry, (void)in, (void)out, (void)opt, (void)limits, (void)why;
  return ASSAY_OK;
}

enum { NEWER = 0, GOOD, WIDE, UNWILLING, PLAIN, VARIANTS };

static const assay_variant variants[VARIANTS] = {
    [NEWER] =
        {.name = "newer", .backend = ASSAY_CUDA, .lowest_arch = 100, .cuda_only = true, .entry = {good}},
    [GOOD] = {.name = "good", .backend = ASSAY_CUDA, .lowest_arch = 90, .entry = {good}},
    [WIDE] = {.name = "wide", .backend = ASSAY_CUDA, .lowest_arch = 80, .entry = {too_wide}},
    [UNWILLING] = {.name = "unwilling", .backend = ASSAY_CUDA, .lowest_arch = 80, .entry = {unwilling}},
    [PLAIN] = {.name = "plain", .backend = ASSAY_CPU, .entry = {unwilling}},
};

static const assay_operator marker = {
    .subject = {.name = "marker",
                .exports = {{.name = "marker",
                             .in_names = {"x"},
                             .in_count = 1,
                             .out_names = {"y"},
                             .out_count = 1}},
                .export_count = 1,
                .validate = accept},
    .variants = variants,
    .variant_count = VARIANTS,
};

static assay_status call(const assay_variant *variant, int device_of_x, assay_queue *queue,
                         assay_message *why) {
  const assay_tensor x = {.device = device_of_x};
  const assay_tensor y = {.device = 1};
  *why = (assay_message){""};
  return assay_operator_call(&marker, variant, 0, &x, &y, NULL, queue, why);
}

static int set_up_call(void **state) {
  static assay_queue *queue;
  if (set_up(state) != 0) return -1;
  if (setenv("ASSAY_CACHE", in_folder("cache"), 1) != 0) return -1;
  if (!assay_path_format(source_path, "%s", in_folder("mark.cu"))) return -1;
  if (!assay_write_file(source_path, source, strlen(source), 0600)) return -1;
  fake.argument_bytes(sizeof(mark_args));
  if (assay_queue_open_cuda(1, NULL, &queue) != ASSAY_OK) return -1;
  fake.forget();
  *state = queue;
  return 0;
}

static int tear_down_call(void **state) {
  assay_queue_close(*state);
  return tear_down(state);
}

static void test_best_variant(void **state) {
  assay_queue *queue = *state;
  assay_message why;
  assert_int_equal(assay_queue_open_cpu(0, NULL), ASSAY_BAD_POINTER);
  char before[sizeof why.text];
  snprintf(before, sizeof before, "%s", assay_last_error());
  assert_int_equal(call(NULL, 1, queue, &why), ASSAY_OK);
  says(fake.diary(), "launch mark grid 1 1 1 block 128 1 1 shared 0 cluster 1 argument 7\n");
  assert_non_null(given_scratch);
  assert_int_equal(times("cuMemFreeAsync"), 1); /* scratch went back behind the launch */
  assert_true(strstr(fake.diary(), "launch mark") < strstr(fake.diary(), "cuMemFreeAsync"));
  assert_int_equal(times("cuStreamSynchronize"), 0);
  assert_string_equal(assay_last_error(), before); /* success leaves it alone */
}

static void test_refusals(void **state) {
  assay_queue *queue = *state;
  assay_message why;
  assert_int_equal(call(&variants[NEWER], 1, queue, &why), ASSAY_UNAVAILABLE);
  says(why.text, "variant newer needs a GPU of architecture 10.0; device 1, Fake 1, has 9.0");
  assert_int_equal(call(&variants[PLAIN], 1, queue, &why), ASSAY_BAD_DEVICE);
  says(why.text, "variant plain runs on the cpu backend, but the queue is on cuda");
  const int elsewhere[] = {ASSAY_DEVICE_CPU, ASSAY_DEVICE_EMULATOR, 0};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(call(NULL, elsewhere[i], queue, &why), ASSAY_BAD_DEVICE);
    says(why.text, "x is on device ");
    says(why.text, "but the queue runs on device 1");
  }
  assert_int_equal(times("launch "), 0);
  assay_queue *cpu = NULL;
  assert_int_equal(assay_queue_open_cpu(1, &cpu), ASSAY_OK);
  assert_int_equal(call(&variants[GOOD], ASSAY_DEVICE_CPU, cpu, &why), ASSAY_BAD_DEVICE);
  assay_queue_close(cpu);
}

/* What the queue says about a launch reaches the caller's sentence, and only that of this call. */
static void test_failures(void **state) {
  assay_queue *queue = *state;
  assay_message why;
  assert_int_equal(call(&variants[WIDE], 1, queue, &why), ASSAY_KERNEL_FAULT);
  says(why.text, "variant wide of marker: kernel mark: a block of 512 x 1 x 1 threads");
  assert_int_equal(call(&variants[UNWILLING], 1, queue, &why), ASSAY_BAD_SHAPE);
  says(why.text, "variant unwilling of marker failed: bad shape");
  fake.refuse("cuMemAllocFromPoolAsync", 2);
  assert_int_equal(call(&variants[GOOD], 1, queue, &why), ASSAY_NO_MEMORY);
  says(why.text, "taking 100 bytes of scratch failed");
}

static void test_where_rows_run(void **state) {
  (void)state;
  assay_message why;
  assert_true(assay_variant_runs_on(&variants[GOOD], ASSAY_CUDA, 0, &why));
  assert_false(assay_variant_runs_on(&variants[GOOD], ASSAY_CUDA, 2, &why));
  says(why.text, "there is no CUDA device 2");
  assert_false(assay_variant_runs_on(&variants[NEWER], ASSAY_CUDA, 0, &why));
  assert_false(assay_variant_runs_on(&variants[PLAIN], ASSAY_CUDA, 0, &why));
}

/* ---- shared memory ----------------------------------------------------------------------------------------
 */

/* Of the clusters of softmax_backward, which want more than every device has. */
static assay_launch launched;

static assay_status note_launch(assay_queue *queue, const assay_launch *launch) {
  (void)queue;
  launched = *launch;
  return ASSAY_OK;
}

static void test_shared_memory_of_a_device(void **state) {
  (void)state;
  enum { ROWS = 2048, COLUMNS = 2048 };
  static const assay_queue_calls calls = {.version = 2, .launch = note_launch};
  const assay_operator *op = assay_operator_find("softmax_backward");
  const assay_variant *cluster = NULL;
  for (int i = 0; i < op->variant_count; i++) {
    if (strcmp(op->variants[i].name, "cluster") == 0) cluster = &op->variants[i];
  }
  assert_non_null(cluster);
  for (int device = 0; device < 2; device++) {
    assay_queue queue = {.calls = &calls, .device = device};
    const int64_t shape[] = {ROWS, COLUMNS}, no_options[8] = {0};
    assay_tensor in[] = {assay_tensor_make((void *)4096, ASSAY_FP16, 2, shape),
                         assay_tensor_make((void *)4096, ASSAY_FP16, 2, shape)};
    const assay_tensor out = assay_tensor_make((void *)4096, ASSAY_FP16, 2, shape);
    for (int i = 0; i < 2; i++) in[i].stride[0] = 1, in[i].stride[1] = ROWS;
    assert_int_equal(cluster->entry[0](in, &out, no_options, &queue), ASSAY_OK);
    assert_string_equal(launched.kernel, "vjp_strip");
    if (device == 0) assert_int_equal(launched.shared_bytes, 128 << 10);
    if (device == 1) assert_in_range(launched.shared_bytes, 1, 96 << 10);
  }
}

#define WITH_QUEUE(test) cmocka_unit_test_setup_teardown(test, set_up_call, tear_down_call)

int main(int argc, char **argv) {
  (void)argc;
  if (!fake_driver_ready(argv)) return 1;
  if (fake_driver_skips()) return 0;
  const struct CMUnitTest tests[] = {
      WITH_QUEUE(test_best_variant),
      WITH_QUEUE(test_refusals),
      WITH_QUEUE(test_failures),
      cmocka_unit_test(test_where_rows_run),
      cmocka_unit_test(test_shared_memory_of_a_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
