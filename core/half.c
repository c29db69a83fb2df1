/* SPDX-License-Identifier: MIT */
/*
 * half.c - the judge's rounding, by arithmetic in double alone.
 *
 * A magnitude lies on a grid whose step is a power of two. Adding 1.5 * 2^52 steps and taking them away again
 * makes the processor itself round to a multiple of the step, ties to even, in one rounding. The processor
 * also rounds double to float, so FP32 needs no more than a cast. Needs the default rounding mode and no
 * fast-math.
 */
#include "half.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct float_format {
  int fraction;     /* bits behind the leading one */
  int min_exponent; /* of the smallest normal value */
  double unit_roundoff;
  double min_normal;
  double max_finite;
  double overflow;  /* the smallest magnitude that rounds to infinity */
  double half_step; /* half the distance of subnormals */
} float_format;

/* Half of FP64's smallest step is not a double; the whole step bounds it. */
static const float_format formats[ASSAY_DTYPE_COUNT] = {
    [ASSAY_FP32] = {23, -126, 0x1p-24, 0x1p-126, 0x1.fffffep127, 0x1.ffffffp127, 0x1p-150},
    [ASSAY_FP16] = {10, -14, 0x1p-11, 0x1p-14, 65504.0, 65520.0, 0x1p-25},
    [ASSAY_BF16] = {7, -126, 0x1p-8, 0x1p-126, 0x1.fep127, 0x1.ffp127, 0x1p-134},
    [ASSAY_FP64] = {52, -1022, 0x1p-53, DBL_MIN, DBL_MAX, (double)INFINITY, 0x1p-1074},
};

static const float_format *format_of(assay_dtype dtype) {
  assert((unsigned)dtype < ASSAY_DTYPE_COUNT);
  return &formats[dtype];
}

/* 2^exponent for the steps of FP32 and the 16-bit types: two look-ups, where ldexp would be a call. */
static double power_of_two(int exponent) {
  static const double sixteens[] = {0x1p-160, 0x1p-144, 0x1p-128, 0x1p-112, 0x1p-96, 0x1p-80,
                                    0x1p-64,  0x1p-48,  0x1p-32,  0x1p-16,  0x1p0,   0x1p16,
                                    0x1p32,   0x1p48,   0x1p64,   0x1p80,   0x1p96,  0x1p112};
  static const double ones[] = {0x1p0, 0x1p1, 0x1p2,  0x1p3,  0x1p4,  0x1p5,  0x1p6,  0x1p7,
                                0x1p8, 0x1p9, 0x1p10, 0x1p11, 0x1p12, 0x1p13, 0x1p14, 0x1p15};
  assert(exponent >= -160 && exponent < 128);
  const unsigned index = (unsigned)(exponent + 160);
  return sixteens[index / 16] * ones[index % 16];
}

/* The exponent of the grid that a finite magnitude lies on: its own, or that of the smallest normal value. */
static int grid_exponent(const float_format *format, double magnitude) {
  if (magnitude < format->min_normal) return format->min_exponent;
  int exponent;
  frexp(magnitude, &exponent); /* magnitude = f * 2^exponent with f in [0.5, 1) */
  return exponent - 1;
}

static double round_to_step(double magnitude, double step) {
  const double anchor = 0x1.8p52 * step; /* between it and 2^53 * step, doubles are `step` apart */
  return (magnitude + anchor) - anchor;
}

static double round_to_16(const float_format *format, double value) {
  if (isnan(value)) return value;
  const double magnitude = fabs(value);
  if (magnitude >= format->overflow) return copysign((double)INFINITY, value);
  const double step = power_of_two(grid_exponent(format, magnitude) - format->fraction);
  return copysign(round_to_step(magnitude, step), value);
}

static uint16_t encode_16(const float_format *format, double value) {
  const unsigned sign = signbit(value) ? 0x8000u : 0u;
  const unsigned one =
      1u << format->fraction; /* the pattern of the smallest normal, and one exponent apart */
  const unsigned infinity = 0x8000u - one;
  if (isnan(value)) return (uint16_t)(sign + infinity + one / 2);
  const double magnitude = fabs(value);
  if (magnitude >= format->overflow) return (uint16_t)(sign + infinity);
  const int exponent = grid_exponent(format, magnitude);
  const double step = power_of_two(exponent - format->fraction);
  /* From one exponent to the next the patterns count on: units of 2 * one are the next exponent's first. */
  const unsigned units = (unsigned)(round_to_step(magnitude, step) / step);
  return (uint16_t)(sign + (unsigned)(exponent - format->min_exponent) * one + units);
}

static double decode_16(const float_format *format, uint64_t bits) {
  const unsigned one = 1u << format->fraction;
  const unsigned rest = (unsigned)(bits & 0x7fff);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const unsigned units = rest & (one - 1);
  const int exponent = (int)(rest >> format->fraction); /* biased: 0 for subnormals */
  if (rest >= 0x8000u - one) return copysign(units != 0 ? (double)NAN : (double)INFINITY, sign);
  const int smallest = format->min_exponent - format->fraction;
  if (exponent == 0) return sign * units * power_of_two(smallest);
  return sign * (one + units) * power_of_two(smallest + exponent - 1);
}

double assay_round_to(assay_dtype dtype, double value) {
  const float_format *format = format_of(dtype);
  if (dtype == ASSAY_FP64) return value;
  if (dtype == ASSAY_FP32) return (double)(float)value;
  return round_to_16(format, value);
}

uint64_t assay_encode(assay_dtype dtype, double value) {
  const float_format *format = format_of(dtype);
  if (dtype == ASSAY_FP64) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  if (dtype == ASSAY_FP32) {
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
  }
  return encode_16(format, value);
}

double assay_decode(assay_dtype dtype, uint64_t bits) {
  const float_format *format = format_of(dtype);
  if (dtype == ASSAY_FP64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (dtype == ASSAY_FP32) {
    const uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    return (double)value;
  }
  return decode_16(format, bits);
}

double assay_get(const void *data, assay_dtype dtype, int64_t index) {
  const float_format *format = format_of(dtype);
  const char *base = data;
  if (dtype == ASSAY_FP32) {
    float value;
    memcpy(&value, base + index * (int64_t)sizeof value, sizeof value);
    return (double)value;
  }
  if (dtype == ASSAY_FP64) {
    double value;
    memcpy(&value, base + index * (int64_t)sizeof value, sizeof value);
    return value;
  }
  uint16_t bits;
  memcpy(&bits, base + index * (int64_t)sizeof bits, sizeof bits);
  return decode_16(format, bits);
}

void assay_put(void *data, assay_dtype dtype, int64_t index, double value) {
  const float_format *format = format_of(dtype);
  char *base = data;
  if (dtype == ASSAY_FP32) {
    const float narrow = (float)value;
    memcpy(base + index * (int64_t)sizeof narrow, &narrow, sizeof narrow);
  } else if (dtype == ASSAY_FP64) {
    memcpy(base + index * (int64_t)sizeof value, &value, sizeof value);
  } else {
    const uint16_t bits = encode_16(format, value);
    memcpy(base + index * (int64_t)sizeof bits, &bits, sizeof bits);
  }
}

double assay_unit_roundoff(assay_dtype dtype) {
  return format_of(dtype)->unit_roundoff;
}

double assay_min_normal(assay_dtype dtype) {
  return format_of(dtype)->min_normal;
}

double assay_max_finite(assay_dtype dtype) {
  return format_of(dtype)->max_finite;
}

double assay_ulp(assay_dtype dtype, double value) {
  const float_format *format = format_of(dtype);
  const double magnitude = fabs(assay_round_to(dtype, value));
  if (!isfinite(magnitude)) return magnitude;
  const int exponent = grid_exponent(format, magnitude) - format->fraction;
  return dtype == ASSAY_FP64 ? ldexp(1.0, exponent) : power_of_two(exponent);
}

double assay_rounding_error(assay_dtype dtype, double value) {
  const float_format *format = format_of(dtype);
  const double magnitude = fabs(value);
  return magnitude < format->min_normal ? format->half_step : magnitude * format->unit_roundoff;
}
