/* SPDX-License-Identifier: MIT */
/* w6_explain.c - one row of attention with heads of two numbers, a key at a time, as the stream sees it. */
#include <math.h>
#include <stdio.h>

#include "workshops/walkthroughs.h"

enum { MOST_KEYS = 16, A_KEY = 3, QUERY = 2 };

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  const int keys = (count - QUERY) / A_KEY;
  double m = -INFINITY;
  double sum = 0;
  double result = 0;
  if ((count - QUERY) % A_KEY != 0) {
    return assay_walk_refuse(
        why, "2 values of the query and 3 for each key are wanted, and %d are none of it", count);
  }
  fputs("score = q . k / sqrt(2); when the maximum rises, sum and accumulator are scaled before they go on\n",
        out);
  for (int n = 0; n < keys; n++) {
    const double *key = values + QUERY + A_KEY * n;
    const double score = (values[0] * key[0] + values[1] * key[1]) / sqrt(2);
    const double next = fmax(m, score);
    const double scale = n == 0 ? 0 : exp(m - next);
    const double p = exp(score - next);
    sum = sum * scale + p;
    result = result * scale + p * key[2];
    m = next;
    fprintf(out, "key %d: score %g, m %g, scale %g, p %g, sum %g, accumulator %g\n", n, score, m, scale, p,
            sum, result);
  }
  fprintf(out, "o = accumulator / sum = %g\n", result / sum);
  return true;
}

static const double example[] = {1, 1, 1, 0, 10, 0, 2, 20, -1, 1, 30};

const assay_walkthrough assay_streaming_attention_walkthrough = {
    .values = "2 numbers of the query, then for each key its 2 numbers and 1 of its value",
    .least = QUERY + A_KEY,
    .most = QUERY + A_KEY * MOST_KEYS,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
