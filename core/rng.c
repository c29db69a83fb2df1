/* SPDX-License-Identifier: MIT */
/* rng.c - random numbers that are the same on every machine for the same seed. */
#include "rng.h"

#include <assert.h>
#include <math.h>

/* splitmix64: https://prng.di.unimi.it/splitmix64.c */
static uint64_t splitmix64(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, int count) {
  return (value << count) | (value >> (64 - count));
}

void assay_rng_seed(assay_rng *rng, uint64_t seed) {
  for (int k = 0; k < 4; k++) rng->state[k] = splitmix64(&seed);
}

uint64_t assay_seed_mix(uint64_t seed, uint64_t salt) {
  /* Mixed between the two, or (seed + 1, salt - 1) and the like would meet. */
  uint64_t state = splitmix64(&seed) ^ salt;
  return splitmix64(&state);
}

/* xoshiro256++ 1.0: https://prng.di.unimi.it/xoshiro256plusplus.c */
uint64_t assay_rng_next(assay_rng *rng) {
  uint64_t *s = rng->state;
  const uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left(s[3], 45);
  return result;
}

double assay_rng_uniform(assay_rng *rng) {
  return (double)(assay_rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t assay_rng_below(assay_rng *rng, uint64_t bound) {
  assert(bound >= 1);
  /* 2^64 mod bound: without the numbers below it, what is left is a whole number of runs of `bound`. */
  const uint64_t surplus = (UINT64_MAX - bound + 1) % bound;
  uint64_t number = assay_rng_next(rng);
  while (number < surplus) number = assay_rng_next(rng);
  return number % bound;
}

double assay_rng_normal(assay_rng *rng) {
  double x;
  double square;
  do {
    x = 2.0 * assay_rng_uniform(rng) - 1.0;
    const double y = 2.0 * assay_rng_uniform(rng) - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  /* The pair's second number is dropped: a generator's state stays four words that can be copied and
   * compared. */
  return x * sqrt(-2.0 * log(square) / square);
}
