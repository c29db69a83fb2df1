/* SPDX-License-Identifier: MIT */
/*
 * report.h - what a benchmark measured, in memory and as schema/report-1.json describes it.
 *
 * Every string and array is owned by the report; report_free gives all of it back. Strings are never NULL
 * unless their comment says so. Times are nanoseconds; a ratio is time(baseline) / time(candidate), so above
 * 1 the candidate is faster.
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/sample.h"

/* The indices of the words in report_fields.c; both stand in the order of the schema. */
typedef enum report_protocol_name { REPORT_ASSAY = 0, REPORT_SEEDS, REPORT_QUICK } report_protocol_name;
typedef enum report_mode { REPORT_WALL = 0, REPORT_EVENTS, REPORT_GRAPH } report_mode;
typedef enum report_cache { REPORT_WARM = 0, REPORT_COLD } report_cache;
typedef enum report_label { REPORT_EXPLORATORY = 0, REPORT_PREDICTED } report_label;
typedef enum report_kind { REPORT_YOURS = 0, REPORT_SOLUTION, REPORT_LIBRARY, REPORT_BASELINE } report_kind;
typedef enum report_verdict {
  REPORT_FASTER = 0,
  REPORT_SLOWER,
  REPORT_SAME,
  REPORT_CANNOT_TELL
} report_verdict;

extern const char *const report_protocol_names[]; /* each list ends with NULL */
extern const char *const report_mode_names[];
extern const char *const report_cache_names[];
extern const char *const report_label_names[];
extern const char *const report_kind_names[];
extern const char *const report_verdict_names[]; /* "faster", "slower", "same", "cannot tell" */
extern const char *const report_dtype_names[];   /* by assay_dtype */

/* An array of `count` strings. */
typedef struct report_texts {
  char **items;
  int64_t count;
} report_texts;

typedef struct report_numbers {
  int64_t *items;
  int64_t count;
} report_numbers;

/* "rows": 256; sizes and options of a case stand in the operator's order. */
typedef struct report_named {
  char *name;
  int64_t value;
} report_named;

typedef struct report_named_list {
  report_named *items;
  int64_t count;
} report_named_list;

typedef struct report_protocol {
  int64_t name; /* report_protocol_name */
  int64_t processes;
  int64_t rounds;
  int64_t calls;  /* of a sample that is neither very long nor very short */
  int64_t warmup; /* calls before each sample, not timed */
} report_protocol;

typedef struct report_cache_size {
  int64_t level;
  char *type; /* "data", "instruction" or "unified" */
  int64_t bytes;
} report_cache_size;

typedef struct report_gpu {
  char *name;
  char *architecture;
  char *driver;
  char *compiler;
  int64_t clock_mhz_most; /* that its driver names; 0: it does not */
} report_gpu;

typedef struct report_environment {
  char *cpu;
  char *features;
  struct {
    report_cache_size *items;
    int64_t count;
  } caches;
  int64_t threads;
  bool pinned;
  char *pages; /* of the operands: "huge" when the system gave them, "base", or "mixed" */
  int64_t memory_bytes;
  char *system;
  char *compiler; /* that built the kernels */
  char *built_by; /* the compiler of this program */
  char *flags;    /* with which the library's variants and the baselines were compiled */
  int64_t openmp; /* 0: none */
  double load_start;
  double load_end; /* average of a minute */
  report_gpu *gpu; /* NULL without one */
} report_environment;

typedef struct report_git {
  char *revision; /* NULL outside a repository */
  bool dirty;     /* files differ from the revision */
} report_git;

/* What the machine can do at most, measured by the same program in the same run. */
typedef struct report_ceiling {
  char *name;             /* "copy", "streaming copy", "fma" */
  char *unit;             /* "bytes" or "flops" */
  double work;            /* units a sample */
  report_numbers samples; /* nanoseconds */
  double rate;            /* units a second: work by the median */
} report_ceiling;

/* What a call costs beside its work: shown, never taken off. Names that begin with "empty " are those of
 * calls to a GPU that do nothing, as the timer of the mode makes them, so that every time holds one. Others
 * say what a call costs by the way that they name, such as from Python, and are in no time. */
typedef struct report_overhead {
  char *name; /* "empty graph node", "empty launch"; "Python call with out" */
  int64_t calls;
  report_numbers samples; /* nanoseconds of so many calls */
  double call_ns;         /* by the median */
} report_overhead;

typedef struct report_prediction {
  char *text;
  char *hash;    /* SHA-256 of created, a newline and the text */
  char *created; /* UTC, before `created` of the report */
} report_prediction;

typedef struct report_source {
  char *path; /* relative to the source folder, or as it was given */
  char *sha256;
} report_source;

typedef struct report_gate {
  char *verdict;          /* a word of check/verdict.h */
  char *reason;           /* "" for PASS */
  double max_error_ulps;  /* of the output type */
  double max_error_share; /* of the allowed error; 1 would be all of it */
  int64_t compared;       /* elements, over all samples and gates */
} report_gate;

/* A call's nanoseconds over all samples of a variant. */
typedef struct report_statistics {
  double median_ns;
  double min_ns;
  double max_ns;
  double mad_ns;
} report_statistics;

typedef struct report_variant {
  char *name;              /* unique in its case */
  int64_t kind;            /* report_kind */
  report_named_list knobs; /* set for this variant, beyond the options of the case */
  char *expression;
  char *rounding;
  struct {
    report_source *items; /* the kernel's own file first */
    int64_t count;
  } sources;
  char *options; /* compiler flags */
  report_gate gate;
  int64_t peak_memory_bytes; /* of the worker process after the variant ran, with all its operands */
  int64_t context_switches;  /* during the timed calls of all samples */
  int64_t graph_nodes;       /* of one call, in mode graph; 0: not known */
  struct {
    bench_sample *items;
    int64_t count;
  } samples;
  report_statistics *statistics; /* NULL without samples */
} report_variant;

typedef struct report_comparison {
  char *candidate;
  char *baseline;
  double ratio;
  double low;        /* NaN (null in the file) when there is no interval */
  double high;       /* the same */
  double confidence; /* 0 when there is no interval */
  int64_t verdict;   /* report_verdict */
} report_comparison;

typedef struct report_skipped {
  char *name; /* of the variant */
  char *reason;
} report_skipped;

/* A file whose elements an operand held, rotated from round to round. */
typedef struct report_input {
  char *operand;
  char *file; /* as it was given */
  char *sha256;
  report_numbers shape; /* of the view of it that was taken */
  report_numbers strides;
} report_input;

typedef struct report_case {
  char *op;      /* "operator" in the file */
  char *name;    /* "1024x1024 transposed fp16": unique in its operator */
  int64_t dtype; /* assay_dtype */
  report_named_list dims;
  char *layout;
  report_named_list opt;
  struct {
    report_input *items;
    int64_t count;
  } inputs; /* none: contents were made from the seed */
  struct {
    double bytes;
    double flops;
  } work; /* of one call, least possible */
  char *contract;
  char *tolerance;
  bool sampled_gate;
  struct {
    report_variant *items;
    int64_t count;
  } variants;
  struct {
    report_comparison *items;
    int64_t count;
  } comparisons;
  struct {
    report_skipped *items;
    int64_t count;
  } skipped;
} report_case;

typedef struct report {
  char *created; /* UTC, "2025-01-31T12:00:00Z": when the run began */
  report_texts command;
  bool complete;
  int64_t seed;
  report_protocol protocol;
  int64_t mode;  /* report_mode */
  int64_t cache; /* report_cache */
  report_environment environment;
  report_git git;
  struct {
    report_ceiling *items;
    int64_t count;
  } ceilings;
  struct {
    report_overhead *items;
    int64_t count;
  } overheads;
  report_prediction *prediction; /* NULL: none was declared */
  int64_t label;                 /* report_label */
  struct {
    report_case *items;
    int64_t count;
  } cases;
} report;

/* Strict: every field must be there, of its type and in its range, and no other. NULL with a message such as
 * "FILE: cases[2].variants[0].samples[3].calls: must be a whole number from 1 up". To be given to
 * report_free. */
report *report_load(const char *path, char *message, size_t message_size);

/* The same from a parsed value, whose messages begin with `name`. */
report *report_from_json(const json_t *value, const char *name, char *message, size_t message_size);

/* A new reference; NULL without memory. */
json_t *report_to_json(const report *self);

/* Atomic; false with errno set. */
bool report_save(const report *self, const char *path);

void report_free(report *self);

/* Nanoseconds of one call. */
double report_call_ns(const bench_sample *sample);

/* The lowest and the highest clock of a GPU in MHz, over the samples of a variant or of the whole report.
 * False, and both 0, when no sample has one. */
typedef struct report_clocks {
  int64_t least, most;
} report_clocks;
bool report_variant_clocks(const report_variant *variant, report_clocks *clocks);
bool report_all_clocks(const report *self, report_clocks *clocks);

/* Whether it is of a call to a GPU that does nothing. */
bool report_overhead_is_empty(const report_overhead *overhead);

/* NULL when there is none of that name. */
const report_variant *report_find_variant(const report_case *one, const char *name);

#endif
