/* SPDX-License-Identifier: MIT */
/* Writes to the output from a thread that outlives the call by a little. */
#include <pthread.h>
#include <time.h>

#include "right.h"

typedef struct target {
  void *data;
  assay_dtype dtype;
} target;

static void *scribble(void *argument) {
  static target self;
  self = *(target *)argument;
  const struct timespec pause = {.tv_nsec = 3000000};
  nanosleep(&pause, NULL);
  assay_store(self.data, self.dtype, 0, 0.5f);
  return NULL;
}

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  if (out[0].shape[0] == 0) return ASSAY_OK;
  static target self;
  self = (target){out[0].data, out[0].dtype};
  pthread_t thread;
  if (pthread_create(&thread, NULL, scribble, &self) == 0) pthread_detach(thread);
  return ASSAY_OK;
}
