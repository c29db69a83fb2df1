/* SPDX-License-Identifier: MIT */
/* b5_explain.c - which tile owns which elements, and its steps along K, for sizes of the learner's own. */
#include "workshops/beginner.h"

enum { TILE, M, N, K, VALUES };
enum { MOST_SIZE = 32 };

/* "0 to 3", or "4" for a range of one. */
static void write_range(FILE *out, int first, int tile, int count) {
  const int last = first + tile < count ? first + tile - 1 : count - 1;
  if (first == last) {
    fprintf(out, "%d", first);
  } else {
    fprintf(out, "%d to %d", first, last);
  }
}

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  static const char *const names[] = {"the tile", "M", "N", "K"};
  int size[VALUES];
  (void)count; /* always VALUES */
  for (int i = 0; i < VALUES; i++) {
    if (!assay_beginner_whole(values[i], 1, MOST_SIZE)) {
      (void)assay_explain(why, ASSAY_OK, "value %d, %s, is a whole number from 1 to %d, not %g", i + 1,
                          names[i], MOST_SIZE, values[i]);
      return false;
    }
    size[i] = (int)values[i];
  }
  const int tile = size[TILE];
  const int across = (size[N] + tile - 1) / tile;
  fprintf(out, "c is %d x %d in tiles of %d: %d x %d tiles, each in %d steps along K = %d\n", size[M],
          size[N], tile, (size[M] + tile - 1) / tile, across, (size[K] + tile - 1) / tile, size[K]);
  for (int m = 0; m < size[M]; m += tile) {
    for (int n = 0; n < size[N]; n += tile) {
      fprintf(out, "tile (%d, %d) owns rows ", m / tile, n / tile);
      write_range(out, m, tile, size[M]);
      fputs(", columns ", out);
      write_range(out, n, tile, size[N]);
      fputs("; steps:", out);
      for (int k = 0; k < size[K]; k += tile) {
        fputs(k == 0 ? " k " : ", k ", out);
        write_range(out, k, tile, size[K]);
        fprintf(out, " with scale[%d, %d]", k / tile, n / tile);
      }
      fputc('\n', out);
    }
  }
  return true;
}

static const double example[] = {2, 2, 3, 3};

const assay_walkthrough assay_matmul_walkthrough = {
    .values = "the tile, then M, N and K",
    .least = VALUES,
    .most = VALUES,
    .example = example,
    .example_count = VALUES,
    .write = write_steps,
};
