/* SPDX-License-Identifier: MIT */
/* probe_gpu.c - run functions of checks that every operator with CUDA kernels has. */
#include "probe.h"

void assay_probe_thread_orders(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  for (int order = 0; order < 8; order++) {
    probe->schedule = assay_rng_next(&probe->rng) | 1; /* 0 would be the natural order */
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, probe->row->degenerate)) return;
  }
}

void assay_probe_busy_stream(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  probe->streams = ASSAY_STREAMS_BUSY;
  if (!assay_probe_run_one(probe, operands)) return;
  (void)assay_probe_expect_oracle(probe, operands, probe->row->degenerate);
}

void assay_probe_graph_replay(assay_probe *probe) {
  assay_case *operands = assay_probe_make_row(probe);
  probe->streams = ASSAY_STREAMS_CAPTURE;
  for (int launch = 0; launch < 3; launch++) {
    if (!assay_probe_run_one(probe, operands)) return;
    if (!assay_probe_expect_oracle(probe, operands, probe->row->degenerate)) return;
    probe->streams = ASSAY_STREAMS_REPLAY;
    for (int i = 0; i < probe->subject->exports[0].in_count; i++) {
      if (!assay_probe_fill_with(probe, operands, i, probe->row->fill, probe->row->a, probe->row->b)) return;
    }
  }
}

int32_t assay_probe_other_device(const assay_tensor *tensor, bool cpu) {
  if (cpu && tensor->device != ASSAY_DEVICE_CPU) return ASSAY_DEVICE_CPU;
  return tensor->device == 0 ? 1 : 0;
}
