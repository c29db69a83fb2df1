/* SPDX-License-Identifier: MIT */
/* kernel_words.c - two tables, tried against NVRTC 13.0 and against C. */
#include "kernel_words.h"

#include <stdbool.h>
#include <string.h>

typedef struct refused_word {
  const char *word; /* a star at its end stands for any rest */
  const char *advice;
} refused_word;

static const char no_limits[] = "NVRTC has no <limits.h>, <float.h> or <math.h>: write the number";
static const char c_only[] = "C++ does not have it";
static const char no_heap[] = "a kernel gets its memory from the host function";
static const char no_printing[] = "a kernel does not print: 'assay trace' shows what its warps do";
static const char cxx_only[] = "kernels are written in the part that C and C++ share";
static const char no_vectors[] = "kernel.h has vector16 for 16 bytes";

static const refused_word nvrtc_words[] = {
    {"INFINITY", "write ASSAY_INFINITY"},
    {"NAN", "write ASSAY_NAN"},
    {"HUGE_VAL", "write ASSAY_INFINITY"},
    {"HUGE_VALF", "write ASSAY_INFINITY"},
    {"FLT_*", no_limits},
    {"DBL_*", no_limits},
    {"M_*", no_limits},
    {"INT_MAX", no_limits},
    {"INT_MIN", no_limits},
    {"UINT_MAX", no_limits},
    {"CHAR_BIT", no_limits},
    {"SIZE_MAX", no_limits},
    {"INT8_M*", no_limits},
    {"INT16_M*", no_limits},
    {"INT32_M*", no_limits},
    {"INT64_M*", no_limits},
    {"UINT8_M*", no_limits},
    {"UINT16_M*", no_limits},
    {"UINT32_M*", no_limits},
    {"UINT64_M*", no_limits},
    {"INT64_C", no_limits},
    {"UINT64_C", no_limits},
    {"restrict", "write __restrict__"},
    {"_Static_assert", "write static_assert"},
    {"_Bool", "write bool"},
    {"_Alignas", "write __align__(bytes)"},
    {"_Alignof", c_only},
    {"_Generic", c_only},
    {"_Thread_local", c_only},
    {"_Atomic", "use atomicAdd and its kin"},
    {"_Complex", c_only},
    {"_Noreturn", c_only},
    {"typeof", "write the type"},
    {"__typeof__", "write the type"},
    {"__auto_type", "write the type"},
    {"register", c_only},
    {"intptr_t", "use int64_t"},
    {"int_fast*", "use int32_t or int64_t"},
    {"uint_fast*", "use uint32_t or uint64_t"},
    {"uint", "write unsigned"},
    {"offsetof", c_only},
    {"alloca", no_heap},
    {"malloc", no_heap},
    {"calloc", no_heap},
    {"free", no_heap},
    {"printf", no_printing},
    {"puts", no_printing},
    {"memmove", "of <string.h> a kernel has memcpy and memset"},
    {"memcmp", "of <string.h> a kernel has memcpy and memset"},
    {"strlen", "of <string.h> a kernel has memcpy and memset"},
    {"__int128", "NVRTC has it only with an option"},
    {"__asm__", "write asm"},
    {"__builtin_*", "the GPU's compiler has other built-in functions; kernel.h has __popc, __clz and __ffs"},
};

static const refused_word emulator_words[] = {
    {"asm", "PTX cannot be emulated: put it between #ifndef ASSAY_EMULATED and #endif"},
    {"__global__", "write KERNEL(name, struct, most threads)"},
    {"assert", "a kernel has no assert: let it write what the host can judge"},
    {"min", "write fminf, or a comparison"},
    {"max", "write fmaxf, or a comparison"},
    {"alignas", "write __align__(bytes)"},
    {"auto", cxx_only},
    {"bitand", cxx_only},
    {"bitor", cxx_only},
    {"class", cxx_only},
    {"const_cast", cxx_only},
    {"constexpr", cxx_only},
    {"decltype", cxx_only},
    {"delete", cxx_only},
    {"explicit", cxx_only},
    {"friend", cxx_only},
    {"namespace", cxx_only},
    {"new", cxx_only},
    {"nullptr", "write NULL"},
    {"operator", cxx_only},
    {"private", cxx_only},
    {"protected", cxx_only},
    {"public", cxx_only},
    {"reinterpret_cast", "write a cast in C's form, (type *)value"},
    {"static_cast", "write a cast in C's form, (type)value"},
    {"template", "use defines of the launch instead"},
    {"this", cxx_only},
    {"throw", cxx_only},
    {"try", cxx_only},
    {"typename", cxx_only},
    {"using", cxx_only},
    {"virtual", cxx_only},
    {"float2", no_vectors},
    {"float4", no_vectors},
    {"int4", no_vectors},
    {"uint4", no_vectors},
    {"make_float4", no_vectors},
    {"make_uint4", no_vectors},
    {"dim3", "the host function says assay_dim(x)"},
};

static const char *find(const refused_word *table, size_t count, const char *word, size_t length) {
  for (size_t i = 0; i < count; i++) {
    const char *known = table[i].word;
    const size_t known_length = strlen(known);
    const bool any_rest = known[known_length - 1] == '*';
    const size_t compared = any_rest ? known_length - 1 : known_length;
    if ((any_rest ? length > compared : length == compared) && memcmp(word, known, compared) == 0)
      return table[i].advice;
  }
  return NULL;
}

const char *assay_word_refused_by_nvrtc(const char *word, size_t length) {
  static const char expect[] = "__builtin_expect";
  if (length == strlen(expect) && memcmp(word, expect, length) == 0) return NULL;
  return find(nvrtc_words, sizeof nvrtc_words / sizeof nvrtc_words[0], word, length);
}

const char *assay_word_refused_by_emulator(const char *word, size_t length) {
  return find(emulator_words, sizeof emulator_words / sizeof emulator_words[0], word, length);
}
