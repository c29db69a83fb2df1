/* SPDX-License-Identifier: MIT */
/* case.c - operands of a call: built as planned, NaN in every gap, poison in every output. */
#include "case.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "half.h"
#include "tensor.h"

static const size_t snapshot_limit = (size_t)512 << 20;
/* Above this, storage that is mostly gaps is touched only where its elements are. */
static const size_t dense_limit = (size_t)64 << 20;

static size_t element_size(const case_operand *operand) {
  return assay_dtype_size(operand->tensor.dtype);
}

static int64_t element_count(const case_operand *operand) {
  int64_t count = 0;
  return assay_tensor_count(&operand->tensor, &count) ? count : 0;
}

/* All-ones bytes are a NaN in every element type. */
static void fill_gaps(case_operand *operand) {
  const assay_buffer *buffer = &operand->buffer;
  const int64_t count = element_count(operand);
  if (buffer->bytes <= dense_limit || buffer->bytes <= 4 * (size_t)count * element_size(operand)) {
    memset(buffer->pages, 0xff, buffer->page_bytes);
    return;
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int64_t i = 0; i < count; i++) {
    const size_t at =
        buffer->offset + (size_t)assay_tensor_offset(&operand->tensor, i) * element_size(operand);
    memset(buffer->pages + at / page * page, 0xff, page);
  }
}

static bool open_operand(case_operand *operand, const char *name, const assay_operand_plan *plan,
                         int32_t device, assay_placement placement, int slot) {
  *operand = (case_operand){.name = name, .slot = slot};
  operand->tensor = assay_tensor_make(NULL, plan->dtype, plan->rank, plan->shape);
  memcpy(operand->tensor.stride, plan->stride, sizeof operand->tensor.stride);
  operand->tensor.device = device;
  operand->buffer.fd = -1;
  if (plan->absent) {
    operand->slot = -1;
    return true;
  }
  int64_t extent = 0;
  if (!assay_tensor_extent(&operand->tensor, &extent)) {
    errno = EOVERFLOW;
    return false;
  }
  const size_t size = assay_dtype_size(plan->dtype);
  if (!assay_buffer_open(&operand->buffer, (size_t)extent * size, placement, (size_t)plan->shift * size))
    return false;
  operand->tensor.data = operand->buffer.pages + operand->buffer.offset;
  return true;
}

assay_case *case_open(const assay_subject *subject, const assay_plan *plan, int32_t device,
                      assay_placement placement, int *next_slot) {
  assay_case *operands = calloc(1, sizeof *operands);
  if (operands == NULL) return NULL;
  operands->function = &subject->exports[plan->entry];
  operands->entry = plan->entry;
  memcpy(operands->opt, plan->opt, sizeof operands->opt);
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) operands->in[i].buffer.fd = operands->out[i].buffer.fd = -1;
  const assay_export *function = operands->function;
  bool ready = *next_slot + function->in_count + function->out_count <= PROTOCOL_SLOTS;
  if (!ready) errno = EMFILE;
  for (int i = 0; ready && i < function->in_count; i++) {
    ready = open_operand(&operands->in[i], function->in_names[i], &plan->in[i], device, placement,
                         (*next_slot)++);
    if (ready && operands->in[i].slot >= 0) fill_gaps(&operands->in[i]);
  }
  for (int i = 0; ready && i < function->out_count; i++) {
    ready = open_operand(&operands->out[i], function->out_names[i], &plan->out[i], device, placement,
                         (*next_slot)++);
  }
  if (ready) return operands;
  const int error = errno;
  case_close(operands);
  errno = error;
  return NULL;
}

void case_close(assay_case *operands) {
  if (operands == NULL) return;
  for (int i = 0; i < ASSAY_MAX_OPERANDS; i++) {
    assay_buffer_close(&operands->in[i].buffer);
    assay_buffer_close(&operands->out[i].buffer);
    free(operands->out[i].snapshot);
  }
  free(operands);
}

void case_fill(case_operand *operand, const double *values) {
  case_fill_part(operand, 0, element_count(operand), values);
}

void case_fill_part(const case_operand *operand, int64_t first, int64_t count, const double *values) {
  const assay_tensor *tensor = &operand->tensor;
  for (int64_t i = 0; i < count; i++) {
    assay_put(tensor->data, tensor->dtype, assay_tensor_offset(tensor, first + i), values[i]);
  }
}

void case_read(const case_operand *operand, double *values) {
  const int64_t count = element_count(operand);
  const assay_tensor *tensor = &operand->tensor;
  for (int64_t i = 0; i < count; i++) {
    values[i] = assay_get(tensor->data, tensor->dtype, assay_tensor_offset(tensor, i));
  }
}

/* The canary around an output: bytes that depend on the seed and their place. */
static unsigned char canary(uint64_t seed, size_t at) {
  return (unsigned char)(assay_seed_mix(seed, at) >> 11);
}

void case_poison(assay_case *operands, uint64_t seed) {
  case_poison_edges(operands, seed);
  for (int i = 0; i < operands->function->out_count; i++) {
    if (operands->out[i].slot >= 0) case_poison_part(operands, i, 0, element_count(&operands->out[i]));
  }
}

void case_poison_part(const assay_case *operands, int index, int64_t first, int64_t count) {
  const assay_tensor *tensor = &operands->out[index].tensor;
  assay_poison_fill_part(tensor->data, tensor->dtype, first, count, operands->poison + (uint64_t)index);
}

void case_poison_edges(assay_case *operands, uint64_t seed) {
  operands->poison = seed;
  for (int i = 0; i < operands->function->out_count; i++) {
    case_operand *out = &operands->out[i];
    const assay_buffer *buffer = &out->buffer;
    if (out->slot < 0) continue;
    for (size_t at = 0; at < buffer->offset; at++) buffer->pages[at] = canary(seed, at);
    for (size_t at = buffer->offset + buffer->bytes; at < buffer->page_bytes; at++) {
      buffer->pages[at] = canary(seed, at);
    }
  }
}

void case_poison_special(assay_case *operands) {
  const double specials[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < operands->function->out_count; i++) {
    const case_operand *out = &operands->out[i];
    if (out->slot < 0) continue;
    const int64_t count = element_count(out);
    for (int64_t at = 0; at < count; at++) {
      assay_put(out->tensor.data, out->tensor.dtype, at, specials[(operands->poison + (uint64_t)at) % 3]);
    }
  }
}

bool case_snapshot(assay_case *operands) {
  for (int i = 0; i < operands->function->out_count; i++) {
    case_operand *out = &operands->out[i];
    if (out->slot < 0 || out->buffer.bytes > snapshot_limit) continue;
    if (out->snapshot == NULL) out->snapshot = malloc(out->buffer.bytes > 0 ? out->buffer.bytes : 1);
    if (out->snapshot == NULL) return false;
    memcpy(out->snapshot, out->tensor.data, out->buffer.bytes);
  }
  return true;
}

const void *case_result(const assay_case *operands, int index) {
  const case_operand *out = &operands->out[index];
  return out->snapshot != NULL ? out->snapshot : out->tensor.data;
}

bool case_unchanged(const assay_case *operands) {
  for (int i = 0; i < operands->function->out_count; i++) {
    const case_operand *out = &operands->out[i];
    if (out->snapshot == NULL) continue;
    if (memcmp(out->snapshot, out->tensor.data, out->buffer.bytes) != 0) return false;
  }
  return true;
}

bool case_spilled(const assay_case *operands, char *text, size_t size) {
  for (int i = 0; i < operands->function->out_count; i++) {
    const case_operand *out = &operands->out[i];
    const assay_buffer *buffer = &out->buffer;
    for (size_t back = 1; back <= buffer->offset; back++) {
      const size_t at = buffer->offset - back;
      if (buffer->pages[at] == canary(operands->poison, at)) continue;
      snprintf(text, size, "wrote %zu bytes before the start of %s", back, out->name);
      return true;
    }
    for (size_t at = buffer->offset + buffer->bytes; at < buffer->page_bytes; at++) {
      if (buffer->pages[at] == canary(operands->poison, at)) continue;
      snprintf(text, size, "wrote past the end of %s, at byte %zu behind its last element", out->name,
               at - buffer->offset - buffer->bytes);
      return true;
    }
  }
  return false;
}

/* snprintf behind what is there; a text that is full stays as it is. */
static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

void case_describe(const assay_case *operands, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < operands->function->in_count; i++) {
    const assay_tensor *tensor = &operands->in[i].tensor;
    append(text, size, "%s%s", i > 0 ? "; " : "", operands->in[i].name);
    for (int k = 0; k < tensor->rank; k++)
      append(text, size, k == 0 ? " %lld" : " x %lld", (long long)tensor->shape[k]);
    append(text, size, " %s, strides", assay_dtype_name(tensor->dtype));
    for (int k = 0; k < tensor->rank; k++)
      append(text, size, k == 0 ? " %lld" : ", %lld", (long long)tensor->stride[k]);
  }
}

void case_show_row(const case_operand *operand, const void *data, int64_t flat, char *text, size_t size) {
  const assay_tensor *tensor = &operand->tensor;
  const int64_t columns = tensor->shape[tensor->rank - 1];
  const int64_t most = 8;
  text[0] = '\0';
  for (int64_t c = 0; c < columns && c < most; c++) {
    const double value =
        assay_get(data, tensor->dtype, assay_tensor_offset(tensor, flat / columns * columns + c));
    append(text, size, isnan(value) ? "%snan" : "%s%.6g", c > 0 ? " " : "", value);
  }
  if (columns > most) append(text, size, " ...");
}

void case_name_element(const case_operand *operand, int64_t flat, char *text, size_t size) {
  const assay_tensor *tensor = &operand->tensor;
  int64_t index[ASSAY_MAX_RANK] = {0};
  for (int i = tensor->rank - 1; i >= 0; i--) {
    const int64_t extent = tensor->shape[i] > 0 ? tensor->shape[i] : 1;
    index[i] = flat % extent;
    flat /= extent;
  }
  size_t used = (size_t)snprintf(text, size, "%s[", operand->name);
  for (int i = 0; i < tensor->rank && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, i == 0 ? "%lld" : ",%lld", (long long)index[i]);
  }
  if (used < size) snprintf(text + used, size - used, "]");
}
