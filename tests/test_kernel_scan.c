/* SPDX-License-Identifier: MIT */
/* test_kernel_scan.c - what the scan of a kernel refuses, on which line, and what it lets pass. */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "kernel_scan.h"

#define START "#include \"assay/kernel.h\"\n#ifdef ASSAY_DEVICE\n"

typedef struct refused {
  const char *text;
  const char *says;
} refused;

static const refused refusals[] = {
    {START "\nKERNEL(k, a, 32) { float m = -INFINITY; }\n",
     "k.cu:4: INFINITY in a kernel: write ASSAY_INFINITY"},
    {START "KERNEL(k, a, 32) {\n  float m = NAN;\n}", "k.cu:4: NAN in"},
    {START "KERNEL(k, a, 32) { float m = FLT_MAX; }", "k.cu:3: FLT_MAX in a kernel: NVRTC has no <limits.h>"},
    {START "KERNEL(k, a, 32) { int64_t m = INT64_MAX; }", "INT64_MAX"},
    {START "#include <math.h>\n", "k.cu:3: #include in a kernel: kernels include \"assay/kernel.h\""},
    {"#include \"assay/kernel.h\"\n#include <stdio.h>\n", "k.cu:2: #include"},
    {START "KERNEL(k, a, 32) { float *restrict p = 0; }", "write __restrict__"},
    {START "_Static_assert(1, \"\");", "write static_assert"},
    {START "KERNEL(k, a, 32) { printf(\"x\"); }", "a kernel does not print"},
    {START "KERNEL(k, a, 32) { void *p = malloc(4); }", "malloc in a kernel"},
    {START "KERNEL(k, a, 32) { int n = _Generic(1, int: 2); }", "_Generic in a kernel"},
    {START "KERNEL(k, a, 32) { typeof(1) n = 2; }", "typeof in a kernel"},
    {START "KERNEL(k, a, 32) { n = __builtin_popcount(3); }", "__builtin_popcount in a kernel"},
    {START "KERNEL(k, a, 32) {\n\n\n  pair p = (pair){1, 2};\n}", "k.cu:6: a compound literal in a kernel"},
    {START "KERNEL(k, a, 32) { f(&(pair){1, 2}); }", "a compound literal"},
    {START "__device__ pair f(void) { return (pair){1, 2}; }", "a compound literal"},
    {START "KERNEL(k, a, 32) { pair p = {.x = 1}; }", "a designated initialiser"},
    {START "KERNEL(k, a, 32) { pair p = {1, .y = 1}; }", "a designated initialiser"},
    {START "KERNEL(k, a, 32) { int p[2] = {[1] = 1}; }", "a designated initialiser"},
    {START "KERNEL(k, a, 32) { int p = ({ 1; }); }", "({ in a kernel"},
    {START "KERNEL(k, a, 32) { int p = n ?: 1; }", "?: in a kernel"},
    {START "static float twice(float x) {\n  return 2 * x;\n}\n",
     "k.cu:3: a function in a kernel: without __device__"},
    {START "__device__ float f(float x) { return x; }\nfloat g(float x) { return x; }\n",
     "k.cu:4: a function"},
    {START "KERNEL(k, a, 32) {}\nfloat g(float x) { return x; }\n", "k.cu:4: a function"},
    {START "KERNEL(k, a, 32) { extern __shared__ float p[]; }", "write DYNAMIC_SHARED(name)"},
    {START "__global__ void k(a args) {}", "write KERNEL"},
    {START "KERNEL(k, a, 32) { asm volatile(\"\"); }", "PTX cannot be emulated"},
    {START "KERNEL(k, a, 32) { int n = min(1, 2); }", "min in a kernel"},
    {START "template <int N> __device__ int f() { return N; }", "template in a kernel"},
    {START "#define BIG INFINITY\n", "k.cu:3: INFINITY"},
    {START "#define LONG(x) \\\n  ((x) + \\\n  NAN)\n", "k.cu:5: NAN"},
    {START "#ifdef ASSAY_EMULATED\n#else\n float x = NAN;\n#endif\n", "k.cu:5: NAN"},
    {START "#if !defined(ASSAY_EMULATED)\n float x = NAN;\n#endif\n", "k.cu:4: NAN"},
    {START "#endif\nstruct s { int n; } s = {.n = 1};\n", "k.cu:4: a designated"},
    {START "/* INFINITY\n\n*/ float x = // NAN\n  NAN;", "k.cu:6: NAN"},
    {START "const char *s = \"\\\"NAN\"; float x = NAN + 0;\nfloat y = INFINITY;", "k.cu:3: NAN"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    assay_message why = {""};
    const assay_status status = assay_kernel_scan("folder/k.cu", refusals[i].text, &why);
    if (status != ASSAY_KERNEL_FAULT || strstr(why.text, refusals[i].says) == NULL)
      fail_msg("%s\nis judged %s '%s', not '%s'", refusals[i].text, assay_status_name(status), why.text,
               refusals[i].says);
  }
}

static const char *const accepted[] = {
    "",
    START,
    START "#endif",
    START
    "#else\n#include <stdio.h>\nassay_status f(void) { x = (pair){.x = INFINITY}; printf(\"\"); }\n#endif\n",
    "#ifndef ASSAY_DEVICE\n#include <math.h>\nfloat f(void) { return NAN; }\n#else\n#endif\n",
    "#if defined(ASSAY_DEVICE)\n#else\nfloat f(void) { return NAN; }\n#endif\n",
    START "#ifdef ASSAY_EMULATED\n float x = INFINITY;\n#endif\n",
    START "#ifndef ASSAY_EMULATED\n asm volatile(\"\");\n#endif\n",
    START "/* INFINITY */ // NAN\nconst char *text = \"NAN \\\" INFINITY\"; char c = '\"';\n",
    START
    "typedef struct pair { int x, y; } pair;\nKERNEL(k, a, 32) { pair p = {1, 2}; p.x = 3; q->x = .5f; }",
    START "static __device__ __forceinline__ float f(float x) { return x; }",
    START "KERNEL(k, a, 32) { for (;;) { if (x) { y(); } else { z(); } while (a[i]) { } switch (b) { } do { "
          "} while (c); } }",
    START "KERNEL(k, a, 32) { int n = c ? d : e; float v[2][2] = {{1, 2}, {3, 4}}; }",
    START "#if TILE > 3\nKERNEL(k, a, 32) {\n#else\nKERNEL(k, a, 64) {\n#endif\n  x();\n}\n__device__ void "
          "g(void) {}\n",
    START "KERNEL(k, a, 32) { float INFINITY_like = 1e-5f + 0x1p-3f, x_NAN = 1.; }",
    START "#pragma unroll\n#define BOTH(x) ((x) + 1)\n#error no\n",
    START "KERNEL(k, a, 32) { if (__builtin_expect(x, 1)) { } }",
    START "#define TWICE(x) if (x) { y(); }\n#define OPEN(x) f(x) {\nKERNEL(k, a, 32) { TWICE(1) }\n",
    START "enum { M = 3, N = M * 2 };\nstruct s { int n; };\n",
};

static void test_accepted(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; ++i) {
    assay_message why = {""};
    if (assay_kernel_scan("k.cu", accepted[i], &why) != ASSAY_OK)
      fail_msg("%s\nis refused: %s", accepted[i], why.text);
  }
}

/* Text may end anywhere; a sanitizer sees what is read beyond. Only half an #include is wrong. */
static void test_cut(void **state) {
  (void)state;
  static const char whole[] = START "KERNEL(k, a, 32) { extern int e; /* c */ s(\"a\\\"b\", 'c', 1.5e-3f); "
                                    "// d\n#define X \\\n 1\n#if (\n}";
  for (size_t length = 0; length < sizeof whole; ++length) {
    char *text = strndup(whole, length);
    assay_message why = {""};
    assert_non_null(text);
    const bool half_include = length >= strlen("#include") && length < strlen("#include \"assay/kernel.h\"");
    assert_int_equal(assay_kernel_scan("k.cu", text, &why), half_include ? ASSAY_KERNEL_FAULT : ASSAY_OK);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
