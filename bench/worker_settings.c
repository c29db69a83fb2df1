/* SPDX-License-Identifier: MIT */
/* worker_settings.c - OpenMP's variables, set for workers and put back. */
#include "worker_settings.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  const char *value; /* NULL: not set */
} settings[WORKER_SETTINGS] = {{"OMP_PROC_BIND", "close"},
                               {"OMP_PLACES", "threads"},
                               {"OMP_WAIT_POLICY", NULL},
                               {"GOMP_SPINCOUNT", NULL},
                               {"GOMP_CPU_AFFINITY", NULL}};

static void set_variable(const char *name, const char *value) {
  if (value != NULL) {
    setenv(name, value, 1);
  } else {
    unsetenv(name);
  }
}

void worker_settings_begin(worker_settings *self) {
  for (int i = 0; i < WORKER_SETTINGS; i++) {
    const char *now = getenv(settings[i].name);
    self->saved[i] = now != NULL ? strdup(now) : NULL;
    set_variable(settings[i].name, settings[i].value);
  }
}

void worker_settings_end(worker_settings *self) {
  for (int i = 0; i < WORKER_SETTINGS; i++) {
    set_variable(settings[i].name, self->saved[i]);
    free(self->saved[i]);
    self->saved[i] = NULL;
  }
}
