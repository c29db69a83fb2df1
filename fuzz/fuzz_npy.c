/* SPDX-License-Identifier: MIT */
/*
 * fuzz_npy.c - the reader of .npy headers, and views, on arbitrary bytes.
 *
 * The input is a file; what stands behind its last line break is a slice as well. A header that is accepted
 * must describe elements inside the file, whatever view is taken; what we write must be read back.
 */
#include "cli/apply_view.h"
#include "core/npy.h"
#include "core/tensor.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
  if (!holds) abort();
}

/* Every byte of the view lies in the elements of the file, which are read so that a sanitizer sees it. */
static void inspect_view(const assay_tensor *view, const assay_npy_header *header, const uint8_t *elements) {
  int64_t count = 0;
  int64_t extent = 0;
  demand(assay_tensor_count(view, &count) && assay_tensor_extent(view, &extent));
  demand(count <= header->count);
  if (count == 0) return;
  const uint8_t *begin = view->data;
  const size_t bytes = (size_t)extent * assay_dtype_size(view->dtype);
  demand(begin >= elements && begin + bytes <= elements + header->bytes);
  demand((size_t)assay_tensor_offset(view, count - 1) == (size_t)extent - 1);
  const volatile uint8_t seen = (uint8_t)(begin[0] ^ begin[bytes - 1]);
  (void)seen;
}

static void inspect_views(const assay_npy_header *header, uint8_t *file, const char *slice) {
  uint8_t *elements = file + header->offset;
  assay_tensor view = assay_npy_tensor(header, elements);
  assay_message why = {""};
  inspect_view(&view, header, elements);
  const assay_tensor whole = view;
  if (view_slice(slice, &view, &why)) {
    inspect_view(&view, header, elements);
  } else {
    demand(why.text[0] != '\0' && memcmp(&view, &whole, sizeof view) == 0);
  }
  if (!view_transpose(slice, &view, &why)) demand(view_transpose(NULL, &view, &why));
  inspect_view(&view, header, elements);
}

/* The shape that was read, written by us. */
static void inspect_writing(const assay_npy_header *header) {
  char text[ASSAY_NPY_HEADER];
  assay_npy_header again;
  assay_message why = {""};
  const size_t length = assay_npy_format(header->dtype, header->rank, header->shape, text);
  demand(length % 64 == 0 && assay_npy_parse(text, length, &again, &why));
  demand(again.offset == length && again.dtype == header->dtype && !again.fortran);
  demand(again.rank == header->rank && again.count == header->count);
  demand(memcmp(again.shape, header->shape, sizeof again.shape) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  assay_npy_header header;
  assay_message why = {""};
  /* A copy of the exact size: reading beyond it is noticed. */
  uint8_t *file = malloc(size > 0 ? size : 1);
  char *slice = malloc(size + 1);
  if (file != NULL && slice != NULL) {
    if (size > 0) memcpy(file, data, size);
    size_t begin = size;
    while (begin > 0 && file[begin - 1] != '\n') begin--;
    if (begin < size) memcpy(slice, file + begin, size - begin);
    slice[size - begin] = '\0';
    if (!assay_npy_parse(file, size, &header, &why)) {
      demand(why.text[0] != '\0');
    } else {
      demand(header.rank >= 0 && header.rank <= ASSAY_MAX_RANK && header.offset <= size);
      demand(header.bytes == (size_t)header.count * assay_dtype_size(header.dtype));
      inspect_writing(&header);
      if (assay_npy_fits(&header, size, &why)) inspect_views(&header, file, slice);
    }
  }
  free(slice);
  free(file);
  return 0;
}
