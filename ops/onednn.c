/* SPDX-License-Identifier: MIT */
/* onednn.c - oneDNN by its C API: found at run time, one primitive at a time, memory handed over call by
 * call. */
#include "onednn.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <string.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "bench_passes.h"
#include "tensor.h"

#if DNNL_VERSION_MAJOR >= 3
#define LIBRARY "libdnnl.so.3"
#define OF_VERSION(name)                                                                                     \
  name(memory_desc_create_with_strides) name(memory_desc_destroy)                                            \
      name(softmax_forward_primitive_desc_create) name(softmax_backward_primitive_desc_create)               \
          name(matmul_primitive_desc_create)
#else
#define LIBRARY "libdnnl.so.2"
#define OF_VERSION(name)                                                                                     \
  name(memory_desc_init_by_strides) name(softmax_v2_forward_desc_init) name(softmax_v2_backward_desc_init)   \
      name(matmul_desc_init) name(primitive_desc_create)
#endif

#define FUNCTIONS(name)                                                                                      \
  name(engine_create) name(stream_create) name(stream_wait) name(memory_create) name(memory_destroy)         \
      name(memory_set_data_handle) name(primitive_create) name(primitive_destroy)                            \
          name(primitive_desc_destroy) name(primitive_execute) name(primitive_attr_create)                   \
              name(primitive_attr_destroy) name(primitive_attr_set_post_ops) name(post_ops_create)           \
                  name(post_ops_destroy) name(post_ops_append_eltwise) OF_VERSION(name)

#define MEMBER(name) __typeof__ (&dnnl_##name)(name);
static struct { FUNCTIONS(MEMBER) } dnnl;

enum { ARGUMENTS = 4, FUNCTION_COUNT = sizeof dnnl / sizeof(void *) };

/* The primitive of the last call, with the operands for which it was made. One process times on one thread.
 */
static struct {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  assay_onednn_kind kind;
  assay_tensor made_for[ARGUMENTS];
  dnnl_primitive_t primitive; /* NULL: none */
  dnnl_memory_t memory[ARGUMENTS];
  int count;
} kept;

/* ---- the library --------------------------------------------------------------------------------------- */

static bool find_functions(void *library) {
#define NAME(name) "dnnl_" #name,
  static const char *const names[FUNCTION_COUNT] = {FUNCTIONS(NAME)};
  void *found[FUNCTION_COUNT];
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    found[i] = dlsym(library, names[i]);
    if (found[i] == NULL) return false;
  }
  memcpy(&dnnl, found, sizeof dnnl); /* POSIX's way around object and function pointers */
  return true;
}

bool assay_onednn_prepare(int threads, assay_message *why) {
  if (kept.stream == NULL) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !find_functions(library)) {
      const char *reason = library == NULL ? dlerror() : "it is older than its headers";
      (void)assay_explain(why, ASSAY_UNAVAILABLE, LIBRARY " cannot be used (%.200s): install oneDNN",
                          reason != NULL ? reason : "no reason given");
      return false;
    }
    if (dnnl.engine_create(&kept.engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl.stream_create(&kept.stream, kept.engine, dnnl_stream_default_flags) != dnnl_success) {
      (void)assay_explain(why, ASSAY_UNAVAILABLE, "oneDNN cannot use this CPU");
      return false;
    }
  }
#if defined(_OPENMP)
  omp_set_num_threads(threads); /* what oneDNN's own regions take */
#else
  (void)threads;
#endif
  return true;
}

/* ---- descriptors, by version --------------------------------------------------------------------------- */

static dnnl_data_type_t type_of(assay_dtype dtype) {
  return dtype == ASSAY_BF16 ? dnnl_bf16 : dnnl_f32;
}

/* oneDNN's lists of sizes are longer than ours. */
typedef struct layout {
  dnnl_dims_t sizes;
  dnnl_dims_t steps;
} layout;

static layout layout_of(const assay_tensor *tensor) {
  layout made;
  memset(&made, 0, sizeof made);
  memcpy(made.sizes, tensor->shape, sizeof tensor->shape);
  memcpy(made.steps, tensor->stride, sizeof tensor->stride);
  return made;
}

#if DNNL_VERSION_MAJOR >= 3

typedef dnnl_memory_desc_t descriptor;

static bool describe(const assay_tensor *tensor, descriptor *made) {
  const layout made_of = layout_of(tensor);
  return dnnl.memory_desc_create_with_strides(made, tensor->rank, made_of.sizes, type_of(tensor->dtype),
                                              made_of.steps) == dnnl_success;
}

static void forget(descriptor *made) {
  dnnl.memory_desc_destroy(*made);
}

static bool make_memory(dnnl_memory_t *memory, const descriptor *from) {
  return dnnl.memory_create(memory, *from, kept.engine, DNNL_MEMORY_NONE) == dnnl_success;
}

static dnnl_status_t make_plan(dnnl_primitive_desc_t *plan, assay_onednn_kind kind, const descriptor *d,
                               const_dnnl_primitive_attr_t how) {
  if (kind == ASSAY_ONEDNN_SOFTMAX)
    return dnnl.softmax_forward_primitive_desc_create(plan, kept.engine, dnnl_forward_inference,
                                                      dnnl_softmax_accurate, d[0], d[1], 1, how);
  if (kind == ASSAY_ONEDNN_SOFTMAX_BACKWARD) {
    dnnl_primitive_desc_t hint = NULL;
    const dnnl_status_t hinted = dnnl.softmax_forward_primitive_desc_create(
        &hint, kept.engine, dnnl_forward_training, dnnl_softmax_accurate, d[0], d[0], 1, NULL);
    if (hinted != dnnl_success) return hinted;
    const dnnl_status_t made = dnnl.softmax_backward_primitive_desc_create(
        plan, kept.engine, dnnl_softmax_accurate, d[2], d[1], d[0], 1, hint, how);
    dnnl.primitive_desc_destroy(hint);
    return made;
  }
  return dnnl.matmul_primitive_desc_create(plan, kept.engine, d[0], d[1], d[2], d[3], how);
}

static dnnl_status_t append_relu(dnnl_post_ops_t steps) {
  return dnnl.post_ops_append_eltwise(steps, dnnl_eltwise_relu, 0.0f, 0.0f);
}

#else

typedef dnnl_memory_desc_t descriptor;

static bool describe(const assay_tensor *tensor, descriptor *made) {
  const layout made_of = layout_of(tensor);
  return dnnl.memory_desc_init_by_strides(made, tensor->rank, made_of.sizes, type_of(tensor->dtype),
                                          made_of.steps) == dnnl_success;
}

static void forget(descriptor *made) {
  (void)made; /* a struct in place */
}

static bool make_memory(dnnl_memory_t *memory, const descriptor *from) {
  return dnnl.memory_create(memory, from, kept.engine, DNNL_MEMORY_NONE) == dnnl_success;
}

static dnnl_status_t make_plan(dnnl_primitive_desc_t *plan, assay_onednn_kind kind, const descriptor *d,
                               const_dnnl_primitive_attr_t how) {
  dnnl_status_t status;
  dnnl_softmax_v2_desc_t softmax;
  dnnl_matmul_desc_t product;
  const void *what = &softmax;
  dnnl_primitive_desc_t hint = NULL;
  if (kind == ASSAY_ONEDNN_MATMUL_RELU) {
    what = &product;
    status = dnnl.matmul_desc_init(&product, &d[0], &d[1], &d[2], &d[3]);
  } else if (kind == ASSAY_ONEDNN_SOFTMAX) {
    status = dnnl.softmax_v2_forward_desc_init(&softmax, dnnl_forward_inference, dnnl_softmax_accurate, &d[0],
                                               &d[1], 1);
  } else {
    status = dnnl.softmax_v2_forward_desc_init(&softmax, dnnl_forward_training, dnnl_softmax_accurate, &d[0],
                                               &d[0], 1);
    if (status == dnnl_success) status = dnnl.primitive_desc_create(&hint, what, NULL, kept.engine, NULL);
    if (status == dnnl_success)
      status = dnnl.softmax_v2_backward_desc_init(&softmax, dnnl_softmax_accurate, &d[2], &d[1], &d[0], 1);
  }
  if (status == dnnl_success) status = dnnl.primitive_desc_create(plan, what, how, kept.engine, hint);
  if (hint != NULL) dnnl.primitive_desc_destroy(hint);
  return status;
}

static dnnl_status_t append_relu(dnnl_post_ops_t steps) {
  return dnnl.post_ops_append_eltwise(steps, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
}

#endif

/* ---- the primitive ------------------------------------------------------------------------------------- */

static void drop_primitive(void) {
  for (int i = 0; i < kept.count; i++) dnnl.memory_destroy(kept.memory[i]);
  if (kept.primitive != NULL) dnnl.primitive_destroy(kept.primitive);
  kept.primitive = NULL;
  kept.count = 0;
}

static bool make_primitive(assay_onednn_kind kind, const descriptor *d) {
  dnnl_primitive_desc_t plan = NULL;
  dnnl_primitive_attr_t how = NULL;
  dnnl_post_ops_t steps = NULL;
  bool good = true;
  if (kind == ASSAY_ONEDNN_MATMUL_RELU) {
    good = dnnl.primitive_attr_create(&how) == dnnl_success && dnnl.post_ops_create(&steps) == dnnl_success &&
           append_relu(steps) == dnnl_success && dnnl.primitive_attr_set_post_ops(how, steps) == dnnl_success;
  }
  good = good && make_plan(&plan, kind, d, how) == dnnl_success &&
         dnnl.primitive_create(&kept.primitive, plan) == dnnl_success;
  if (plan != NULL) dnnl.primitive_desc_destroy(plan);
  if (steps != NULL) dnnl.post_ops_destroy(steps);
  if (how != NULL) dnnl.primitive_attr_destroy(how);
  return good;
}

static bool same_operands(assay_onednn_kind kind, const assay_tensor *all, int count) {
  if (kept.primitive == NULL || kept.kind != kind || kept.count != count) return false;
  for (int i = 0; i < count; i++) {
    const assay_tensor *old = &kept.made_for[i];
    if (old->dtype != all[i].dtype || memcmp(old->shape, all[i].shape, sizeof old->shape) != 0 ||
        memcmp(old->stride, all[i].stride, sizeof old->stride) != 0)
      return false;
  }
  return true;
}

/* False when oneDNN has no primitive for such operands. */
static bool ready(assay_onednn_kind kind, const assay_tensor *all, int count) {
  descriptor described[ARGUMENTS];
  int made = 0;
  if (same_operands(kind, all, count)) return true;
  drop_primitive();
  bool good = true;
  for (; made < count && good; made++) good = describe(&all[made], &described[made]);
  if (!good) made--;
  for (int i = 0; i < count && good; i++) {
    good = make_memory(&kept.memory[i], &described[i]);
    if (good) kept.count++;
  }
  good = good && make_primitive(kind, described);
  for (int i = 0; i < made; i++) forget(&described[i]);
  if (!good) drop_primitive();
  kept.kind = kind;
  memcpy(kept.made_for, all, (size_t)count * sizeof *all);
  return good;
}

static assay_status execute(assay_onednn_kind kind, const assay_tensor *all, int count) {
  static const int places[][ARGUMENTS] = {
      [ASSAY_ONEDNN_SOFTMAX] = {DNNL_ARG_SRC, DNNL_ARG_DST},
      [ASSAY_ONEDNN_SOFTMAX_BACKWARD] = {DNNL_ARG_DST, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC},
      [ASSAY_ONEDNN_MATMUL_RELU] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST}};
  dnnl_exec_arg_t arguments[ARGUMENTS];
  if (!ready(kind, all, count)) return ASSAY_UNAVAILABLE;
  for (int i = 0; i < count; i++) {
    if (dnnl.memory_set_data_handle(kept.memory[i], all[i].data) != dnnl_success) return ASSAY_NO_MEMORY;
    arguments[i] = (dnnl_exec_arg_t){places[kind][i], kept.memory[i]};
  }
  const bool done = dnnl.primitive_execute(kept.primitive, kept.stream, count, arguments) == dnnl_success &&
                    dnnl.stream_wait(kept.stream) == dnnl_success;
  return done ? ASSAY_OK : ASSAY_NO_MEMORY;
}

/* ---- a call -------------------------------------------------------------------------------------------- */

static int64_t count_of(const assay_tensor *tensor) {
  return tensor->shape[0] * tensor->shape[1];
}

/* A packed FP32 matrix of the same shape in scratch; NULL data without memory. */
static assay_tensor single(const assay_tensor *like, assay_queue *queue) {
  float *data = assay_queue_scratch(queue, (size_t)count_of(like) * sizeof *data);
  return assay_tensor_make(data, ASSAY_FP32, 2, like->shape);
}

assay_status assay_onednn_run(assay_onednn_kind kind, const assay_tensor *in, int in_count,
                              const assay_tensor *out, assay_queue *queue) {
  assay_tensor all[ARGUMENTS];
  /* Of BF16 its softmax rounds the exponentials too. */
  const bool copies = out->dtype == ASSAY_FP16 || (out->dtype == ASSAY_BF16 && kind == ASSAY_ONEDNN_SOFTMAX);
  for (int i = 0; i <= in_count; i++) {
    const assay_tensor *from = i < in_count ? &in[i] : out;
    all[i] = copies ? single(from, queue) : *from;
    if (all[i].data == NULL) return ASSAY_NO_MEMORY;
    if (copies && i < in_count)
      assay_pass_widen(from, all[i].data, assay_pass_threads(queue, count_of(from)));
  }
  const assay_status status = execute(kind, all, in_count + 1);
  if (status == ASSAY_OK && copies)
    assay_pass_round(all[in_count].data, count_of(out), out->data, out->dtype,
                     assay_pass_threads(queue, count_of(out)));
  return status;
}
