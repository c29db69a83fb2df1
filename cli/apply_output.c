/* SPDX-License-Identifier: MIT */
/* apply_output.c - the output of `assay apply`: refused early where that is possible, written whole or not at
 * all. */
#include "apply.h"
#include "check/engine.h"
#include "core/file.h"
#include "core/tensor.h"
#include "interrupt.h"
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder that a new file would be made in, with the slash that no other file may have behind it: a link
 * stays, and the file that it names is replaced. */
static bool folder_of(const char *path, bool exists, char folder[ASSAY_PATH_SIZE]) {
  char resolved[ASSAY_PATH_SIZE];
  if (exists && realpath(path, resolved) != NULL) path = resolved;
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return assay_path_format(folder, "./");
  return assay_path_format(folder, "%.*s", (int)(slash - path) + 1, path);
}

int apply_examine_output(const apply_job *job) {
  const char *path = job->out_path;
  struct stat status, answer;
  char folder[ASSAY_PATH_SIZE];
  const bool exists = stat(path, &status) == 0;
  for (int i = 0; exists && i < job->input_count; i++) {
    const assay_npy_file *file = &job->inputs[i].file;
    if (status.st_dev != file->device || status.st_ino != file->inode) continue;
    output_error("--out %s is the input %s: name another file", path, job->inputs[i].path);
    return CLI_USAGE;
  }
  if (exists && S_ISDIR(status.st_mode)) {
    output_error("--out %s is a folder: name a file in it", path);
    return CLI_USAGE;
  }
  if (exists && fstat(STDOUT_FILENO, &answer) == 0 && status.st_dev == answer.st_dev &&
      status.st_ino == answer.st_ino && !S_ISCHR(status.st_mode)) {
    output_error("--out %s is standard output, where the answer goes: name another file", path);
    return CLI_USAGE;
  }
  if (exists && !S_ISREG(status.st_mode)) return CLI_OK; /* a pipe or a device is not replaced */
  if (folder_of(path, exists, folder) && access(folder, W_OK | X_OK) == 0) return CLI_OK;
  output_error("cannot write %s: %s: %s", path, folder, strerror(errno));
  return CLI_FAILED;
}

bool apply_allocate_output(apply_job *job, assay_message *why) {
  assay_tensor *y = &job->out[0];
  char header[ASSAY_NPY_HEADER], shape[ASSAY_NPY_SHAPE_TEXT];
  int64_t count = 0, bytes = 0;
  assay_npy_shape(y->rank, y->shape, shape);
  const size_t offset = assay_npy_format(y->dtype, y->rank, y->shape, header);
  if (!assay_tensor_count(y, &count) ||
      __builtin_mul_overflow(count, (int64_t)assay_dtype_size(y->dtype), &bytes) ||
      bytes > INT64_MAX - (int64_t)offset) {
    assay_explain(why, ASSAY_NO_MEMORY, "an output of shape %s fits no memory", shape);
    return false;
  }
  job->file_bytes = offset + (size_t)bytes;
  job->file = apply_memory(job->file_bytes, "the output", why);
  if (job->file == NULL) return false;
  memcpy(job->file, header, offset);
  y->data = job->file + offset;
  return true;
}

int apply_write_output(apply_job *job) {
  signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error like a full disk */
  interrupt_hold();
  job->written = assay_write_file_unless(job->out_path, job->file, job->file_bytes, 0666, check_interrupted);
  const int reason = errno;
  interrupt_release();
  if (job->written) return CLI_OK;
  if (check_interrupted()) {
    output_error("interrupted: %s is not written", job->out_path);
  } else {
    output_error("cannot write %s: %s", job->out_path, strerror(reason));
  }
  return interrupt_code(CLI_FAILED);
}
