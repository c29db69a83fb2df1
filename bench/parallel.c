/* SPDX-License-Identifier: MIT */
/* parallel.c - threads for one piece of work. */
#include "parallel.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct lane {
  parallel_part *part;
  void *work;
  int number;
  int64_t first;
  int64_t end;
} lane;

static void *run_lane(void *argument) {
  const lane *self = argument;
  self->part(self->work, self->number, self->first, self->end);
  return NULL;
}

void parallel_run(int threads, int64_t count, parallel_part *part, void *work) {
  lane lanes[PARALLEL_MOST];
  pthread_t ids[PARALLEL_MOST];
  bool started[PARALLEL_MOST] = {false};
  int64_t parts = threads < PARALLEL_MOST ? threads : PARALLEL_MOST;
  if (parts > count) parts = count;
  for (int i = 0; i < parts; i++) {
    lanes[i] = (lane){part, work, i, count * i / parts, count * (i + 1) / parts};
    /* The last part is ours; and so is every one for which there is no thread. */
    started[i] = i + 1 < parts && pthread_create(&ids[i], NULL, run_lane, &lanes[i]) == 0;
    if (!started[i]) run_lane(&lanes[i]);
  }
  for (int i = 0; i < parts; i++) {
    if (started[i]) pthread_join(ids[i], NULL);
  }
}
