/* SPDX-License-Identifier: MIT */
/* verify_sources.c - which sources ran: the copies kept by hash, and the tree as it is now. */
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "hash.h"
#include "verifier.h"

/* The folder of the report, "." for a bare name. */
static void folder_of(const char *file, char folder[ASSAY_PATH_SIZE]) {
  const char *slash = strrchr(file, '/');
  if (slash == NULL) {
    strcpy(folder, ".");
  } else {
    assay_path_format(folder, "%.*s", slash == file ? 1 : (int)(slash - file), file);
  }
}

/* Where a copy may be kept: results/sources/ of the tree, sources/ beside the report or one folder up. */
static bool find_kept(const verifier *self, const char *hash, char path[ASSAY_PATH_SIZE]) {
  char folder[ASSAY_PATH_SIZE];
  const char *tree = assay_source_folder();
  folder_of(self->file, folder);
  if (assay_path_format(path, "%s/sources/%s", folder, hash) && assay_file_exists(path)) return true;
  if (assay_path_format(path, "%s/../sources/%s", folder, hash) && assay_file_exists(path)) return true;
  return tree != NULL && assay_path_format(path, "%s/results/sources/%s", tree, hash) &&
         assay_file_exists(path);
}

/* The hash of the source where it stands now: in the tree, else as the path was given. */
static bool hash_now(const char *source, char hash[ASSAY_HASH_TEXT]) {
  char path[ASSAY_PATH_SIZE];
  const char *tree = assay_source_folder();
  if (source[0] != '/' && tree != NULL && assay_path_format(path, "%s/%s", tree, source) &&
      assay_hash_file(path, hash)) {
    return true;
  }
  return assay_hash_file(source, hash);
}

static void check_source(verifier *self, const report_source *source, const char *path, verify_depth depth) {
  char kept[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  const bool found = hash_now(source->path, hash);
  const bool same = found && strcmp(hash, source->sha256) == 0;
  if (!same) {
    self->outcome->current = false;
    if (self->outcome->changed[0] == '\0')
      snprintf(self->outcome->changed, sizeof self->outcome->changed, "%.200s", source->path);
  }
  if (depth == VERIFY_NUMBERS) return;
  if (find_kept(self, source->sha256, kept)) {
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

/* Variants share headers: whether an earlier place of the report has the same path and hash. */
static bool seen_before(const report *from, int64_t c, int64_t v, const report_source *source) {
  for (int64_t i = 0; i <= c; i++) {
    const report_case *one = &from->cases.items[i];
    for (int64_t k = 0; k < (i < c ? one->variants.count : v); k++) {
      const report_variant *variant = &one->variants.items[k];
      for (int64_t s = 0; s < variant->sources.count; s++) {
        const report_source *other = &variant->sources.items[s];
        if (strcmp(other->path, source->path) == 0 && strcmp(other->sha256, source->sha256) == 0) return true;
      }
    }
  }
  return false;
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
        if (seen_before(self->report, c, v, &variant->sources.items[s])) continue;
        snprintf(path, sizeof path, "cases[%lld].variants[%lld].sources[%lld].sha256", (long long)c,
                 (long long)v, (long long)s);
        check_source(self, &variant->sources.items[s], path, depth);
      }
    }
  }
}
