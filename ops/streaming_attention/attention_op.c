/* SPDX-License-Identifier: MIT */
/* attention_op.c - the descriptor of streaming attention: validation, layouts of cases, variants, the typed
 * call. */
#include "attention_gpu.h"

#include "cpu.h"
#include "tensor.h"

enum { HEAD_SIZE_MOST = 256, WORKSHOP_ROWS = 2048 };

static const char *const in_names[] = {"q", "k", "v"};

/* ---- validation ---------------------------------------------------------------------------------------- */

static assay_status validate_options(const int64_t *opt, assay_message *why) {
  if (opt == NULL) return ASSAY_OK;
  const int64_t causal = opt[ASSAY_STREAMING_ATTENTION_CAUSAL];
  const int64_t block_n = opt[ASSAY_STREAMING_ATTENTION_BLOCK_N];
  if (causal != 0 && causal != 1) {
    return assay_explain(why, ASSAY_BAD_OPTION, "causal is %lld; it must be 0 or 1", (long long)causal);
  }
  if (block_n != 0 && block_n != 32 && block_n != 64) {
    return assay_explain(why, ASSAY_BAD_OPTION, "block_n is %lld; it must be 32, 64, or 0 for the default",
                         (long long)block_n);
  }
  return ASSAY_OK;
}

static assay_status validate_dtypes(const assay_tensor *in, const assay_tensor *o, assay_message *why) {
  const assay_dtype dtype = in[0].dtype;
  if (dtype != ASSAY_FP16 && dtype != ASSAY_BF16) {
    return assay_explain(why, ASSAY_BAD_DTYPE, "q is %s; it must be fp16 or bf16", assay_dtype_name(dtype));
  }
  for (int i = 1; i <= ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    const bool output = i == ASSAY_STREAMING_ATTENTION_INPUTS;
    const assay_dtype other = output ? o->dtype : in[i].dtype;
    if (other == dtype) continue;
    return assay_explain(why, ASSAY_BAD_DTYPE, "%s is %s and q is %s; all operands must be of one type",
                         output ? "o" : in_names[i], assay_dtype_name(other), assay_dtype_name(dtype));
  }
  return ASSAY_OK;
}

/* The sizes of q; those of the others are held to them. */
static assay_status validate_sizes(const assay_tensor *q, assay_limits limits, assay_message *why) {
  const long long n = q->shape[q->rank - 2];
  const long long d = q->shape[q->rank - 1];
  for (int i = 0; i < q->rank - 1; i++) {
    if (q->shape[i] >= 0) continue;
    return assay_explain(why, ASSAY_BAD_SHAPE, "size %d of q is %lld; it must be 0 or more", i,
                         (long long)q->shape[i]);
  }
  if (d < 1 || d > HEAD_SIZE_MOST) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "d, the last size of q, is %lld; it must be 1 to %d", d,
                         HEAD_SIZE_MOST);
  }
  if (limits == ASSAY_LIMITS_LIBRARY) return ASSAY_OK;
  if (d != 16 && d != 32 && d != 64) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "d is %lld; the workshop takes 16, 32 and 64", d);
  }
  if (n > WORKSHOP_ROWS) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "q has %lld rows; the workshop takes 0 to %d", n,
                         WORKSHOP_ROWS);
  }
  return ASSAY_OK;
}

static assay_status validate_shapes(const assay_tensor *in, const assay_tensor *o, assay_limits limits,
                                    assay_message *why) {
  const assay_tensor *q = &in[ASSAY_STREAMING_ATTENTION_Q];
  if (q->rank != 2 && (q->rank != 4 || limits == ASSAY_LIMITS_WORKSHOP)) {
    return assay_explain(why, ASSAY_BAD_SHAPE, "q has rank %d; it must be %s", (int)q->rank,
                         limits == ASSAY_LIMITS_WORKSHOP ? "2" : "2 or 4");
  }
  const assay_status status = validate_sizes(q, limits, why);
  if (status != ASSAY_OK) return status;
  for (int i = 1; i <= ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    const bool output = i == ASSAY_STREAMING_ATTENTION_INPUTS;
    const assay_tensor *other = output ? o : &in[i];
    const char *name = output ? "o" : in_names[i];
    if (other->rank != q->rank) {
      return assay_explain(why, ASSAY_BAD_SHAPE, "%s has rank %d and q has rank %d; they must be the same",
                           name, (int)other->rank, (int)q->rank);
    }
    for (int k = 0; k < q->rank; k++) {
      if (other->shape[k] == q->shape[k]) continue;
      return assay_explain(why, ASSAY_BAD_SHAPE, "size %d of %s is %lld and of q %lld; they must be the same",
                           k, name, (long long)other->shape[k], (long long)q->shape[k]);
    }
  }
  return ASSAY_OK;
}

static assay_status validate_input_strides(const assay_tensor *input, const char *name, assay_message *why) {
  const int inner = input->rank - 1;
  if (input->shape[inner] > 1 && input->stride[inner] != 1) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "the inner stride of %s is %lld; it must be 1", name,
                         (long long)input->stride[inner]);
  }
  for (int i = 0; i < inner; i++) {
    if (input->stride[i] >= 0) continue;
    return assay_explain(why, ASSAY_BAD_STRIDE, "stride %d of %s is %lld; it must be 0 or more", i, name,
                         (long long)input->stride[i]);
  }
  int64_t extent = 0;
  if (!assay_tensor_extent(input, &extent)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "%s spans more than the address space with its strides",
                         name);
  }
  return ASSAY_OK;
}

static assay_status validate_output_strides(const assay_tensor *o, assay_message *why) {
  int64_t extent = 0;
  if (!assay_tensor_extent(o, &extent)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "o spans more than the address space");
  }
  if (!assay_tensor_contiguous(o)) {
    return assay_explain(why, ASSAY_BAD_STRIDE, "o must be contiguous: rows of d elements without gaps");
  }
  return ASSAY_OK;
}

static assay_status validate_pointer(const assay_tensor *tensor, const char *name, assay_message *why) {
  if (tensor->data == NULL) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is NULL; it must point to its first element", name);
  }
  if ((uintptr_t)tensor->data % assay_dtype_size(tensor->dtype) != 0) {
    return assay_explain(why, ASSAY_BAD_POINTER, "%s is not aligned to its elements of %zu bytes", name,
                         assay_dtype_size(tensor->dtype));
  }
  return ASSAY_OK;
}

static assay_status validate_memory(const assay_tensor *in, const assay_tensor *o, assay_message *why) {
  int64_t count = 0;
  if (assay_tensor_count(o, &count) && count == 0) return ASSAY_OK; /* nothing is read or written */
  assay_status status = ASSAY_OK;
  for (int i = 0; status == ASSAY_OK && i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    status = validate_pointer(&in[i], in_names[i], why);
  }
  if (status == ASSAY_OK) status = validate_pointer(o, "o", why);
  if (status != ASSAY_OK) return status;
  const assay_span written = assay_tensor_span(o);
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    const assay_span read = assay_tensor_span(&in[i]);
    if (read.lo < written.hi && written.lo < read.hi) {
      return assay_explain(why, ASSAY_BAD_ALIAS, "o overlaps %s in memory; the output must be separate",
                           in_names[i]);
    }
  }
  return ASSAY_OK;
}

static assay_status validate(int entry, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                             assay_limits limits, assay_message *why) {
  (void)entry; /* there is one */
  const assay_tensor *o = &out[ASSAY_STREAMING_ATTENTION_O];
  assay_status status = validate_options(opt, why);
  if (status == ASSAY_OK) status = validate_dtypes(in, o, why);
  if (status == ASSAY_OK) status = validate_shapes(in, o, limits, why);
  for (int i = 0; status == ASSAY_OK && i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    status = validate_input_strides(&in[i], in_names[i], why);
  }
  if (status == ASSAY_OK) status = validate_output_strides(o, why);
  if (status == ASSAY_OK) status = validate_memory(in, o, why);
  return status;
}

/* As the first input. */
static assay_tensor shape_out(int entry, const assay_tensor *in) {
  (void)entry; /* there is one */
  return assay_tensor_make(NULL, in[0].dtype, in[0].rank, in[0].shape);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

const char *const assay_attention_layout_names[] = {"packed", "pitched", "interleaved", "shared", "windows"};

/* Strides of one input in the order batch, head, row. */
static void layout_strides(const assay_row *row, assay_attention_layout layout, int operand,
                           int64_t stride[3]) {
  const int64_t n = row->dims[ASSAY_ATTENTION_N];
  const int64_t d = row->dims[ASSAY_ATTENTION_D];
  const int64_t heads = row->dims[ASSAY_ATTENTION_HEADS];
  const bool query = operand == ASSAY_STREAMING_ATTENTION_Q;
  stride[2] = d;
  if (layout == ASSAY_ATTENTION_PITCHED) {
    const int64_t pitch[ASSAY_STREAMING_ATTENTION_INPUTS] = {d + 5, d + 8, 2 * d + 1};
    stride[2] = pitch[operand];
  }
  if (layout == ASSAY_ATTENTION_INTERLEAVED) stride[2] = heads > 0 ? heads * d : 3 * d;
  if (layout == ASSAY_ATTENTION_WINDOWS && !query) stride[2] = operand;
  if (layout == ASSAY_ATTENTION_SHARED && operand == ASSAY_STREAMING_ATTENTION_K && heads == 0) stride[2] = 0;
  /* Overlapping rows keep their heads apart by whole rows: otherwise all heads would look alike. */
  const int64_t gap = layout == ASSAY_ATTENTION_PITCHED ? 3 + operand : 0;
  stride[1] = n * (stride[2] > d ? stride[2] : d) + gap;
  stride[0] = heads * stride[1] + gap;
  if (layout == ASSAY_ATTENTION_INTERLEAVED) {
    stride[1] = d;
    stride[0] = n * stride[2];
  }
  if (layout == ASSAY_ATTENTION_SHARED && !query) stride[0] = stride[1] = 0;
}

static void plan(const assay_row *row, assay_dtype dtype, int layout, assay_plan *result) {
  const int64_t n = row->dims[ASSAY_ATTENTION_N];
  const int64_t d = row->dims[ASSAY_ATTENTION_D];
  const int64_t heads = row->dims[ASSAY_ATTENTION_HEADS];
  const int64_t batch = row->dims[ASSAY_ATTENTION_BATCH];
  assay_operand_plan any = {.dtype = dtype, .rank = 2, .shape = {n, d}, .shift = row->shift};
  assay_operand_plan of_four = {
      .dtype = dtype, .rank = 4, .shape = {batch, heads, n, d}, .shift = row->shift};
  if (heads != 0 || batch != 0) any = of_four;
  for (int i = 0; i <= ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    const bool output = i == ASSAY_STREAMING_ATTENTION_INPUTS;
    assay_operand_plan *operand = output ? &result->out[0] : &result->in[i];
    int64_t stride[3];
    layout_strides(row, output ? ASSAY_ATTENTION_PACKED : (assay_attention_layout)layout, i, stride);
    *operand = any;
    for (int k = 0; k < any.rank - 1; k++) operand->stride[k] = stride[3 - (any.rank - 1) + k];
    operand->stride[any.rank - 1] = 1;
  }
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static const assay_knob knobs[] = {
    {.opt = ASSAY_STREAMING_ATTENTION_CAUSAL, .value_count = 1, .values = {1}},
    {.opt = ASSAY_STREAMING_ATTENTION_BLOCK_N, .value_count = 2, .values = {32, 64}},
};

enum { KNOBS = sizeof knobs / sizeof knobs[0] };

static const assay_variant variants[] = {
#if defined(__x86_64__)
    {.name = "avx512",
     .note = "blocked: 14 x 32 products, softmax across queries, K and V packed once a head",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX512,
     .knobs = knobs,
     .knob_count = KNOBS,
     .entry = {assay_attention_avx512}},
    {.name = "avx2",
     .note = "blocked: 6 x 16 products, softmax across queries, K and V packed once a head",
     .backend = ASSAY_CPU,
     .features = ASSAY_CPU_AVX2,
     .knobs = knobs,
     .knob_count = KNOBS,
     .entry = {assay_attention_avx2}},
#endif
    {.name = "split",
     .note = "as tiles; with few queries the blocks of a cluster share the keys and merge their sums",
     .backend = ASSAY_CUDA,
     .lowest_arch = 90,
     .knobs = knobs,
     .knob_count = KNOBS,
     .entry = {assay_attention_split}},
    {.name = "tiles",
     .note = "tensor cores, weights stay in registers, tiles in the future of all queries are left out",
     .backend = ASSAY_CUDA,
     .lowest_arch = 80,
     .knobs = knobs,
     .knob_count = KNOBS,
     .entry = {assay_attention_tiles}},
    {.name = "all_tiles",
     .note = "as tiles, but with every tile visited: what leaving them out is worth",
     .backend = ASSAY_CUDA,
     .lowest_arch = 80,
     .knobs = knobs,
     .knob_count = KNOBS,
     .entry = {assay_attention_all_tiles}},
    {.name = "plain",
     .note = "portable C, expf, blocks of queries share widened key tiles",
     .backend = ASSAY_CPU,
     .knobs = knobs,
     .knob_count = KNOBS,
     .entry = {assay_attention_cpu}},
};

extern const assay_operator assay_streaming_attention_op;

const assay_operator assay_streaming_attention_op = {
    .subject =
        {
            .name = "streaming_attention",
            .summary =
                "softmax(QK'/sqrt(d))V by online rescaling, causal or not, without the matrix of scores",
            .formula =
                "o[i,:] = sum_j p[i,j]*v[j,:] / sum_j p[i,j], p[i,j] = exp(q[i,:].k[j,:]/sqrt(d) - m[i])",
            .exports = {{.name = "streaming_attention",
                         .in_names = {"q", "k", "v"},
                         .in_count = ASSAY_STREAMING_ATTENTION_INPUTS,
                         .out_names = {"o"},
                         .out_count = ASSAY_STREAMING_ATTENTION_OUTPUTS}},
            .export_count = 1,
            .opt_names = {"causal", "block_n"},
            .opt_count = ASSAY_STREAMING_ATTENTION_OPTIONS,
            .dim_names = {"n", "d", "heads", "batch"},
            .dim_count = 4,
            .layout_names = assay_attention_layout_names,
            .layout_count = ASSAY_ATTENTION_LAYOUTS,
            .validate = validate,
            .plan = plan,
            .shape_out = shape_out,
            .oracle = assay_attention_oracle,
            .checks = assay_attention_checks,
        },
    .variants = variants,
    .variant_count = (int)(sizeof variants / sizeof variants[0]),
    .bench = &assay_attention_bench,
};

assay_status assay_streaming_attention(assay_dtype dtype, const void *q, const int64_t q_strides[3],
                                       const void *k, const int64_t k_strides[3], const void *v,
                                       const int64_t v_strides[3], int64_t batch, int64_t heads, int64_t n,
                                       int64_t d, void *o, int64_t causal, int64_t block_n,
                                       assay_queue *queue) {
  if (q_strides == NULL || k_strides == NULL || v_strides == NULL) {
    assay_message why;
    const assay_status status = assay_explain(
        &why, ASSAY_BAD_POINTER, "%s_strides is NULL; it must hold the strides of batch, head and row",
        q_strides == NULL   ? "q"
        : k_strides == NULL ? "k"
                            : "v");
    assay_set_last_error(why.text);
    return status;
  }
  const int32_t device = queue != NULL ? queue->device : ASSAY_DEVICE_CPU;
  const void *const data[] = {q, k, v};
  const int64_t *const strides[] = {q_strides, k_strides, v_strides};
  assay_tensor in[ASSAY_STREAMING_ATTENTION_INPUTS];
  for (int i = 0; i < ASSAY_STREAMING_ATTENTION_INPUTS; i++) {
    /* The tensor type has one pointer for inputs and outputs; an input's is only read. */
    in[i] = (assay_tensor){(void *)(uintptr_t)data[i],
                           dtype,
                           device,
                           4,
                           {batch, heads, n, d},
                           {strides[i][0], strides[i][1], strides[i][2], 1}};
  }
  assay_tensor out = assay_tensor_make(o, dtype, 4, in[0].shape);
  out.device = device;
  return assay_call("streaming_attention", NULL, in, &out, (const int64_t[]){causal, block_n}, queue);
}
