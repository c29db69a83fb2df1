/* SPDX-License-Identifier: MIT */
/* status.c - names of statuses and element types, and the sentence about the last error of a thread. */
#include "status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(number)       #number
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

static _Thread_local assay_message last_error;

const char *assay_version(void) {
  return VERSION_TEXT(ASSAY_VERSION_MAJOR, ASSAY_VERSION_MINOR, ASSAY_VERSION_PATCH);
}

const char *assay_status_name(assay_status status) {
  static const char *const names[] = {
      [ASSAY_OK] = "ok",
      [ASSAY_TODO] = "todo",
      [ASSAY_BAD_POINTER] = "bad pointer",
      [ASSAY_BAD_SHAPE] = "bad shape",
      [ASSAY_BAD_DTYPE] = "bad dtype",
      [ASSAY_BAD_STRIDE] = "bad stride",
      [ASSAY_BAD_DEVICE] = "bad device",
      [ASSAY_BAD_ALIAS] = "bad alias",
      [ASSAY_BAD_OPTION] = "bad option",
      [ASSAY_NO_MEMORY] = "no memory",
      [ASSAY_UNAVAILABLE] = "unavailable",
      [ASSAY_KERNEL_FAULT] = "kernel fault",
  };
  _Static_assert(sizeof names / sizeof names[0] == ASSAY_STATUS_COUNT, "every status has a name");
  return (unsigned)status < ASSAY_STATUS_COUNT ? names[status] : "?";
}

const char *assay_dtype_name(assay_dtype dtype) {
  static const char *const names[] = {
      [ASSAY_FP32] = "fp32", [ASSAY_FP16] = "fp16", [ASSAY_BF16] = "bf16", [ASSAY_FP64] = "fp64"};
  _Static_assert(sizeof names / sizeof names[0] == ASSAY_DTYPE_COUNT, "every element type has a name");
  return (unsigned)dtype < ASSAY_DTYPE_COUNT ? names[dtype] : "?";
}

size_t assay_dtype_size(assay_dtype dtype) {
  static const size_t sizes[] = {[ASSAY_FP32] = 4, [ASSAY_FP16] = 2, [ASSAY_BF16] = 2, [ASSAY_FP64] = 8};
  _Static_assert(sizeof sizes / sizeof sizes[0] == ASSAY_DTYPE_COUNT, "every element type has a size");
  return (unsigned)dtype < ASSAY_DTYPE_COUNT ? sizes[dtype] : 0;
}

const char *assay_last_error(void) {
  return last_error.text;
}

assay_status assay_explain(assay_message *message, assay_status status, const char *format, ...) {
  /* Formatted aside first: an argument may be the message's own text, which then gets a prefix. */
  assay_message fresh;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(fresh.text, sizeof fresh.text, format, arguments);
  va_end(arguments);
  assert(length >= 0);
  (void)length;
  memcpy(message->text, fresh.text, strlen(fresh.text) + 1);
  return status;
}

void assay_set_last_error(const char *text) {
  const size_t length = strnlen(text, sizeof last_error.text - 1);
  memmove(last_error.text, text, length); /* the text may be what assay_last_error() returned */
  last_error.text[length] = '\0';
}
