/* SPDX-License-Identifier: MIT */
/* kernel_cache.c - one file an entry: the object, its key, and where the one ends and the other begins. */
#include "kernel_cache.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRY_BYTES_MOST = 1 << 28 };

/* The end of every entry. */
typedef struct tail {
  uint64_t object_bytes;
  uint64_t key_bytes;
  char mark[16];
} tail;

static const char tail_mark[16] = "assay object 1";
static const char suffix[] = ".object";

/* ---- the folder ---------------------------------------------------------------------------------------- */

static char private_folder[ASSAY_PATH_SIZE];
static pthread_once_t private_once = PTHREAD_ONCE_INIT;

static void remove_private_folder(void) {
  (void)assay_remove_tree(private_folder);
}

static void make_private_folder(void) {
  if (assay_make_temp_folder(private_folder)) atexit(remove_private_folder);
}

static bool set(const char *value) {
  return value != NULL && value[0] != '\0';
}

static bool wanted_folder(char path[ASSAY_PATH_SIZE]) {
  const char *own = getenv("ASSAY_CACHE");
  const char *caches = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  if (set(own)) return assay_path_format(path, "%s", own);
  /* The XDG rules: a relative path is invalid and ignored. */
  if (caches != NULL && caches[0] == '/') return assay_path_format(path, "%s/assay", caches);
  return set(home) && assay_path_format(path, "%s/.cache/assay", home);
}

/* Ours alone to write to: code that is loaded from here runs with our rights. */
static bool is_safe(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(path, R_OK | W_OK | X_OK) == 0;
}

static bool make_folder(const char *path) {
  char parent[ASSAY_PATH_SIZE];
  if (mkdir(path, 0700) == 0 || errno == EEXIST) return true;
  const char *slash = strrchr(path, '/');
  if (errno != ENOENT || slash == NULL || slash == path) return false;
  return assay_path_format(parent, "%.*s", (int)(slash - path), path) && assay_make_folders(parent) &&
         (mkdir(path, 0700) == 0 || errno == EEXIST);
}

bool assay_cache_folder(char path[ASSAY_PATH_SIZE]) {
  if (wanted_folder(path) && make_folder(path) && is_safe(path)) return true;
  pthread_once(&private_once, make_private_folder);
  return private_folder[0] != '\0' && assay_path_format(path, "%s", private_folder);
}

/* ---- entries ------------------------------------------------------------------------------------------- */

/* FNV-1a. It names the file and no more: the key itself is compared. */
static uint64_t hash(const char *key) {
  uint64_t value = UINT64_C(0xcbf29ce484222325);
  for (; *key != '\0'; key++) value = (value ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
  return value;
}

static bool entry_path(const char *key, char path[ASSAY_PATH_SIZE]) {
  char folder[ASSAY_PATH_SIZE];
  return assay_cache_folder(folder) &&
         assay_path_format(path, "%s/%016llx%s", folder, (unsigned long long)hash(key), suffix);
}

/* The whole file when it is an entry of this key; NULL otherwise. */
static char *read_entry(const char *path, const char *key, size_t *object_bytes) {
  size_t size = 0;
  char *data = assay_read_file(path, ENTRY_BYTES_MOST, &size);
  if (data == NULL) return NULL;
  tail end;
  const size_t key_bytes = strlen(key);
  if (size > sizeof end) {
    memcpy(&end, data + size - sizeof end, sizeof end);
    const bool whole = memcmp(end.mark, tail_mark, sizeof end.mark) == 0 && end.key_bytes == key_bytes &&
                       end.object_bytes <= size && size == end.object_bytes + key_bytes + sizeof end;
    if (whole && memcmp(data + end.object_bytes, key, key_bytes) == 0) {
      *object_bytes = (size_t)end.object_bytes;
      return data;
    }
  }
  free(data);
  return NULL;
}

static void note_use(const char *path) {
  (void)utimensat(AT_FDCWD, path, NULL, 0);
}

bool assay_cache_get(const char *key, char path[ASSAY_PATH_SIZE]) {
  size_t bytes = 0;
  char *data = entry_path(key, path) ? read_entry(path, key, &bytes) : NULL;
  if (data == NULL) return false;
  free(data);
  note_use(path);
  return true;
}

void *assay_cache_read(const char *key, size_t *bytes) {
  char path[ASSAY_PATH_SIZE];
  char *data = entry_path(key, path) ? read_entry(path, key, bytes) : NULL;
  if (data == NULL) return NULL;
  data[*bytes] = '\0';
  note_use(path);
  return data;
}

bool assay_cache_put(const char *key, const void *object, size_t bytes, char path[ASSAY_PATH_SIZE]) {
  char file[ASSAY_PATH_SIZE];
  char folder[ASSAY_PATH_SIZE];
  const size_t key_bytes = strlen(key);
  tail end = {.object_bytes = bytes, .key_bytes = key_bytes};
  memcpy(end.mark, tail_mark, sizeof end.mark);
  if (bytes > ENTRY_BYTES_MOST - key_bytes - sizeof end) {
    errno = EFBIG;
    return false;
  }
  if (!entry_path(key, file)) return false;
  char *data = malloc(bytes + key_bytes + sizeof end);
  if (data == NULL) return false;
  memcpy(data, object, bytes);
  memcpy(data + bytes, key, key_bytes + 1); /* the tail takes the place of the NUL */
  memcpy(data + bytes + key_bytes, &end, sizeof end);
  const bool written = assay_write_file(file, data, bytes + key_bytes + sizeof end, 0600);
  const int reason = errno;
  free(data);
  if (written && assay_path_format(folder, "%.*s", (int)(strrchr(file, '/') - file), file)) {
    assay_cache_trim(folder, ASSAY_CACHE_BYTES_MOST);
  }
  if (written && path != NULL) memcpy(path, file, strlen(file) + 1);
  errno = reason;
  return written;
}

bool assay_cache_put_file(const char *key, const char *file, char path[ASSAY_PATH_SIZE]) {
  size_t bytes = 0;
  char *object = assay_read_file(file, ENTRY_BYTES_MOST, &bytes);
  if (object == NULL) return false;
  const bool kept = assay_cache_put(key, object, bytes, path);
  const int reason = errno;
  free(object);
  errno = reason;
  return kept;
}

/* ---- the limit ----------------------------------------------------------------------------------------- */

typedef struct used_file {
  char name[64];
  uint64_t bytes;
  struct timespec used;
} used_file;

static int by_use(const void *left, const void *right) {
  const struct timespec *a = &((const used_file *)left)->used;
  const struct timespec *b = &((const used_file *)right)->used;
  if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
  return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static bool is_entry(const char *name) {
  const size_t length = strlen(name);
  return length == 16 + strlen(suffix) && strcmp(name + 16, suffix) == 0;
}

/* The entries of a folder, to be freed; NULL when there are none. */
static used_file *list_entries(DIR *folder, size_t *count, uint64_t *total) {
  used_file *files = NULL;
  size_t room = 0;
  *count = 0;
  *total = 0;
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    struct stat status;
    if (!is_entry(entry->d_name) || fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (*count == room) {
      room = room == 0 ? 256 : 2 * room;
      used_file *larger = realloc(files, room * sizeof *files);
      if (larger == NULL) break;
      files = larger;
    }
    used_file *file = &files[(*count)++];
    *file = (used_file){.bytes = (uint64_t)status.st_size, .used = status.st_mtim};
    memcpy(file->name, entry->d_name, strlen(entry->d_name) + 1);
    *total += file->bytes;
  }
  return files;
}

void assay_cache_trim(const char *folder, uint64_t bytes_most) {
  DIR *open_folder = opendir(folder);
  if (open_folder == NULL) return;
  size_t count = 0;
  uint64_t total = 0;
  used_file *files = list_entries(open_folder, &count, &total);
  if (total > bytes_most) {
    qsort(files, count, sizeof *files, by_use);
    for (size_t i = 0; i < count && total > bytes_most; i++) {
      /* Another process may have removed it at the same time: it is gone either way. */
      (void)unlinkat(dirfd(open_folder), files[i].name, 0);
      total -= files[i].bytes;
    }
  }
  free(files);
  closedir(open_folder);
}
