/* SPDX-License-Identifier: MIT */
/* probe_sanitize.c - run functions of checks in which the emulator watches every access of the kernels. */
#include <stdio.h>

#include "probe.h"
#include "tensor.h"

/* The tools do not look at values; a kernel that does nothing would please them all. */
static void watch(assay_probe *probe, uint32_t tool) {
  assay_case *operands = assay_probe_make_row(probe);
  probe->watch = tool;
  for (int order = 0; order < 2; order++) {
    probe->schedule = order == 0 ? 0 : assay_rng_next(&probe->rng) | 1; /* 0 is the natural order */
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, probe->row->degenerate)) return;
  }
}

void assay_probe_sanitize_memory(assay_probe *probe) {
  watch(probe, ASSAY_WATCH_MEMORY);
}

void assay_probe_sanitize_race(assay_probe *probe) {
  watch(probe, ASSAY_WATCH_RACE);
}

void assay_probe_sanitize_init(assay_probe *probe) {
  watch(probe, ASSAY_WATCH_INIT);
}

void assay_probe_sanitize_sync(assay_probe *probe) {
  watch(probe, ASSAY_WATCH_SYNC);
}

/* ---- traffic ------------------------------------------------------------------------------------------- */

static int64_t bytes_of(const assay_tensor *tensor) {
  return tensor->data == NULL ? 0 : assay_tensor_distinct(tensor) * (int64_t)assay_dtype_size(tensor->dtype);
}

/* False when more than `times` times `bytes` were moved, or less than all of them: what the counts do not see
 * cannot be bounded. */
static bool bounded(assay_probe *probe, const char *name, const char *verb, int64_t moved, int64_t bytes,
                    int times) {
  char text[256];
  if (moved >= bytes && moved <= bytes * times) return true;
  if (moved < bytes) {
    snprintf(text, sizeof text, "only %lld bytes of %s were seen to be %s, and it has %lld", (long long)moved,
             name, verb, (long long)bytes);
    assay_probe_fail(probe, text);
    return false;
  }
  snprintf(text, sizeof text,
           "%lld bytes of %s were %s, %.2f times its %lld; %d time%s is enough, %lld bytes", (long long)moved,
           name, verb, bytes > 0 ? (double)moved / (double)bytes : 0.0, (long long)bytes, times,
           times == 1 ? "" : "s", (long long)(bytes * times));
  assay_probe_fail(probe, text);
  return false;
}

void assay_probe_traffic(assay_probe *probe) {
  const assay_export *function = &probe->subject->exports[0];
  assay_case *operands = assay_probe_make_row(probe);
  probe->watch = ASSAY_WATCH_COUNTS;
  probe->schedule = 0;
  if (!assay_probe_run_one(probe, operands)) return;
  if (!assay_probe_expect_oracle(probe, operands, probe->row->degenerate)) return;
  for (int i = 0; i < function->in_count; i++) {
    const assay_tensor x = assay_probe_in(probe, operands, i);
    if (!bounded(probe, function->in_names[i], "read", probe->traffic.read[i], bytes_of(&x),
                 probe->check->reads))
      return;
  }
  const assay_tensor y = assay_probe_out(probe, operands, 0);
  (void)bounded(probe, function->out_names[0], "written", probe->traffic.written[0], bytes_of(&y), 1);
}
