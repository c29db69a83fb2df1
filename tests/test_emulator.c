/* SPDX-License-Identifier: MIT */
/* test_emulator.c - what the emulator refuses, and how it orders, traces and reports. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator.h"
#include "file.h"

static const char source[] = "tests/kernels/faults.cu";

enum { OUT_WORDS = 1024 };

typedef struct fault_args {
  uint32_t *out;
  int64_t which;
} fault_args;

static uint32_t out[OUT_WORDS] __attribute__((aligned(16)));

static assay_launch launch_of(const char *kernel, const fault_args *args, uint32_t blocks, uint32_t threads) {
  memset(out, 0, sizeof out);
  return (assay_launch){.file = source,
                        .kernel = kernel,
                        .grid = {blocks, 1, 1},
                        .block = {threads, 1, 1},
                        .shared_bytes = 512,
                        .cluster = 1,
                        .args = args,
                        .arg_bytes = sizeof *args};
}

static assay_queue *open_queue(int threads) {
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(threads, &queue), ASSAY_OK);
  return queue;
}

/* The line of the source that holds "MARK: KERNEL". */
static int marked_line(const char *mark, const char *kernel) {
  static char *text;
  char wanted[96];
  char path[ASSAY_PATH_SIZE];
  size_t size = 0;
  if (text == NULL) {
    assert_true(assay_path_format(path, "%s/%s", assay_source_folder(), source));
    text = assay_read_file(path, 1 << 20, &size);
    assert_non_null(text);
  }
  snprintf(wanted, sizeof wanted, "/* %s: %s */", mark, kernel);
  const char *found = strstr(text, wanted);
  int line = 1;
  if (found == NULL) return 0;
  for (const char *at = text; at < found; ++at) line += *at == '\n';
  return line;
}

typedef struct fault_case {
  const char *kernel;
  uint32_t blocks, threads, cluster;
  const char *says, *says_too;
} fault_case;

static const fault_case faults[] = {
    {"left_before_barrier", 1, 64, 1,
     "__syncthreads is not reached by thread (5,0,0), which has left the kernel", NULL},
    {"divergent_barrier", 1, 64, 1, "divergent barrier", "thread (32,0,0)"},
    {"absent_lanes", 1, 64, 1, "__shfl_xor_sync names lane 16, which waits at __syncthreads",
     "thread (0,0,0)"},
    {"left_before_shuffle", 1, 32, 1, "names lane 9, which has left the kernel", "__shfl_sync"},
    {"two_operations", 1, 32, 1, "__ballot_sync names lane 4, which waits at __any_sync with mask 0xffffffff",
     NULL},
    {"two_lines", 1, 32, 1, "__shfl_sync of this lane meets that of lane 31", NULL},
    {"two_masks", 1, 32, 1, "names lane 16, which waits at __syncwarp with mask 0xffff8000", NULL},
    {"not_in_mask", 1, 32, 1, "the mask 0xfffffff0 of __shfl_sync does not name lane 0", NULL},
    {"reads_unnamed", 1, 32, 1, "reads lane 0, which its mask 0xffff0000 does not name", "thread (16,0,0)"},
    {"bad_width", 1, 32, 1, "the width of __shfl_down_sync is 12", NULL},
    {"part_of_warp", 1, 20, 1, "names lane 20, which does not exist: the block has 20 threads", NULL},
    {"waits_forever", 1, 32, 1, "timed out", "memory that nobody changes"},
    {"lock_never_given", 1, 32, 1, "timed out", "thread (1,0,0)"},
    {"vector_askew", 1, 1, 1, "misaligned address: vector16_load", "multiple of 16"},
    {"copy_askew", 1, 1, 1, "misaligned address: cp.async from", NULL},
    {"copy_not_shared", 1, 1, 1, "not in this block's shared memory", NULL},
    {"copy_too_much", 1, 1, 1, "copies 17 bytes; it must be 0 to 16", NULL},
    {"matrix_askew", 1, 32, 1, "misaligned address: ldmatrix_x4", "thread (1,0,0)"},
    {"matrix_not_shared", 1, 32, 1, "ldmatrix_x4 reads a row at", "shared memory"},
    {"no_such_peer", 2, 1, 2, "asks for block 2 of a cluster of 2", NULL},
    {"peer_has_left", 2, 1, 2, "block 0 of the cluster, which has left", "block (1,0,0)"},
    {"peer_not_dynamic", 2, 1, 2, "dynamic shared memory", NULL},
    {"cluster_not_met", 2, 32, 2,
     "cluster_sync is not reached by thread (0,0,0) of block (1,0,0), which has left", NULL},
    {"later_blocks", 12, 32, 1, "is not reached by thread (7,0,0)", "block (3,0,0)"},
};

static void expect_fault(const fault_case *one, assay_queue *queue, int64_t which) {
  const fault_args args = {out, which};
  char begins[64];
  char line[32];
  assay_launch launch = launch_of(one->kernel, &args, one->blocks, one->threads);
  launch.cluster = one->cluster;
  const assay_status status = assay_emulator_launch(queue, &launch);
  const char *said = assay_emulator_message(queue);
  if (status != ASSAY_KERNEL_FAULT)
    fail_msg("%s: status %s, '%s'", one->kernel, assay_status_name(status), said);
  assert_string_equal(assay_last_error(), said);
  snprintf(begins, sizeof begins, "faults.cu:%d: ", marked_line("here", one->kernel));
  snprintf(line, sizeof line, "line %d", marked_line("there", one->kernel));
  if (strncmp(said, begins, strlen(begins)) != 0 || strstr(said, one->says) == NULL ||
      (one->says_too != NULL && strstr(said, one->says_too) == NULL) || strstr(said, one->kernel) == NULL ||
      (marked_line("there", one->kernel) > 0 && strstr(said, line) == NULL)) {
    fail_msg("%s says '%s', not '%s%s' and '%s'", one->kernel, said, begins, one->says, line);
  }
}

static void test_faults(void **state) {
  (void)state;
  assay_queue *queue = open_queue(1);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) expect_fault(&faults[i], queue, 0);
  assay_queue_close(queue);
}

/* Whichever thread fails first: the earliest block is reported. */
static void test_first_fault(void **state) {
  (void)state;
  assay_queue *queue = open_queue(4);
  for (int i = 0; i < 10; ++i) expect_fault(&faults[sizeof faults / sizeof faults[0] - 1], queue, i % 2);
  assay_queue_close(queue);
}

/* A fault under any order of threads, and a working kernel on the same stacks afterwards. */
static void test_faults_with_seeds(void **state) {
  (void)state;
  assay_queue *queue = open_queue(1);
  const fault_args args = {out, 1};
  for (uint64_t seed = 1; seed < 9; ++seed) {
    assay_emulator_seed(queue, seed);
    for (size_t i = 0; i < 8; ++i) {
      assay_launch launch = launch_of(faults[i].kernel, &args, faults[i].blocks, faults[i].threads);
      assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_KERNEL_FAULT);
    }
    const assay_launch launch = launch_of("missing_barrier", &args, 1, 64);
    assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
    assert_string_equal(assay_emulator_message(queue), "");
    for (uint32_t i = 0; i < 64; ++i) assert_int_equal(out[i], 63 - i);
  }
  assay_queue_close(queue);
}

/* ---- what a value shows -------------------------------------------------------------------------------- */

static int wrong_words(assay_queue *queue, const char *kernel, int64_t which) {
  const fault_args args = {out, which};
  const uint32_t threads = strcmp(kernel, "missing_barrier") == 0 ? 64 : 32;
  const assay_launch launch = launch_of(kernel, &args, 1, threads);
  int wrong = 0;
  for (uint32_t i = 0; i < 32; ++i) out[i] = 5 + i;
  assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
  for (uint32_t i = 0; i < threads; ++i)
    wrong += threads == 64 ? out[i] != 63 - i : out[32 + i] != 5 + 31 - i;
  return wrong;
}

static void test_values(void **state) {
  (void)state;
  assay_queue *queue = open_queue(1);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    assay_emulator_seed(queue, seed);
    assert_int_equal(wrong_words(queue, "missing_barrier", 1), 0);
    assert_true(wrong_words(queue, "missing_barrier", 0) > 0);
    assert_int_equal(wrong_words(queue, "missing_wait", 1), 0);
    assert_int_equal(wrong_words(queue, "missing_wait", 2), 0);
    assert_int_equal(wrong_words(queue, "missing_wait", 0), 32);
    assert_int_equal(wrong_words(queue, "missing_wait", 3), 32);
  }
  assay_queue_close(queue);
}

/* ---- crashes ------------------------------------------------------------------------------------------- */

static int report_pipe;

static void report_crash(int number, siginfo_t *info, void *context) {
  assay_emulator_position position;
  (void)number;
  (void)context;
  memset(&position, 0, sizeof position);
  if (assay_emulator_here(info->si_addr, &position)) (void)!write(report_pipe, &position, sizeof position);
  _exit(0);
}

/* The handler must have a stack of its own even on a thread that nobody prepared. */
static assay_emulator_position crash(const char *kernel) {
  assay_emulator_position position;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const fault_args args = {out, 0};
    struct sigaction action = {.sa_sigaction = report_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    report_pipe = ends[1];
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    assay_launch launch = launch_of(kernel, &args, 1, 32);
    launch.shared_bytes = 64;
    (void)assay_emulator_launch(open_queue(1), &launch);
    _exit(1);
  }
  close(ends[1]);
  int status = -1;
  const ssize_t got = read(ends[0], &position, sizeof position);
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (got != (ssize_t)sizeof position) fail_msg("%s: no report, status %d", kernel, status);
  return position;
}

static void test_crashes(void **state) {
  (void)state;
  assay_emulator_position position = crash("overflow");
  assert_true(position.stack_overflow);
  assert_int_equal(position.thread.x, 3);
  assert_int_equal(position.line, marked_line("here", "overflow"));
  position = crash("beyond_dynamic");
  assert_false(position.stack_overflow);
  assert_int_equal(position.thread.x, 0);
  assert_int_equal(position.line, marked_line("here", "beyond_dynamic"));
  assert_false(assay_emulator_here(&position, &position)); /* no kernel runs now */
}

/* ---- order and trace ----------------------------------------------------------------------------------- */

static void run_order(assay_queue *queue, uint64_t seed, uint32_t order[256]) {
  const fault_args args = {out, 0};
  bool seen[256] = {false};
  const assay_launch launch = launch_of("order", &args, 4, 64);
  assay_emulator_seed(queue, seed);
  assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
  assert_int_equal(out[0], 256);
  for (uint32_t i = 0; i < 256; ++i) {
    order[i] = out[1 + i];
    assert_true(order[i] < 256 && !seen[order[i]]);
    seen[order[i]] = true;
  }
}

static void test_order(void **state) {
  (void)state;
  uint32_t natural[256];
  uint32_t first[256];
  uint32_t again[256];
  uint32_t other[256];
  assay_queue *queue = open_queue(1);
  run_order(queue, 0, natural);
  for (uint32_t i = 0; i < 256; ++i) assert_int_equal(natural[i], i);
  run_order(queue, 7, first);
  run_order(queue, 8, other);
  run_order(queue, 7, again);
  assert_memory_equal(first, again, sizeof first);
  assert_memory_not_equal(first, other, sizeof first);
  assert_memory_not_equal(first, natural, sizeof first);
  int blocks = 0;
  int threads = 0;
  for (uint32_t i = 0; i < 256; ++i) {
    blocks += first[i] / 64 != i / 64;
    threads += first[i] % 64 != i % 64;
  }
  assert_true(blocks > 0 && threads > 0);
  assay_queue_close(queue);
}

static void test_active_mask(void **state) {
  (void)state;
  const fault_args args = {out, 0};
  assay_queue *queue = open_queue(1);
  const assay_launch launch = launch_of("converged", &args, 1, 32);
  assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(out[i], i % 2 == 1 ? 0 : i == 4 ? 0x10 : 0x55555555);
  assay_queue_close(queue);
}

typedef struct events {
  assay_trace_event list[64];
  int count;
} events;

static void keep_event(void *context, const assay_trace_event *event) {
  events *kept = context;
  if (kept->count < 64) kept->list[kept->count] = *event;
  kept->count++;
}

static void test_trace(void **state) {
  (void)state;
  const fault_args args = {out, 1};
  events kept = {.count = 0};
  assay_queue *queue = open_queue(4);
  assay_emulator_trace(queue, keep_event, &kept);
  const assay_launch launch = launch_of("missing_barrier", &args, 2, 40);
  assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
  /* Two blocks, each with a barrier for two warps and an end for 40 threads. */
  assert_int_equal(kept.count, 2 * (2 + 40));
  assert_string_equal(kept.list[0].what, "__syncthreads");
  assert_int_equal(kept.list[0].mask, 0xffffffffu);
  assert_int_equal(kept.list[1].warp, 1);
  assert_int_equal(kept.list[1].mask, 0xffu);
  assert_true(kept.list[1].line > 0);
  assert_string_equal(kept.list[2].what, "end");
  assert_int_equal(kept.list[2].mask, 1);
  assert_int_equal(kept.list[42].block.x, 1);
  assay_emulator_trace(queue, NULL, NULL);
  assert_int_equal(assay_emulator_launch(queue, &launch), ASSAY_OK);
  assert_int_equal(kept.count, 2 * (2 + 40));
  assay_queue_close(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crashes),     cmocka_unit_test(test_faults),
      cmocka_unit_test(test_first_fault), cmocka_unit_test(test_faults_with_seeds),
      cmocka_unit_test(test_values),      cmocka_unit_test(test_order),
      cmocka_unit_test(test_active_mask), cmocka_unit_test(test_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
