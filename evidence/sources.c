/* SPDX-License-Identifier: MIT */
/* sources.c - the files behind a variant with their hashes, so that a changed kernel is seen in old reports.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hash.h"
#include "ops/ops.h"
#include "surroundings.h"

/* Adds a file; one that cannot be read is left out, as in an installed tree. False without memory. */
static bool add(report_variant *target, const char *path) {
  char full[ASSAY_PATH_SIZE];
  char hash[ASSAY_HASH_TEXT];
  const char *folder = assay_source_folder();
  const bool in_tree = path[0] != '/' && folder != NULL && assay_path_format(full, "%s/%s", folder, path) &&
                       assay_hash_file(full, hash);
  if (!in_tree && !assay_hash_file(path, hash)) return true;
  const size_t count = (size_t)target->sources.count;
  report_source *larger = realloc(target->sources.items, (count + 1) * sizeof *larger);
  if (larger == NULL) return false;
  target->sources.items = larger;
  larger[count] = (report_source){strdup(path), strdup(hash)};
  target->sources.count++;
  return larger[count].path != NULL && larger[count].sha256 != NULL;
}

static bool ends_with(const char *name, const char *end) {
  const size_t length = strlen(name);
  return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* On a GPU: which kernel a variant launches only its host half knows, so all of the folder count. Host code
 * that several of them share is in files whose names end with _gpu.c and _gpu.h. The emulator's twins of the
 * dialect's words do not run there. */
static bool belongs_on_gpu(const char *folder, const char *name, bench_kind kind) {
  if (strcmp(folder, "device") == 0) return false;
  if (strcmp(folder, "include/assay") == 0)
    return strncmp(name, "kernel", 6) == 0 && strstr(name, "emulator") == NULL;
  if (strstr(name, "_avx") != NULL || strstr(name, "_simd") != NULL) return false; /* instructions of CPUs */
  if (ends_with(name, ".h") || ends_with(name, ".cu") || ends_with(name, "_gpu.c")) return true;
  return kind == BENCH_BASELINE && ends_with(name, "_bench.c");
}

/* What a file of an operator's folder is for follows from the end of its name. Of the device's headers only
 * those count that hold code for kernels. */
static bool belongs(const char *folder, const char *name, bench_kind kind, const char *variant) {
  static const char *const kernels[] = {"_cpu.c", "_avx2.c", "_avx512.c"};
  char own[BENCH_NAME + 8];
  if (strcmp(folder, "device") == 0)
    return ends_with(name, ".h") && (strncmp(name, "vec_", 4) == 0 || strcmp(name, "cpu.h") == 0);
  if (ends_with(name, "_gpu.h")) return false;
  if (ends_with(name, ".h")) return true;
  if (kind == BENCH_BASELINE) {
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
      if (ends_with(name, kernels[i])) return true;
    }
    return ends_with(name, "_bench.c");
  }
  snprintf(own, sizeof own, "_%s.c", variant);
  return ends_with(name, own) || (strcmp(variant, "plain") == 0 && ends_with(name, "_cpu.c"));
}

static int in_order(const struct dirent **left, const struct dirent **right) {
  return strcmp((*left)->d_name, (*right)->d_name);
}

/* The kernels first, headers behind them; in the order of the names, so that reports can be compared. A NULL
 * variant runs on a GPU. */
static bool add_folder(report_variant *target, const char *folder, bench_kind kind, const char *variant) {
  char path[ASSAY_PATH_SIZE];
  struct dirent **names = NULL;
  const char *tree = assay_source_folder();
  if (tree == NULL || !assay_path_format(path, "%s/%s", tree, folder)) return true;
  const int count = scandir(path, &names, NULL, in_order);
  bool good = true;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < count && good; i++) {
      const char *name = names[i]->d_name;
      if (ends_with(name, ".h") != (pass == 1)) continue;
      if (variant == NULL ? !belongs_on_gpu(folder, name, kind) : !belongs(folder, name, kind, variant))
        continue;
      if (assay_path_format(path, "%s/%s", folder, name)) good = add(target, path);
    }
  }
  for (int i = 0; i < count; i++) free(names[i]);
  free(names);
  return good;
}

/* Those that every kernel may include; on a GPU those of the dialect too. */
static bool add_headers(report_variant *target, bool on_gpu) {
  return (!on_gpu || add_folder(target, "include/assay", BENCH_LIBRARY, NULL)) &&
         add(target, "include/assay/workshop.h") && add(target, "include/assay/assay.h");
}

/* A baseline that names its files. */
static bool add_named(report_variant *target, const char *const *sources, bool on_gpu) {
  for (; *sources != NULL; sources++) {
    if (!add(target, *sources)) return false;
  }
  return add_headers(target, on_gpu);
}

bool surroundings_library_sources(const assay_operator *op, const assay_variant *variant,
                                  report_variant *target) {
  char folder[ASSAY_PATH_SIZE];
  const bool on_gpu = variant->backend == ASSAY_CUDA;
  if (!assay_path_format(folder, "ops/%s", op->subject.name)) return true;
  return add_folder(target, folder, BENCH_LIBRARY, on_gpu ? NULL : variant->name) &&
         (on_gpu || add_folder(target, "device", BENCH_LIBRARY, variant->name)) &&
         add_headers(target, on_gpu);
}

/* A baseline that names no files: the kernels that its operator's *_bench.c can call. */
static bool add_baseline(report_variant *target, const assay_operator *op, bool on_gpu) {
  char folder[ASSAY_PATH_SIZE];
  if (!assay_path_format(folder, "ops/%s", op->subject.name)) return true;
  if (on_gpu) return add_folder(target, folder, BENCH_BASELINE, NULL) && add_headers(target, true);
  return add_folder(target, folder, BENCH_BASELINE, "") && add(target, "ops/bench_passes.c") &&
         add(target, "ops/bench_passes_avx2.c") && add_folder(target, "device", BENCH_LIBRARY, "") &&
         add_headers(target, false);
}

bool surroundings_sources(const bench_run *run, const bench_case *one, const bench_variant *variant,
                          report_variant *target) {
  const bool on_gpu = run->backend == ASSAY_CUDA;
  const bench_load *load = &run->loads[variant->load];
  if (load->target == TARGET_OBJECT) return add(target, variant->source) && add_headers(target, on_gpu);
  if (load->target != TARGET_BASELINE)
    return surroundings_library_sources(one->op, &one->op->variants[load->index], target);
  const assay_bench_baseline *baseline = assay_operator_baseline(one->op, load->index);
  if (baseline != NULL && baseline->sources != NULL) return add_named(target, baseline->sources, on_gpu);
  return add_baseline(target, one->op, on_gpu);
}
