/* SPDX-License-Identifier: MIT */
/*
 * shared_workspace.c - two calls on two queues with one workspace, shown to go wrong in an order that nothing
 * forbids: the stages of the second call run between the first and the second stage of the first.
 */
#include "shared_workspace.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_tools.h"
#include "half.h"
#include "ops/ops.h"
#include "queue.h"
#include "rng.h"
#include "tensor.h"

enum { ROWS = 2, COLUMNS = 9001, CHUNK = 1024, ELEMENTS = ROWS * COLUMNS, ROUNDS = 200 };

static const char variant[] = "staged";

/* One call, with its own queue. */
typedef struct side {
  assay_queue *queue;
  assay_tensor host_x, host_y; /* what the host fills and reads */
  assay_tensor x, y;           /* what the kernels see */
  void *workspace;
  double want[ELEMENTS], allowed[ELEMENTS];
} side;

typedef struct pair {
  assay_backend backend;
  workspace_use use;
  side sides[2];
  size_t workspace_bytes;
  assay_message *why;
} pair;

/* ---- memory -------------------------------------------------------------------------------------------- */

static assay_status take(const pair *self, assay_queue *queue, size_t bytes, size_t alignment,
                         void **memory) {
  *memory = NULL;
  if (self->backend == ASSAY_CUDA) return assay_cuda_memory_open(queue, bytes, memory, self->why);
  *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (*memory != NULL) return ASSAY_OK;
  return assay_explain(self->why, ASSAY_NO_MEMORY, "no memory for the operands");
}

static void give_back(const pair *self, assay_queue *queue, void *memory) {
  if (self->backend == ASSAY_CUDA) {
    if (memory != NULL) assay_cuda_memory_close(queue, memory);
  } else {
    free(memory);
  }
}

static assay_status copy_in(const pair *self, const side *one) {
  const size_t bytes = ELEMENTS * sizeof(float);
  if (self->backend == ASSAY_CUDA)
    return assay_cuda_copy_in(one->queue, one->x.data, one->host_x.data, bytes, self->why);
  memcpy(one->x.data, one->host_x.data, bytes);
  return ASSAY_OK;
}

static assay_status wait_for(const pair *self, assay_queue *queue) {
  const assay_status status = assay_queue_wait(queue);
  return status == ASSAY_OK ? status : assay_explain(self->why, status, "%s", assay_last_error());
}

static assay_status copy_out(const pair *self, side *one) {
  const size_t bytes = ELEMENTS * sizeof(float);
  assert(one->y.data != NULL);
  if (self->backend == ASSAY_SIMT) {
    memcpy(one->host_y.data, one->y.data, bytes);
    return ASSAY_OK;
  }
  const assay_status status =
      assay_cuda_copy_out(one->queue, one->host_y.data, one->y.data, bytes, self->why);
  return status == ASSAY_OK ? wait_for(self, one->queue) : status;
}

/* ---- the two calls ------------------------------------------------------------------------------------- */

static assay_status open_queue(pair *self, side *one) {
  const assay_status status = self->backend == ASSAY_CUDA ? assay_queue_open_cuda(0, NULL, &one->queue)
                                                          : assay_queue_open_emulator(1, &one->queue);
  return status == ASSAY_OK ? status : assay_explain(self->why, status, "%s", assay_last_error());
}

/* Logits around 0 for the first call and around 30 for the second: the states of one are no use to the other.
 */
static assay_status open_side(pair *self, int index) {
  side *one = &self->sides[index];
  const int64_t shape[] = {ROWS, COLUMNS};
  const assay_tensor made = assay_tensor_make(NULL, ASSAY_FP32, 2, shape);
  const int64_t opt[] = {CHUNK};
  size_t alignment = 0;
  assay_rng rng;
  assay_rng_seed(&rng, 77 + (uint64_t)index);
  assay_status status = open_queue(self, one);
  if (status != ASSAY_OK) return status;
  one->x = one->y = one->host_x = one->host_y = made;
  one->x.device = one->y.device = one->queue->device;
  one->x.data = one->y.data = NULL;
  one->host_x.data = malloc(ELEMENTS * sizeof(float));
  one->host_y.data = calloc(ELEMENTS, sizeof(float));
  if (one->host_x.data == NULL || one->host_y.data == NULL)
    return assay_explain(self->why, ASSAY_NO_MEMORY, "no memory for the operands");
  for (int64_t i = 0; i < ELEMENTS; i++)
    assay_put(one->host_x.data, ASSAY_FP32, i, 30 * index + assay_rng_normal(&rng));
  assay_operator_find("split_softmax")
      ->subject.oracle(0, &one->host_x, &one->host_y, opt, 0, ROWS, one->want, one->allowed);
  status = assay_split_softmax_workspace(ROWS, COLUMNS, CHUNK, &self->workspace_bytes, &alignment);
  if (status == ASSAY_OK) status = take(self, one->queue, ELEMENTS * sizeof(float), 64, &one->x.data);
  if (status == ASSAY_OK) status = take(self, one->queue, ELEMENTS * sizeof(float), 64, &one->y.data);
  if (status == ASSAY_OK && self->use != WORKSPACE_EACH && index > 0) {
    one->workspace = self->sides[0].workspace;
  } else if (status == ASSAY_OK) {
    status = take(self, one->queue, self->workspace_bytes, alignment, &one->workspace);
  }
  return status == ASSAY_OK ? copy_in(self, one) : status;
}

static void close_side(pair *self, int index) {
  side *one = &self->sides[index];
  if (one->queue == NULL) return;
  give_back(self, one->queue, one->x.data);
  give_back(self, one->queue, one->y.data);
  if (index == 0 || one->workspace != self->sides[0].workspace) give_back(self, one->queue, one->workspace);
  free(one->host_x.data);
  free(one->host_y.data);
  assay_queue_close(one->queue);
}

/* One of the calls, on its own queue or on one that stands in front of it. */
static assay_status call(const pair *self, int index, assay_queue *queue) {
  const side *one = &self->sides[index];
  const int64_t floats[] = {(int64_t)(self->workspace_bytes / sizeof(float))};
  assay_tensor out[ASSAY_SPLIT_SOFTMAX_OUTPUTS];
  out[ASSAY_SPLIT_SOFTMAX_Y] = one->y;
  out[ASSAY_SPLIT_SOFTMAX_WORKSPACE] = assay_tensor_make(one->workspace, ASSAY_FP32, 1, floats);
  out[ASSAY_SPLIT_SOFTMAX_WORKSPACE].device = one->queue->device;
  const int64_t opt[] = {CHUNK};
  const assay_status status = assay_call("split_softmax", variant, &one->x, out, opt, queue);
  return status == ASSAY_OK ? status : assay_explain(self->why, status, "%s", assay_last_error());
}

/* A queue in front of the first call's: before its second launch the second call is made, whole. */
typedef struct interrupted {
  assay_queue queue; /* first: the kernels' host half gets a pointer to it */
  assay_queue_calls calls;
  const pair *both;
  int launches;
} interrupted;

static assay_status launch_between(assay_queue *queue, const assay_launch *launch) {
  interrupted *self = (interrupted *)queue;
  assay_queue *first = self->both->sides[0].queue;
  assay_queue *second = self->both->sides[1].queue;
  if (self->launches++ == 1) {
    assay_status status = wait_for(self->both, first);
    if (status == ASSAY_OK) status = call(self->both, 1, second);
    if (status == ASSAY_OK) status = wait_for(self->both, second);
    if (status != ASSAY_OK) return status;
  }
  return first->calls->launch(first, launch);
}

static void *scratch_behind(assay_queue *queue, size_t bytes) {
  return assay_queue_scratch(((interrupted *)queue)->both->sides[0].queue, bytes);
}

static assay_status call_interrupted(const pair *self) {
  interrupted between = {.queue = *self->sides[0].queue, .both = self};
  between.calls = (assay_queue_calls){.version = 2, .scratch = scratch_behind, .launch = launch_between};
  between.queue.calls = &between.calls;
  const assay_status status = call(self, 0, &between.queue);
  assay_queue_release(self->sides[0].queue);
  return status;
}

/* ---- what came of it ----------------------------------------------------------------------------------- */

/* How many elements of a call's results are outside the bound; the first one is kept. */
static int64_t count_wrong(const side *one, workspace_trial *trial) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < ELEMENTS; i++) {
    const double got = assay_get(one->host_y.data, ASSAY_FP32, i);
    if (fabs(got - one->want[i]) <= one->allowed[i]) continue;
    if (wrong++ > 0 || trial->wrong[0] > 0) continue;
    trial->got = got;
    trial->want = one->want[i];
  }
  return wrong;
}

static assay_status try_in_turn(pair *self, workspace_trial *trial) {
  const bool ordered = self->use == WORKSPACE_IN_ORDER;
  assay_status status = ordered ? call(self, 0, self->sides[0].queue) : call_interrupted(self);
  if (ordered && status == ASSAY_OK) status = wait_for(self, self->sides[0].queue);
  if (ordered && status == ASSAY_OK) status = call(self, 1, self->sides[1].queue);
  for (int i = 0; i < 2 && status == ASSAY_OK; i++) {
    status = copy_out(self, &self->sides[i]);
    if (status == ASSAY_OK) trial->wrong[i] = count_wrong(&self->sides[i], trial);
  }
  return status;
}

/* A third stream that is busy for a while, and an event behind that: what waits for it begins together. */
typedef struct gate {
  assay_queue *queue;
  cuda_event opened, through; /* behind the busy kernel; behind the first call */
} gate;

static assay_status close_for_a_while(const pair *self, const gate *at) {
  const struct {
    uint64_t stop; /* no address to look at */
    int64_t nanoseconds;
  } args = {0, 100000};
  const assay_define none[] = {{NULL, 0}};
  const assay_launch spin = {.file = "check/spin.cu",
                             .kernel = "spin",
                             .grid = {1, 1, 1},
                             .block = {1, 1, 1},
                             .defines = none,
                             .args = &args,
                             .arg_bytes = sizeof args};
  assay_status status = at->queue->calls->launch(at->queue, &spin);
  if (status != ASSAY_OK) return assay_explain(self->why, status, "%s", assay_last_error());
  status = assay_cuda_event_record(at->queue, at->opened, self->why);
  for (int i = 0; i < 2 && status == ASSAY_OK; i++)
    status = assay_cuda_event_follow(self->sides[i].queue, at->opened, self->why);
  return status;
}

static assay_status one_round(pair *self, const gate *at, workspace_trial *trial) {
  workspace_trial ignored = {0};
  assay_status status = close_for_a_while(self, at);
  if (status == ASSAY_OK) status = call(self, 0, self->sides[0].queue);
  if (status == ASSAY_OK && self->use == WORKSPACE_IN_ORDER) {
    status = assay_cuda_event_record(self->sides[0].queue, at->through, self->why);
    if (status == ASSAY_OK) status = assay_cuda_event_follow(self->sides[1].queue, at->through, self->why);
  }
  if (status == ASSAY_OK) status = call(self, 1, self->sides[1].queue);
  for (int i = 0; i < 2 && status == ASSAY_OK; i++) status = copy_out(self, &self->sides[i]);
  if (status != ASSAY_OK) return status;
  const int64_t wrong = count_wrong(&self->sides[0], &ignored) + count_wrong(&self->sides[1], &ignored);
  if (wrong > 0) trial->rounds_wrong++;
  trial->rounds++;
  return ASSAY_OK;
}

/* As programs do it: both calls are given to their streams, and the GPU does what it likes. */
static assay_status try_together(pair *self, workspace_trial *trial) {
  gate at = {NULL, NULL, NULL};
  assay_status status = assay_queue_open_cuda(0, NULL, &at.queue);
  if (status != ASSAY_OK) return assay_explain(self->why, status, "%s", assay_last_error());
  status = assay_cuda_event_open(at.queue, &at.opened, self->why);
  if (status == ASSAY_OK) status = assay_cuda_event_open(at.queue, &at.through, self->why);
  while (status == ASSAY_OK && trial->rounds < ROUNDS) status = one_round(self, &at, trial);
  if (at.opened != NULL) assay_cuda_event_close(at.queue, at.opened);
  if (at.through != NULL) assay_cuda_event_close(at.queue, at.through);
  assay_queue_close(at.queue);
  return status;
}

assay_status workspace_try(assay_backend backend, workspace_use use, workspace_trial *trial,
                           assay_message *why) {
  *trial = (workspace_trial){.elements = ELEMENTS};
  pair *self = calloc(1, sizeof *self);
  if (self == NULL) return assay_explain(why, ASSAY_NO_MEMORY, "no memory for the operands");
  self->backend = backend;
  self->use = use;
  self->why = why;
  assay_status status = open_side(self, 0);
  if (status == ASSAY_OK) status = open_side(self, 1);
  if (status == ASSAY_OK) status = try_in_turn(self, trial);
  if (status == ASSAY_OK && backend == ASSAY_CUDA) status = try_together(self, trial);
  for (int i = 1; i >= 0; i--) close_side(self, i); /* the workspace may be the first one's */
  free(self);
  return status;
}

static void tell(const char *use, const workspace_trial *trial, void (*say)(const char *line)) {
  char line[240];
  say(use);
  snprintf(line, sizeof line, "  first call: %lld of %lld elements wrong; second call: %lld",
           (long long)trial->wrong[0], (long long)trial->elements, (long long)trial->wrong[1]);
  say(line);
  if (trial->wrong[0] > 0) {
    snprintf(line, sizeof line, "  the first wrong one is %.9g, and %.9g is right", trial->got, trial->want);
    say(line);
  }
  if (trial->rounds == 0) return;
  snprintf(line, sizeof line, "  given to two streams at once, %d times: wrong after %d", trial->rounds,
           trial->rounds_wrong);
  say(line);
}

bool workspace_show(assay_backend backend, void (*say)(const char *line), assay_message *why) {
  static const char *const uses[WORKSPACE_USES] = {
      "a workspace each, the second call between two stages of the first:",
      "one workspace for both, the second call between two stages of the first:",
      "one workspace for both, the second call behind the first:"};
  bool as_expected = true;
  for (int use = 0; use < WORKSPACE_USES; use++) {
    workspace_trial trial;
    if (workspace_try(backend, (workspace_use)use, &trial, why) != ASSAY_OK) return false;
    tell(uses[use], &trial, say);
    const bool right = trial.wrong[0] + trial.wrong[1] + trial.rounds_wrong == 0;
    if (right == (use != WORKSPACE_SHARED)) continue;
    (void)assay_explain(why, ASSAY_KERNEL_FAULT, "%s %s", uses[use],
                        right ? "nothing wrong" : "wrong results");
    as_expected = false;
  }
  return as_expected;
}
