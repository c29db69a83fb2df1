/* SPDX-License-Identifier: MIT */
/* evidence_sample.h - a report as a benchmark would write it, from invented times that follow a seed. */
#ifndef ASSAY_EVIDENCE_SAMPLE_H
#define ASSAY_EVIDENCE_SAMPLE_H

#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "evidence/pairs.h"
#include "evidence/predict.h"
#include "file.h"
#include "hash.h"
#include "json.h"
#include "ops/ops.h"
#include "rng.h"

typedef struct sample_variant {
  const char *name;
  const char *kind;   /* a word of report_kind_names */
  const char *source; /* relative to the source folder */
  double ns;          /* of a call, in the middle */
} sample_variant;

typedef struct sample_plan {
  int processes, rounds;
  const char *protocol;
  const char *cache;
  const char *mode;
  const char *dtype;
  const char *cpu;
  const char *prediction; /* NULL: none */
  uint64_t seed;
  double noise;     /* of a sample, relative */
  double run_shift; /* factor on all times: a slow day */
  sample_variant variants[4];
  int variant_count;
} sample_plan;

static const sample_plan sample_usual = {
    .processes = 9,
    .rounds = 5,
    .protocol = "assay",
    .cache = "warm",
    .mode = "wall",
    .dtype = "fp32",
    .cpu = "Example CPU",
    .prediction = "64x64: fast < 0.7 * plain",
    .seed = 5,
    .noise = 0.01,
    .run_shift = 1,
    .variants = {{"fast", "library", "core/stats.c", 20000},
                 {"even", "library", "core/hash.c", 40000},
                 {"plain", "baseline", "core/rng.c", 40000}},
    .variant_count = 3,
};

static inline const char *sample_tree(void) {
  const char *tree = assay_source_folder();
  assert_non_null(tree);
  return tree;
}

static inline json_t *sample_samples(const sample_plan *plan, int v, assay_rng *rng) {
  json_t *samples = json_array();
  const bool cold = strcmp(plan->cache, "cold") == 0;
  for (int p = 0; p < plan->processes; p++) {
    for (int r = 0; r < plan->rounds; r++) {
      const double factor = plan->run_shift * exp(plan->noise * assay_rng_normal(rng));
      const json_int_t calls = cold ? 1 : 20;
      const json_int_t ns = (json_int_t)(plan->variants[v].ns * factor * (double)calls);
      json_array_append_new(samples,
                            json_pack("{s:i, s:i, s:i, s:I, s:I}", "process", p, "round", r, "position",
                                      (v + p + r) % plan->variant_count, "calls", calls, "nanoseconds", ns));
    }
  }
  return samples;
}

static inline json_t *sample_variant_json(const sample_plan *plan, int v, assay_rng *rng) {
  char path[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  assert_true(assay_path_format(path, "%s/%s", sample_tree(), plan->variants[v].source));
  assert_true(assay_hash_file(path, hash));
  json_t *gate = json_pack("{s:s, s:s, s:f, s:f, s:i}", "verdict", "PASS", "reason", "", "max_error_ulps",
                           0.5, "max_error_share", 0.25, "compared", 4096);
  json_t *variant = json_object();
  json_object_set_new(variant, "name", json_string(plan->variants[v].name));
  json_object_set_new(variant, "kind", json_string(plan->variants[v].kind));
  json_object_set_new(variant, "knobs", json_object());
  json_object_set_new(variant, "expression", json_string("exp(x - max) / sum"));
  json_object_set_new(variant, "rounding", json_string("once, at the end"));
  json_object_set_new(variant, "sources",
                      json_pack("[{s:s, s:s}]", "path", plan->variants[v].source, "sha256", hash));
  json_object_set_new(variant, "options", json_string("-O2"));
  json_object_set_new(variant, "gate", gate);
  json_object_set_new(variant, "peak_memory_bytes", json_integer(1 << 24));
  json_object_set_new(variant, "context_switches", json_integer(3));
  json_object_set_new(variant, "samples", sample_samples(plan, v, rng));
  json_object_set_new(variant, "statistics", json_null());
  return variant;
}

/* The operator's sizes: two of `size`, any further ones of 1. */
static inline json_t *sample_dims(const char *op, int size) {
  const assay_operator *known = assay_operator_find(op);
  json_t *dims = json_object();
  assert_non_null(known);
  for (int i = 0; i < known->subject.dim_count; i++)
    json_object_set_new(dims, known->subject.dim_names[i], json_integer(i < 2 ? size : 1));
  return dims;
}

static inline json_t *sample_case(const sample_plan *plan, const char *op, int size, assay_rng *rng) {
  char name[64];
  snprintf(name, sizeof name, "%dx%d packed %s", size, size, plan->dtype);
  json_t *one = json_object();
  json_object_set_new(one, "operator", json_string(op));
  json_object_set_new(one, "name", json_string(name));
  json_object_set_new(one, "dtype", json_string(plan->dtype));
  json_object_set_new(one, "dims", sample_dims(op, size));
  json_object_set_new(one, "layout", json_string("packed"));
  json_object_set_new(one, "opt", json_object());
  json_object_set_new(one, "work", json_pack("{s:f, s:f}", "bytes", 32768.0, "flops", 20480.0));
  json_object_set_new(one, "contract", json_string("softmax of every row"));
  json_object_set_new(one, "tolerance", json_string("u_out + (8 + n)*u, relative"));
  json_object_set_new(one, "sampled_gate", json_false());
  json_t *variants = json_array();
  for (int v = 0; v < plan->variant_count; v++)
    json_array_append_new(variants, sample_variant_json(plan, v, rng));
  json_object_set_new(one, "variants", variants);
  json_object_set_new(one, "comparisons", json_array());
  json_object_set_new(one, "skipped",
                      json_pack("[{s:s, s:s}]", "name", "yours", "reason", "it is not written yet"));
  return one;
}

static inline json_t *sample_environment(const sample_plan *plan) {
  json_t *here = json_object();
  json_object_set_new(here, "cpu", json_string(plan->cpu));
  json_object_set_new(here, "features", json_string("avx2, fma"));
  json_object_set_new(here, "caches",
                      json_pack("[{s:i, s:s, s:i}]", "level", 1, "type", "data", "bytes", 32768));
  json_object_set_new(here, "threads", json_integer(2));
  json_object_set_new(here, "pinned", json_true());
  json_object_set_new(here, "pages", json_string("base"));
  json_object_set_new(here, "memory_bytes", json_integer(8589934592));
  json_object_set_new(here, "system", json_string("Linux"));
  json_object_set_new(here, "compiler", json_string("cc"));
  json_object_set_new(here, "built_by", json_string("cc"));
  json_object_set_new(here, "flags", json_string("-O2"));
  json_object_set_new(here, "openmp", json_integer(201511));
  json_object_set_new(here, "load_start", json_real(0.25));
  json_object_set_new(here, "load_end", json_real(0.5));
  json_object_set_new(here, "gpu", json_null());
  return here;
}

/* What follows from the samples, filled in. */
static inline report *sample_finish(const json_t *root) {
  char message[512];
  report *made = report_from_json(root, "sample", message, sizeof message);
  if (made == NULL) fail_msg("%s", message);
  for (int64_t i = 0; i < made->cases.count; i++) {
    report_case *one = &made->cases.items[i];
    const report_variant *baseline = &one->variants.items[one->variants.count - 1];
    free(one->comparisons.items);
    one->comparisons.count = one->variants.count - 1;
    one->comparisons.items = calloc((size_t)one->comparisons.count + 1, sizeof *one->comparisons.items);
    for (int64_t v = 0; v < one->variants.count; v++) {
      report_variant *variant = &one->variants.items[v];
      variant->statistics = calloc(1, sizeof *variant->statistics);
      assert_true(pairs_statistics(variant, variant->statistics));
      if (v == one->variants.count - 1) continue;
      pairs_ratio ratio;
      pairs_of(made, variant, baseline, &ratio);
      one->comparisons.items[v] = (report_comparison){.candidate = strdup(variant->name),
                                                      .baseline = strdup(baseline->name),
                                                      .ratio = ratio.ratio,
                                                      .low = ratio.low,
                                                      .high = ratio.high,
                                                      .confidence = ratio.confidence,
                                                      .verdict = ratio.verdict};
    }
  }
  return made;
}

static inline json_t *sample_prediction(const char *text) {
  static const char created[] = "2026-11-01T10:00:00Z";
  char hash[ASSAY_HASH_TEXT];
  if (text == NULL) return json_null();
  prediction_hash(created, text, hash);
  return json_pack("{s:s, s:s, s:s}", "text", text, "hash", hash, "created", created);
}

/* Two cases of the first operator, 64x64 and 128x128, written to `path`. */
static inline void sample_write(const sample_plan *plan, const char *op, const char *path) {
  assay_rng rng;
  assay_rng_seed(&rng, plan->seed);
  json_t *root = json_object();
  json_object_set_new(root, "format", json_string("assay-report-1"));
  json_object_set_new(root, "created", json_string("2026-11-01T10:00:01Z"));
  json_object_set_new(root, "command",
                      json_pack("[s, s, s, s, s]", "assay", "bench", op, "--cache", plan->cache));
  json_object_set_new(root, "complete", json_true());
  json_object_set_new(root, "seed", json_integer((json_int_t)plan->seed));
  json_object_set_new(root, "protocol",
                      json_pack("{s:s, s:i, s:i, s:i, s:i}", "name", plan->protocol, "processes",
                                plan->processes, "rounds", plan->rounds, "calls", 20, "warmup", 1));
  json_object_set_new(root, "mode", json_string(plan->mode));
  json_object_set_new(root, "cache", json_string(plan->cache));
  json_object_set_new(root, "environment", sample_environment(plan));
  json_object_set_new(root, "git", json_pack("{s:s, s:b}", "revision", "0123456", "dirty", 0));
  json_object_set_new(root, "ceilings",
                      json_pack("[{s:s, s:s, s:f, s:[i, i, i], s:f}, {s:s, s:s, s:f, s:[i, i, i], s:f}]",
                                "name", "copy", "unit", "bytes", "work", 1e6, "samples", 110000, 100000,
                                90000, "rate", 1e6 / 1e-4, "name", "fma", "unit", "flops", "work", 1e7,
                                "samples", 110000, 100000, 90000, "rate", 1e7 / 1e-4));
  json_object_set_new(root, "prediction", sample_prediction(plan->prediction));
  json_object_set_new(root, "label", json_string(plan->prediction != NULL ? "predicted" : "exploratory"));
  json_t *cases = json_array();
  json_array_append_new(cases, sample_case(plan, op, 64, &rng));
  json_array_append_new(cases, sample_case(plan, op, 128, &rng));
  json_object_set_new(root, "cases", cases);
  report *made = sample_finish(root);
  assert_true(report_save(made, path));
  report_free(made);
  json_decref(root);
}

#endif
