/* SPDX-License-Identifier: MIT */
/* b1_explain.c - where each element of a view lies, for a shape and strides of the learner's own. */
#include "workshops/beginner.h"

enum { ROWS, COLUMNS, ROW_STRIDE, COLUMN_STRIDE, VALUES };
enum { MOST_SIZE = 16, MOST_STRIDE = 1000000 };

static const char *kind_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  if (row_stride == columns && column_stride == 1) return "packed: each row follows the one before";
  if (row_stride == 1 && column_stride == rows) return "a transpose: each column follows the one before";
  if (row_stride == 0 || column_stride == 0) return "repeated: a stride of 0 comes back to the same element";
  if (column_stride == 1 && row_stride > columns) return "sliced: behind each row some elements are left out";
  return "neither packed nor a plain transpose; the formula does not care";
}

static bool write_steps(const double *values, int count, FILE *out, assay_message *why) {
  static const char *const names[] = {"rows", "columns", "row stride", "column stride"};
  (void)count; /* always VALUES */
  for (int i = 0; i < VALUES; i++) {
    const int64_t least = i < ROW_STRIDE ? 1 : 0;
    const int64_t most = i < ROW_STRIDE ? MOST_SIZE : MOST_STRIDE;
    if (assay_beginner_whole(values[i], least, most)) continue;
    (void)assay_explain(why, ASSAY_OK, "value %d, the %s, is a whole number from %d to %d, not %g", i + 1,
                        names[i], (int)least, (int)most, values[i]);
    return false;
  }
  const int64_t rows = (int64_t)values[ROWS];
  const int64_t columns = (int64_t)values[COLUMNS];
  const int64_t row_stride = (int64_t)values[ROW_STRIDE];
  const int64_t column_stride = (int64_t)values[COLUMN_STRIDE];
  fprintf(out, "element (r, c) lies at r * %lld + c * %lld\n", (long long)row_stride,
          (long long)column_stride);
  for (int64_t r = 0; r < rows; r++) {
    fprintf(out, "row %lld:", (long long)r);
    for (int64_t c = 0; c < columns; c++)
      fprintf(out, " %lld", (long long)(r * row_stride + c * column_stride));
    fprintf(out, "   and in the packed output at %lld to %lld\n", (long long)(r * columns),
            (long long)(r * columns + columns - 1));
  }
  fprintf(out, "the view touches storage from 0 to %lld; it is %s\n",
          (long long)((rows - 1) * row_stride + (columns - 1) * column_stride),
          kind_of(rows, columns, row_stride, column_stride));
  return true;
}

static const double example[] = {2, 3, 1, 2};

const assay_walkthrough assay_strides_walkthrough = {
    .values = "rows, columns, row stride, column stride",
    .least = VALUES,
    .most = VALUES,
    .example = example,
    .example_count = VALUES,
    .write = write_steps,
};
