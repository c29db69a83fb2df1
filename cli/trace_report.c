/* SPDX-License-Identifier: MIT */
/* trace_report.c - a trace as text or as JSON. */
#include "trace_report.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "output.h"

enum { LINE_WIDTH = 72 }; /* how much of a source line is shown */

static const size_t source_limit = (size_t)4 << 20;

bool trace_report_open(trace_report *report, const char *file) {
  size_t size = 0;
  report->text = assay_read_file(file, source_limit, &size);
  if (report->text == NULL) return false;
  int count = 1;
  for (size_t i = 0; i < size; i++) count += report->text[i] == '\n';
  report->lines = calloc((size_t)count, sizeof *report->lines);
  if (report->lines == NULL) {
    trace_report_close(report);
    errno = ENOMEM;
    return false;
  }
  char *at = report->text;
  for (int i = 0; i < count; i++) {
    char *end = at + strcspn(at, "\n");
    report->lines[i] = at;
    at = *end == '\n' ? end + 1 : end;
    *end = '\0';
  }
  report->line_count = count;
  return true;
}

void trace_report_close(trace_report *report) {
  free(report->text);
  free((void *)report->lines);
  report->text = NULL;
  report->lines = NULL;
  report->line_count = 0;
}

/* A line of the source without blanks around it; control characters become '?'. */
static void trimmed(const trace_report *report, int line, char text[LINE_WIDTH + 4]) {
  text[0] = '\0';
  if (line < 1 || line > report->line_count) return;
  const char *from = report->lines[line - 1];
  while (isspace((unsigned char)*from)) from++;
  size_t length = strlen(from);
  while (length > 0 && isspace((unsigned char)from[length - 1])) length--;
  const bool cut = length > LINE_WIDTH;
  snprintf(text, LINE_WIDTH + 4, "%.*s%s", cut ? LINE_WIDTH : (int)length, from, cut ? "..." : "");
  for (char *c = text; *c != '\0'; c++) {
    if (iscntrl((unsigned char)*c)) *c = '?';
  }
}

static uint64_t blocks_of(const trace_launch *launch) {
  return (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
}

static uint32_t launches_kept(const trace_page *page) {
  return page->launches_made < TRACE_LAUNCHES ? page->launches_made : TRACE_LAUNCHES;
}

bool trace_block_exists(const trace_result *result, uint64_t *blocks) {
  const trace_page *page = result->page;
  *blocks = 0;
  for (uint32_t i = 0; page != NULL && i < launches_kept(page); i++) {
    const uint64_t count = blocks_of(&page->launches[i]);
    if (count > *blocks) *blocks = count;
  }
  return *blocks == 0 || page->block < *blocks;
}

/* "all" when every lane that the warp has is there. */
static void lanes_text(const trace_launch *launch, const trace_step *step, char text[16]) {
  const uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
  const uint64_t first = (uint64_t)step->warp * 32;
  const uint64_t left = threads > first ? threads - first : 0;
  const uint32_t full = left >= 32 ? UINT32_MAX : (UINT32_C(1) << left) - 1;
  if (step->mask == full) {
    snprintf(text, 16, "all");
  } else {
    snprintf(text, 16, "0x%08" PRIx32, step->mask);
  }
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void print_launch(const trace_page *page, uint32_t index) {
  const trace_launch *launch = &page->launches[index];
  printf("\nlaunch %u of %u: %s, grid %u x %u x %u, block %u x %u x %u", index + 1, page->launches_made,
         launch->kernel, launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x, launch->block.y,
         launch->block.z);
  if (launch->shared_bytes > 0) printf(", %u bytes of dynamic shared memory", launch->shared_bytes);
  if (launch->cluster > 1) printf(", clusters of %u", launch->cluster);
  printf("; block %u\n", page->block);
  if (page->steps > 0)
    printf("%6s  %4s  %-10s  %-20s  %4s  %s\n", "step", "warp", "lanes", "word", "line", "text");
}

static void print_step(const trace_report *report, const trace_page *page, uint32_t index) {
  const trace_step *step = &page->step[index];
  char lanes[16], text[LINE_WIDTH + 4], line[16] = "";
  lanes_text(&page->launches[step->launch], step, lanes);
  trimmed(report, step->line, text);
  if (step->line > 0) snprintf(line, sizeof line, "%d", step->line);
  printf("%6u  %4u  %-10s  %-*s", index + 1, step->warp, lanes, line[0] != '\0' ? 20 : 0, step->what);
  if (line[0] != '\0') printf("  %4s  %s", line, text);
  putchar('\n');
}

static void print_end(const trace_page *page) {
  printf("\n%llu step%s of block %u", (unsigned long long)page->steps, page->steps == 1 ? "" : "s",
         page->block);
  if (page->steps > page->kept) {
    printf(", %llu left out (--steps %llu shows all)", (unsigned long long)(page->steps - page->kept),
           (unsigned long long)page->steps);
  }
  if (page->elsewhere > 0)
    puts("; other blocks are left out (--block N shows another)");
  else
    putchar('\n');
}

static void print_text(const trace_report *report, const trace_job *job, const trace_result *result) {
  const trace_page *page = result->page;
  printf("tracing %s  sha256 %s\n", report->shown, report->sha256);
  if (result->shape[0] != '\0') {
    printf("case: %s (%s), seed %llu\n", result->shape, job->target->subject->layout_names[job->layout],
           (unsigned long long)job->seed);
  }
  uint32_t launch = UINT32_MAX;
  for (uint32_t i = 0; page != NULL && i < page->kept; i++) {
    if (page->step[i].launch != launch) {
      launch = page->step[i].launch;
      print_launch(page, launch);
    }
    print_step(report, page, i);
  }
  /* A launch that failed before its first step, or in another block, is worth its line all the same. */
  if (page != NULL && page->kept == 0 && launches_kept(page) > 0) print_launch(page, launches_kept(page) - 1);
  if (page != NULL && page->steps > 0) print_end(page);
  if (page != NULL && page->launches_made == 0 && result->verdict == VERDICT_PASS)
    puts("\nno kernel was launched");
  if (result->verdict != VERDICT_PASS) printf("%s: %s\n", verdict_name(result->verdict), result->reason);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static json_t *sizes_json(assay_dim3 size) {
  json_t *list = json_array();
  json_array_append_new(list, json_integer(size.x));
  json_array_append_new(list, json_integer(size.y));
  json_array_append_new(list, json_integer(size.z));
  return list;
}

static json_t *launches_json(const trace_page *page) {
  json_t *list = json_array();
  for (uint32_t i = 0; page != NULL && i < launches_kept(page); i++) {
    const trace_launch *launch = &page->launches[i];
    json_t *one = json_object();
    json_object_set_new(one, "kernel", assay_json_text(launch->kernel));
    json_object_set_new(one, "grid", sizes_json(launch->grid));
    json_object_set_new(one, "block", sizes_json(launch->block));
    json_object_set_new(one, "cluster", json_integer(launch->cluster));
    json_object_set_new(one, "shared_bytes", json_integer(launch->shared_bytes));
    json_array_append_new(list, one);
  }
  return list;
}

static json_t *steps_json(const trace_report *report, const trace_page *page) {
  json_t *list = json_array();
  for (uint32_t i = 0; page != NULL && i < page->kept; i++) {
    const trace_step *step = &page->step[i];
    char text[LINE_WIDTH + 4];
    trimmed(report, step->line, text);
    json_t *one = json_object();
    json_object_set_new(one, "launch", json_integer(step->launch));
    json_object_set_new(one, "warp", json_integer(step->warp));
    json_object_set_new(one, "lanes", json_integer(step->mask));
    json_object_set_new(one, "word", assay_json_text(step->what));
    json_object_set_new(one, "line", step->line > 0 ? json_integer(step->line) : json_null());
    json_object_set_new(one, "text", assay_json_text(text));
    json_array_append_new(list, one);
  }
  return list;
}

static void print_json(const trace_report *report, const trace_job *job, const trace_result *result) {
  const trace_page *page = result->page;
  json_t *answer = json_object();
  json_object_set_new(answer, "file", assay_json_text(report->shown));
  json_object_set_new(answer, "sha256", json_string(report->sha256));
  json_object_set_new(answer, "case", assay_json_text(result->shape));
  json_object_set_new(answer, "seed", json_integer((json_int_t)job->seed));
  json_object_set_new(answer, "verdict", json_string(verdict_name(result->verdict)));
  json_object_set_new(answer, "reason", assay_json_text(result->reason));
  json_object_set_new(answer, "launches", launches_json(page));
  json_object_set_new(answer, "block", json_integer(job->block));
  json_object_set_new(answer, "steps", json_integer(page != NULL ? (json_int_t)page->steps : 0));
  json_object_set_new(answer, "shown", steps_json(report, page));
  assay_json_print(answer, stdout);
  json_decref(answer);
}

void trace_report_print(const trace_report *report, const trace_job *job, const trace_result *result,
                        bool json) {
  if (json) {
    print_json(report, job, result);
  } else {
    print_text(report, job, result);
  }
}
