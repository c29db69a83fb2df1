/* SPDX-License-Identifier: MIT */
/* b7_explain.c - a grid for a number of elements, and the thread that owns one of them. */
#include "workshops/beginner.h"
#include "workshops/walkthroughs.h"

enum { COUNT = 0, THREADS, ELEMENT };
enum { MOST_SHOWN = 4 };

static void write_block(FILE *out, int64_t b, int64_t threads, int64_t count) {
  const int64_t first = b * threads;
  const int64_t end = first + threads < count ? first + threads : count;
  fprintf(out, "block %lld: threads 0 to %lld, elements %lld to %lld", (long long)b, (long long)threads - 1,
          (long long)first, (long long)end - 1);
  if (end - first < threads) {
    fprintf(out, "; idle: threads %lld to %lld", (long long)(end - first), (long long)threads - 1);
  }
  fputc('\n', out);
}

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  (void)count;
  if (!assay_beginner_whole(values[COUNT], 0, 1000000000)) {
    return assay_walk_refuse(why, "the count is a whole number from 0 to 1000000000, not %g", values[COUNT]);
  }
  if (!assay_beginner_whole(values[THREADS], 1, 1024)) {
    return assay_walk_refuse(why, "the threads a block are a whole number from 1 to 1024, not %g",
                             values[THREADS]);
  }
  const int64_t elements = (int64_t)values[COUNT];
  const int64_t threads = (int64_t)values[THREADS];
  if (elements > 0 && !assay_beginner_whole(values[ELEMENT], 0, elements - 1)) {
    return assay_walk_refuse(why, "the element is a whole number from 0 to %lld, not %g",
                             (long long)elements - 1, values[ELEMENT]);
  }
  const int64_t blocks = (elements + threads - 1) / threads;
  fprintf(out, "blocks = (%lld + %lld - 1) / %lld = %lld; %lld threads, %lld of them idle\n",
          (long long)elements, (long long)threads, (long long)threads, (long long)blocks,
          (long long)(blocks * threads), (long long)(blocks * threads - elements));
  for (int64_t b = 0; b < blocks; b++) {
    if (blocks > 2 * MOST_SHOWN && b == MOST_SHOWN) {
      fputs("...\n", out);
      b = blocks - MOST_SHOWN;
    }
    write_block(out, b, threads, elements);
  }
  if (elements == 0) {
    fputs("no element, no block: nothing is launched, since a grid of 0 blocks is an error\n", out);
    return true;
  }
  const int64_t i = (int64_t)values[ELEMENT];
  fprintf(out,
          "element %lld: block %lld / %lld = %lld, thread %lld %% %lld = %lld; %lld * %lld + %lld = %lld\n",
          (long long)i, (long long)i, (long long)threads, (long long)(i / threads), (long long)i,
          (long long)threads, (long long)(i % threads), (long long)(i / threads), (long long)threads,
          (long long)(i % threads), (long long)i);
  return true;
}

static const double example[] = {70, 32, 69};

const assay_walkthrough assay_cuda_add_walkthrough = {
    .values = "the number of elements, the threads a block, and one element to be found",
    .least = 3,
    .most = 3,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
