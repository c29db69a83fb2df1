/* SPDX-License-Identifier: MIT */
/* b0_explain.c - the lesson's table of blocks, offsets and masks, for elements and a block size of the
 * learner's own. */
#include "workshops/beginner.h"

enum { MOST_ELEMENTS = 64 };

static void write_block(FILE *out, const double *x, int count, int block, int b, double scale) {
  fprintf(out, "block %d: offsets", b);
  for (int lane = 0; lane < block; lane++) fprintf(out, " %d", b * block + lane);
  fputs(", mask", out);
  for (int lane = 0; lane < block; lane++) fprintf(out, " %d", b * block + lane < count);
  fprintf(out, ", scale %g: y =", scale);
  for (int lane = 0; lane < block; lane++) {
    const int offset = b * block + lane;
    fputc(' ', out);
    if (offset < count) {
      const double y = x[offset] * scale;
      assay_beginner_list(out, &y, 1);
    } else {
      fputc('-', out);
    }
  }
  fputc('\n', out);
}

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  if (!assay_beginner_whole(values[0], 1, MOST_ELEMENTS)) {
    (void)assay_explain(why, ASSAY_OK,
                        "the first value is the block size, a whole number from 1 to %d, not %g",
                        MOST_ELEMENTS, values[0]);
    return false;
  }
  const int block = (int)values[0];
  const int elements = count - 1;
  const int blocks = (elements + block - 1) / block;
  fprintf(out, "%d elements in blocks of %d: (%d + %d - 1) / %d = %d block%s\n", elements, block, elements,
          block, block, blocks, blocks == 1 ? "" : "s");
  fprintf(out,
          "%d lanes, of which %d are masked; the scale of a block is 10 times that of the block before\n",
          blocks * block, blocks * block - elements);
  double scale = 1;
  for (int b = 0; b < blocks; b++) {
    write_block(out, values + 1, elements, block, b, scale);
    scale *= 10;
  }
  return true;
}

static const double example[] = {4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

const assay_walkthrough assay_offsets_walkthrough = {
    .values = "the block size, then the elements of x",
    .least = 2,
    .most = 1 + MOST_ELEMENTS,
    .example = example,
    .example_count = (int)(sizeof example / sizeof example[0]),
    .write = write_steps,
};
