/* SPDX-License-Identifier: MIT */
/* apply_view.c - reads NumPy's notation for views and applies it to shape, strides and pointer. */
#include "apply_view.h"

#include "core/tensor.h"

/* Digits, perhaps behind '-'; a number that is too large becomes the largest, which ranges cut anyway. */
static bool read_number(const char **text, int64_t *number) {
  const char *at = *text;
  const bool negative = *at == '-';
  if (negative) at++;
  if (*at < '0' || *at > '9') return false;
  int64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value))
      value = INT64_MAX;
  }
  *number = negative ? -value : value;
  *text = at;
  return true;
}

/* One axis of a slice. */
typedef struct part {
  bool range;
  bool has_start, has_stop, has_step;
  int64_t start, stop, step;
} part;

/* Up to the next comma or the end; false where the text is no part. */
static bool read_part(const char **text, part *one) {
  *one = (part){.step = 1};
  one->has_start = read_number(text, &one->start);
  if (**text == ':') {
    one->range = true;
    *text += 1;
    one->has_stop = read_number(text, &one->stop);
    if (**text == ':') {
      *text += 1;
      one->has_step = read_number(text, &one->step);
    }
  }
  return (one->range || one->has_start) && (**text == ',' || **text == '\0');
}

/* A bound of a range as NumPy takes it: from the end when negative, then cut to 0..size. */
static int64_t bound(int64_t value, int64_t size) {
  if (value < 0) value += size;
  return value < 0 ? 0 : value > size ? size : value;
}

/* Which elements of an axis a part takes: the first, how many, how far apart. */
typedef struct selection {
  int64_t first, count, step;
} selection;

static bool select_range(const part *one, int64_t size, selection *chosen) {
  if (one->step < 1) return false;
  const int64_t start = one->has_start ? bound(one->start, size) : 0;
  const int64_t stop = one->has_stop ? bound(one->stop, size) : size;
  *chosen = (selection){.first = start, .step = one->step};
  if (start < stop) chosen->count = (stop - start - 1) / one->step + 1;
  return true;
}

static bool select_index(const part *one, int64_t size, selection *chosen) {
  const int64_t index = one->start < 0 ? one->start + size : one->start;
  *chosen = (selection){.first = index, .count = 1, .step = 1};
  return index >= 0 && index < size;
}

/* Adds what the data moves, in elements, to `offset`. */
static void take(assay_tensor *view, int axis, const selection *chosen, int64_t *offset) {
  if (chosen->count > 0) *offset += chosen->first * view->stride[axis];
  view->shape[axis] = chosen->count;
  if (chosen->count > 1) view->stride[axis] *= chosen->step;
}

static void drop_axis(assay_tensor *view, int axis) {
  for (int k = axis; k + 1 < view->rank; k++) {
    view->shape[k] = view->shape[k + 1];
    view->stride[k] = view->stride[k + 1];
  }
  view->rank--;
  view->shape[view->rank] = view->stride[view->rank] = 0;
}

bool view_slice(const char *text, assay_tensor *tensor, assay_message *why) {
  assay_tensor view = *tensor;
  const char *at = text;
  int64_t offset = 0;
  int64_t count = 0;
  int axis = 0; /* of the view so far; indices drop axes, so `seen` counts those of the tensor */
  for (int seen = 0;; seen++) {
    part one;
    selection chosen;
    if (!read_part(&at, &one)) {
      assay_explain(
          why, ASSAY_BAD_OPTION,
          "\"%.60s\" is no slice: write START:STOP:STEP or an index for each axis, as in 0:10:2,:,5", text);
      return false;
    }
    if (seen == tensor->rank) {
      assay_explain(why, ASSAY_BAD_OPTION, "\"%.60s\" is for more axes than there are: %d", text,
                    (int)tensor->rank);
      return false;
    }
    const int64_t size = view.shape[axis];
    if (!(one.range ? select_range(&one, size, &chosen) : select_index(&one, size, &chosen))) {
      if (one.range) {
        assay_explain(why, ASSAY_BAD_OPTION, "\"%.60s\" has a step below 1 for axis %d: it must be 1 or more",
                      text, seen);
      } else {
        assay_explain(why, ASSAY_BAD_OPTION, "\"%.60s\" has an index outside axis %d, whose size is %lld",
                      text, seen, (long long)size);
      }
      return false;
    }
    take(&view, axis, &chosen, &offset);
    if (one.range) {
      axis++;
    } else {
      drop_axis(&view, axis);
    }
    if (*at == '\0') break;
    at++;
  }
  /* An empty view stays where it is: its offset may lead out of the memory. */
  if (assay_tensor_count(&view, &count) && count > 0)
    view.data = (char *)view.data + offset * (int64_t)assay_dtype_size(view.dtype);
  *tensor = view;
  return true;
}

bool view_transpose(const char *text, assay_tensor *tensor, assay_message *why) {
  const assay_tensor from = *tensor;
  int axes[ASSAY_MAX_RANK] = {0};
  unsigned seen = 0;
  bool sound = true;
  if (text == NULL) {
    for (int k = 0; k < from.rank; k++) axes[k] = from.rank - 1 - k;
  } else {
    const char *at = text;
    for (int k = 0; k < from.rank && sound; k++) {
      int64_t axis = -1;
      sound = read_number(&at, &axis) && axis >= 0 && axis < from.rank && (seen & 1u << axis) == 0 &&
              *at == (k + 1 < from.rank ? ',' : '\0');
      if (!sound) break;
      axes[k] = (int)axis;
      seen |= 1u << axis;
      at++;
    }
    if (from.rank == 0) sound = *text == '\0';
  }
  if (!sound) {
    assay_explain(why, ASSAY_BAD_OPTION,
                  "\"%.60s\" is no order of axes: write each of the %d once, as in 1,0, counted from 0", text,
                  (int)from.rank);
    return false;
  }
  for (int k = 0; k < from.rank; k++) {
    tensor->shape[k] = from.shape[axes[k]];
    tensor->stride[k] = from.stride[axes[k]];
  }
  return true;
}
