/* SPDX-License-Identifier: MIT */
/* worker_extents.c - the pages of a shared mapping that the system holds in memory. */
#include "worker_extents.h"

#include <stdlib.h>
#include <sys/mman.h>

static const size_t page = 4096;
static const size_t small = (size_t)64 << 20;

void worker_extents(const assay_mapping *mapping, void (*visit)(void *user, size_t offset, size_t bytes),
                    void *user) {
  const size_t count = mapping->page_bytes / page;
  unsigned char *present = mapping->page_bytes > small ? malloc(count) : NULL;
  /* Pages of a memfd are in memory or were never written. */
  if (present == NULL || mincore(mapping->pages, mapping->page_bytes, present) != 0) {
    free(present);
    if (mapping->page_bytes > 0) visit(user, 0, mapping->page_bytes);
    return;
  }
  for (size_t i = 0; i < count;) {
    size_t end = i;
    while (end < count && (present[end] & 1) == (present[i] & 1)) end++;
    if ((present[i] & 1) != 0) visit(user, i * page, (end - i) * page);
    i = end;
  }
  free(present);
}
