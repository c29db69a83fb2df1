/* SPDX-License-Identifier: MIT */
/*
 * test_cuda_two.c - two GPUs: every operator runs on the device of its queue and of its tensors while another
 * device is current, leaves that one current, and neither device is given the other's memory. With fewer than
 * two GPUs every test is skipped, with the reason.
 */
#include "unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "bench_table.h"
#include "check/compare.h"
#include "cuda_queue.h"
#include "cuda_tools.h"
#include "half.h"
#include "ops/ops.h"
#include "tensor.h"

enum { DEVICES = 2, POINTER_DEVICE = 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */ };

/* Sizes of several tiles or chunks, the last one ragged; the rest is as in the operator's suite. */
static const struct sizes {
  const char *name;
  int64_t dims[ASSAY_MAX_DIMS];
} sizes[] = {{"strided_softmax", {37, 515}},
             {"softmax_backward", {37, 1027}},
             {"fused_gemm", {131, 67, 93}},
             {"split_softmax", {3, 9001}},
             {"streaming_attention", {133, 32}}};

/* One call: the same operands on the host and on a device, inputs first. */
typedef struct operands {
  const assay_operator *op;
  assay_queue *queue;
  int64_t opt[ASSAY_MAX_OPTIONS];
  int inputs, outputs;
  assay_tensor host[2 * ASSAY_MAX_OPERANDS], device[2 * ASSAY_MAX_OPERANDS];
} operands;

static assay_message why;
static const cuda_driver *driver;
static assay_queue *queues[DEVICES];
static cuda_context contexts[DEVICES];
static cuda_result (*pointer_get)(void *value, int attribute, cuda_address address);

static void ok(assay_status status, const char *what) {
  if (status != ASSAY_OK)
    fail_msg("%s: %s, %s; last error: %s", what, assay_status_name(status), why.text, assay_last_error());
}

#define assert_ok(call) ok((call), #call)

static int close_queues(void **state) {
  (void)state;
  for (int device = 0; device < DEVICES; device++) assay_queue_close(queues[device]);
  queues[0] = queues[1] = NULL;
  return 0;
}

/* Queues on both devices, or the end of this test. */
static void open_queues(void) {
  driver = assay_cuda_driver(&why);
  if (driver != NULL && driver->devices < DEVICES)
    (void)assay_explain(&why, ASSAY_UNAVAILABLE, "this machine has %d GPU, and this takes %d",
                        driver->devices, DEVICES);
  for (int device = 0; driver != NULL && driver->devices >= DEVICES && device < DEVICES; device++) {
    if (assay_queue_open_cuda(device, NULL, &queues[device]) != ASSAY_OK) {
      (void)assay_explain(&why, ASSAY_UNAVAILABLE, "%s", assay_last_error());
      break;
    }
    contexts[device] = assay_cuda_queue_of(queues[device])->space->context;
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  void *symbol = library != NULL ? dlsym(library, "cuPointerGetAttribute") : NULL;
  memcpy(&pointer_get, &symbol, sizeof symbol);
  if (queues[0] != NULL && queues[1] != NULL && symbol != NULL) return;
  print_message("# %s\n", why.text);
  skip();
}

/* The device that memory belongs to, by the driver. */
static int owner_of(const void *data) {
  int owner = -1;
  assert_int_equal(pointer_get(&owner, POINTER_DEVICE, (cuda_address)(uintptr_t)data), CUDA_OK);
  return owner;
}

/* ---- operands ------------------------------------------------------------------------------------------ */

static size_t bytes_of(const assay_tensor *tensor) {
  int64_t extent = 0;
  assert_true(assay_tensor_extent(tensor, &extent));
  return (size_t)extent * assay_dtype_size(tensor->dtype);
}

static void open_tensor(operands *self, int index, const assay_operand_plan *plan) {
  assay_tensor *host = &self->host[index];
  assay_tensor *device = &self->device[index];
  *host = assay_tensor_make(NULL, plan->dtype, plan->rank, plan->shape);
  memcpy(host->stride, plan->stride, sizeof host->stride);
  host->device = self->queue->device; /* for the oracle, which allows a GPU a little more */
  *device = *host;
  if (plan->absent) return;
  host->data = calloc(1, bytes_of(host) + 1);
  assert_non_null(host->data);
  assert_ok(assay_cuda_memory_open(self->queue, bytes_of(host), &device->data, &why));
  assert_int_equal(owner_of(device->data), self->queue->device);
}

static void fill_tensor(const assay_row *row, int index, assay_tensor *host, assay_rng *rng) {
  int64_t count = 0;
  assert_true(assay_tensor_count(host, &count));
  double *values = malloc(sizeof *values * (size_t)count);
  assert_non_null(values);
  assay_fill_args args = {.operand = index, .rank = host->rank, .a = row->a, .b = row->b, .rng = rng};
  memcpy(args.shape, host->shape, sizeof args.shape);
  row->fill(&args, values);
  for (int64_t i = 0; i < count; i++)
    assay_put(host->data, host->dtype, assay_tensor_offset(host, i), values[i]);
  free(values);
}

static void open_operands(operands *self, const struct sizes *size, assay_queue *queue, uint64_t seed) {
  const assay_operator *op = assay_operator_find(size->name);
  assert_non_null(op);
  assay_row row = op->bench->rows[0];
  memcpy(row.dims, size->dims, sizeof row.dims);
  assay_plan plan = {0};
  assay_rng rng;
  assay_rng_seed(&rng, seed);
  memcpy(plan.opt, row.opt, sizeof plan.opt);
  op->subject.plan(&row, ASSAY_FP16, __builtin_ctz(row.layouts), &plan);
  *self = (operands){.op = op,
                     .queue = queue,
                     .inputs = op->subject.exports[0].in_count,
                     .outputs = op->subject.exports[0].out_count};
  memcpy(self->opt, plan.opt, sizeof self->opt);
  for (int i = 0; i < self->inputs; i++) {
    open_tensor(self, i, &plan.in[i]);
    fill_tensor(&row, i, &self->host[i], &rng);
    assert_ok(
        assay_cuda_copy_in(queue, self->device[i].data, self->host[i].data, bytes_of(&self->host[i]), &why));
  }
  for (int i = 0; i < self->outputs; i++) open_tensor(self, self->inputs + i, &plan.out[i]);
}

static void close_operands(operands *self) {
  for (int i = 0; i < self->inputs + self->outputs; i++) {
    free(self->host[i].data);
    assay_cuda_memory_close(self->queue, self->device[i].data);
  }
}

/* Asynchronous, as the library's calls are. */
static assay_status call(const operands *self, const assay_variant *variant, assay_message *reason) {
  return assay_operator_call(self->op, variant, 0, self->device, self->device + self->inputs, self->opt,
                             self->queue, reason);
}

static void poison(const operands *self) {
  const assay_tensor *y = &self->device[self->inputs];
  assert_ok(assay_cuda_fill(self->queue, y->data, 0xff, bytes_of(y), &why));
}

/* Every result against the oracle. */
static void expect(operands *self, const char *variant) {
  assay_tensor *y = &self->host[self->inputs];
  int64_t count = 0;
  assert_ok(assay_cuda_copy_out(self->queue, y->data, self->device[self->inputs].data, bytes_of(y), &why));
  assert_ok(assay_queue_wait(self->queue));
  assert_true(assay_tensor_count(y, &count));
  double *want = malloc(2 * sizeof *want * (size_t)count);
  assert_non_null(want);
  self->op->subject.oracle(0, self->host, y, self->opt, 0, y->shape[0], want, want + count);
  for (int64_t i = 0; i < count; i++) {
    const double got = assay_get(y->data, y->dtype, i);
    if (!compare_element(y->dtype, got, want[i], want[count + i]))
      fail_msg("%s, %s on device %d: element %lld is %g, not %g", self->op->subject.name, variant,
               self->queue->device, (long long)i, got, want[i]);
  }
  free(want);
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static void test_while_the_other_is_current(void **state) {
  (void)state;
  open_queues();
  int calls = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (int device = 0; device < DEVICES; device++) {
      operands work;
      open_operands(&work, &sizes[s], queues[device], 11 + s);
      for (int v = 0; v < work.op->variant_count; v++) {
        const assay_variant *variant = &work.op->variants[v];
        cuda_context current = NULL;
        if (!assay_variant_runs_on(variant, ASSAY_CUDA, device, &why)) continue;
        poison(&work);
        assert_int_equal(driver->context_push(contexts[1 - device]), CUDA_OK);
        ok(call(&work, variant, &why), variant->name);
        assert_int_equal(driver->context_current(&current), CUDA_OK);
        assert_ptr_equal(current, contexts[1 - device]);
        expect(&work, variant->name); /* copies and waits, with the other one still current */
        assert_int_equal(driver->context_pop(&current), CUDA_OK);
        assert_ptr_equal(current, contexts[1 - device]);
        calls++;
      }
      close_operands(&work);
    }
  }
  print_message("# %d calls\n", calls);
  assert_true(calls >= 2);
}

/* Calls on both devices in turn, from one thread, before any of them is waited for. */
static void test_in_turn(void **state) {
  (void)state;
  open_queues();
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    operands work[DEVICES];
    bool runs = true;
    for (int device = 0; device < DEVICES; device++) {
      open_operands(&work[device], &sizes[s], queues[device], 31 + s + (uint64_t)device);
      poison(&work[device]);
    }
    for (int round = 0; runs && round < 10; round++) {
      for (int device = 0; runs && device < DEVICES; device++) {
        const assay_status status = call(&work[device], NULL, &why);
        runs = status != ASSAY_UNAVAILABLE; /* an operator without a kernel for these GPUs */
        if (runs) ok(status, sizes[s].name);
      }
    }
    for (int device = 0; device < DEVICES; device++) {
      if (runs) expect(&work[device], "the best");
      close_operands(&work[device]);
    }
  }
}

typedef struct lane {
  operands work;
  assay_status status;
  assay_message why;
} lane;

static void *run_lane(void *argument) {
  lane *self = argument;
  for (int round = 0; round < 20 && self->status == ASSAY_OK; round++)
    self->status = call(&self->work, NULL, &self->why);
  return NULL;
}

/* A thread a device, in which no context is current when it begins. */
static void test_a_thread_each(void **state) {
  (void)state;
  open_queues();
  lane lanes[DEVICES] = {0};
  pthread_t threads[DEVICES];
  for (int device = 0; device < DEVICES; device++) {
    open_operands(&lanes[device].work, &sizes[0], queues[device], 51 + (uint64_t)device);
    poison(&lanes[device].work);
  }
  for (int device = 0; device < DEVICES; device++)
    assert_int_equal(pthread_create(&threads[device], NULL, run_lane, &lanes[device]), 0);
  for (int device = 0; device < DEVICES; device++) assert_int_equal(pthread_join(threads[device], NULL), 0);
  for (int device = 0; device < DEVICES; device++) {
    if (lanes[device].status != ASSAY_OK) fail_msg("device %d: %s", device, lanes[device].why.text);
    expect(&lanes[device].work, "the best");
    close_operands(&lanes[device].work);
  }
}

static void test_scratch(void **state) {
  (void)state;
  open_queues();
  for (int device = 0; device < DEVICES; device++) {
    cuda_context popped = NULL;
    assert_int_equal(driver->context_push(contexts[1 - device]), CUDA_OK);
    void *scratch = assay_queue_scratch(queues[device], 1000);
    assert_non_null(scratch);
    assert_int_equal(owner_of(scratch), device);
    assay_queue_release(queues[device]);
    assert_int_equal(driver->context_pop(&popped), CUDA_OK);
    assert_ptr_equal(popped, contexts[1 - device]);
  }
}

/* Tensors of one device with a queue of the other: refused before any kernel. */
static void test_tensors_of_the_other(void **state) {
  (void)state;
  open_queues();
  operands work;
  open_operands(&work, &sizes[0], queues[0], 71);
  work.queue = queues[1];
  assert_int_equal(call(&work, NULL, &why), ASSAY_BAD_DEVICE);
  work.queue = queues[0];
  assert_ok(call(&work, NULL, &why));
  expect(&work, "the best");
  close_operands(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_while_the_other_is_current, close_queues),
      cmocka_unit_test_teardown(test_in_turn, close_queues),
      cmocka_unit_test_teardown(test_a_thread_each, close_queues),
      cmocka_unit_test_teardown(test_scratch, close_queues),
      cmocka_unit_test_teardown(test_tensors_of_the_other, close_queues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
