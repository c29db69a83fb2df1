/* SPDX-License-Identifier: MIT */
/* report_fields.c - the tables of a report's fields, in the order in which they are written. */
#include "report_fields.h"

#include <limits.h>

#include "report.h"

const char report_format[] = "assay-report-1";

const char *const report_protocol_names[] = {"assay", "seeds", "quick", NULL};
const char *const report_mode_names[] = {"wall", "events", "graph", NULL};
const char *const report_cache_names[] = {"warm", "cold", NULL};
const char *const report_label_names[] = {"exploratory", "predicted", NULL};
const char *const report_kind_names[] = {"yours", "solution", "library", "baseline", NULL};
const char *const report_verdict_names[] = {"faster", "slower", "same", "cannot tell", NULL};
const char *const report_dtype_names[] = {"fp32", "fp16", "bf16", "fp64", NULL};

static const char *const page_words[] = {"huge", "base", "mixed", NULL};
static const char *const cache_words[] = {"data", "instruction", "unified", NULL};
static const char *const unit_words[] = {"bytes", "flops", NULL};
static const char *const gate_words[] = {"PASS",    "FAIL",  "TODO",    "UNAVAILABLE",
                                         "SUSPECT", "CRASH", "TIMEOUT", NULL};

#define AT(type, member) offsetof(type, member)
#define TEXT(type, member)                                                                                   \
  { .name = #member, .kind = FIELD_TEXT, .offset = AT(type, member) }
#define WORD(type, member, list)                                                                             \
  { .name = #member, .kind = FIELD_TEXT, .offset = AT(type, member), .words = (list) }
#define BOOLEAN(type, member)                                                                                \
  { .name = #member, .kind = FIELD_BOOLEAN, .offset = AT(type, member) }
#define WHOLE(type, member, least)                                                                           \
  { .name = #member, .kind = FIELD_WHOLE, .offset = AT(type, member), .low = (least) }
/* From 1 up; 0 in memory is what is left out of the file. */
#define OPTIONAL_WHOLE(type, member)                                                                         \
  { .name = #member, .kind = FIELD_WHOLE, .optional = true, .offset = AT(type, member), .low = 1 }
#define NUMBER(type, member)                                                                                 \
  { .name = #member, .kind = FIELD_NUMBER, .offset = AT(type, member) }
#define CHOICE(type, member, list)                                                                           \
  { .name = #member, .kind = FIELD_CHOICE, .offset = AT(type, member), .words = (list) }
#define OBJECT(type, member, table)                                                                          \
  { .name = #member, .kind = FIELD_OBJECT, .offset = AT(type, member), .fields = (table) }
#define OBJECT_OR_NULL(type, member, table)                                                                  \
  {                                                                                                          \
    .name = #member, .kind = FIELD_OBJECT_OR_NULL, .offset = AT(type, member), .fields = (table),            \
    .size = sizeof *((type *)0)->member                                                                      \
  }
#define LIST(type, member, table)                                                                            \
  {                                                                                                          \
    .name = #member, .kind = FIELD_LIST, .offset = AT(type, member), .fields = (table),                      \
    .size = sizeof *((type *)0)->member.items                                                                \
  }
#define OTHER(type, member, kind_)                                                                           \
  { .name = #member, .kind = (kind_), .offset = AT(type, member) }
#define END                                                                                                  \
  { .name = NULL }

static const report_field protocol_fields[] = {
    CHOICE(report_protocol, name, report_protocol_names),
    WHOLE(report_protocol, processes, 1),
    WHOLE(report_protocol, rounds, 1),
    WHOLE(report_protocol, calls, 1),
    WHOLE(report_protocol, warmup, 0),
    END,
};

static const report_field cache_fields[] = {
    WHOLE(report_cache_size, level, 1),
    WORD(report_cache_size, type, cache_words),
    WHOLE(report_cache_size, bytes, 1),
    END,
};

static const report_field gpu_fields[] = {
    TEXT(report_gpu, name),
    TEXT(report_gpu, architecture),
    TEXT(report_gpu, driver),
    TEXT(report_gpu, compiler),
    OPTIONAL_WHOLE(report_gpu, clock_mhz_most),
    END,
};

static const report_field environment_fields[] = {
    TEXT(report_environment, cpu),
    TEXT(report_environment, features),
    LIST(report_environment, caches, cache_fields),
    WHOLE(report_environment, threads, 1),
    BOOLEAN(report_environment, pinned),
    WORD(report_environment, pages, page_words),
    WHOLE(report_environment, memory_bytes, 0),
    TEXT(report_environment, system),
    TEXT(report_environment, compiler),
    TEXT(report_environment, built_by),
    TEXT(report_environment, flags),
    WHOLE(report_environment, openmp, 0),
    NUMBER(report_environment, load_start),
    NUMBER(report_environment, load_end),
    OBJECT_OR_NULL(report_environment, gpu, gpu_fields),
    END,
};

static const report_field git_fields[] = {
    OTHER(report_git, revision, FIELD_TEXT_OR_NULL),
    BOOLEAN(report_git, dirty),
    END,
};

static const report_field ceiling_fields[] = {
    TEXT(report_ceiling, name),
    WORD(report_ceiling, unit, unit_words),
    NUMBER(report_ceiling, work),
    {.name = "samples", .kind = FIELD_WHOLES, .offset = AT(report_ceiling, samples), .low = 1},
    NUMBER(report_ceiling, rate),
    END,
};

static const report_field overhead_fields[] = {
    TEXT(report_overhead, name),
    WHOLE(report_overhead, calls, 1),
    {.name = "samples", .kind = FIELD_WHOLES, .offset = AT(report_overhead, samples), .low = 1},
    NUMBER(report_overhead, call_ns),
    END,
};

static const report_field prediction_fields[] = {
    TEXT(report_prediction, text),
    OTHER(report_prediction, hash, FIELD_HASH),
    OTHER(report_prediction, created, FIELD_TIME),
    END,
};

static const report_field source_fields[] = {
    TEXT(report_source, path),
    OTHER(report_source, sha256, FIELD_HASH),
    END,
};

static const report_field gate_fields[] = {
    WORD(report_gate, verdict, gate_words), TEXT(report_gate, reason),
    NUMBER(report_gate, max_error_ulps),    NUMBER(report_gate, max_error_share),
    WHOLE(report_gate, compared, 0),        END,
};

static const report_field sample_fields[] = {
    WHOLE(bench_sample, process, 0),
    WHOLE(bench_sample, round, 0),
    WHOLE(bench_sample, position, 0),
    WHOLE(bench_sample, calls, 1),
    WHOLE(bench_sample, nanoseconds, 1),
    OPTIONAL_WHOLE(bench_sample, sm_mhz),
    END,
};

static const report_field statistics_fields[] = {
    NUMBER(report_statistics, median_ns),
    NUMBER(report_statistics, min_ns),
    NUMBER(report_statistics, max_ns),
    NUMBER(report_statistics, mad_ns),
    END,
};

static const report_field variant_fields[] = {
    TEXT(report_variant, name),
    CHOICE(report_variant, kind, report_kind_names),
    {.name = "knobs", .kind = FIELD_NAMED, .offset = AT(report_variant, knobs), .low = INT64_MIN},
    TEXT(report_variant, expression),
    TEXT(report_variant, rounding),
    LIST(report_variant, sources, source_fields),
    TEXT(report_variant, options),
    OBJECT(report_variant, gate, gate_fields),
    WHOLE(report_variant, peak_memory_bytes, 0),
    WHOLE(report_variant, context_switches, 0),
    OPTIONAL_WHOLE(report_variant, graph_nodes),
    LIST(report_variant, samples, sample_fields),
    OBJECT_OR_NULL(report_variant, statistics, statistics_fields),
    END,
};

static const report_field comparison_fields[] = {
    TEXT(report_comparison, candidate),
    TEXT(report_comparison, baseline),
    NUMBER(report_comparison, ratio),
    OTHER(report_comparison, low, FIELD_NUMBER_OR_NULL),
    OTHER(report_comparison, high, FIELD_NUMBER_OR_NULL),
    NUMBER(report_comparison, confidence),
    CHOICE(report_comparison, verdict, report_verdict_names),
    END,
};

static const report_field skipped_fields[] = {
    TEXT(report_skipped, name),
    TEXT(report_skipped, reason),
    END,
};

static const report_field work_fields[] = {
    {.name = "bytes", .kind = FIELD_NUMBER, .offset = AT(report_case, work.bytes) - AT(report_case, work)},
    {.name = "flops", .kind = FIELD_NUMBER, .offset = AT(report_case, work.flops) - AT(report_case, work)},
    END,
};

static const report_field input_fields[] = {
    TEXT(report_input, operand),
    TEXT(report_input, file),
    OTHER(report_input, sha256, FIELD_HASH),
    OTHER(report_input, shape, FIELD_WHOLES),
    OTHER(report_input, strides, FIELD_WHOLES),
    END,
};

static const report_field case_fields[] = {
    {.name = "operator", .kind = FIELD_TEXT, .offset = AT(report_case, op)},
    TEXT(report_case, name),
    CHOICE(report_case, dtype, report_dtype_names),
    {.name = "dims", .kind = FIELD_NAMED, .offset = AT(report_case, dims), .low = 0},
    TEXT(report_case, layout),
    {.name = "opt", .kind = FIELD_NAMED, .offset = AT(report_case, opt), .low = INT64_MIN},
    {.name = "inputs",
     .kind = FIELD_LIST,
     .optional = true,
     .offset = AT(report_case, inputs),
     .fields = input_fields,
     .size = sizeof(report_input)},
    OBJECT(report_case, work, work_fields),
    TEXT(report_case, contract),
    TEXT(report_case, tolerance),
    BOOLEAN(report_case, sampled_gate),
    LIST(report_case, variants, variant_fields),
    LIST(report_case, comparisons, comparison_fields),
    LIST(report_case, skipped, skipped_fields),
    END,
};

const report_field report_fields[] = {
    OTHER(report, created, FIELD_TIME),
    OTHER(report, command, FIELD_TEXTS),
    BOOLEAN(report, complete),
    WHOLE(report, seed, 0),
    OBJECT(report, protocol, protocol_fields),
    CHOICE(report, mode, report_mode_names),
    CHOICE(report, cache, report_cache_names),
    OBJECT(report, environment, environment_fields),
    OBJECT(report, git, git_fields),
    LIST(report, ceilings, ceiling_fields),
    {.name = "overheads",
     .kind = FIELD_LIST,
     .optional = true,
     .offset = AT(report, overheads),
     .fields = overhead_fields,
     .size = sizeof(report_overhead)},
    OBJECT_OR_NULL(report, prediction, prediction_fields),
    CHOICE(report, label, report_label_names),
    LIST(report, cases, case_fields),
    END,
};
