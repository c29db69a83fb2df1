/* SPDX-License-Identifier: MIT */
/*
 * test_kernels.c - every CUDA kernel of the library, and of the workshops' solutions, compiles for every
 * architecture, without a spill and without a C75xx remark. No GPU is needed.
 *
 * A `.cu` file says in comments how its kernels are built, one kernel a line, and each combination of the
 * values is built; a kernel that no line names is a failure. `from 90` leaves out architectures before 9.0.
 *
 *     builds: softmax_rows WARPS=4,8 DTYPE=0,1,2
 *     builds: softmax_cluster WARPS=8 DTYPE=0,1,2 from 90
 */
#include "unit.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "kernel_source.h"
#include "nvrtc.h"

enum { DEFINES_MOST = 8, VALUES_MOST = 8, NAME_SIZE = 64 };

typedef struct build_line {
  char kernel[NAME_SIZE];
  char names[DEFINES_MOST][NAME_SIZE];
  int64_t values[DEFINES_MOST][VALUES_MOST];
  int value_counts[DEFINES_MOST];
  int define_count;
  int from;
} build_line;

typedef struct kernel_file {
  const char *path;
  assay_kernel_source source;
  int builds; /* made so far */
} kernel_file;

static const int architectures[] = {80, 89, 90};

/* ---- the lines ----------------------------------------------------------------------------------------- */

static bool word(const char **at, char *text, const char *stop) {
  *at += strspn(*at, " ");
  const size_t length = strcspn(*at, stop);
  if (length == 0 || length >= NAME_SIZE) return false;
  memcpy(text, *at, length);
  text[length] = '\0';
  *at += length;
  return true;
}

/* "WARPS=4,8" behind its name. */
static bool read_values(const char **at, build_line *line) {
  int *count = &line->value_counts[line->define_count];
  do {
    char *end = NULL;
    ++*at; /* '=' or ',' */
    if (*count == VALUES_MOST) return false;
    line->values[line->define_count][(*count)++] = strtoll(*at, &end, 10);
    if (end == *at) return false;
    *at = end;
  } while (**at == ',');
  line->define_count++;
  return true;
}

static bool read_line(const char *at, build_line *line) {
  *line = (build_line){0};
  if (!word(&at, line->kernel, " *\n")) return false;
  for (;;) {
    char name[NAME_SIZE];
    at += strspn(at, " ");
    if (*at == '\n' || *at == '\0' || strncmp(at, "*/", 2) == 0) return true;
    if (!word(&at, name, " =*\n")) return false;
    if (strcmp(name, "from") == 0) {
      line->from = atoi(at);
      if (line->from < 70) return false;
      at += strspn(at, " 0123456789");
    } else {
      if (*at != '=' || line->define_count == DEFINES_MOST) return false;
      memcpy(line->names[line->define_count], name, sizeof name);
      if (!read_values(&at, line)) return false;
    }
  }
}

static void test_lines(void **state) {
  (void)state;
  build_line line;
  assert_true(read_line(" softmax_rows WARPS=4,8 DTYPE=0,1,2 */", &line));
  assert_string_equal(line.kernel, "softmax_rows");
  assert_int_equal(line.define_count, 2);
  assert_string_equal(line.names[1], "DTYPE");
  assert_int_equal(line.value_counts[0], 2);
  assert_int_equal(line.values[0][1], 8);
  assert_int_equal(line.value_counts[1], 3);
  assert_int_equal(line.from, 0);
  assert_true(read_line(" alone from 90\n", &line));
  assert_int_equal(line.define_count, 0);
  assert_int_equal(line.from, 90);
  const char *const wrong[] = {"", " */", " k WARPS", " k WARPS=", " k WARPS=4,x", " k from x", " k =4"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(read_line(wrong[i], &line));
}

/* ---- building ------------------------------------------------------------------------------------------ */

static void build(const assay_nvrtc *nvrtc, kernel_file *file, const build_line *line,
                  const assay_define *defines, int architecture) {
  char target[32];
  char options[256] = "";
  assay_nvrtc_result result;
  assay_nvrtc_usage usage;
  assay_message why = {""};
  for (int i = 0; i < line->define_count; i++) {
    const size_t used = strlen(options);
    snprintf(options + used, sizeof options - used, " %s=%lld", defines[i].name, (long long)defines[i].value);
  }
  assert_true(assay_nvrtc_target(nvrtc, architecture, target));
  const assay_nvrtc_request request = {.file = file->path,
                                       .text = file->source.text,
                                       .headers = file->source.headers,
                                       .header_count = file->source.header_count,
                                       .defines = defines,
                                       .target = target};
  const assay_status status = assay_nvrtc_compile(nvrtc, &request, &result, &why);
  if (status != ASSAY_OK) fail_msg("%s:%s: %s\n%s", file->path, options, why.text, result.log);
  if (!assay_nvrtc_usage_of(result.log, line->kernel, &usage)) {
    fail_msg("%s: there is no kernel %s in what was compiled%s", file->path, line->kernel, options);
  }
  print_message("# %s %s%s %s: %d registers, %d bytes shared\n", file->path, line->kernel, options, target,
                usage.registers, usage.shared_bytes);
  if (usage.spill_bytes > 0)
    fail_msg("%s %s%s %s spills %d bytes", file->path, line->kernel, options, target, usage.spill_bytes);
  if (usage.remarks > 0) fail_msg("%s %s%s %s: %s", file->path, line->kernel, options, target, usage.remark);
  file->builds++;
  assay_nvrtc_free(&result);
}

/* Every combination, counted like the digits of a number. */
static void build_all(const assay_nvrtc *nvrtc, kernel_file *file, const build_line *line) {
  int digit[DEFINES_MOST] = {0};
  for (;;) {
    assay_define defines[DEFINES_MOST + 1] = {{NULL, 0}};
    for (int i = 0; i < line->define_count; i++) {
      defines[i] = (assay_define){line->names[i], line->values[i][digit[i]]};
    }
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
      if (architectures[i] >= line->from) build(nvrtc, file, line, defines, architectures[i]);
    }
    int place = 0;
    while (place < line->define_count && ++digit[place] == line->value_counts[place]) digit[place++] = 0;
    if (place == line->define_count) return;
  }
}

/* Whether some builds line of the text names the kernel. */
static bool is_named(const char *text, const char *kernel) {
  for (const char *at = strstr(text, "builds: "); at != NULL; at = strstr(at + 1, "builds: ")) {
    build_line line;
    if (read_line(at + strlen("builds: "), &line) && strcmp(line.kernel, kernel) == 0) return true;
  }
  return false;
}

static void check_file(const assay_nvrtc *nvrtc, const char *path) {
  kernel_file file = {.path = path};
  assay_message why = {""};
  if (assay_kernel_source_load(path, &file.source, &why) != ASSAY_OK) fail_msg("%s", why.text);
  const char *text = file.source.text;
  for (const char *at = strstr(text, "\nKERNEL("); at != NULL; at = strstr(at + 1, "\nKERNEL(")) {
    char kernel[NAME_SIZE];
    const char *name = at + strlen("\nKERNEL(");
    assert_true(word(&name, kernel, " ,\n"));
    if (!is_named(text, kernel)) fail_msg("%s: no 'builds:' line names kernel %s", path, kernel);
  }
  for (const char *at = strstr(text, "builds: "); at != NULL; at = strstr(at + 1, "builds: ")) {
    build_line line;
    if (!read_line(at + strlen("builds: "), &line)) fail_msg("%s: cannot read the line '%.60s'", path, at);
    build_all(nvrtc, &file, &line);
  }
  if (file.builds == 0) fail_msg("%s: nothing was built; it needs 'builds:' lines", path);
  assay_kernel_source_free(&file.source);
}

static void test_builds(void **state) {
  (void)state;
  assay_message why = {""};
  const assay_nvrtc *nvrtc = assay_nvrtc_find(INT_MAX, &why);
  int files = 0;
  for (const assay_embedded *one = assay_embedded_files; one->path != NULL; one++) {
    if (strncmp(one->path, "ops/", 4) != 0) continue;
    files++;
    if (nvrtc != NULL) check_file(nvrtc, one->path);
  }
  if (nvrtc == NULL) print_message("# %s\n", why.text);
  if (files == 0) print_message("# the library has no CUDA kernel yet\n");
  if (nvrtc == NULL || files == 0) skip();
}

/* Solutions are read where they lie, since nothing embeds them. One without a line is not for this test. */
static void test_solutions(void **state) {
  (void)state;
  assay_message why = {""};
  const assay_nvrtc *nvrtc = assay_nvrtc_find(INT_MAX, &why);
  glob_t found;
  assert_int_equal(glob("workshops/*/*_solution.cu", 0, NULL, &found), 0);
  int files = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    assay_kernel_source source;
    if (assay_kernel_source_load(found.gl_pathv[i], &source, &why) != ASSAY_OK) fail_msg("%s", why.text);
    const bool told = strstr(source.text, "builds: ") != NULL;
    assay_kernel_source_free(&source);
    if (told) files++;
    if (told && nvrtc != NULL) check_file(nvrtc, found.gl_pathv[i]);
  }
  globfree(&found);
  assert_true(files > 0);
  if (nvrtc == NULL) print_message("# %s\n", why.text);
  if (nvrtc == NULL) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_builds),
                                     cmocka_unit_test(test_solutions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
