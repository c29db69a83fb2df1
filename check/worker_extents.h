/* SPDX-License-Identifier: MIT */
/* worker_extents.h - which pages of an operand exist: views of huge strides are mostly holes. */
#ifndef ASSAY_WORKER_EXTENTS_H
#define ASSAY_WORKER_EXTENTS_H

#include "buffer.h"

/* Calls `visit` for every stretch of pages that somebody has touched, in order; for all pages of a small
 * mapping. */
void worker_extents(const assay_mapping *mapping, void (*visit)(void *user, size_t offset, size_t bytes),
                    void *user);

#endif
