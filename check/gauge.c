/* SPDX-License-Identifier: MIT */
/* gauge.c - launches the kernels of gauge.cu. */
#include "gauge.h"

enum { COMPARE_BLOCKS = 512, COMPARE_THREADS = 256 };
static const int64_t span_ns = 100000; /* steps of the timer are a microsecond at most */

static assay_status launch(assay_queue *queue, const char *kernel, uint32_t blocks, uint32_t threads,
                           const void *args, size_t arg_bytes, assay_message *why) {
  const assay_define none[] = {{NULL, 0}};
  const assay_launch one = {.file = "check/gauge.cu",
                            .kernel = kernel,
                            .grid = {blocks, 1, 1},
                            .block = {threads, 1, 1},
                            .defines = none,
                            .args = args,
                            .arg_bytes = arg_bytes};
  const assay_status status = queue->calls->launch(queue, &one);
  return status == ASSAY_OK ? status : assay_explain(why, status, "%s", assay_last_error());
}

/* A kernel of one warp. */
static assay_status launch_warp(const gauge *self, assay_queue *queue, const char *kernel,
                                assay_message *why) {
  const struct {
    void *answer;
    int64_t nanoseconds;
  } args = {self->memory, span_ns};
  return launch(queue, kernel, 1, 32, &args, sizeof args, why);
}

/* What a kernel has left in the device's memory. */
static assay_status fetch(gauge *self, assay_queue *queue, assay_message *why) {
  assay_status status = assay_cuda_copy_out(queue, self->answer, self->memory, sizeof self->answer, why);
  if (status != ASSAY_OK) return status;
  status = assay_queue_wait(queue);
  return status == ASSAY_OK ? status : assay_explain(why, status, "%s", assay_last_error());
}

assay_status gauge_open(gauge *self, assay_queue *queue, assay_message *why) {
  int mhz = 0;
  *self = (gauge){.memory = NULL};
  assay_status status = assay_cuda_memory_open(queue, sizeof self->answer, &self->memory, why);
  if (status == ASSAY_OK) status = gauge_nothing(self, queue, why);
  if (status == ASSAY_OK) status = gauge_start(self, queue, why);
  if (status == ASSAY_OK) status = gauge_read(self, queue, &mhz, why);
  if (status != ASSAY_OK) gauge_close(self, queue);
  return status;
}

void gauge_close(gauge *self, assay_queue *queue) {
  assay_cuda_memory_close(queue, self->memory);
  self->memory = NULL;
}

assay_status gauge_start(const gauge *self, assay_queue *queue, assay_message *why) {
  return launch_warp(self, queue, "sm_clock", why);
}

assay_status gauge_read(gauge *self, assay_queue *queue, int *mhz, assay_message *why) {
  const assay_status status = fetch(self, queue, why);
  if (status != ASSAY_OK) return status;
  const double rate = 1e3 * (double)self->answer[0] / (double)self->answer[1];
  *mhz = self->answer[0] > 0 && self->answer[1] > 0 && rate < 1e5 ? (int)(rate + 0.5) : 0;
  return ASSAY_OK;
}

assay_status gauge_same(gauge *self, assay_queue *queue, const void *left, const void *right, size_t bytes,
                        bool *same, assay_message *why) {
  const struct {
    void *answer;
    const void *left, *right;
    int64_t bytes;
  } args = {self->memory, left, right, (int64_t)bytes};
  assay_status status = assay_cuda_fill(queue, self->memory, 0, sizeof self->answer, why);
  if (status == ASSAY_OK)
    status = launch(queue, "differs", COMPARE_BLOCKS, COMPARE_THREADS, &args, sizeof args, why);
  if (status == ASSAY_OK) status = fetch(self, queue, why);
  *same = status == ASSAY_OK && self->answer[1] == 0;
  return status;
}

assay_status gauge_nothing(const gauge *self, assay_queue *queue, assay_message *why) {
  return launch_warp(self, queue, "nothing", why);
}
