/* SPDX-License-Identifier: MIT */
/* apply_view.h - slices and transposes of a tensor as NumPy writes them; no element moves. */
#ifndef ASSAY_APPLY_VIEW_H
#define ASSAY_APPLY_VIEW_H

#include <stdbool.h>

#include "core/status.h"

/* "0:10:2,:,5": for each axis from the first a range START:STOP:STEP, every part of which may be left out, or
 * one index, which drops the axis. Negative numbers count from the end, a STEP is 1 or more, a range that
 * reaches beyond the axis is cut, an index beyond it is refused. False with a sentence that begins with the
 * slice; the tensor is then unchanged. */
bool view_slice(const char *text, assay_tensor *tensor, assay_message *why);

/* "1,0,2": axis k of the result is the tensor's axis number k of the list; NULL reverses all axes. */
bool view_transpose(const char *text, assay_tensor *tensor, assay_message *why);

#endif
