/* SPDX-License-Identifier: MIT */
/* test_nvrtc.c - the compiler of CUDA kernels, without a GPU: what it makes, what it says, where it is found.
 */
#include "folder.h"

#include <limits.h>
#include <stdio.h>

#include "kernel_source.h"
#include "nvrtc.h"

static const assay_nvrtc *nvrtc;

/* Without a compiler there is nothing to test: `./setup test` installs one. */
static int find_compiler(void **state) {
  (void)state;
  assay_message why;
  nvrtc = assay_nvrtc_find(INT_MAX, &why);
  if (nvrtc == NULL) print_message("# %s\n", why.text);
  return 0;
}

static void needs_compiler(void) {
  if (nvrtc == NULL) skip();
}

static assay_status compile(const char *text, const char *target, const assay_define *defines,
                            assay_nvrtc_result *result, assay_message *why) {
  assay_kernel_source source;
  assert_true(assay_write_file(in_folder("sample.cu"), text, strlen(text), 0600));
  assert_int_equal(assay_kernel_source_load(in_folder("sample.cu"), &source, why), ASSAY_OK);
  assert_string_equal(source.text, text);
  const assay_nvrtc_request request = {.file = "work/sample.cu",
                                       .text = source.text,
                                       .headers = source.headers,
                                       .header_count = source.header_count,
                                       .defines = defines,
                                       .target = target};
  const assay_status status = assay_nvrtc_compile(nvrtc, &request, result, why);
  assay_kernel_source_free(&source);
  return status;
}

static const char sample[] =
    "#include \"assay/kernel.h\"\n"
    "typedef struct scale_args { const void *x; void *y; int64_t count; } scale_args;\n"
    "KERNEL(scale, scale_args, 32 * WARPS) {\n"
    "  __shared__ float part[WARPS];\n"
    "  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = (float)args.count;\n"
    "  __syncthreads();\n"
    "  if (i < args.count)\n"
    "    element_store((element *)args.y, i,\n"
    "                  part[threadIdx.x / 32] * element_load((const element *)args.x, i));\n"
    "}\n";

static const assay_define sample_defines[] = {{"WARPS", 4}, {"DTYPE", ASSAY_BF16}, {NULL, 0}};

static void test_machine_code(void **state) {
  (void)state;
  needs_compiler();
  assay_nvrtc_result result;
  assay_nvrtc_usage usage;
  assay_message why = {""};
  assert_int_equal(compile(sample, "sm_90a", sample_defines, &result, &why), ASSAY_OK);
  assert_true(result.image_bytes > 100);
  assert_memory_equal(result.image, "\177ELF", 4);
  assert_true(assay_nvrtc_usage_of(result.log, "scale", &usage));
  assert_in_range(usage.registers, 8, 64);
  assert_int_equal(usage.shared_bytes, 16);
  assert_int_equal(usage.spill_bytes, 0);
  assert_int_equal(usage.remarks, 0);
  assert_false(assay_nvrtc_usage_of(result.log, "scal", &usage));
  assay_nvrtc_free(&result);
  assert_int_equal(compile(sample, "compute_90", sample_defines, &result, &why), ASSAY_OK);
  assert_non_null(strstr(result.image, ".target sm_90"));
  assay_nvrtc_free(&result);
}

static void test_errors(void **state) {
  (void)state;
  needs_compiler();
  static const struct {
    const char *text;
    const char *says;
  } cases[] = {
      {"#include \"assay/kernel.h\"\n\nint f(void) { return missing; }\n", "work/sample.cu(3): error"},
      {"#include <stdint.h>\n", "stdint.h"},
      {"#include \"assay/kernel.h\"\n#error no way\n", "no way"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assay_nvrtc_result result;
    assay_message why = {""};
    assert_int_equal(compile(cases[i].text, "sm_80", sample_defines, &result, &why), ASSAY_KERNEL_FAULT);
    assert_null(result.image);
    assert_non_null(strstr(result.log, cases[i].says));
    if (strstr(why.text, cases[i].says) == NULL) fail_msg("'%s' does not hold '%s'", why.text, cases[i].says);
    assert_null(strchr(why.text, '\n'));
    assay_nvrtc_free(&result);
  }
  /* An architecture that no compiler knows is its failure, not the source's. */
  assay_nvrtc_result result;
  assay_message why = {""};
  assert_int_equal(compile(sample, "sm_1", sample_defines, &result, &why), ASSAY_UNAVAILABLE);
  assert_non_null(strstr(why.text, "NVRTC"));
  assay_nvrtc_free(&result);
  const assay_define too_long[] = {
      {"A_NAME_THAT_IS_LONGER_THAN_WHAT_ANY_KNOB_OF_A_KERNEL_IS_CALLED_IN_THE_WHOLE_OF_THIS_LIBRARY_SO_FAR",
       1},
      {NULL, 0}};
  assert_int_equal(compile(sample, "sm_80", too_long, &result, &why), ASSAY_KERNEL_FAULT);
  assay_nvrtc_free(&result);
}

static void test_spill_is_seen(void **state) {
  (void)state;
  needs_compiler();
  const char *text = "#include \"assay/kernel.h\"\n"
                     "typedef struct spill_args { float *x; int step; } spill_args;\n"
                     "extern \"C\" __global__ void __launch_bounds__(1024, 2) spill(spill_args args) {\n"
                     "  float kept[96];\n"
                     "  for (int i = 0; i < 96; i++) kept[i] = args.x[i * args.step + threadIdx.x];\n"
                     "  __syncthreads();\n"
                     "  for (int k = 0; k < 96; k++)\n"
                     "    for (int i = 0; i < 96; i++) kept[i] = kept[i] * kept[(i + 1) % 96] + kept[k];\n"
                     "  for (int i = 0; i < 96; i++) args.x[i * args.step + threadIdx.x] = kept[95 - i];\n"
                     "}\n";
  assay_nvrtc_result result;
  assay_nvrtc_usage usage;
  assay_message why = {""};
  assert_int_equal(compile(text, "sm_90a", sample_defines, &result, &why), ASSAY_OK);
  assert_true(assay_nvrtc_usage_of(result.log, "spill", &usage));
  assert_in_range(usage.registers, 1, 32);
  assert_true(usage.spill_bytes + usage.stack_bytes > 0);
  assay_nvrtc_free(&result);
}

static void test_usage_of_text(void **state) {
  (void)state;
  const char *log = "ptxas info    : 0 bytes gmem\n"
                    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
                    "ptxas info    : Function properties for first\n"
                    "ptxas         .     16 bytes stack frame, 24 bytes spill stores, 8 bytes spill loads\n"
                    "ptxas info    : Used 168 registers, used 4 barriers, 4096 bytes smem\n"
                    "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n"
                    "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
                    "ptxas info    : Function properties for second\n"
                    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                    "ptxas info    : Used 26 registers, used 1 barriers\n"
                    "work/x.cu(7): warning: variable \"ABC75\" is never used, C7 and C75 neither\n"
                    "ptxas info    : (C7511) serialized";
  assay_nvrtc_usage usage;
  assert_true(assay_nvrtc_usage_of(log, "first", &usage));
  assert_int_equal(usage.registers, 168);
  assert_int_equal(usage.shared_bytes, 4096);
  assert_int_equal(usage.stack_bytes, 16);
  assert_int_equal(usage.spill_bytes, 32);
  assert_int_equal(usage.remarks, 2);
  assert_non_null(strstr(usage.remark, "C7508"));
  assert_true(assay_nvrtc_usage_of(log, "second", &usage));
  assert_int_equal(usage.registers, 26);
  assert_int_equal(usage.shared_bytes, 0);
  assert_int_equal(usage.spill_bytes, 0);
  assert_int_equal(usage.remarks, 2);
  assert_false(assay_nvrtc_usage_of(log, "third", &usage));
  assert_false(assay_nvrtc_usage_of("", "first", &usage));
}

static void test_targets(void **state) {
  (void)state;
  needs_compiler();
  char target[32];
  assert_true(assay_nvrtc_target(nvrtc, 80, target));
  assert_string_equal(target, "sm_80");
  assert_true(assay_nvrtc_target(nvrtc, 89, target));
  assert_string_equal(target, "sm_89");
  assert_true(assay_nvrtc_target(nvrtc, 90, target));
  assert_string_equal(target, "sm_90a");
  assert_true(assay_nvrtc_target(nvrtc, 999, target)); /* a device of the future gets PTX */
  assert_memory_equal(target, "compute_", 8);
  assert_true(atoi(target + 8) >= 90);
  assert_false(assay_nvrtc_target(nvrtc, 20, target));
}

static void test_versions(void **state) {
  (void)state;
  needs_compiler();
  int major = 0;
  int minor = 0;
  assay_message why = {""};
  assay_nvrtc_version(nvrtc, &major, &minor);
  assert_true(major >= 11 && minor >= 0);
  assert_non_null(strstr(assay_nvrtc_path(nvrtc), "nvrtc"));
  assay_nvrtc_place *places = calloc(ASSAY_NVRTC_MOST, sizeof *places);
  assert_non_null(places);
  const int count = assay_nvrtc_places(places);
  assert_in_range(count, 1, ASSAY_NVRTC_MOST);
  bool listed = false;
  for (int i = 0; i < count; i++) listed = listed || strcmp(places[i].path, assay_nvrtc_path(nvrtc)) == 0;
  assert_true(listed);
  free(places);
  assert_null(assay_nvrtc_find(5, &why)); /* a driver of long ago */
  assert_non_null(strstr(why.text, "newer than the driver"));
  assert_non_null(strstr(why.text, "CUDA 5"));
  assert_ptr_equal(assay_nvrtc_find(INT_MAX, &why), nvrtc); /* and it is not loaded twice */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_machine_code),     IN_NEW_FOLDER(test_errors),     IN_NEW_FOLDER(test_spill_is_seen),
      cmocka_unit_test(test_usage_of_text), cmocka_unit_test(test_targets), cmocka_unit_test(test_versions),
  };
  return cmocka_run_group_tests(tests, find_compiler, NULL);
}
