/* SPDX-License-Identifier: MIT */
/* bench_kernels.c - sources that are timed become shared objects; --against may take one from git. */
#include "bench_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/build.h"
#include "core/process.h"

const char *bench_keep(bench_job *job, const char *text) {
  const int most = (int)(sizeof job->texts / sizeof job->texts[0]);
  char *kept = job->text_count < most ? strdup(text) : NULL;
  if (kept == NULL) {
    output_error("too many kernels at once: name fewer exercises");
    return NULL;
  }
  job->texts[job->text_count++] = kept;
  return kept;
}

static bool need_folder(bench_job *job) {
  if (job->folder[0] != '\0' || assay_make_temp_folder(job->folder)) return true;
  job->folder[0] = '\0';
  output_error("no temporary folder could be made (%s): is TMPDIR writable?", strerror(errno));
  return false;
}

/* The kernels of a .cu file are compiled in every process that times them, and must still be those that the
 * run began with: a copy, in a folder of its own. False after an error message. */
static bool freeze(const char *source, const char *folder, char copy[ASSAY_PATH_SIZE]) {
  const char *slash = strrchr(source, '/');
  size_t size = 0;
  char *text = assay_read_file(source, (size_t)1 << 22, &size);
  const bool copied = text != NULL && assay_make_folders(folder) &&
                      assay_path_format(copy, "%s/%s", folder, slash != NULL ? slash + 1 : source) &&
                      assay_write_file(copy, text, size, 0600);
  free(text);
  if (!copied) output_error("%s cannot be copied: %s", source, strerror(errno));
  return copied;
}

int bench_build(bench_job *job, const assay_subject *subject, const char *source, verdict *value,
                assay_message *reason) {
  char object[ASSAY_PATH_SIZE];
  char *log = NULL;
  const int index = job->run.load_count;
  if (index == BENCH_JOB_LOADS) {
    output_error("more than %d kernels at once: name fewer exercises", BENCH_JOB_LOADS);
    return -1;
  }
  if (!need_folder(job) || !assay_path_format(object, "%s/kernel-%d.so", job->folder, index)) return -1;
  const char *kept = bench_keep(job, object);
  if (kept == NULL) return -1;
  char own[ASSAY_PATH_SIZE];
  char copy[ASSAY_PATH_SIZE];
  if (source != NULL && job->run.backend == ASSAY_CUDA) {
    if (!assay_path_format(own, "%s/source-%d", job->folder, index) || !freeze(source, own, copy)) return -1;
    source = copy;
  }
  *value = source != NULL ? build_object(source, object, reason, &log) : VERDICT_TODO;
  free(log);
  job->loads[index] = (bench_load){.target = TARGET_OBJECT, .subject = subject, .object = kept};
  job->run.load_count++;
  return index;
}

/* `git show REV:./NAME` in the file's folder. */
static bool from_git(bench_job *job, const char *own, const char *revision, char path[ASSAY_PATH_SIZE]) {
  char folder[ASSAY_PATH_SIZE];
  char object[ASSAY_PATH_SIZE];
  const char *slash = strrchr(own, '/');
  const char *name = slash != NULL ? slash + 1 : own;
  if (revision[0] == '-' || !need_folder(job) ||
      !assay_path_format(folder, "%.*s", slash != NULL ? (int)(slash - own) : 1, slash != NULL ? own : ".") ||
      !assay_path_format(object, "%s:./%s", revision, name) ||
      !assay_path_format(path, "%s/against-%s", job->folder, name)) {
    output_error("--against \"%.60s\" is neither a file nor a revision", revision);
    return false;
  }
  const char *const argv[] = {"git", "show", object, NULL};
  assay_process_result result;
  assay_process_run(argv, folder, 20, &result);
  const bool found = result.started && result.exit_code == 0 && result.output_size < ASSAY_OUTPUT_LIMIT;
  const bool written = found && assay_write_file(path, result.output, result.output_size, 0600);
  free(result.output);
  if (!found) {
    output_error(
        "--against \"%.60s\" is no file, and git has no %s under it: commit the file, or name another "
        "one",
        revision, name);
  } else if (!written) {
    output_error("cannot write %s: %s", path, strerror(errno));
  }
  return written;
}

bool bench_against(bench_job *job, const char *own, char path[ASSAY_PATH_SIZE]) {
  const char *given = job->args->values[BENCH_OPT_AGAINST].text;
  if (assay_file_exists(given)) return assay_path_format(path, "%s", given);
  return from_git(job, own, given, path);
}
