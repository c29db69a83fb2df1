/* SPDX-License-Identifier: MIT */
/* predict_check.c - a claim is supported or refuted only when the whole interval lies on one side of its
 * factor. */
#include "predict_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pairs.h"

const char *const claim_fate_names[] = {"supported", "refuted", "cannot tell", NULL};

void report_case_sizes(const report_case *one, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int64_t i = 0; i < one->dims.count && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? "x" : "",
                             (long long)one->dims.items[i].value);
  }
}

/* Whether `text` holds the word of `length` bytes, between blanks or its ends. */
static bool has_word(const char *text, const char *word, size_t length) {
  for (const char *at = text; *at != '\0';) {
    at += strspn(at, " ,");
    const size_t here = strcspn(at, " ,");
    if (here == length && memcmp(at, word, length) == 0) return true;
    at += here;
  }
  return false;
}

bool report_case_matches(const report_case *one, const char *shape) {
  char sizes[128];
  report_case_sizes(one, sizes, sizeof sizes);
  for (const char *at = shape; *at != '\0';) {
    at += strspn(at, " ,");
    const size_t length = strcspn(at, " ,");
    if (length == 0) break;
    if (!has_word(one->name, at, length) && !has_word(sizes, at, length) &&
        !has_word(one->layout, at, length) && !has_word(report_dtype_names[one->dtype], at, length) &&
        !has_word(one->op, at, length)) {
      return false;
    }
    at += length;
  }
  return true;
}

/* The interval of time(left) / time(right); the range of all processes where the protocol has no interval. */
static const char *measure(const report *from, const report_case *one, claim_result *result) {
  const report_variant *left = report_find_variant(one, result->claim->left);
  const report_variant *right = report_find_variant(one, result->claim->right);
  if (left == NULL || left->samples.count == 0) return "the first variant was not measured here";
  if (right == NULL || right->samples.count == 0) return "the second variant was not measured here";
  pairs_ratio ratio;
  pairs_of(from, right, left, &ratio);
  result->ratio = ratio.ratio;
  result->low = ratio.low;
  result->high = ratio.high;
  if (from->protocol.name == REPORT_SEEDS) return "one process is too few to judge a claim";
  return isnan(ratio.low) ? "too few processes for an interval: run the whole protocol" : "";
}

static void judge(const report *from, const report_case *one, claim_result *result) {
  result->one = one;
  result->fate = CLAIM_CANNOT_TELL;
  result->ratio = result->low = result->high = (double)NAN;
  result->reason = one == NULL ? "the report has no such shape" : measure(from, one, result);
  if (result->reason[0] != '\0') return;
  /* A short run's range is no interval: it must clear the factor by the margin of its verdicts. */
  const double margin = from->protocol.name == REPORT_QUICK ? 1.05 : 1.0;
  const double factor = result->claim->factor;
  const bool under = result->high * margin < factor;
  const bool over = result->low > factor * margin;
  if (!under && !over) {
    result->reason = "the interval holds the factor";
  } else {
    result->fate = under == result->claim->below ? CLAIM_SUPPORTED : CLAIM_REFUTED;
  }
}

void prediction_judge(const report *from, const prediction *declared, claim_sink *sink, void *user) {
  for (int c = 0; c < declared->count; c++) {
    claim_result result = {.claim = &declared->claims[c]};
    int about = 0;
    for (int64_t i = 0; i < from->cases.count; i++) {
      if (!report_case_matches(&from->cases.items[i], result.claim->shape)) continue;
      judge(from, &from->cases.items[i], &result);
      sink(user, &result);
      about++;
    }
    if (about > 0) continue;
    judge(from, NULL, &result);
    sink(user, &result);
  }
}
