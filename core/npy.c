/* SPDX-License-Identifier: MIT */
/*
 * npy.c - headers of NumPy's format: the reader of a Python dictionary with three known keys, and the writer.
 *
 * Magic, version, length of the text, text: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 */
#include "npy.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* ---- where the text is --------------------------------------------------------------------------------- */

bool assay_npy_measure(const void *begin, size_t size, size_t *header_bytes, assay_message *why) {
  const unsigned char *bytes = begin;
  const char *fault = NULL;
  if (size == 0) fault = "is empty";
  if (size >= 4 && memcmp(bytes, "PK\003\004", 4) == 0)
    fault = "is an archive (.npz?): save one array with np.save";
  if (fault == NULL && memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0)
    fault = "is not a .npy file: it does not begin with \\x93NUMPY";
  if (fault == NULL && size < 10) fault = "is truncated: it ends before the length of its header";
  if (fault != NULL) {
    assay_explain(why, ASSAY_BAD_SHAPE, "%s", fault);
    return false;
  }
  const unsigned major = bytes[6];
  const unsigned minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0) {
    assay_explain(why, ASSAY_BAD_SHAPE, "has format version %u.%u; 1.0, 2.0 and 3.0 are read", major, minor);
    return false;
  }
  const size_t start = major == 1 ? 10 : 12;
  if (size < start) {
    assay_explain(why, ASSAY_BAD_SHAPE, "is truncated: it ends before the length of its header");
    return false;
  }
  uint32_t length = bytes[8] | (uint32_t)bytes[9] << 8;
  if (major > 1) length |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
  if (length > ASSAY_NPY_LONGEST) {
    assay_explain(why, ASSAY_BAD_SHAPE, "claims a header of %lu bytes; %d are the most",
                  (unsigned long)length, ASSAY_NPY_LONGEST);
    return false;
  }
  *header_bytes = start + length;
  return true;
}

/* ---- the text ------------------------------------------------------------------------------------------ */

typedef struct reader {
  const char *at;
  const char *end;
  assay_npy_header *header;
  assay_message *why;
  bool long_numbers; /* Python 2 wrote "3L" into the first two versions */
} reader;

static bool __attribute__((format(printf, 2, 3))) refuse(reader *self, const char *format, ...) {
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  assay_explain(self->why, ASSAY_BAD_SHAPE, "%s", text);
  return false;
}

static bool one_of(char c, const char *set) {
  return c != '\0' && strchr(set, c) != NULL;
}

static void skip_blanks(reader *self) {
  while (self->at < self->end && one_of(*self->at, " \t\r\n")) self->at++;
}

static bool next_is(reader *self, char wanted) {
  skip_blanks(self);
  if (self->at == self->end || *self->at != wanted) return false;
  self->at++;
  return true;
}

static bool word_is(reader *self, const char *word) {
  const size_t length = strlen(word);
  skip_blanks(self);
  if ((size_t)(self->end - self->at) < length || memcmp(self->at, word, length) != 0) return false;
  self->at += length;
  return true;
}

static bool malformed(reader *self) {
  const size_t rest = (size_t)(self->end - self->at);
  return refuse(self,
                "has a damaged header at \"%.*s\": a dictionary of descr, fortran_order and shape is due",
                (int)(rest < 20 ? rest : 20), self->at);
}

/* A string without escapes in either kind of quotes: all that NumPy writes here. */
static bool read_string(reader *self, const char **text, size_t *length) {
  const char quote = next_is(self, '\'') ? '\'' : '"';
  if (quote == '"' && !next_is(self, '"')) return malformed(self);
  const char *close = memchr(self->at, quote, (size_t)(self->end - self->at));
  if (close == NULL || memchr(self->at, '\\', (size_t)(close - self->at)) != NULL) return malformed(self);
  *text = self->at;
  *length = (size_t)(close - self->at);
  self->at = close + 1;
  return true;
}

static bool read_size(reader *self, int64_t *size) {
  if (next_is(self, '-')) return refuse(self, "claims a negative size in its shape");
  skip_blanks(self);
  const char *begin = self->at;
  int64_t value = 0;
  for (; self->at < self->end && *self->at >= '0' && *self->at <= '9'; self->at++) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *self->at - '0', &value))
      return refuse(self, "claims a size that does not fit 64 bits");
  }
  if (self->at == begin) return malformed(self);
  if (self->long_numbers && self->at < self->end && *self->at == 'L') self->at++;
  *size = value;
  return true;
}

static bool read_shape(reader *self) {
  assay_npy_header *header = self->header;
  if (!next_is(self, '(')) return malformed(self);
  bool comma = true; /* (3) is a number, (3,) a tuple of one */
  for (header->rank = 0; !next_is(self, ')'); header->rank++) {
    int64_t size = 0;
    if (!comma) return malformed(self);
    if (!read_size(self, &size)) return false;
    if (header->rank == ASSAY_MAX_RANK)
      return refuse(self, "has more than %d dimensions: reshape it to at most %d", ASSAY_MAX_RANK,
                    ASSAY_MAX_RANK);
    header->shape[header->rank] = size;
    comma = next_is(self, ',');
  }
  return header->rank != 1 || comma ? true : malformed(self);
}

static bool read_order(reader *self) {
  self->header->fortran = word_is(self, "True");
  return self->header->fortran || word_is(self, "False") ? true : malformed(self);
}

/* The types that are read. '<' and no sign mean the same here, where only little-endian machines are served.
 */
static bool read_descr(reader *self) {
  static const struct {
    const char *code;
    assay_dtype dtype;
    bool patterns;
  } types[] = {{"f2", ASSAY_FP16, false},
               {"f4", ASSAY_FP32, false},
               {"f8", ASSAY_FP64, false},
               {"u2", ASSAY_BF16, true},
               {"V2", ASSAY_BF16, true}};
  skip_blanks(self);
  if (self->at < self->end && (*self->at == '[' || *self->at == '('))
    return refuse(self, "has a structured dtype: save one field, np.save(path, x['name'])");
  const char *text = "";
  size_t length = 0;
  if (!read_string(self, &text, &length)) return false;
  const bool signed_order = length > 0 && one_of(text[0], "<>=|");
  const char *code = signed_order ? text + 1 : text;
  const size_t code_length = length - (signed_order ? 1 : 0);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (code_length != 2 || memcmp(code, types[i].code, 2) != 0) continue;
    if (text[0] == '>')
      return refuse(self, "is big-endian ('>%s'): convert it, np.save(path, x.astype('<%s'))", types[i].code,
                    types[i].code);
    self->header->dtype = types[i].dtype;
    self->header->patterns = types[i].patterns;
    memcpy(self->header->descr, text, length);
    return true;
  }
  if (code_length > 0 && code[0] == 'O')
    return refuse(self, "holds Python objects ('|O'): save an array of floats, x.astype('<f4')");
  return refuse(self, "has dtype '%.*s'; float16, float32, float64, and bf16 as uint16, are read",
                (int)(length < 24 ? length : 24), text);
}

/* Each key once, in any order. */
static bool read_dictionary(reader *self) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  bool (*const values[])(reader *) = {read_descr, read_order, read_shape};
  unsigned seen = 0;
  if (!next_is(self, '{')) return malformed(self);
  bool comma = true;
  while (!next_is(self, '}')) {
    const char *text = "";
    size_t length = 0;
    unsigned key = 0;
    if (!comma) return malformed(self);
    const char *here = self->at;
    if (!read_string(self, &text, &length)) return false;
    while (key < 3 && (strlen(keys[key]) != length || memcmp(keys[key], text, length) != 0)) key++;
    if (key == 3 || (seen & 1u << key) != 0) self->at = here;
    if (key == 3 || (seen & 1u << key) != 0 || !next_is(self, ':')) return malformed(self);
    seen |= 1u << key;
    if (!values[key](self)) return false;
    comma = next_is(self, ',');
  }
  skip_blanks(self);
  if (self->at != self->end) return malformed(self);
  for (unsigned key = 0; key < 3; key++) {
    if ((seen & 1u << key) == 0) return refuse(self, "has a header without %s", keys[key]);
  }
  return true;
}

bool assay_npy_parse(const void *begin, size_t size, assay_npy_header *header, assay_message *why) {
  *header = (assay_npy_header){.dtype = ASSAY_FP32};
  const size_t prefix = size < ASSAY_NPY_PREFIX ? size : ASSAY_NPY_PREFIX;
  if (!assay_npy_measure(begin, prefix, &header->offset, why)) return false;
  reader self = {.header = header, .why = why};
  if (header->offset > size)
    return refuse(&self, "is truncated: its header ends at byte %zu, the file at %zu", header->offset, size);
  const unsigned major = ((const unsigned char *)begin)[6];
  self.at = (const char *)begin + (major == 1 ? 10 : 12);
  self.end = (const char *)begin + header->offset;
  self.long_numbers = major < 3;
  if (!read_dictionary(&self)) return false;

  const assay_tensor tensor = assay_npy_tensor(header, NULL);
  char shape[ASSAY_NPY_SHAPE_TEXT];
  assay_npy_shape(header->rank, header->shape, shape);
  const int64_t element = (int64_t)assay_dtype_size(header->dtype);
  int64_t bytes;
  if (!assay_tensor_count(&tensor, &header->count) ||
      __builtin_mul_overflow(header->count, element, &bytes) || bytes > INT64_MAX - (int64_t)header->offset ||
      (uint64_t)bytes > SIZE_MAX) {
    return refuse(&self, "claims the shape %s, which no memory holds", shape);
  }
  header->bytes = (size_t)bytes;
  return true;
}

bool assay_npy_fits(const assay_npy_header *header, uintmax_t file_bytes, assay_message *why) {
  const uintmax_t due = (uintmax_t)header->offset + header->bytes;
  if (file_bytes == due) return true;
  char shape[ASSAY_NPY_SHAPE_TEXT];
  assay_npy_shape(header->rank, header->shape, shape);
  assay_explain(why, ASSAY_BAD_SHAPE, "%s: shape %s of '%s' makes %ju bytes, the file has %ju",
                file_bytes < due ? "is truncated" : "is longer than its array", shape, header->descr, due,
                file_bytes);
  return false;
}

assay_tensor assay_npy_tensor(const assay_npy_header *header, void *data) {
  if (!header->fortran) return assay_tensor_make(data, header->dtype, header->rank, header->shape);
  /* The axes from the last to the first are those of a row-major array. */
  int64_t shape[ASSAY_MAX_RANK] = {0};
  for (int k = 0; k < header->rank; k++) shape[k] = header->shape[header->rank - 1 - k];
  assay_tensor tensor = assay_tensor_make(data, header->dtype, header->rank, shape);
  int64_t stride[ASSAY_MAX_RANK];
  memcpy(stride, tensor.stride, sizeof stride);
  for (int k = 0; k < header->rank; k++) {
    tensor.shape[k] = header->shape[k];
    tensor.stride[k] = stride[header->rank - 1 - k];
  }
  return tensor;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

void assay_npy_shape(int rank, const int64_t *shape, char text[ASSAY_NPY_SHAPE_TEXT]) {
  assert(rank >= 0 && rank <= ASSAY_MAX_RANK);
  int used = snprintf(text, ASSAY_NPY_SHAPE_TEXT, "(");
  for (int k = 0; k < rank; k++) {
    used += snprintf(text + used, ASSAY_NPY_SHAPE_TEXT - (size_t)used, "%s%lld", k == 0 ? "" : ", ",
                     (long long)shape[k]);
  }
  used += snprintf(text + used, ASSAY_NPY_SHAPE_TEXT - (size_t)used, rank == 1 ? ",)" : ")");
  assert(used < ASSAY_NPY_SHAPE_TEXT);
  (void)used;
}

const char *assay_npy_descr(assay_dtype dtype) {
  static const char *const descr[ASSAY_DTYPE_COUNT] = {
      [ASSAY_FP32] = "<f4", [ASSAY_FP16] = "<f2", [ASSAY_BF16] = "<u2", [ASSAY_FP64] = "<f8"};
  assert((unsigned)dtype < ASSAY_DTYPE_COUNT);
  return descr[dtype];
}

size_t assay_npy_format(assay_dtype dtype, int rank, const int64_t *shape, char header[ASSAY_NPY_HEADER]) {
  enum { START = 10, UNIT = 64 };
  char sizes[ASSAY_NPY_SHAPE_TEXT];
  char text[ASSAY_NPY_HEADER];
  assay_npy_shape(rank, shape, sizes);
  const int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                              assay_npy_descr(dtype), sizes);
  const size_t total = (START + (size_t)length + 1 + UNIT - 1) / UNIT * UNIT;
  assert(length > 0 && total <= ASSAY_NPY_HEADER);
  memset(header, ' ', total);
  memcpy(header, magic, sizeof magic);
  header[6] = 1;
  header[7] = 0;
  header[8] = (char)((total - START) & 0xff);
  header[9] = (char)((total - START) >> 8);
  memcpy(header + START, text, (size_t)length);
  header[total - 1] = '\n';
  return total;
}
