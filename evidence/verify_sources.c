/* SPDX-License-Identifier: MIT */
/* verify_sources.c - which sources ran: the copies kept by hash, and the tree as it is now. */
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "hash.h"
#include "kept.h"
#include "verifier.h"

static void check_source(verifier *self, const report_source *source, const char *path, verify_depth depth) {
  char kept[ASSAY_PATH_SIZE];
  char now[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  const bool found = kept_source_now(source->path, now, hash);
  const bool same = found && strcmp(hash, source->sha256) == 0;
  if (!same) {
    self->outcome->current = false;
    if (self->outcome->changed[0] == '\0')
      snprintf(self->outcome->changed, sizeof self->outcome->changed, "%.200s", source->path);
  }
  if (depth == VERIFY_NUMBERS) return;
  if (kept_find(self->file, source->sha256, kept)) {
    if (!assay_hash_file(kept, hash)) {
      verifier_find(self, path, "the kept copy %.200s cannot be read", kept);
    } else if (strcmp(hash, source->sha256) != 0) {
      verifier_find(self, path, "the kept copy of %.100s was changed: its SHA-256 is %s", source->path, hash);
    }
  } else if (!same && assay_source_folder() == NULL) {
    verifier_find(self, path, "%.100s cannot be looked for: set ASSAY_SOURCE_DIR to Assay's source folder",
                  source->path);
  } else if (!same) {
    verifier_find(self, path, "%.100s %s, and no copy of what ran is kept under results/sources/",
                  source->path, found ? "is another file now" : "is gone");
  }
}

void verifier_check_sources(verifier *self, verify_depth depth) {
  self->outcome->current = true;
  for (int64_t c = 0; c < self->report->cases.count; c++) {
    const report_case *one = &self->report->cases.items[c];
    for (int64_t v = 0; v < one->variants.count; v++) {
      const report_variant *variant = &one->variants.items[v];
      char path[VERIFIER_PATH];
      if (variant->sources.count == 0) {
        snprintf(path, sizeof path, "cases[%lld].variants[%lld].sources", (long long)c, (long long)v);
        verifier_find(self, path, "%s names no source: nobody knows what ran", variant->name);
      }
      for (int64_t s = 0; s < variant->sources.count; s++) {
        if (kept_seen_before(self->report, c, v, &variant->sources.items[s])) continue;
        snprintf(path, sizeof path, "cases[%lld].variants[%lld].sources[%lld].sha256", (long long)c,
                 (long long)v, (long long)s);
        check_source(self, &variant->sources.items[s], path, depth);
      }
    }
  }
}
