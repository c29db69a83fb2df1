/* SPDX-License-Identifier: MIT */
/* judge_watch.c - the page on which a worker writes what the emulator's tools saw: shared, cleared before a
 * request, copied and set right behind it. */
#include <errno.h>
#include <string.h>

#include "judge.h"
#include "judge_request.h"

_Static_assert((int)ASSAY_WATCH_MEMORY == (int)ASSAY_TOOL_MEMORY &&
                   (int)ASSAY_WATCH_RACE == (int)ASSAY_TOOL_RACE &&
                   (int)ASSAY_WATCH_INIT == (int)ASSAY_TOOL_INIT &&
                   (int)ASSAY_WATCH_SYNC == (int)ASSAY_TOOL_SYNC &&
                   (int)ASSAY_WATCH_COUNTS == (int)ASSAY_TOOL_COUNTS,
               "a check names the emulator's tools by other bits");

static bool is_wanted(const judge *self) {
  return self->probe.watch != 0 || self->timed;
}

bool judge_watch_begin(judge *self) {
  session_outcome outcome;
  assay_buffer *buffer = &self->watch_buffer;
  if (!is_wanted(self)) return true;
  if (buffer->fd < 0 && !assay_buffer_open(buffer, sizeof(watch_page), ASSAY_AT_START, 0))
    return judge_end(self, VERDICT_UNAVAILABLE, "there is no memory for what the tools see: %s",
                     strerror(errno));
  memset(buffer->pages, 0, sizeof(watch_page));
  if (self->watch_session == self->session_number) return true;
  self->watch_session = self->session_number;
  return session_share(&self->worker, MESSAGE_WATCH, buffer->page_bytes, buffer->fd, &outcome) ||
         judge_end(self, outcome.verdict, "%s", outcome.reason);
}

/* A kernel can write to the page: nothing of it may be out of range. */
static void set_right(watch_page *page) {
  if (page->finding_count < 0) page->finding_count = 0;
  if (page->finding_count > ASSAY_FINDINGS_MOST) page->finding_count = ASSAY_FINDINGS_MOST;
  for (int32_t i = 0; i < page->finding_count; i++) {
    assay_finding *finding = &page->findings[i];
    finding->text[sizeof finding->text - 1] = '\0';
    finding->file[sizeof finding->file - 1] = '\0';
    finding->kernel[sizeof finding->kernel - 1] = '\0';
    const uint32_t tool = (uint32_t)finding->tool & ASSAY_TOOLS_ALL;
    if (tool == 0 || (tool & (tool - 1)) != 0) finding->tool = ASSAY_TOOL_SYNC;
    if (finding->times < 1) finding->times = 1;
  }
}

void judge_watch_end(judge *self) {
  if (!is_wanted(self)) return;
  memcpy(&self->watched, self->watch_buffer.pages, sizeof self->watched);
  set_right(&self->watched);
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    self->probe.traffic.read[i] = self->watched.in[i].bytes_read;
    self->probe.traffic.written[i] = self->watched.out[i].bytes_written;
  }
}
