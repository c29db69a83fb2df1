/* SPDX-License-Identifier: MIT */
/* worker_trace.c - the emulator's steps go to the trace page. A launch that is traced uses one thread. */
#include "worker_trace.h"

#include <stdio.h>
#include <string.h>

#include "emulator.h"

size_t trace_page_bytes(uint32_t steps_most) {
  return sizeof(trace_page) + steps_most * sizeof(trace_step);
}

void worker_trace_launch(trace_page *page, const assay_launch *launch) {
  const uint32_t index = page->launches_made++;
  if (index >= TRACE_LAUNCHES) return;
  trace_launch *made = &page->launches[index];
  *made = (trace_launch){.grid = launch->grid,
                         .block = launch->block,
                         .shared_bytes = launch->shared_bytes,
                         .cluster = launch->cluster};
  snprintf(made->kernel, sizeof made->kernel, "%s", launch->kernel);
}

static bool same_step(const trace_step *left, const trace_step *right) {
  return left->launch == right->launch && left->warp == right->warp && left->line == right->line &&
         strcmp(left->what, right->what) == 0;
}

/* Threads that the emulator reports one by one make one step when they follow each other. */
static void note_step(trace_page *page, const trace_step *step) {
  if (page->steps > 0 && same_step(&page->last, step) && (page->last.mask & step->mask) == 0) {
    page->last.mask |= step->mask;
    if (page->steps == page->kept) page->step[page->kept - 1].mask = page->last.mask;
    return;
  }
  page->last = *step;
  page->steps++;
  if (page->kept == page->steps_most) return;
  page->step[page->kept] = *step;
  page->kept++;
}

static void on_event(void *context, const assay_trace_event *event) {
  trace_page *page = context;
  const uint32_t index = page->launches_made - 1;
  if (index >= TRACE_LAUNCHES) return;
  const assay_dim3 grid = page->launches[index].grid;
  const uint64_t block =
      event->block.x + (uint64_t)grid.x * (event->block.y + (uint64_t)grid.y * event->block.z);
  if (block != page->block) {
    page->elsewhere++;
    return;
  }
  trace_step step = {.launch = index, .warp = event->warp, .mask = event->mask, .line = event->line};
  snprintf(step.what, sizeof step.what, "%s", event->what);
  note_step(page, &step);
}

void worker_trace_attach(judged_queue *judged, trace_page *page) {
  judged->trace = page;
  assay_emulator_trace(judged->real, on_event, page);
}
