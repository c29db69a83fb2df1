/* SPDX-License-Identifier: MIT */
/* Right, but a thread is left behind. */
#include <pthread.h>
#include <unistd.h>

#include "right.h"

static void *linger(void *nothing) {
  sleep(3);
  return nothing;
}

assay_status strided_softmax(const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_queue *queue) {
  (void)opt, (void)queue;
  right_softmax(in, out);
  pthread_t thread;
  if (pthread_create(&thread, NULL, linger, NULL) == 0) pthread_detach(thread);
  return ASSAY_OK;
}
