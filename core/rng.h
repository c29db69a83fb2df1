/* SPDX-License-Identifier: MIT */
/* rng.h - seeded random numbers: xoshiro256++ seeded by splitmix64 (Blackman and Vigna, public domain). */
#ifndef ASSAY_RNG_H
#define ASSAY_RNG_H

#include <stdint.h>

typedef struct assay_rng {
  uint64_t state[4];
} assay_rng;

void assay_rng_seed(assay_rng *rng, uint64_t seed);

/* A seed that depends on both numbers: independent streams for (case, operand, ...). */
uint64_t assay_seed_mix(uint64_t seed, uint64_t salt);

uint64_t assay_rng_next(assay_rng *rng);

/* Uniform in [0, 1) with 53 bits; uniform in [0, bound), bound >= 1; standard normal (polar method). */
double assay_rng_uniform(assay_rng *rng);
uint64_t assay_rng_below(assay_rng *rng, uint64_t bound);
double assay_rng_normal(assay_rng *rng);

#endif
