/* SPDX-License-Identifier: MIT */
/* test_watch.c - what a watched launch finds, where, and in which words. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "queue.h"
#include "watching.h"

static const char faults_file[] = "tests/kernels/watch_faults.cu";
static const char broken_file[] = "tests/kernels/faults.cu";

/* The line of a source that holds "MARK: KERNEL"; 0: there is none. */
static int marked_line(const char *source, const char *mark, const char *kernel) {
  char wanted[96];
  char path[ASSAY_PATH_SIZE];
  size_t size = 0;
  assert_true(assay_path_format(path, "%s/%s", assay_source_folder(), source));
  char *text = assay_read_file(path, 1 << 20, &size);
  assert_non_null(text);
  snprintf(wanted, sizeof wanted, "/* %s: %s */", mark, kernel);
  const char *found = strstr(text, wanted);
  int line = found != NULL;
  for (const char *at = text; found != NULL && at < found; ++at) line += *at == '\n';
  free(text);
  return line;
}

typedef struct fault_case {
  assay_tool tool;
  const char *kernel;
  uint32_t blocks, cluster;
  const char *says, *says_too;
} fault_case;

static const fault_case faults[] = {
    {ASSAY_TOOL_RACE, "race_shared", 1, 1, "reads part[", "with no barrier between them"},
    {ASSAY_TOOL_RACE, "race_global", 1, 1, "thread (0,0,0) reads out[1], which thread (1,0,0) writes",
     "with no __syncwarp or barrier between them"},
    {ASSAY_TOOL_RACE, "race_blocks", 2, 1, "thread (0,0,0) writes out[0], which thread (0,0,0) of block (",
     "and nothing orders the two blocks"},
    {ASSAY_TOOL_RACE, "race_reuse", 1, 1, "reads part[", "with no barrier between them"},
    {ASSAY_TOOL_RACE, "race_warp", 1, 1, "reads part[", "with no __syncwarp or barrier"},
    {ASSAY_TOOL_RACE, "race_part_of_warp", 1, 1, "reads part[", "with no __syncwarp or barrier"},
    {ASSAY_TOOL_RACE, "race_copy", 1, 1,
     "thread (0,0,0) reads tile[0], but the copy that thread (0,0,0) began", "was not waited for"},
    {ASSAY_TOOL_RACE, "race_copy_early", 1, 1, "reads tile[", "was not waited for"},
    {ASSAY_TOOL_RACE, "race_copy_barrier", 1, 1, "reads tile[", "with no barrier between them"},
    {ASSAY_TOOL_RACE, "race_matrix", 1, 1, "reads tile[", "with no __syncwarp or barrier"},
    {ASSAY_TOOL_RACE, "race_no_fence", 3, 1, "reads out[", "and nothing orders the two blocks"},
    {ASSAY_TOOL_RACE, "race_cluster", 2, 2, "of the dynamic shared memory of block",
     "with no cluster_sync between them"},
    {ASSAY_TOOL_RACE, "race_same_value", 1, 1, "writes found, which thread (", "line"},
    {ASSAY_TOOL_RACE, "race_atomic", 1, 1, "sum", "with no"},
    {ASSAY_TOOL_MEMORY, "past_operand", 1, 1, "writes up to 4 bytes past the end of out (element 256 of 256)",
     NULL},
    {ASSAY_TOOL_MEMORY, "before_operand", 1, 1,
     "thread (0,0,0) reads from 4 bytes before the start of in (element -1 of 256)", NULL},
    {ASSAY_TOOL_MEMORY, "past_static", 1, 1,
     "thread (63,0,0) reads up to 4 bytes past the end of one (element 64 of 64)", NULL},
    {ASSAY_TOOL_MEMORY, "past_dynamic", 1, 1, "bytes past the end of the dynamic shared memory", NULL},
    {ASSAY_TOOL_MEMORY, "past_scratch", 1, 1, "bytes past the end of scratch", "thread (63,0,0) writes"},
    {ASSAY_TOOL_MEMORY, "null_pointer", 1, 1, "a null pointer", NULL},
    {ASSAY_TOOL_MEMORY, "writes_input", 1, 1, "writes in[0], an input", NULL},
    {ASSAY_TOOL_MEMORY, "misaligned", 1, 1, "reads 4 bytes at a misaligned address in in[0]", NULL},
    {ASSAY_TOOL_MEMORY, "vector_past_end", 1, 1,
     "thread (63,0,0) reads up to 16 bytes past the end of in (element 256 of 256)", NULL},
    {ASSAY_TOOL_MEMORY, "others_local", 1, 1, "in the local variables of another thread, (0,0,0)", NULL},
    {ASSAY_TOOL_MEMORY, "copy_past_end", 1, 1, "up to 4 bytes past the end of in (element 253 of 256)", NULL},
    {ASSAY_TOOL_INIT, "unwritten_shared", 1, 1, "thread (63,0,0) reads part[64], which nobody has written",
     NULL},
    {ASSAY_TOOL_INIT, "unwritten_output", 1, 1, "reads out[", "which nobody has written"},
    {ASSAY_TOOL_INIT, "unwritten_scratch", 1, 1, "thread (7,0,0) reads scratch[28], which nobody has written",
     NULL},
    {ASSAY_TOOL_INIT, "unwritten_dynamic", 2, 1, "of the dynamic shared memory, which nobody has written",
     "block (1,0,0)"},
    {ASSAY_TOOL_INIT, "unwritten_counter", 1, 1, "reads sum, which nobody has written", NULL},
    {ASSAY_TOOL_INIT, "unwritten_copy", 1, 1, "reads tile[256], which nobody has written", NULL},
};

/* Out is not written before where that is the mistake; the fenceless sum counts in it. */
static bool starts_written(const fault_case *one) {
  return strcmp(one->kernel, "race_no_fence") == 0;
}

static void expect_finding(const fault_case *one, const char *source, assay_queue *queue, bool natural) {
  const assay_finding *found = NULL;
  char begins[64];
  char line[32];
  watch(queue, ASSAY_TOOLS_ALL, starts_written(one));
  const watch_args args = {memory.out, memory.in, assay_queue_scratch(queue, WORDS), WORDS};
  const assay_launch launch = launch_of(source, one->kernel, &args, one->blocks, one->cluster);
  const assay_status status = assay_emulator_launch(queue, &launch);
  const int count = assay_emulator_findings(queue, &found);
  if (status != ASSAY_KERNEL_FAULT || count != 1) {
    fail_msg("%s: %s, %d findings, '%s', '%s'", one->kernel, assay_status_name(status), count,
             assay_emulator_message(queue), count > 1 ? found[1].text : "");
  }
  const int here = marked_line(source, "here", one->kernel);
  const int there = marked_line(source, "there", one->kernel);
  snprintf(begins, sizeof begins, "%s:%d: ", strrchr(source, '/') + 1, here);
  snprintf(line, sizeof line, "line %d", there);
  assert_true(here > 0);
  if (found->tool != one->tool)
    fail_msg("%s: %s: %s", one->kernel, assay_tool_name(found->tool), found->text);
  assert_string_equal(found->kernel, one->kernel);
  assert_true(found->times > 0);
  if (found->line != here) fail_msg("%s: line %d, not %d: %s", one->kernel, found->line, here, found->text);
  if (there > 0 && found->line + found->other_line != here + there)
    fail_msg("%s: other line %d, not %d: %s", one->kernel, found->other_line, there, found->text);
  if (natural &&
      (strncmp(found->text, begins, strlen(begins)) != 0 || strstr(found->text, one->says) == NULL ||
       (one->says_too != NULL && strstr(found->text, one->says_too) == NULL) ||
       (there > 0 && strstr(found->text, line) == NULL) || strstr(found->text, one->kernel) == NULL)) {
    fail_msg("%s says '%s', not '%s%s' and '%s'", one->kernel, found->text, begins, one->says,
             one->says_too != NULL ? one->says_too : line);
  }
  assert_int_equal(strncmp(found->text, assay_last_error(), 200), 0);
  assay_scratch_release();
}

static void test_faults(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i)
    expect_finding(&faults[i], faults_file, queue, true);
  for (uint64_t seed = 1; seed < SEEDS; ++seed) {
    assay_emulator_seed(queue, seed);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i)
      expect_finding(&faults[i], faults_file, queue, false);
  }
  assay_queue_close(queue);
}

/* ---- what the emulator finds by itself ----------------------------------------------------------------- */

typedef struct broken_args {
  uint32_t *out;
  int64_t which;
} broken_args;

static const fault_case broken[] = {
    {ASSAY_TOOL_SYNC, "left_before_barrier", 1, 1, "is not reached by thread (5,0,0)", NULL},
    {ASSAY_TOOL_SYNC, "divergent_barrier", 1, 1, "divergent barrier", NULL},
    {ASSAY_TOOL_SYNC, "absent_lanes", 1, 1, "names lane 16, which waits at __syncthreads", NULL},
    {ASSAY_TOOL_SYNC, "not_in_mask", 1, 1, "does not name lane 0", NULL},
    {ASSAY_TOOL_SYNC, "two_masks", 1, 1, "with mask 0xffff8000", NULL},
    {ASSAY_TOOL_MEMORY, "vector_askew", 1, 1, "misaligned address: vector16_load", NULL},
    {ASSAY_TOOL_MEMORY, "copy_not_shared", 1, 1, "not in this block's shared memory", NULL},
    {ASSAY_TOOL_MEMORY, "matrix_not_shared", 1, 1, "ldmatrix_x4 reads a row at", NULL},
};

static void test_broken(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; ++i) {
    const fault_case *one = &broken[i];
    const broken_args args = {memory.out, 0};
    const assay_finding *found = NULL;
    watch(queue, ASSAY_TOOLS_ALL, true);
    assay_launch launch = launch_of(broken_file, one->kernel, NULL, one->blocks, one->cluster);
    launch.args = &args;
    launch.arg_bytes = sizeof args;
    if (strstr("left_before_barrier divergent_barrier absent_lanes", one->kernel) == NULL)
      launch.block.x = strstr("vector_askew copy_not_shared", one->kernel) != NULL ? 1 : 32;
    assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_KERNEL_FAULT);
    if (assay_emulator_findings(queue, &found) != 1)
      fail_msg("%s: %s", one->kernel, assay_emulator_message(queue));
    assert_int_equal(found->tool, one->tool);
    assert_int_equal(found->line, marked_line(broken_file, "here", one->kernel));
    if (strstr(found->text, one->says) == NULL) fail_msg("%s: %s", one->kernel, found->text);
  }
  assay_queue_close(queue);
}

/* ---- the watch itself ---------------------------------------------------------------------------------- */

static uint32_t own_scratch[64];

static assay_status launch_fault(assay_queue *queue, const char *kernel) {
  const watch_args args = {memory.out, memory.in, own_scratch, WORDS};
  const assay_launch launch = launch_of(faults_file, kernel, &args, 1, 1);
  return assay_emulator_launch(queue, &launch);
}

/* Before any other watch of this process, which would show that the compiler can. */
static void test_unavailable(void **state) {
  (void)state;
  assay_queue *queue = open_queue();
  const char *compiler = getenv("CC");
  char *kept = compiler != NULL ? strdup(compiler) : NULL;
  setenv("CC", "false", 1);
  assert_int_equal(assay_emulator_watch(queue, ASSAY_TOOLS_ALL, NULL, 0), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(assay_last_error(), "false cannot watch kernels"));
  setenv("CC", "/nowhere/cc", 1);
  assert_int_equal(assay_emulator_watch(queue, ASSAY_TOOLS_ALL, NULL, 0), ASSAY_UNAVAILABLE);
  if (kept != NULL) {
    setenv("CC", kept, 1);
  } else {
    unsetenv("CC");
  }
  free(kept);
  assay_queue_close(queue);
}

/* A tool that is not asked for says nothing; findings are counted, kept and forgotten. */
static void test_tools(void **state) {
  (void)state;
  const assay_finding *found = NULL;
  assay_queue *queue = open_queue();
  watch(queue, ASSAY_TOOL_MEMORY | ASSAY_TOOL_SYNC, false);
  assert_int_equal(launch_fault(queue, "race_shared"), ASSAY_OK);
  assert_int_equal(assay_emulator_findings(queue, &found), 0);
  watch(queue, ASSAY_TOOL_RACE, false);
  assert_int_equal(launch_fault(queue, "race_same_value"), ASSAY_KERNEL_FAULT);
  assert_int_equal(launch_fault(queue, "race_shared"), ASSAY_KERNEL_FAULT);
  assert_int_equal(assay_emulator_findings(queue, &found), 2);
  assert_int_equal(found[0].times, 63);
  assert_int_equal(found[0].line, found[0].other_line);
  assert_non_null(strstr(assay_emulator_message(queue), "race_shared"));
  assert_int_equal(launch_fault(queue, "race_same_value"), ASSAY_KERNEL_FAULT);
  assert_non_null(strstr(assay_emulator_message(queue), "race_same_value"));
  assert_int_equal(assay_emulator_findings(queue, &found), 2);
  assert_int_equal(found[0].times, 126);
  /* Scratch of somebody else: where it ends, and that nobody has written it. */
  watch(queue, ASSAY_TOOLS_ALL, false);
  assert_int_equal(assay_emulator_watch_scratch(queue, own_scratch, sizeof own_scratch), ASSAY_OK);
  assert_int_equal(launch_fault(queue, "past_scratch"), ASSAY_KERNEL_FAULT);
  assert_int_equal(assay_emulator_findings(queue, &found), 1);
  assert_int_equal(found[0].tool, ASSAY_TOOL_MEMORY);
  assert_int_equal(assay_emulator_watch_scratch(queue, own_scratch, sizeof own_scratch), ASSAY_OK);
  assert_int_equal(launch_fault(queue, "unwritten_scratch"), ASSAY_KERNEL_FAULT);
  assert_int_equal(assay_emulator_findings(queue, &found), 2);
  assert_int_equal(found[1].tool, ASSAY_TOOL_INIT);
  assert_int_equal(assay_emulator_watch(queue, 0, NULL, 0), ASSAY_OK);
  assert_int_equal(assay_emulator_findings(queue, &found), 0);
  assert_int_equal(launch_fault(queue, "race_shared"), ASSAY_OK);
  assay_queue_close(queue);
}

/* Nobody to translate addresses: the last word of kernel.h must do. */
static void test_no_lines(void **state) {
  (void)state;
  const assay_finding *found = NULL;
  assay_queue *queue = open_queue();
  char *path = strdup(getenv("PATH"));
  watch(queue, ASSAY_TOOLS_ALL, false);
  assert_int_equal(launch_fault(queue, "race_reuse"), ASSAY_KERNEL_FAULT);
  watch(queue, ASSAY_TOOLS_ALL, false);
  setenv("PATH", "/nowhere", 1);
  assert_int_equal(launch_fault(queue, "unwritten_shared"), ASSAY_KERNEL_FAULT);
  setenv("PATH", path, 1);
  free(path);
  assert_int_equal(assay_emulator_findings(queue, &found), 1);
  assert_int_equal(found->line, marked_line(faults_file, "here", "unwritten_shared") - 1);
  assert_non_null(strstr(found->text, "behind this line thread (63,0,0) reads part[64]"));
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unavailable), cmocka_unit_test(test_faults), cmocka_unit_test(test_tools),
      cmocka_unit_test(test_no_lines),    cmocka_unit_test(test_broken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
