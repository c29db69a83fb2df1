/* SPDX-License-Identifier: MIT */
/* test_cache.c - the cache of compiled kernels: hits and misses, damaged and colliding entries, folders, the
 * limit. */
#include "folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel_cache.h"

static int set_up_cache(void **state) {
  if (set_up(state) != 0) return -1;
  return setenv("ASSAY_CACHE", in_folder("cache"), 1);
}

static int tear_down_cache(void **state) {
  unsetenv("ASSAY_CACHE");
  return tear_down(state);
}

#define IN_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up_cache, tear_down_cache)

static void reads(const char *key, const char *want) {
  size_t bytes = 0;
  char *object = assay_cache_read(key, &bytes);
  assert_non_null(object);
  assert_int_equal(bytes, strlen(want));
  assert_string_equal(object, want); /* so there is a NUL behind it */
  free(object);
}

static void test_hit_and_miss(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  char again[ASSAY_PATH_SIZE];
  size_t bytes = 0;
  assert_null(assay_cache_read("one", &bytes));
  assert_false(assay_cache_get("one", path));
  assert_true(assay_cache_put("one", "first", 5, path));
  assert_true(assay_cache_put("two", "", 0, NULL));
  reads("one", "first");
  reads("two", "");
  assert_true(assay_cache_get("one", again));
  assert_string_equal(path, again);
  assert_null(assay_cache_read("on", &bytes));
  assert_true(assay_cache_put("one", "better", 6, NULL));
  reads("one", "better");
  assert_int_equal(entries(in_folder("cache")), 2); /* no temporary file stays */
  assert_int_equal(mode_of(in_folder("cache")) & 07777, 0700);
  assert_int_equal(mode_of(path) & 0077, 0);
}

static void test_files(void **state) {
  (void)state;
  const char object[] = {'\177', 'E', 'L', 'F', 0, 1, 2, 0, 3};
  char path[ASSAY_PATH_SIZE];
  assert_true(assay_write_file(in_folder("object"), object, sizeof object, 0600));
  assert_true(assay_cache_put_file("key", in_folder("object"), path));
  size_t bytes = 0;
  char *kept = assay_cache_read("key", &bytes);
  assert_non_null(kept);
  assert_int_equal(bytes, sizeof object);
  assert_memory_equal(kept, object, sizeof object);
  free(kept);
  /* The file itself begins with the object, for a loader. */
  kept = assay_read_file(path, 1 << 20, &bytes);
  assert_non_null(kept);
  assert_memory_equal(kept, object, sizeof object);
  free(kept);
  assert_false(assay_cache_put_file("key", in_folder("absent"), path));
}

/* The name of an entry is a hash only. Whatever lies under it must be this key's object, or it counts as
 * nothing. */
static void test_not_this_key(void **state) {
  (void)state;
  char first[ASSAY_PATH_SIZE];
  char second[ASSAY_PATH_SIZE];
  size_t bytes = 0;
  assert_true(assay_cache_put("a key", "object", 6, first));
  assert_true(assay_cache_put("another", "thing!", 6, second));
  char *data = assay_read_file(first, 1 << 20, &bytes);
  assert_non_null(data);
  assert_true(assay_write_file(second, data, bytes, 0600)); /* as if both keys had one hash */
  size_t size = 0;
  assert_null(assay_cache_read("another", &size));
  assert_false(assay_cache_get("another", second));
  for (size_t length = 0; length < bytes; length++) { /* cut off anywhere */
    assert_true(assay_write_file(first, data, length, 0600));
    assert_null(assay_cache_read("a key", &size));
  }
  data[6] ^= 1; /* the first byte of the key */
  assert_true(assay_write_file(first, data, bytes, 0600));
  assert_null(assay_cache_read("a key", &size));
  assert_true(assay_cache_put("a key", "fresh", 5, NULL));
  reads("a key", "fresh");
  free(data);
}

static void test_limit(void **state) {
  (void)state;
  char paths[4][ASSAY_PATH_SIZE];
  char key[16];
  char block[1000];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 4; i++) {
    snprintf(key, sizeof key, "key %d", i);
    assert_true(assay_cache_put(key, block, sizeof block, paths[i]));
    const struct timespec old[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
    assert_int_equal(utimensat(AT_FDCWD, paths[i], old, 0), 0);
  }
  assert_true(
      assay_write_file(in_folder("cache/notes.txt"), block, sizeof block, 0600)); /* not ours to remove */
  char used[ASSAY_PATH_SIZE];
  assert_true(assay_cache_get("key 0", used)); /* the oldest, but used now */
  struct stat status;
  assert_int_equal(stat(used, &status), 0);
  assay_cache_trim(in_folder("cache"), 4 * (uint64_t)status.st_size);
  assert_int_equal(entries(in_folder("cache")), 5);
  assay_cache_trim(in_folder("cache"), 2 * (uint64_t)status.st_size);
  assert_true(assay_file_exists(paths[0]));
  assert_false(assay_file_exists(paths[1]));
  assert_false(assay_file_exists(paths[2]));
  assert_true(assay_file_exists(paths[3]));
  assay_cache_trim(in_folder("cache"), 0);
  assert_int_equal(entries(in_folder("cache")), 1);
  assay_cache_trim(in_folder("absent"), 0);
}

static void test_folders(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  const char *home = getenv("HOME");
  char *kept_home = strdup(home != NULL ? home : "/");
  assert_non_null(kept_home);
  unsetenv("ASSAY_CACHE");
  setenv("HOME", in_folder("home"), 1);
  setenv("XDG_CACHE_HOME", in_folder("caches/deep"), 1);
  assert_true(assay_cache_folder(path));
  assert_string_equal(path, in_folder("caches/deep/assay"));
  assert_int_equal(mode_of(path) & 07777, 0700);
  setenv("XDG_CACHE_HOME", "relative", 1); /* invalid by its own rules */
  assert_true(assay_cache_folder(path));
  assert_string_equal(path, in_folder("home/.cache/assay"));
  unsetenv("XDG_CACHE_HOME");
  assert_true(assay_cache_folder(path));
  assert_string_equal(path, in_folder("home/.cache/assay"));
  setenv("ASSAY_CACHE", in_folder("own"), 1);
  assert_true(assay_cache_folder(path));
  assert_string_equal(path, in_folder("own"));
  setenv("HOME", kept_home, 1);
  free(kept_home);
}

/* Code from a folder that others may write to is not run. */
static void test_private_folder(void **state) {
  (void)state;
  char path[ASSAY_PATH_SIZE];
  char again[ASSAY_PATH_SIZE];
  assert_int_equal(mkdir(in_folder("cache"), 0700), 0);
  const mode_t unsafe[] = {0777, 0770, 0720, 0702};
  for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++) {
    assert_int_equal(chmod(in_folder("cache"), unsafe[i]), 0);
    assert_true(assay_cache_folder(path));
    assert_string_not_equal(path, in_folder("cache"));
    assert_int_equal(mode_of(path) & 07777, 0700);
  }
  assert_true(assay_cache_folder(again));
  assert_string_equal(path, again); /* one for the whole process */
  assert_true(assay_cache_put("key", "object", 6, NULL));
  reads("key", "object");
  assert_int_equal(entries(in_folder("cache")), 0);
  assert_int_equal(chmod(in_folder("cache"), 0700), 0);
  assert_true(assay_write_file(in_folder("file"), "", 0, 0600));
  setenv("ASSAY_CACHE", in_folder("file"), 1); /* not a folder */
  assert_true(assay_cache_folder(again));
  assert_string_equal(path, again);
}

enum { WRITERS = 4, ROUNDS = 60 };

static void *write_often(void *argument) {
  const char letter = *(const char *)argument;
  char object[4096];
  memset(object, letter, sizeof object);
  for (int i = 0; i < ROUNDS; i++) {
    if (!assay_cache_put("shared", object, sizeof object, NULL)) return argument;
  }
  return NULL;
}

/* A reader sees one writer's object or another's, never a mixture and never nothing. */
static void test_writers_at_once(void **state) {
  (void)state;
  static char letters[WRITERS] = {'a', 'b', 'c', 'd'};
  pthread_t threads[WRITERS];
  assert_true(assay_cache_put("shared", "start", 5, NULL));
  for (int i = 0; i < WRITERS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, write_often, &letters[i]), 0);
  }
  for (int i = 0; i < ROUNDS; i++) {
    size_t bytes = 0;
    char *object = assay_cache_read("shared", &bytes);
    assert_non_null(object);
    assert_true(bytes == 5 || bytes == 4096);
    for (size_t k = 0; k < bytes && bytes == 4096; k++) assert_int_equal(object[k], object[0]);
    free(object);
  }
  for (int i = 0; i < WRITERS; i++) {
    void *failed = &threads;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_int_equal(entries(in_folder("cache")), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_CACHE(test_hit_and_miss),    IN_CACHE(test_files),   IN_CACHE(test_not_this_key),
      IN_CACHE(test_limit),           IN_CACHE(test_folders), IN_CACHE(test_private_folder),
      IN_CACHE(test_writers_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
