/* SPDX-License-Identifier: MIT */
/* file.c - whole files at once. Writing goes through a temporary file: who interrupts us finds the old or the
 * new contents, never half of them. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(ASSAY_PATH_SIZE >= 4096, "realpath writes up to PATH_MAX bytes");

static void close_keeping_errno(int file) {
  const int reason = errno;
  close(file);
  errno = reason;
}

static void unlink_keeping_errno(const char *path) {
  const int reason = errno;
  unlink(path);
  errno = reason;
}

/* Reads to the end into a buffer that grows, since files of /proc and pipes do not tell their size. */
static char *read_all(int file, size_t expected, size_t limit, size_t *size) {
  size_t capacity = expected < limit ? expected + 2 : limit + 2; /* one byte more than allowed, and the NUL */
  size_t used = 0;
  char *data = malloc(capacity);
  while (data != NULL) {
    const ssize_t got = read(file, data + used, capacity - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) used += (size_t)got;
    if (got == 0 && used <= limit) {
      data[used] = '\0';
      *size = used;
      return data;
    }
    if (used > limit) errno = EFBIG;
    if (got < 0 || used > limit) break;
    if (used + 1 < capacity) continue;
    capacity = capacity < limit / 2 ? 2 * capacity : limit + 2;
    char *larger = realloc(data, capacity);
    if (larger == NULL) break;
    data = larger;
  }
  const int reason = errno;
  free(data);
  errno = reason;
  return NULL;
}

char *assay_read_file(const char *path, size_t limit, size_t *size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  if (limit > SIZE_MAX - 2) limit = SIZE_MAX - 2; /* room for the byte beyond it and the NUL */
  struct stat status;
  const bool known = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  const uintmax_t expected = known ? (uintmax_t)status.st_size : 4096;
  const bool too_large = known && expected > limit; /* said before reading a gigabyte */
  if (too_large) errno = EFBIG;
  char *data = too_large ? NULL : read_all(file, (size_t)expected, limit, size);
  close_keeping_errno(file);
  return data;
}

static bool stopped(bool (*stop)(void)) {
  if (stop == NULL || !stop()) return false;
  errno = EINTR;
  return true;
}

/* In pieces, between which `stop` (may be NULL) is asked. */
static bool write_all(int file, const void *data, size_t size, bool (*stop)(void)) {
  enum { PIECE = 1 << 20 };
  const char *next = data;
  while (size > 0) {
    if (stopped(stop)) return false;
    const ssize_t put = write(file, next, size < PIECE ? size : PIECE);
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) {
      next += put;
      size -= (size_t)put;
    }
  }
  return true;
}

/* Creates a file that did not exist beside `path`. Not mkstemp, which would ignore the mode and the umask. */
static int open_temporary(const char *path, unsigned mode, char temporary[ASSAY_PATH_SIZE]) {
  static atomic_uint counter;
  const char *slash = strrchr(path, '/');
  const int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
  for (;;) {
    const unsigned number = atomic_fetch_add(&counter, 1);
    if (!assay_path_format(temporary, "%.*s.assay-%ld-%u.tmp", folder, path, (long)getpid(), number))
      return -1;
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    if (file >= 0 || errno != EEXIST) return file; /* EEXIST: left by a process of this id that was killed */
  }
}

/* A complete and synced temporary file beside `path`; on failure none is left. */
static bool write_temporary(const char *path, const void *data, size_t size, unsigned mode,
                            bool (*stop)(void), char temporary[ASSAY_PATH_SIZE]) {
  const int file = open_temporary(path, mode, temporary);
  if (file < 0) return false;
  const bool written = write_all(file, data, size, stop) && fsync(file) == 0 && !stopped(stop);
  if (!written) close_keeping_errno(file);
  if (written && close(file) == 0) return true;
  unlink_keeping_errno(temporary);
  return false;
}

/* For what cannot be replaced: a terminal, a pipe, /dev/null. */
static bool write_through(const char *path, const void *data, size_t size, bool (*stop)(void)) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write_all(file, data, size, stop);
  close_keeping_errno(file);
  return written;
}

bool assay_write_file(const char *path, const void *data, size_t size, unsigned mode) {
  return assay_write_file_unless(path, data, size, mode, NULL);
}

bool assay_write_file_unless(const char *path, const void *data, size_t size, unsigned mode,
                             bool (*stop)(void)) {
  struct stat status;
  char resolved[ASSAY_PATH_SIZE];
  if (stat(path, &status) == 0) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return write_through(path, data, size, stop);
    if (realpath(path, resolved) != NULL)
      path = resolved; /* a link stays one; the file it names is replaced */
  }
  char temporary[ASSAY_PATH_SIZE];
  if (!write_temporary(path, data, size, mode, stop, temporary)) return false;
  if (rename(temporary, path) == 0) return true;
  unlink_keeping_errno(temporary);
  return false;
}

bool assay_create_file(const char *path, const void *data, size_t size, unsigned mode) {
  char temporary[ASSAY_PATH_SIZE];
  if (!write_temporary(path, data, size, mode, NULL, temporary)) return false;
  const bool created = link(temporary, path) == 0; /* unlike rename, it never replaces */
  unlink_keeping_errno(temporary);
  return created;
}

bool assay_file_exists(const char *path) {
  return access(path, F_OK) == 0;
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Another process may create the folder at the same time: that is success too. */
static bool make_folder(const char *path) {
  if (is_folder(path) || mkdir(path, 0777) == 0) return true;
  const int reason = errno;
  if (reason == EEXIST && is_folder(path)) return true;
  errno = reason;
  return false;
}

bool assay_make_folders(const char *path) {
  char prefix[ASSAY_PATH_SIZE];
  if (!assay_path_format(prefix, "%s", path)) return false;
  for (char *c = prefix; *c != '\0'; c++) {
    if (*c != '/' || c == prefix) continue;
    *c = '\0';
    if (!make_folder(prefix)) return false;
    *c = '/';
  }
  return make_folder(prefix);
}

bool assay_make_temp_folder(char path[ASSAY_PATH_SIZE]) {
  const char *base = getenv("TMPDIR");
  if (base == NULL || base[0] == '\0') base = "/tmp";
  if (!assay_path_format(path, "%s/assay-XXXXXX", base)) return false;
  if (mkdtemp(path) != NULL) return true;
  path[0] = '\0';
  return false;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *position) {
  (void)status;
  (void)kind;
  (void)position;
  return remove(path);
}

bool assay_remove_tree(const char *path) {
  enum { OPEN_FOLDERS = 16 };
  return nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0;
}

bool assay_path_format(char path[ASSAY_PATH_SIZE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(path, ASSAY_PATH_SIZE, format, arguments);
  va_end(arguments);
  if (length >= 0 && length < ASSAY_PATH_SIZE) return true;
  path[0] = '\0';
  errno = ENAMETOOLONG;
  return false;
}

const char *assay_program_path(void) {
  static _Thread_local char path[ASSAY_PATH_SIZE];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return "/proc/self/exe"; /* still a name to execute it by */
  path[length] = '\0';
  return path;
}

/* Whether `folder` holds our sources; `resolved` then is its absolute path, good after a change of folder. */
static bool holds_sources(const char *folder, char resolved[ASSAY_PATH_SIZE]) {
  char probe[ASSAY_PATH_SIZE];
  return assay_path_format(probe, "%s/include/assay/workshop.h", folder) && assay_file_exists(probe) &&
         realpath(folder, resolved) != NULL;
}

const char *assay_source_folder(void) {
  static _Thread_local char resolved[ASSAY_PATH_SIZE];
  const char *asked = getenv("ASSAY_SOURCE_DIR");
  if (asked != NULL && asked[0] != '\0') return holds_sources(asked, resolved) ? resolved : NULL;
  const char *program = assay_program_path();
  const char *slash = strrchr(program, '/');
  const int length = slash != NULL ? (int)(slash - program) : 0;
  static const char *const places[] = {"..", "../share/assay"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    char folder[ASSAY_PATH_SIZE];
    if (!assay_path_format(folder, "%.*s/%s", length, program, places[i])) return NULL;
    if (holds_sources(folder, resolved)) return resolved;
  }
  return NULL;
}
