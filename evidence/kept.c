/* SPDX-License-Identifier: MIT */
/* kept.c - finding kept copies, and making them: a file is named by the SHA-256 of what it holds. */
#include "kept.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const size_t largest_source = (size_t)1 << 26;

/* The folder of the report, "." for a bare name. */
static bool folder_of(const char *file, char folder[ASSAY_PATH_SIZE]) {
  const char *slash = strrchr(file, '/');
  if (slash == NULL) return assay_path_format(folder, ".");
  return assay_path_format(folder, "%.*s", slash == file ? 1 : (int)(slash - file), file);
}

bool kept_find(const char *report_file, const char *sha256, char path[ASSAY_PATH_SIZE]) {
  char folder[ASSAY_PATH_SIZE];
  const char *tree = assay_source_folder();
  if (folder_of(report_file, folder)) {
    if (assay_path_format(path, "%s/sources/%s", folder, sha256) && assay_file_exists(path)) return true;
    if (assay_path_format(path, "%s/../sources/%s", folder, sha256) && assay_file_exists(path)) return true;
  }
  return tree != NULL && assay_path_format(path, "%s/results/sources/%s", tree, sha256) &&
         assay_file_exists(path);
}

bool kept_source_now(const char *source, char path[ASSAY_PATH_SIZE], char sha256[ASSAY_HASH_TEXT]) {
  const char *tree = assay_source_folder();
  if (source[0] != '/' && tree != NULL && assay_path_format(path, "%s/%s", tree, source) &&
      assay_hash_file(path, sha256)) {
    return true;
  }
  return assay_path_format(path, "%s", source) && assay_hash_file(path, sha256);
}

bool kept_seen_before(const report *from, int64_t c, int64_t v, const report_source *source) {
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

/* ---- making copies ------------------------------------------------------------------------------------- */

/* results/sources of the tree for what lies under its results/, else sources/ beside the report. */
static bool choose_folder(const char *report_file, char folder[ASSAY_PATH_SIZE]) {
  char beside[ASSAY_PATH_SIZE];
  char results[ASSAY_PATH_SIZE];
  char full[PATH_MAX];
  char inside[PATH_MAX];
  const char *tree = assay_source_folder();
  if (!folder_of(report_file, beside)) return false;
  if (tree != NULL && assay_path_format(results, "%s/results", tree) && realpath(results, full) != NULL &&
      realpath(beside, inside) != NULL) {
    const size_t length = strlen(full);
    if (strncmp(inside, full, length) == 0 && (inside[length] == '/' || inside[length] == '\0'))
      return assay_path_format(folder, "%s/sources", results);
  }
  return assay_path_format(folder, "%s/sources", beside);
}

/* Whether the source has a sound copy; a copy that holds something else is an error, not an absence. */
static bool has_copy(const char *report_file, const report_source *source, bool *sound, assay_message *why) {
  char path[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  *sound = true;
  if (!kept_find(report_file, source->sha256, path)) return false;
  if (assay_hash_file(path, hash) && strcmp(hash, source->sha256) == 0) return true;
  *sound = false;
  (void)assay_explain(why, ASSAY_OK, "the kept copy %.200s does not hold what its name says: remove it",
                      path);
  return false;
}

/* From the tree as it is now; what is written is what was hashed. */
static bool copy_source(const report_source *source, const char *folder, bool write, assay_message *why) {
  char path[ASSAY_PATH_SIZE];
  char target[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  size_t size = 0;
  char *text =
      kept_source_now(source->path, path, hash) ? assay_read_file(path, largest_source, &size) : NULL;
  if (text == NULL) {
    (void)assay_explain(why, ASSAY_OK, "%.200s cannot be read, and no copy of what ran is kept: %s",
                        source->path, strerror(errno));
    return false;
  }
  assay_hash_bytes(text, size, hash);
  bool good = strcmp(hash, source->sha256) == 0;
  if (!good) {
    (void)assay_explain(why, ASSAY_OK, "%.200s is another file now, and no copy of what ran is kept",
                        source->path);
  } else if (write) {
    good = assay_make_folders(folder) && assay_path_format(target, "%s/%s", folder, source->sha256) &&
           assay_write_file(target, text, size, 0666);
    if (!good) (void)assay_explain(why, ASSAY_OK, "cannot write to %.200s: %s", folder, strerror(errno));
  }
  free(text);
  return good;
}

/* One walk over the report's sources; `write` false: only whether all could be kept. */
static bool walk(const report *from, const char *report_file, bool write, kept_outcome *outcome,
                 assay_message *why) {
  for (int64_t c = 0; c < from->cases.count; c++) {
    const report_case *one = &from->cases.items[c];
    for (int64_t v = 0; v < one->variants.count; v++) {
      for (int64_t s = 0; s < one->variants.items[v].sources.count; s++) {
        const report_source *source = &one->variants.items[v].sources.items[s];
        bool sound = true;
        if (kept_seen_before(from, c, v, source)) continue;
        const bool kept = has_copy(report_file, source, &sound, why);
        if (!sound) return false;
        if (!kept && !copy_source(source, outcome->folder, write, why)) return false;
        if (!write) continue;
        outcome->sources++;
        outcome->copied += !kept;
      }
    }
  }
  return true;
}

bool kept_make(const report *from, const char *report_file, kept_outcome *outcome, assay_message *why) {
  *outcome = (kept_outcome){.sources = 0};
  if (!choose_folder(report_file, outcome->folder)) {
    (void)assay_explain(why, ASSAY_OK, "the path of the report is too long");
    return false;
  }
  return walk(from, report_file, false, outcome, why) && walk(from, report_file, true, outcome, why);
}
