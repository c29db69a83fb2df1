/* SPDX-License-Identifier: MIT */
/* apply.h - what the files of `assay apply` share: the operands, from a file to the call, and the answer. */
#ifndef ASSAY_APPLY_H
#define ASSAY_APPLY_H

#include "cli.h"
#include "core/npy.h"
#include "core/op.h"

/* The options, by their place in the table. */
enum {
  APPLY_IN = 0,
  APPLY_SLICE,
  APPLY_TRANSPOSE,
  APPLY_OUT,
  APPLY_DTYPE,
  APPLY_SET,
  APPLY_FUNCTION,
  APPLY_VARIANT,
  APPLY_THREADS,
  APPLY_FINITE,
  APPLY_CHECK,
  APPLY_JSON,
  APPLY_OPTIONS
};

/* An input on its way: file, view, conversion, contiguous copy where the operator wants one. */
typedef struct apply_input {
  const char *name; /* of the operand */
  const char *path;
  assay_npy_file file;
  assay_tensor view;   /* what the options chose, in the file's type */
  assay_tensor tensor; /* what the operator gets: the view or a copy of it */
  void *copy;          /* the memory of a copy */
  bool viewed;         /* an option changed the view */
  bool packed;         /* copied, as the operator wants it contiguous or aligned */
  int64_t overflowed;  /* finite numbers that became infinite when they were rounded */
} apply_input;

typedef struct apply_comparison {
  bool done;
  int64_t count;
  int64_t wrong;
  int64_t first; /* wrong element, -1 when there is none */
  double got, want, allowed;
  double ulps;  /* the largest error */
  double share; /* of what is allowed, the largest */
} apply_comparison;

typedef struct apply_job {
  const assay_operator *op;
  int entry;
  const assay_variant *variant;
  apply_input inputs[ASSAY_MAX_OPERANDS];
  int input_count;
  int64_t opt[ASSAY_MAX_OPTIONS];
  assay_tensor out[ASSAY_MAX_OPERANDS];
  const char *out_path;
  char *file; /* the output file: a header, then the elements of out[0] */
  size_t file_bytes;
  bool written;
  apply_comparison comparison;
} apply_job;

/* Where a command's table of options has those that choose operands: the files, the views, the types. */
typedef struct apply_places {
  int in, slice, transpose, dtype, set;
} apply_places;

/* Operator, function, variant, knobs, the number of inputs and the output's path. CLI_OK, or an exit code
 * after an error message; so with the others that give a code. */
int apply_choose(apply_job *job, const cli_args *args, const apply_places *places);

/* One file for each input of the function, and no view in front of its file. */
int apply_count_inputs(const apply_job *job, const cli_args *args, const apply_places *places);

/* Opens the files and applies the views that stand behind each. */
int apply_open_inputs(apply_job *job, const cli_args *args, const apply_places *places);

/* Gives every input the type that is asked for, or leaves it as the file has it. */
int apply_convert_inputs(apply_job *job, const cli_args *args, const apply_places *places);

/* The inputs as the call gets them. */
void apply_tensors(const apply_job *job, assay_tensor *in);

/* Copies the inputs whose own strides the operator refuses, when all others are contiguous, and those that
 * their file has misaligned. out[0] must have its shape. */
bool apply_pack_inputs(apply_job *job, assay_message *why);

/* Behind the operator's sentence about a type: which --dtype it would take. */
void apply_advise_dtype(const apply_job *job, assay_message *why);

/* What can be known of the output's path before anything is computed. */
int apply_examine_output(const apply_job *job);

/* Gives out[0], whose type and shape are known, its data, behind the header in job->file. */
bool apply_allocate_output(apply_job *job, assay_message *why);

/* Replaces the output file, unless a signal comes before it is complete. */
int apply_write_output(apply_job *job);

/* Opens the file. False with a sentence whose subject is the file, as with the others here. */
bool apply_input_open(apply_input *input, const char *name, const char *path, assay_message *why);
void apply_input_close(apply_input *input);

/* Gives the input the type `wanted`, widened or rounded once. `asked` is what --dtype says, or -1: only BF16
 * makes numbers of 16-bit patterns. */
bool apply_input_convert(apply_input *input, assay_dtype wanted, int asked, assay_message *why);

/* Copies the elements into a contiguous, aligned array. */
bool apply_input_pack(apply_input *input, assay_message *why);

/* Refuses a NaN and an infinity, with its place in the view. */
bool apply_input_finite(const apply_input *input, assay_message *why);

/* 64-byte aligned; NULL, with a sentence about `what`, when there is not so much memory. */
void *apply_memory(size_t bytes, const char *what, assay_message *why);

/* "[3,5]" for an element's row-major position. */
enum { APPLY_PLACE_TEXT = 96 };
void apply_place(const assay_tensor *tensor, int64_t flat, char text[APPLY_PLACE_TEXT]);

/* Every element of `got` against the subject's oracle. False when memory for it is missing. */
bool apply_compare(const assay_subject *subject, int entry, const assay_tensor *in, const assay_tensor *out,
                   const int64_t *opt, apply_comparison *result, assay_message *why);

/* The answer on stdout. */
void apply_print(const apply_job *job);
void apply_print_json(const apply_job *job);

#endif
