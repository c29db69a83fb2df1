/* SPDX-License-Identifier: MIT */
/*
 * npy_file.c - a .npy file in memory: mapped, so that a large one costs no copy; read, where it is a pipe.
 *
 * A mapped file that another process cuts short ends this one by SIGBUS. That is the price of not copying.
 */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"

enum { ALIGNMENT = 64 }; /* of memory that is read into; the writer's headers are multiples of it */

static bool refuse(assay_message *why, const char *sentence) {
  assay_explain(why, ASSAY_BAD_POINTER, "%s", sentence);
  return false;
}

static bool cannot_read(assay_message *why) {
  assay_explain(why, ASSAY_BAD_POINTER, "cannot be read: %s", strerror(errno));
  return false;
}

static bool open_mapped(int descriptor, uintmax_t size, assay_npy_file *file, assay_message *why) {
  if (size > SIZE_MAX) return refuse(why, "is larger than the address space");
  void *memory = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return cannot_read(why);
  file->memory = memory;
  file->memory_bytes = (size_t)size;
  file->mapped = true;
  return assay_npy_parse(memory, (size_t)size, &file->header, why) &&
         assay_npy_fits(&file->header, size, why);
}

/* Up to `size` bytes, fewer only at the end of the file. False when reading fails. */
static bool read_up_to(int descriptor, unsigned char *data, size_t size, size_t *got, assay_message *why) {
  *got = 0;
  while (*got < size) {
    const ssize_t count = read(descriptor, data + *got, size - *got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(why);
    if (count == 0) break;
    *got += (size_t)count;
  }
  return true;
}

/* The header first: it says how much to expect, so that an endless pipe ends here too. */
static bool open_read(int descriptor, assay_npy_file *file, assay_message *why) {
  unsigned char begin[ASSAY_NPY_PREFIX + ASSAY_NPY_LONGEST];
  size_t length = 0;
  size_t size;
  size_t more = 0;
  if (!read_up_to(descriptor, begin, ASSAY_NPY_PREFIX, &size, why)) return false;
  if (!assay_npy_measure(begin, size, &length, why)) return false;
  if (length > size && !read_up_to(descriptor, begin + size, length - size, &more, why)) return false;
  size += more;
  if (!assay_npy_parse(begin, size, &file->header, why)) return false;
  const assay_npy_header *header = &file->header;
  const size_t due = header->offset + header->bytes;
  if (header->bytes > assay_memory_bytes()) return refuse(why, "is larger than this machine's memory");
  void *memory = NULL;
  if (posix_memalign(&memory, ALIGNMENT, due + 1) != 0) return refuse(why, "does not fit into memory");
  file->memory = memory;
  file->memory_bytes = due + 1;
  /* A header shorter than the prefix leaves the first elements in `begin`. */
  const size_t held = size < due + 1 ? size : due + 1;
  memcpy(memory, begin, held);
  if (!read_up_to(descriptor, (unsigned char *)memory + held, due + 1 - held, &more, why)) return false;
  if (held + more > due) return refuse(why, "is longer than its array: something follows its last element");
  return assay_npy_fits(header, held + more, why);
}

bool assay_npy_open(const char *path, assay_npy_file *file, assay_message *why) {
  *file = (assay_npy_file){.memory = NULL};
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    cannot_read(why);
    if (descriptor >= 0) close(descriptor);
    return false;
  }
  file->device = status.st_dev;
  file->inode = status.st_ino;
  bool opened;
  if (S_ISDIR(status.st_mode)) {
    opened = refuse(why, "is a folder");
  } else if (S_ISREG(status.st_mode) && status.st_size > 0) {
    opened = open_mapped(descriptor, (uintmax_t)status.st_size, file, why);
  } else {
    opened = open_read(descriptor, file, why);
  }
  close(descriptor);
  if (opened) {
    file->data = (unsigned char *)file->memory + file->header.offset;
  } else {
    assay_npy_close(file);
  }
  return opened;
}

void assay_npy_close(assay_npy_file *file) {
  if (file->mapped) {
    munmap(file->memory, file->memory_bytes);
  } else {
    free(file->memory);
  }
  *file = (assay_npy_file){.memory = NULL};
}
