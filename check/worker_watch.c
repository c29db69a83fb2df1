/* SPDX-License-Identifier: MIT */
/* worker_watch.c - the operands of a call become the regions that an emulated kernel may access, and what the
 * tools saw goes to the watch page. */
#include "worker_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* calls of several queues share the page */

/* ---- sums ---------------------------------------------------------------------------------------------- */

static bool same_finding(const assay_finding *left, const assay_finding *right) {
  return left->tool == right->tool && left->line == right->line && left->other_line == right->other_line &&
         strcmp(left->file, right->file) == 0;
}

bool watch_add_finding(assay_finding *list, int32_t *count, int most, const assay_finding *finding) {
  for (int32_t i = 0; i < *count; i++) {
    if (!same_finding(&list[i], finding)) continue;
    list[i].times += finding->times;
    return true;
  }
  if (*count >= most) return false;
  list[(*count)++] = *finding;
  return true;
}

void watch_add_counts(assay_counts *sum, const assay_counts *more) {
  sum->launches += more->launches;
  sum->blocks += more->blocks;
  sum->threads += more->threads;
  sum->steps += more->steps;
  sum->barriers += more->barriers;
  sum->warp_operations += more->warp_operations;
  sum->atomics += more->atomics;
  sum->bytes_read += more->bytes_read;
  sum->bytes_written += more->bytes_written;
  sum->sectors_read += more->sectors_read;
  sum->sectors_written += more->sectors_written;
  sum->shared_accesses += more->shared_accesses;
  sum->shared_passes += more->shared_passes;
  sum->matrix_flops += more->matrix_flops;
}

/* ---- regions ------------------------------------------------------------------------------------------- */

static assay_region region_of(const worker *self, const wire_tensor *wire, const char *name, bool output) {
  assay_region region = {.element_bytes = (int32_t)assay_dtype_size(wire->tensor.dtype),
                         .written = !output,
                         .constant = !output};
  snprintf(region.name, sizeof region.name, "%s", name);
  if (wire->slot >= 0 && wire->slot < PROTOCOL_SLOTS) { /* an operand that is left out has no bytes */
    region.start = self->operands[wire->slot].data;
    region.bytes = (int64_t)self->operands[wire->slot].bytes;
  }
  return region;
}

assay_status worker_watch_begin(worker_watch *watch, const worker *self, judged_queue *judged,
                                const wire_call *wire, uint32_t tools, assay_message *why) {
  const assay_export *function = &self->subject->exports[wire->entry];
  assay_region regions[2 * ASSAY_MAX_OPERANDS];
  int count = 0;
  *watch = (worker_watch){.judged = judged,
                          .page = self->watch,
                          .tools = tools,
                          .in_count = function->in_count,
                          .out_count = function->out_count};
  judged->watch = watch;
  if (tools == 0) return ASSAY_OK;
  for (int i = 0; i < function->in_count; i++)
    regions[count++] = region_of(self, &wire->in[i], function->in_names[i], false);
  for (int i = 0; i < function->out_count; i++)
    regions[count++] = region_of(self, &wire->out[i], function->out_names[i], true);
  const assay_status status = assay_emulator_watch(judged->real, tools, regions, count);
  return status == ASSAY_OK
             ? ASSAY_OK
             : assay_explain(why, status, "the kernel cannot be watched: %s", assay_last_error());
}

bool worker_watch_scratch(worker_watch *watch, void *start, size_t bytes) {
  return watch->tools == 0 || assay_emulator_watch_scratch(watch->judged->real, start, bytes) == ASSAY_OK;
}

assay_status worker_watch_launch(worker_watch *watch, const assay_launch *launch) {
  const int64_t start = assay_now_ns();
  const assay_status status = watch->judged->real->calls->launch(watch->judged->real, launch);
  watch->launch_ns += assay_now_ns() - start;
  return status;
}

/* ---- what was seen ------------------------------------------------------------------------------------- */

static void add_to_page(const worker_watch *watch, const assay_finding *findings, int count) {
  watch_page *page = watch->page;
  page->launch_ns += watch->launch_ns;
  for (int i = 0; i < count; i++)
    (void)watch_add_finding(page->findings, &page->finding_count, ASSAY_FINDINGS_MOST, &findings[i]);
  if ((watch->tools & ASSAY_TOOL_COUNTS) == 0) return;
  assay_counts counts = assay_emulator_counts(watch->judged->real, -1);
  watch_add_counts(&page->all, &counts);
  for (int i = 0; i < watch->in_count + watch->out_count; i++) {
    counts = assay_emulator_counts(watch->judged->real, i);
    watch_add_counts(i < watch->in_count ? &page->in[i] : &page->out[i - watch->in_count], &counts);
  }
}

assay_status worker_watch_end(worker_watch *watch, assay_status status, assay_message *why) {
  const assay_finding *findings = NULL;
  const int count = watch->tools != 0 ? assay_emulator_findings(watch->judged->real, &findings) : 0;
  watch->judged->watch = NULL;
  if (watch->page != NULL) {
    pthread_mutex_lock(&gate);
    add_to_page(watch, findings, count);
    pthread_mutex_unlock(&gate);
  }
  if (status != ASSAY_OK || count == 0) return status;
  return assay_explain(why, ASSAY_KERNEL_FAULT, "%s", findings[0].text);
}
