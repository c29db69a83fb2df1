/* SPDX-License-Identifier: MIT */
/* cpu.c - CPU features that the operating system supports too, the model's name, the default thread count. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { THREADS_MOST = 1024 };

typedef struct feature_name {
  const char *name;
  uint32_t feature;
} feature_name;

static const feature_name feature_names[] = {
    {"avx2", ASSAY_CPU_AVX2}, {"avx512", ASSAY_CPU_AVX512}, {"avx512bf16", ASSAY_CPU_AVX512_BF16}};
enum { FEATURE_COUNT = sizeof feature_names / sizeof feature_names[0] };

#if defined(__x86_64__)

/* The state components that the operating system saves, and so lets programs use. */
static uint64_t enabled_states(void) {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static bool has(uint32_t bits, uint32_t wanted) {
  return (bits & wanted) == wanted;
}

static uint32_t detect(void) {
  const uint64_t ymm_states = 0x06; /* SSE and AVX */
  const uint64_t zmm_states = 0xe6; /* those, the mask registers and both parts of ZMM */
  uint32_t eax;
  uint32_t ebx;
  uint32_t ecx;
  uint32_t edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return 0;
  if (!has(ecx, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C)) return 0;
  const uint64_t states = enabled_states();
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return 0;
  if (!has(ebx, bit_AVX2) || (states & ymm_states) != ymm_states) return 0;
  uint32_t features = ASSAY_CPU_AVX2;
  if (has(ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL) &&
      (states & zmm_states) == zmm_states) {
    features |= ASSAY_CPU_AVX512;
    const uint32_t bf16 = 1u << 5; /* in EAX of subleaf 1, which older compilers have no name for */
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && has(eax, bf16)) features |= ASSAY_CPU_AVX512_BF16;
  }
  return features;
}

#else

static uint32_t detect(void) {
  return 0;
}

#endif

/* The features that `text` names; other words in it name none. */
static uint32_t features_named_in(const char *text) {
  uint32_t named = 0;
  while (*text != '\0') {
    const size_t length = strcspn(text, " ,+");
    for (size_t k = 0; k < FEATURE_COUNT; ++k) {
      const char *name = feature_names[k].name;
      if (strlen(name) == length && strncmp(text, name, length) == 0) named |= feature_names[k].feature;
    }
    text += length;
    text += strspn(text, " ,+");
  }
  return named;
}

uint32_t assay_cpu_features(void) {
  static _Atomic uint32_t cache;
  const uint32_t known = 1u << 31; /* tells a cached 0 from an empty cache */
  uint32_t features = atomic_load_explicit(&cache, memory_order_relaxed);
  if (features == 0) {
    features = detect();
    /* The variable only takes features away: a test can force a slower path, nothing can force a crash. */
    const char *allowed = getenv("ASSAY_CPU_FEATURES");
    if (allowed != NULL && allowed[0] != '\0') features &= features_named_in(allowed);
    features |= known;
    atomic_store_explicit(&cache, features, memory_order_relaxed); /* every thread would store the same */
  }
  return features & ~known;
}

const char *assay_cpu_feature_names(uint32_t features) {
  static _Thread_local char text[64];
  size_t used = 0;
  text[0] = '\0';
  for (size_t k = 0; k < FEATURE_COUNT; ++k) {
    if ((features & feature_names[k].feature) == 0) continue;
    const int n =
        snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", feature_names[k].name);
    used += (size_t)n;
  }
  return used > 0 ? text : "none";
}

static char model[128] = "unknown";

static void read_model(void) {
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (file == NULL) return;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    const char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || value == NULL) continue;
    value += strspn(value, ": \t");
    const size_t length = strcspn(value, "\n");
    if (length > 0) snprintf(model, sizeof model, "%.*s", (int)length, value);
    break;
  }
  fclose(file);
}

const char *assay_cpu_model(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_model);
  return model;
}

/* The first number of OMP_NUM_THREADS (it may be a list, one number a nesting level), 0 when there is none.
 */
static long threads_asked_for(void) {
  const char *text = getenv("OMP_NUM_THREADS");
  if (text == NULL) return 0;
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  end += strspn(end, " \t");
  const bool number = end != text && (*end == '\0' || *end == ',');
  if (!number || value <= 0) return 0;
  return value; /* LONG_MAX on overflow: still more than anybody's limit */
}

static long cpus_allowed(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return sysconf(_SC_NPROCESSORS_ONLN); /* the kernel's mask is wider than cpu_set_t */
}

int assay_default_threads(void) {
  long threads = threads_asked_for();
  if (threads == 0) threads = cpus_allowed();
  if (threads < 1) return 1;
  return threads < THREADS_MOST ? (int)threads : THREADS_MOST;
}
