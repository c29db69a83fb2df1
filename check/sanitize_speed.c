/* SPDX-License-Identifier: MIT */
/* sanitize_speed.c - the same case without tools, with each and with all: the best of some runs, on one
 * thread, because a watched launch has no more. */
#include "sanitize_speed.h"

#include <stdio.h>

#include "clock.h"
#include "judge_request.h"

enum { RUNS_LEAST = 3, RUNS_MOST = 100 };
static const int64_t enough_ns = 300000000;

/* The best time of the launches of a call, 0 after a failure. The first one may compile. */
static double best_of_runs(judge *judged, assay_case *operands, uint32_t tools) {
  const int64_t start = assay_now_ns();
  int64_t best = 0;
  judged->probe.watch = tools;
  for (int run = 0; run < RUNS_MOST; run++) {
    if (run >= RUNS_LEAST && assay_now_ns() - start > enough_ns) break;
    if (!assay_probe_run_one(&judged->probe, operands)) return 0;
    if (run == 0 || judged->watched.launch_ns < best) best = judged->watched.launch_ns;
  }
  return (double)best * 1e-9;
}

void sanitize_measure(judge *judged, const sanitize_case *what, uint64_t seed, sanitize_speed *speed) {
  const assay_check check = {.name = "speed", .rows = &what->row, .row_count = 1};
  char shape[512];
  *speed = (sanitize_speed){.steps = 0};
  judge_begin_case(judged, &check, 0, (int)what->dtype, what->layout);
  assay_rng_seed(&judged->probe.rng, seed);
  judged->probe.schedule = 0;
  judged->probe.threads = 1;
  judged->timed = true;
  assay_case *operands = assay_probe_make_row(&judged->probe);
  if (operands != NULL) {
    case_describe(operands, shape, sizeof shape);
    snprintf(speed->where, sizeof speed->where, "%.150s (%.40s)", shape,
             judged->target->subject->layout_names[what->layout]);
    speed->plain = best_of_runs(judged, operands, 0);
    for (int i = 0; i < SANITIZE_TOOLS; i++)
      speed->with[i] = best_of_runs(judged, operands, UINT32_C(1) << i);
    speed->with_all = best_of_runs(judged, operands, ASSAY_TOOLS_ALL);
    if (best_of_runs(judged, operands, ASSAY_TOOL_COUNTS) > 0) speed->steps = judged->watched.all.steps;
  }
  judged->timed = false;
  judge_release(&judged->probe);
}
