/* SPDX-License-Identifier: MIT */
/*
 * test_parity.c - the four tools of the emulator on kernels without a fault and on kernels with one planted
 * fault.
 *
 * Without arguments, the tests. For docs/sanitizer-parity.md and scripts/gpu.sh:
 *
 *     test_parity --list        every kernel, the tool that must find its fault, and the line; tab-separated
 *     test_parity --table       the same, and what each of our tools says
 *     test_parity --run NAME    launches one on the GPU, in memory of exactly its size, for compute-sanitizer
 */
#include "unit.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_tools.h"
#include "file.h"
#include "kernel_source.h"
#include "nvrtc.h"
#include "parity.h"
#include "parity_faults.h"
#include "parity_maps.h"
#include "parity_order.h"
#include "parity_scans.h"
#include "parity_sums.h"
#include "parity_tiles.h"

enum { SEEDS = 8, TOOLS = 4, HANG_SECONDS = 40 };

typedef struct parity_table {
  const parity_case *rows;
  size_t count;
  bool clean;
} parity_table;

#define PARITY_TABLE(rows, clean)                                                                            \
  { rows, sizeof(rows) / sizeof(rows)[0], clean }
static const parity_table tables[] = {PARITY_TABLE(parity_maps, true),   PARITY_TABLE(parity_sums, true),
                                      PARITY_TABLE(parity_scans, true),  PARITY_TABLE(parity_tiles, true),
                                      PARITY_TABLE(parity_order, true),  PARITY_TABLE(parity_faults, false),
                                      PARITY_TABLE(parity_unseen, false)};
enum { TABLES = sizeof tables / sizeof tables[0] };

static const parity_case *next_case(size_t *table, size_t *row) {
  for (; *table < TABLES; ++*table, *row = 0) {
    if (*row < tables[*table].count) return &tables[*table].rows[(*row)++];
  }
  return NULL;
}

/* ---- the sources --------------------------------------------------------------------------------------- */

static const char *source_text(const char *file) {
  static struct {
    const char *file;
    char *text;
  } kept[16];
  char path[ASSAY_PATH_SIZE];
  size_t size = 0;
  size_t i = 0;
  while (kept[i].file != NULL && strcmp(kept[i].file, file) != 0) i++;
  if (kept[i].file != NULL) return kept[i].text;
  if (!assay_path_format(path, "%s/%s", assay_source_folder(), file)) return NULL;
  kept[i].text = assay_read_file(path, 1 << 20, &size);
  if (kept[i].text != NULL) kept[i].file = file;
  return kept[i].text;
}

/* The line of the source that holds "MARK: KERNEL", 0: none. */
static int marked_line(const parity_case *one, const char *mark) {
  char wanted[96];
  const char *text = source_text(one->file);
  snprintf(wanted, sizeof wanted, "/* %s: %s */", mark, one->name);
  const char *found = text != NULL ? strstr(text, wanted) : NULL;
  int line = 1;
  if (found == NULL) return 0;
  for (const char *at = text; at < found; ++at) line += *at == '\n';
  return line;
}

static const char *base_name(const char *file) {
  return strrchr(file, '/') + 1;
}

/* ---- the emulator -------------------------------------------------------------------------------------- */

typedef struct watched {
  assay_status status;
  int count;
  assay_finding findings[ASSAY_FINDINGS_MOST];
  bool right;
  char wrong[160];
} watched;

static assay_queue *open_queue(void) {
  assay_queue *queue = NULL;
  assert_int_equal(assay_queue_open_emulator(1, &queue), ASSAY_OK);
  return queue;
}

static void watch(const parity_case *one, assay_queue *queue, uint64_t seed, uint32_t tools,
                  watched *result) {
  parity_memory memory;
  assay_region regions[PARITY_REGIONS];
  const assay_finding *findings = NULL;
  assert_true(parity_memory_open(one, &memory));
  const int count = parity_watched(one, memory.at, regions);
  assert_int_equal(assay_emulator_watch(queue, tools, regions, count), ASSAY_OK);
  assay_emulator_seed(queue, seed);
  result->status = parity_launch(one, queue, memory.at);
  result->count = assay_emulator_findings(queue, &findings);
  assert_in_range(result->count, 0, ASSAY_FINDINGS_MOST);
  for (int i = 0; i < result->count; i++) result->findings[i] = findings[i];
  result->right = one->model == NULL || parity_right(one, memory.at, result->wrong, sizeof result->wrong);
  parity_memory_close(&memory);
}

/* Whether a finding names the planted lines: the one marked "here", and "there" where that is marked. Of two
 * barriers the second stands in the sentence only. */
static bool at_its_lines(const parity_case *one, const assay_finding *finding) {
  char said[32];
  const int here = marked_line(one, "here");
  const int there = marked_line(one, "there");
  if (here == 0 || strcmp(finding->kernel, one->name) != 0) return false;
  if (there == 0) return finding->line == here || finding->other_line == here;
  snprintf(said, sizeof said, "line %d", finding->line == here ? there : here);
  return (finding->line == here || finding->line == there) && strstr(finding->text, said) != NULL;
}

static void test_clean(void **state) {
  const parity_table *table = *state;
  watched result;
  assay_queue *queue = open_queue();
  for (size_t i = 0; i < table->count; i++) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      watch(&table->rows[i], queue, seed, ASSAY_TOOLS_ALL, &result);
      if (result.count > 0)
        fail_msg("%s, seed %d: a false alarm: %s", table->rows[i].name, (int)seed, result.findings[0].text);
      if (result.status != ASSAY_OK)
        fail_msg("%s, seed %d: %s", table->rows[i].name, (int)seed, assay_emulator_message(queue));
      if (!result.right) fail_msg("seed %d: %s", (int)seed, result.wrong);
    }
  }
  assay_queue_close(queue);
}

/* A fault must be found under every order of threads, by its own tool alone. Prints what was not, true if
 * none. */
static bool is_found(const parity_case *one, assay_queue *queue, watched *result) {
  char begins[96];
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    bool found = false;
    watch(one, queue, seed, (uint32_t)one->tool, result);
    for (int i = 0; i < result->count && !found; i++) {
      const assay_finding *finding = &result->findings[i];
      snprintf(begins, sizeof begins, "%s:%d:", base_name(one->file), finding->line);
      found = finding->tool == one->tool && finding->times > 0 && at_its_lines(one, finding) &&
              strncmp(finding->text, begins, strlen(begins)) == 0;
    }
    if (found && result->status == ASSAY_KERNEL_FAULT) continue;
    print_message("# %s:%d %s, seed %d: %s says %s\n", base_name(one->file), marked_line(one, "here"),
                  one->name, (int)seed, assay_tool_name(one->tool),
                  result->count > 0 ? result->findings[0].text : assay_emulator_message(queue));
    return false;
  }
  return true;
}

static void test_faults(void **state) {
  watched result;
  assay_queue *queue = open_queue();
  int missed = 0;
  (void)state;
  for (size_t i = 0; i < sizeof parity_faults / sizeof parity_faults[0]; i++)
    missed += !is_found(&parity_faults[i], queue, &result);
  assay_queue_close(queue);
  assert_int_equal(missed, 0);
}

/* What the documentation says that the tools cannot see. */
static void test_unseen(void **state) {
  watched result;
  assay_queue *queue = open_queue();
  (void)state;
  for (size_t i = 0; i < sizeof parity_unseen / sizeof parity_unseen[0]; i++) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      watch(&parity_unseen[i], queue, seed, ASSAY_TOOLS_ALL, &result);
      if (result.count > 0) fail_msg("%s is seen now: %s", parity_unseen[i].name, result.findings[0].text);
      assert_int_equal(result.status, ASSAY_OK);
    }
  }
  assay_queue_close(queue);
}

/* ---- the tables themselves ----------------------------------------------------------------------------- */

static const parity_case *case_named(const char *name, size_t length) {
  size_t table = 0, row = 0;
  for (const parity_case *one = next_case(&table, &row); one != NULL; one = next_case(&table, &row)) {
    if (strlen(one->name) == length && memcmp(one->name, name, length) == 0) return one;
  }
  return NULL;
}

/* Every kernel of every file has one row, and every fault its mark. */
static void test_rows(void **state) {
  size_t table = 0, row = 0;
  int clean = 0, faults = 0;
  (void)state;
  for (const parity_case *one = next_case(&table, &row); one != NULL; one = next_case(&table, &row)) {
    const char *text = source_text(one->file);
    if (text == NULL) fail_msg("%s cannot be read", one->file);
    if (case_named(one->name, strlen(one->name)) != one) fail_msg("%s has two rows", one->name);
    if (tables[table].clean == (marked_line(one, "here") > 0))
      fail_msg("%s: a mark says where a fault is, and stands in kernels that have one", one->name);
    assert_int_equal(tables[table].clean, one->model != NULL);
    clean += tables[table].clean;
    faults += one->tool != 0;
    for (const char *at = strstr(text, "\nKERNEL("); at != NULL; at = strstr(at + 1, "\nKERNEL(")) {
      const char *name = at + strlen("\nKERNEL(");
      if (case_named(name, strcspn(name, ",")) == NULL) fail_msg("%s: %.30s has no row", one->file, name);
    }
  }
  print_message("# %d kernels without a fault, %d with one\n", clean, faults);
  assert_in_range(clean, 40, 1000);
  assert_in_range(faults, 24, 1000);
}

/* The kernels are CUDA C++ too. */
static void test_compile(void **state) {
  assay_message why = {""};
  const assay_nvrtc *nvrtc = assay_nvrtc_find(INT_MAX, &why);
  size_t table = 0, row = 0;
  const char *last = "";
  (void)state;
  if (nvrtc == NULL) {
    print_message("# %s\n", why.text);
    skip();
  }
  for (const parity_case *one = next_case(&table, &row); one != NULL; one = next_case(&table, &row)) {
    assay_kernel_source source;
    assay_nvrtc_result result;
    if (strcmp(one->file, last) == 0) continue;
    last = one->file;
    if (assay_kernel_source_load(one->file, &source, &why) != ASSAY_OK) fail_msg("%s", why.text);
    const assay_nvrtc_request request = {.file = one->file,
                                         .text = source.text,
                                         .headers = source.headers,
                                         .header_count = source.header_count,
                                         .target = "sm_90a"};
    if (assay_nvrtc_compile(nvrtc, &request, &result, &why) != ASSAY_OK)
      fail_msg("%s: %s\n%s", one->file, why.text, result.log);
    assay_nvrtc_free(&result);
    assay_kernel_source_free(&source);
  }
}

/* ---- what scripts ask for ------------------------------------------------------------------------------ */

static void print_row(const parity_case *one) {
  const int here = marked_line(one, "here");
  const int there = marked_line(one, "there");
  printf("%s\t%s\t%s", one->name,
         one->tool != 0 ? assay_tool_name(one->tool)
         : here > 0     ? "unseen"
                        : "none",
         base_name(one->file));
  if (here > 0) printf(":%d", here);
  if (there > 0) printf(",%d", there);
}

static int list(void) {
  size_t table = 0, row = 0;
  for (const parity_case *one = next_case(&table, &row); one != NULL; one = next_case(&table, &row)) {
    print_row(one);
    printf("\n");
  }
  return 0;
}

/* "-", "line" for a finding at the planted lines, else the line of the first one. */
static void print_word(const parity_case *one, uint32_t tools) {
  watched result;
  bool at_line = false;
  assay_queue *queue = open_queue();
  watch(one, queue, 0, tools, &result);
  for (int i = 0; i < result.count; i++) at_line = at_line || at_its_lines(one, &result.findings[i]);
  if (at_line) {
    printf("\tline");
  } else if (result.count > 0) {
    printf("\t%d", result.findings[0].line);
  } else {
    printf("\t-");
  }
  assay_queue_close(queue);
}

/* Without the tool for memory an access far outside is made, so the others work in processes of their own,
 * which find the kernel loaded. */
static int print_results(void) {
  size_t table = 0, row = 0;
  for (const parity_case *one = next_case(&table, &row); one != NULL; one = next_case(&table, &row)) {
    print_row(one);
    print_word(one, ASSAY_TOOL_MEMORY);
    for (int t = 1; t < TOOLS; t++) {
      int status = 0;
      fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        print_word(one, 1u << t);
        fflush(stdout);
        _exit(0);
      }
      if (child < 0 || waitpid(child, &status, 0) != child) return 1;
      if (WIFSIGNALED(status)) printf("\tcrash");
    }
    printf("\n");
  }
  return 0;
}

/* The regions on the device, each an allocation of exactly its size. What nobody wrote stays so. */
static assay_status to_gpu(const parity_case *one, assay_queue *queue, const parity_memory *host, void **at,
                           assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; status == ASSAY_OK && i < parity_region_count(one); i++) {
    const size_t bytes = parity_bytes(&one->regions[i]);
    status = assay_cuda_memory_open(queue, bytes, &at[i], why);
    if (status == ASSAY_OK && one->regions[i].fill != NULL)
      status = assay_cuda_copy_in(queue, at[i], host->at[i], bytes, why);
  }
  return status;
}

static assay_status from_gpu(const parity_case *one, assay_queue *queue, const parity_memory *host, void **at,
                             assay_message *why) {
  assay_status status = ASSAY_OK;
  for (int i = 0; status == ASSAY_OK && i < parity_region_count(one); i++)
    status = assay_cuda_copy_out(queue, host->at[i], at[i], parity_bytes(&one->regions[i]), why);
  return status == ASSAY_OK ? assay_queue_wait(queue) : status;
}

/* A kernel without a fault must be right; of another one it only matters what compute-sanitizer says. */
static int run_on_gpu(const char *name) {
  const parity_case *one = case_named(name, strlen(name));
  parity_memory host;
  assay_message why = {""};
  void *at[PARITY_REGIONS] = {NULL};
  char wrong[160] = "";
  assay_queue *queue = NULL;
  if (one == NULL) {
    fprintf(stderr, "test_parity: there is no kernel %s; --list shows all\n", name);
    return 64;
  }
  if (assay_queue_open_cuda(0, NULL, &queue) != ASSAY_OK) {
    fprintf(stderr, "test_parity: %s\n", assay_last_error());
    return 3;
  }
  if (!parity_memory_open(one, &host) || to_gpu(one, queue, &host, at, &why) != ASSAY_OK) {
    fprintf(stderr, "test_parity: %s\n", why.text);
    return 3;
  }
  alarm(HANG_SECONDS); /* should whoever waits for this process be killed first */
  assay_status status = parity_launch(one, queue, at);
  if (status == ASSAY_OK) status = assay_queue_wait(queue);
  bool right = status == ASSAY_OK;
  if (right && one->model != NULL)
    right =
        from_gpu(one, queue, &host, at, &why) == ASSAY_OK && parity_right(one, host.at, wrong, sizeof wrong);
  for (int i = 0; i < PARITY_REGIONS; i++) assay_cuda_memory_close(queue, at[i]);
  printf("%s: status %s%s%s\n", name, assay_status_name(status), wrong[0] != '\0' ? ", " : "", wrong);
  assay_queue_close(queue);
  parity_memory_close(&host);
  return one->model == NULL || right ? 0 : 1;
}

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "--list") == 0) return list();
  if (count == 2 && strcmp(words[1], "--table") == 0) return print_results();
  if (count == 3 && strcmp(words[1], "--run") == 0) return run_on_gpu(words[2]);
  if (count > 1) {
    fprintf(stderr, "usage: test_parity [--list | --table | --run NAME]\n");
    return 64;
  }
#define CLEAN_TEST(index, what)                                                                              \
  { "test_clean_" what, test_clean, NULL, NULL, (void *)(uintptr_t)&tables[index] }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows), cmocka_unit_test(test_compile), CLEAN_TEST(0, "maps"),
      CLEAN_TEST(1, "sums"),       CLEAN_TEST(2, "scans"),         CLEAN_TEST(3, "tiles"),
      CLEAN_TEST(4, "order"),      cmocka_unit_test(test_faults),  cmocka_unit_test(test_unseen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
