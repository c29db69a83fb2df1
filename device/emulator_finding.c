/* SPDX-License-Identifier: MIT */
/* emulator_finding.c - what the watch found, each pair of lines once, as a sentence. */
#include "emulator_watched.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *assay_tool_name(assay_tool tool) {
  switch (tool) {
  case ASSAY_TOOL_MEMORY:
    return "memory";
  case ASSAY_TOOL_RACE:
    return "race";
  case ASSAY_TOOL_INIT:
    return "init";
  default:
    return "sync";
  }
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool same_lines(const assay_finding *finding, int32_t line, int32_t other_line) {
  return (finding->line == line && finding->other_line == other_line) ||
         (finding->other_line != 0 && finding->line == other_line && finding->other_line == line);
}

static assay_finding blank(const emulated_machine *machine, assay_tool tool, int32_t line,
                           int32_t other_line) {
  const assay_launch *request = machine->launch->request;
  assay_finding finding = {.tool = tool, .line = line, .other_line = other_line, .times = 1};
  snprintf(finding.file, sizeof finding.file, "%.60s", base_name(request->file));
  snprintf(finding.kernel, sizeof finding.kernel, "%.60s", request->kernel);
  return finding;
}

/* Counts a finding; where to write its sentence when it is new, NULL otherwise. */
static assay_finding *add(emulated_machine *machine, assay_tool tool, int32_t line, int32_t other_line) {
  emulator_watch *watch = machine->launch->watch;
  const assay_finding fresh = blank(machine, tool, line, other_line);
  if ((watch->tools & tool) == 0) return NULL;
  for (int at = 0; at < watch->finding_count; at++) {
    assay_finding *finding = &watch->findings[at];
    if (finding->tool != tool || !same_lines(finding, line, other_line) ||
        strcmp(finding->file, fresh.file) != 0 || strcmp(finding->kernel, fresh.kernel) != 0) {
      continue;
    }
    finding->times++;
    if (watch->launch_finding < 0) watch->launch_finding = at;
    return NULL;
  }
  const bool full = watch->finding_count == ASSAY_FINDINGS_MOST;
  if (watch->launch_finding < 0) watch->launch_finding = watch->finding_count - full;
  if (full) return NULL;
  assay_finding *finding = &watch->findings[watch->finding_count++];
  *finding = fresh;
  return finding;
}

/* FILE:LINE: what (kernel K, block B). */
static void write_text(assay_finding *finding, assay_index3 block, bool behind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void write_text(assay_finding *finding, assay_index3 block, bool behind, const char *format, ...) {
  char what[240];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(finding->text, sizeof finding->text, "%s:%d: %s%s (kernel %.40s, block (%u,%u,%u))", finding->file,
           finding->line, behind ? "behind this line " : "", what, finding->kernel, block.x, block.y,
           block.z);
}

/* ---- parts of sentences -------------------------------------------------------------------------------- */

static const char *verb(uint32_t kind) {
  if ((kind & ASSAY_ACCESS_ATOMIC) != 0 && (kind & ASSAY_ACCESS_WRITE) != 0 &&
      (kind & ASSAY_ACCESS_RELEASE) == 0) {
    return "changes";
  }
  return (kind & ASSAY_ACCESS_WRITE) != 0 ? "writes" : "reads";
}

/* One of the two accesses of a race. */
typedef struct side {
  assay_index3 block, thread;
  const char *verb;
  int32_t line;
  bool behind; /* the access is somewhere behind the line */
} side;

static side side_of_stamp(emulated_machine *machine, const watch_stamp *stamp, bool writes) {
  const emulated_launch *launch = machine->launch;
  const assay_dim3 size = launch->request->block;
  const uint32_t number = assay_stamp_lane(stamp);
  const uint32_t run = stamp->block - launch->watch->first_ordinal;
  side of = {.block = assay_emulator_block_index(launch, run / launch->cluster, run % launch->cluster),
             .thread = {number % size.x, number / size.x % size.y, number / size.x / size.y},
             .verb = writes ? "writes" : "reads"};
  of.line = assay_watch_line(machine, NULL, stamp->site, &of.behind);
  return of;
}

static side side_of_lane(emulated_machine *machine, const emulated_lane *lane, const watch_access *access) {
  side of = {.block = lane->view.block, .thread = lane->view.thread, .verb = verb(access->kind)};
  of.line = assay_watch_line(machine, lane, access->site, &of.behind);
  return of;
}

enum { THREAD_TEXT_BYTES = 80 };

/* The thread of the second side, with its block where that is not the first one's. */
static void name_thread(const side *of, const side *first, char text[THREAD_TEXT_BYTES]) {
  const assay_index3 block = of->block;
  const int length =
      snprintf(text, THREAD_TEXT_BYTES, "thread (%u,%u,%u)", of->thread.x, of->thread.y, of->thread.z);
  if (memcmp(&block, &first->block, sizeof block) == 0) return;
  snprintf(text + length, (size_t)(THREAD_TEXT_BYTES - length), " of block (%u,%u,%u)", block.x, block.y,
           block.z);
}

static const char *what_is_missing(emulated_machine *machine, const emulated_lane *lane,
                                   const watch_stamp *other) {
  const emulator_watch *watch = machine->launch->watch;
  if (other->block != watch->blocks[lane->view.cluster_rank].ordinal) {
    return other->block >= watch->cluster_ordinal ? "with no cluster_sync between them"
                                                  : "and nothing orders the two blocks";
  }
  if (assay_stamp_lane(other) / ASSAY_WARP_LANES == lane->number / ASSAY_WARP_LANES)
    return "with no __syncwarp or barrier between them";
  return "with no barrier between them";
}

/* ---- findings ------------------------------------------------------------------------------------------ */

/* What a line reads before anybody has written it is no finding of its own when the line is in a race: then
 * the write came too late. */
static void forget_unwritten(emulator_watch *watch, const char *kernel, int32_t line) {
  for (int i = 0; i < watch->finding_count; i++) {
    const assay_finding *finding = &watch->findings[i];
    if (finding->tool != ASSAY_TOOL_INIT || finding->line != line || strcmp(finding->kernel, kernel) != 0)
      continue;
    watch->finding_count--;
    memmove(&watch->findings[i], &watch->findings[i + 1],
            (size_t)(watch->finding_count - i) * sizeof watch->findings[0]);
    if (watch->launch_finding > i) watch->launch_finding--;
    return;
  }
}

static bool in_race(const emulator_watch *watch, const char *kernel, int32_t line) {
  for (int i = 0; i < watch->finding_count; i++) {
    const assay_finding *finding = &watch->findings[i];
    if (finding->tool == ASSAY_TOOL_RACE && finding->line == line && strcmp(finding->kernel, kernel) == 0)
      return true;
  }
  return false;
}

/* Where one of the two reads, the sentence begins with that one, whichever came first. */
void assay_watch_race(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                      const watch_access *access, const watch_stamp *other, bool other_writes) {
  side first = side_of_lane(machine, lane, access);
  side second = side_of_stamp(machine, other, other_writes);
  if (!other_writes) {
    const side reader = second;
    second = first;
    first = reader;
  }
  assay_finding *finding = add(machine, ASSAY_TOOL_RACE, first.line, second.line);
  if (finding == NULL) return;
  char what[PLACE_TEXT_BYTES];
  char who[THREAD_TEXT_BYTES];
  assay_watch_name(machine, place, access->address, what);
  char where[32] = " elsewhere";
  name_thread(&second, &first, who);
  if (second.line > 0) snprintf(where, sizeof where, " at line %d", second.line);
  write_text(finding, first.block, first.behind, "thread (%u,%u,%u) %s %s, which %s %s%s, %s", first.thread.x,
             first.thread.y, first.thread.z, first.verb, what, who, second.verb, where,
             what_is_missing(machine, lane, other));
  forget_unwritten(machine->launch->watch, finding->kernel, first.line);
}

void assay_watch_not_waited(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                            const watch_access *access, const watch_stamp *copy) {
  const side first = side_of_lane(machine, lane, access);
  const side second = side_of_stamp(machine, copy, true);
  assay_finding *finding = add(machine, ASSAY_TOOL_RACE, first.line, second.line);
  if (finding == NULL) return;
  char what[PLACE_TEXT_BYTES];
  char who[THREAD_TEXT_BYTES];
  assay_watch_name(machine, place, access->address, what);
  name_thread(&second, &first, who);
  write_text(finding, first.block, first.behind,
             "thread (%u,%u,%u) %s %s, but the copy that %s began at line %d was not waited for",
             first.thread.x, first.thread.y, first.thread.z, first.verb, what, who, second.line);
}

void assay_watch_unwritten(emulated_machine *machine, const emulated_lane *lane, const watch_place *place,
                           const watch_access *access) {
  bool behind = false;
  const int32_t line = assay_watch_line(machine, lane, access->site, &behind);
  if (in_race(machine->launch->watch, machine->launch->request->kernel, line)) return;
  assay_finding *finding = add(machine, ASSAY_TOOL_INIT, line, 0);
  if (finding == NULL) return;
  char what[PLACE_TEXT_BYTES];
  const assay_index3 *thread = &lane->view.thread;
  assay_watch_name(machine, place, access->address, what);
  write_text(finding, lane->view.block, behind, "thread (%u,%u,%u) reads %s, which nobody has written",
             thread->x, thread->y, thread->z, what);
}

void assay_watch_outside(emulated_machine *machine, emulated_lane *lane, const void *address, size_t bytes,
                         uint32_t kind, uint32_t site, const char *where) {
  bool behind = false;
  char text[PLACE_TEXT_BYTES];
  const int32_t line = assay_watch_line(machine, lane, site, &behind);
  const assay_index3 *thread = &lane->view.thread;
  assay_finding again = blank(machine, ASSAY_TOOL_MEMORY, line, 0);
  assay_finding *finding = add(machine, ASSAY_TOOL_MEMORY, line, 0);
  if (finding == NULL) finding = &again;
  if (where == NULL) {
    assay_watch_nearest(machine, lane, address, bytes, text);
    where = text;
  }
  write_text(finding, lane->view.block, behind, "thread (%u,%u,%u) %s %s", thread->x, thread->y, thread->z,
             verb(kind), where);
  assay_emulator_stop(machine, finding->text);
}

void assay_watch_fault(emulated_machine *machine, assay_tool tool, int line, const char *text) {
  assay_finding *finding = add(machine, tool, line, 0);
  if (finding != NULL) snprintf(finding->text, sizeof finding->text, "%s", text);
}
