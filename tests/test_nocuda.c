/* SPDX-License-Identifier: MIT */
/*
 * test_nocuda.c - what must hold where there is no GPU, and for work that needs none: nothing of CUDA is
 * loaded for the CPU, what is missing is said in a sentence with its cure, and the program carries its
 * kernels' sources.
 */
#include "folder.h"

#include <stdio.h>

#include "cuda_driver.h"
#include "kernel_source.h"
#include "ops/ops.h"

static bool is_loaded(const char *library) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[ASSAY_PATH_SIZE + 128];
  bool found = false;
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, library) != NULL;
  fclose(maps);
  return found;
}

/* First of all tests: later ones may load what this one looks for. */
static void test_cpu_loads_nothing(void **state) {
  (void)state;
  const float x[6] = {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
  float y[6] = {0.0f};
  assay_queue *queue = NULL;
  assay_message why = {""};
  assert_true(is_loaded("libc.so"));
  assert_int_equal(assay_queue_open_cpu(2, &queue), ASSAY_OK);
  assert_int_equal(assay_strided_softmax(ASSAY_FP32, x, 2, 3, 3, 1, y, 0, queue), ASSAY_OK);
  assert_int_equal(assay_queue_wait(queue), ASSAY_OK);
  assay_queue_close(queue);
  for (int i = 0; i < assay_operator_count; i++) { /* what `list` asks */
    const assay_operator *op = assay_operators[i];
    for (int k = 0; k < op->variant_count; k++) (void)assay_variant_runs_here(&op->variants[k], &why);
  }
  assert_true(y[2] > y[1]);
  assert_false(is_loaded("libcuda.so"));
  assert_false(is_loaded("libnvrtc"));
}

static void test_no_driver(void **state) {
  (void)state;
  assay_message why = {""};
  cuda_device_info info;
  if (assay_cuda_driver(&why) != NULL) {
    print_message("# there is a CUDA driver here\n");
    skip();
  }
  assert_true(strstr(why.text, "install") != NULL || strstr(why.text, "check") != NULL ||
              strstr(why.text, "update") != NULL);
  assert_int_equal(assay_cuda_device(0, &info, &why), ASSAY_UNAVAILABLE);
  assay_queue *queue = (assay_queue *)&why;
  assert_int_equal(assay_queue_open_cuda(0, NULL, &queue), ASSAY_UNAVAILABLE);
  assert_null(queue);
  assert_string_equal(assay_last_error(), why.text);
  const assay_variant variant = {.name = "direct", .backend = ASSAY_CUDA, .lowest_arch = 80};
  assert_false(assay_variant_runs_on(&variant, ASSAY_CUDA, 0, &why));
  assert_non_null(strstr(why.text, "variant direct: "));
}

/* A row made for CUDA serves the emulator where a compiler is, unless it is marked. */
static void test_backends_of_a_row(void **state) {
  (void)state;
  assay_variant variant = {.name = "direct", .backend = ASSAY_CUDA, .lowest_arch = 90};
  const assay_variant plain = {.name = "plain", .backend = ASSAY_CPU};
  assay_message why = {""};
  const char *compiler = getenv("CC");
  char *kept = compiler != NULL ? strdup(compiler) : NULL;
  setenv("CC", "  sh -c", 1);
  assert_true(assay_variant_runs_on(&variant, ASSAY_SIMT, 0, &why));
  assert_true(assay_variant_runs_here(&variant, &why));
  setenv("CC", "no-such-compiler -O2", 1);
  assert_false(assay_variant_runs_on(&variant, ASSAY_SIMT, 0, &why));
  assert_non_null(strstr(why.text, "no-such-compiler was not found: install gcc or clang, or set CC"));
  setenv("CC", "sh", 1);
  variant.cuda_only = true;
  assert_false(assay_variant_runs_on(&variant, ASSAY_SIMT, 0, &why));
  assert_non_null(strstr(why.text, "architecture 9.0"));
  assert_false(assay_variant_runs_on(&variant, ASSAY_CPU, 0, &why));
  assert_non_null(strstr(why.text, "runs on the cuda backend, not on cpu"));
  assert_false(assay_variant_runs_on(&plain, ASSAY_SIMT, 0, &why));
  assert_true(assay_variant_runs_on(&plain, ASSAY_CPU, 0, &why));
  if (kept != NULL) {
    setenv("CC", kept, 1);
  } else {
    unsetenv("CC");
  }
  free(kept);
}

/* ---- sources ------------------------------------------------------------------------------------------- */

static const char *source_folder(void) {
  const char *source = assay_source_folder();
  assert_non_null(source);
  return source;
}

/* What the program carries is what stands in the source folder, byte for byte. */
static void test_embedded(void **state) {
  (void)state;
  bool has_kernel_header = false;
  for (const assay_embedded *file = assay_embedded_files; file->path != NULL; file++) {
    char path[ASSAY_PATH_SIZE];
    assert_true(assay_path_format(path, "%s/%s", source_folder(), file->path));
    assert_int_equal(strlen(file->text), file->bytes);
    holds(path, file->text);
    has_kernel_header = has_kernel_header || strcmp(file->path, "include/assay/kernel.h") == 0;
  }
  assert_true(has_kernel_header);
}

static void test_headers_of_a_source(void **state) {
  (void)state;
  assay_kernel_source source;
  assay_message why = {""};
  assert_true(assay_write_file(in_folder("one.cu"), "int x;\n", 7, 0600));
  assert_int_equal(assay_kernel_source_load(in_folder("one.cu"), &source, &why), ASSAY_OK);
  assert_string_equal(source.text, "int x;\n");
  assert_true(source.header_count >= 6 && source.header_count % 2 == 0);
  assert_true(assay_kernel_source_headers(&source, in_folder("headers")));
  for (int i = 0; i < source.header_count; i += 2) {
    assert_string_equal(source.headers[i].name + strlen("assay/"), source.headers[i + 1].name);
    char path[ASSAY_PATH_SIZE];
    assert_true(assay_path_format(path, "%s/%s", in_folder("headers"), source.headers[i].name));
    holds(path, source.headers[i].text);
  }
  assay_kernel_source_free(&source);
  assert_int_equal(assay_kernel_source_load(in_folder("two.cu"), &source, &why), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(why.text, "two.cu"));
  assert_true(assay_write_file(in_folder("nul.cu"), "a\0b", 3, 0600));
  assert_int_equal(assay_kernel_source_load(in_folder("nul.cu"), &source, &why), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(why.text, "NUL"));
}

/* With ASSAY_SOURCE_DIR the files there count, so that an edit needs no new build; a wrong value is an error.
 */
static void test_source_folder_overrides(void **state) {
  (void)state;
  assay_kernel_source source;
  assay_message why = {""};
  const char *path = "include/assay/kernel.h";
  char *kept = strdup(source_folder());
  assert_non_null(kept);
  assert_true(assay_make_folders(in_folder("include/assay")));
  for (const assay_embedded *file = assay_embedded_files; file->path != NULL; file++) {
    if (strncmp(file->path, "include/", 8) == 0)
      assert_true(assay_write_file(in_folder(file->path), "// new\n", 7, 0600));
  }
  setenv("ASSAY_SOURCE_DIR", folder, 1);
  assert_int_equal(assay_kernel_source_load(path, &source, &why), ASSAY_OK);
  assert_string_equal(source.text, "// new\n");
  assert_string_equal(source.headers[0].text, "// new\n");
  assay_kernel_source_free(&source);
  setenv("ASSAY_SOURCE_DIR", in_folder("nowhere"), 1);
  assert_int_equal(assay_kernel_source_load(path, &source, &why), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(why.text, "ASSAY_SOURCE_DIR"));
  unsetenv("ASSAY_SOURCE_DIR");
  assert_int_equal(assay_kernel_source_load(path, &source, &why), ASSAY_OK);
  assert_non_null(strstr(source.text, "LAUNCH"));
  assay_kernel_source_free(&source);
  setenv("ASSAY_SOURCE_DIR", kept, 1);
  free(kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cpu_loads_nothing), cmocka_unit_test(test_no_driver),
      cmocka_unit_test(test_backends_of_a_row), cmocka_unit_test(test_embedded),
      IN_NEW_FOLDER(test_headers_of_a_source),  IN_NEW_FOLDER(test_source_folder_overrides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
