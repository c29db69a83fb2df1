/* SPDX-License-Identifier: MIT */
/* trace.c - builds a .cu file, calls it once as the judge would, and keeps what its block did. */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "file.h"
#include "judge.h"

static const double call_seconds = 60; /* the first launch compiles the kernel */

/* Sizes of 1 would show neither the second block nor the second warp. What a case does without, such as heads
 * and batches where there is one, comes last and is 0. */
static bool is_telling(const assay_subject *subject, const assay_row *row) {
  int count = subject->dim_count;
  while (count > 0 && row->dims[count - 1] == 0) count--;
  for (int i = 0; i < count; i++) {
    if (row->dims[i] < 2) return false;
  }
  return count > 0;
}

static void take_row(const assay_subject *subject, const assay_row *from, assay_row *row, assay_dtype *dtype,
                     int *layout) {
  int first = 0;
  *row = *from;
  while (first < ASSAY_DTYPE_COUNT - 1 && (row->dtypes >> first & 1u) == 0) first++;
  *dtype = (assay_dtype)first;
  *layout = 0;
  while (*layout < subject->layout_count - 1 && (row->layouts >> *layout & 1u) == 0) ++*layout;
}

bool trace_default(const assay_subject *subject, assay_row *row, assay_dtype *dtype, int *layout) {
  for (const assay_check *check = subject->checks; check->name != NULL; check++) {
    if (check->scope == ASSAY_SCOPE_LIBRARY || (check->backends >> ASSAY_SIMT & 1u) == 0) continue;
    for (int i = 0; i < check->row_count; i++) {
      if (!is_telling(subject, &check->rows[i])) continue;
      take_row(subject, &check->rows[i], row, dtype, layout);
      return true;
    }
  }
  return false;
}

/* ---- the page ------------------------------------------------------------------------------------------ */

static bool share_page(judge *judged, const trace_job *job, assay_buffer *buffer) {
  session_outcome outcome;
  if (!assay_buffer_open(buffer, trace_page_bytes(job->steps), ASSAY_AT_START, 0))
    return judge_end(judged, VERDICT_UNAVAILABLE, "there is no memory for the trace: %s", strerror(errno));
  trace_page *page = (trace_page *)(void *)buffer->pages; /* a page is aligned for everything */
  page->block = job->block;
  page->steps_most = job->steps;
  if (!judge_ensure_worker(judged)) return false;
  if (session_share(&judged->worker, MESSAGE_TRACE, buffer->page_bytes, buffer->fd, &outcome)) return true;
  return judge_end(judged, outcome.verdict, "%s", outcome.reason);
}

/* A copy that the worker cannot change any more, and in which nothing is out of range. */
static trace_page *copy_page(const assay_buffer *buffer, const trace_job *job) {
  const size_t bytes = trace_page_bytes(job->steps);
  trace_page *page = malloc(bytes);
  if (page == NULL) return NULL;
  memcpy(page, buffer->pages, bytes);
  page->block = job->block;
  page->steps_most = job->steps;
  if (page->kept > job->steps) page->kept = job->steps;
  const uint32_t launches = page->launches_made < TRACE_LAUNCHES ? page->launches_made : TRACE_LAUNCHES;
  for (uint32_t i = 0; i < TRACE_LAUNCHES; i++)
    page->launches[i].kernel[sizeof page->launches[i].kernel - 1] = '\0';
  for (uint32_t i = 0; i < page->kept; i++) {
    trace_step *step = &page->step[i];
    step->what[sizeof step->what - 1] = '\0';
    if (step->launch >= launches) step->launch = 0;
  }
  return page;
}

/* ---- the call ------------------------------------------------------------------------------------------ */

/* What a workshop's function would never be given is refused here too. */
static assay_case *make_operands(judge *judged, const trace_job *job, trace_result *result) {
  assay_case *operands = assay_probe_make_row(&judged->probe);
  if (operands == NULL) {
    result->refused = judged->verdict == VERDICT_FAIL;
    return NULL;
  }
  assay_tensor in[ASSAY_MAX_OPERANDS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  assay_message why = {""};
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    in[i] = operands->in[i].tensor;
    out[i] = operands->out[i].tensor;
  }
  case_describe(operands, result->shape, sizeof result->shape);
  if (job->target->subject->validate(operands->entry, in, out, operands->opt, ASSAY_LIMITS_WORKSHOP, &why) ==
      ASSAY_OK)
    return operands;
  result->refused = true;
  (void)judge_end(judged, VERDICT_FAIL, "validation refuses these operands: %s", why.text);
  return NULL;
}

static void call_once(judge *judged, const trace_job *job, trace_result *result) {
  assay_buffer buffer = {.fd = -1};
  judged->probe.row = &job->row;
  judged->probe.dtype = job->dtype;
  judged->probe.layout = job->layout;
  judged->probe.threads = judged->load.threads;
  judged->poison = assay_seed_mix(job->seed, 0x9015);
  assay_rng_seed(&judged->probe.rng, job->seed);
  assay_case *operands = make_operands(judged, job, result);
  if (operands != NULL && share_page(judged, job, &buffer)) {
    (void)assay_probe_run_one(&judged->probe, operands);
    session_close(&judged->worker); /* nothing is written from now on */
    result->page = copy_page(&buffer, job);
    if (result->page == NULL)
      (void)judge_end(judged, VERDICT_UNAVAILABLE, "there is no memory for the trace");
  }
  assay_buffer_close(&buffer);
}

void trace_run(const trace_job *job, trace_result *result) {
  const check_options options = {.seed = job->seed, .seconds = call_seconds, .threads = 1};
  char folder[ASSAY_PATH_SIZE] = "";
  char object[ASSAY_PATH_SIZE] = "";
  char *log = NULL;
  assay_message reason = {""};
  *result = (trace_result){0};
  result->verdict = build_in_folder(job->target->source, true, folder, object, &reason, &log);
  if (result->verdict == VERDICT_PASS) {
    judge judged;
    judge_init(&judged, job->target, &options, object);
    call_once(&judged, job, result);
    result->verdict = judged.verdict;
    snprintf(result->reason, sizeof result->reason, "%s", judged.reason);
    judge_close(&judged);
  }
  if (reason.text[0] != '\0') snprintf(result->reason, sizeof result->reason, "%s", reason.text);
  free(log);
  if (folder[0] != '\0') assay_remove_tree(folder);
}

void trace_free(trace_result *result) {
  free(result->page);
  result->page = NULL;
}
