/* SPDX-License-Identifier: MIT */
/* test_npy.c - headers of NumPy's format, good, damaged and lying; files and pipes; and what we write. */
#include "folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "npy.h"
#include "tensor.h"

static unsigned char bytes[ASSAY_NPY_LONGEST + 64];
static assay_npy_header header;
static assay_message why;

/* A file of that version whose header is `text`; returns its size. */
static size_t compose(int version, const char *text, size_t data_bytes) {
  const size_t length = strlen(text);
  const size_t start = version == 1 ? 10 : 12;
  memcpy(bytes, "\x93NUMPY", 6);
  bytes[6] = (unsigned char)version;
  bytes[7] = 0;
  for (size_t i = 8; i < start; i++) bytes[i] = (unsigned char)(length >> 8 * (i - 8));
  memcpy(bytes + start, text, length);
  memset(bytes + start + length, 0, data_bytes);
  return start + length + data_bytes;
}

static bool parse(int version, const char *text) {
  why.text[0] = '\0';
  return assay_npy_parse(bytes, compose(version, text, 0), &header, &why);
}

static void says(bool accepted, const char *part) {
  assert_false(accepted);
  if (strstr(why.text, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", why.text, part);
  assert_null(strchr(why.text, '\n'));
}

static void refused(const char *text, const char *part) {
  says(parse(1, text), part);
}

/* ---- headers ------------------------------------------------------------------------------------------- */

static void test_three_versions(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++) {
    assert_true(parse(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n"));
    assert_int_equal(header.dtype, ASSAY_FP32);
    assert_false(header.patterns || header.fortran);
    assert_int_equal(header.rank, 2);
    assert_int_equal(header.shape[0], 3);
    assert_int_equal(header.shape[1], 4);
    assert_int_equal(header.count, 12);
    assert_int_equal(header.bytes, 48);
    assert_int_equal(header.offset, (version == 1 ? 10 : 12) + 63);
    assert_string_equal(header.descr, "<f4");
  }
  says(parse(4, "{}"), "has format version 4.0; 1.0, 2.0 and 3.0 are read");
  says(parse(0, "{}"), "version 0.0");
  bytes[6] = 1;
  bytes[7] = 1;
  says(assay_npy_parse(bytes, 40, &header, &why), "version 1.1");
}

static void test_types(void **state) {
  (void)state;
  static const struct {
    const char *descr;
    assay_dtype dtype;
    bool patterns;
  } good[] = {{"<f2", ASSAY_FP16, false}, {"<f4", ASSAY_FP32, false}, {"<f8", ASSAY_FP64, false},
              {"=f4", ASSAY_FP32, false}, {"f8", ASSAY_FP64, false},  {"<u2", ASSAY_BF16, true},
              {"|V2", ASSAY_BF16, true},  {"<V2", ASSAY_BF16, true}};
  char text[128];
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (), }", good[i].descr);
    assert_true(parse(1, text));
    assert_int_equal(header.dtype, good[i].dtype);
    assert_int_equal(header.patterns, good[i].patterns);
    assert_string_equal(header.descr, good[i].descr);
  }
  static const char *const bad[][2] = {
      {"'>f4'", "is big-endian ('>f4'): convert it, np.save(path, x.astype('<f4'))"},
      {"'>u2'", "is big-endian"},
      {"'|O'", "holds Python objects"},
      {"'O'", "holds Python objects"},
      {"'<i4'", "has dtype '<i4'; float16, float32, float64"},
      {"'|b1'", "has dtype '|b1'"},
      {"'<c8'", "has dtype '<c8'"},
      {"'<f16'", "has dtype '<f16'"},
      {"'<U5'", "has dtype"},
      {"''", "has dtype ''"},
      {"'<'", "has dtype '<'"},
      {"'<M8[ns]'", "has dtype"},
      {"[('a', '<f4')]", "structured dtype: save one field"},
      {"('<f4', (2,))", "structured dtype"},
      {"'<f4", "has dtype '<f4, '"},
      {"'\\x3cf4'", "damaged header"},
      {"f4", "damaged header"},
      {"None", "damaged header"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': False, 'shape': (2,), }", bad[i][0]);
    refused(text, bad[i][1]);
  }
}

static void test_shapes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int rank;
    int64_t count;
  } good[] = {{"()", 0, 1},
              {"(5,)", 1, 5},
              {"(0,)", 1, 0},
              {"( 2 ,3 )", 2, 6},
              {"(2, 3, 4,)", 3, 24},
              {"(1, 2, 3, 4)", 4, 24},
              {"(3L, 2L)", 2, 6},
              {"(0, 9223372036854775807)", 2, 0},
              {"(9223372036854775807, 0, 9223372036854775807)", 3, 0}};
  char text[160];
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    snprintf(text, sizeof text, "{'descr': '<f2', 'fortran_order': False, 'shape': %s, }", good[i].text);
    if (!parse(2, text)) fail_msg("%s: %s", good[i].text, why.text);
    assert_int_equal(header.rank, good[i].rank);
    assert_int_equal(header.count, good[i].count);
  }
  says(parse(3, "{'descr': '<f2', 'fortran_order': False, 'shape': (3L,)}"), "damaged header");
  static const char *const bad[][2] = {
      {"(1, 1, 1, 1, 1)", "more than 4 dimensions"},
      {"(-1,)", "negative size"},
      {"(9223372036854775808,)", "does not fit 64 bits"},
      {"(99999999999999999999999,)", "does not fit 64 bits"},
      {"(9223372036854775807,)", "which no memory holds"},
      {"(4294967296, 4294967296)", "(4294967296, 4294967296), which no memory holds"},
      {"(4611686018427387904, 2)", "which no memory holds"},
      {"(3)", "damaged header"},
      {"3", "damaged header"},
      {"[3]", "damaged header"},
      {"(3", "damaged header"},
      {"(,)", "damaged header"},
      {"(3,,)", "damaged header"},
      {"(3 4)", "damaged header"},
      {"(3.0,)", "damaged header"},
      {"(0x3,)", "damaged header"},
      {"(three,)", "damaged header"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    snprintf(text, sizeof text, "{'descr': '<f2', 'fortran_order': False, 'shape': %s, }", bad[i][0]);
    refused(text, bad[i][1]);
  }
}

static void test_dictionaries(void **state) {
  (void)state;
  assert_true(parse(1, "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"<f8\"}"));
  assert_true(header.fortran);
  assert_true(parse(1, "  {'shape': (2,), 'fortran_order': True, 'descr': '<f8'}\n\n"));
  refused("", "damaged header");
  refused("{}", "has a header without descr");
  refused("{'descr': '<f4', 'shape': (2,)}", "has a header without fortran_order");
  refused("{'descr': '<f4', 'fortran_order': False}", "has a header without shape");
  refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
          "damaged header at \"'descr'");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", "damaged header at \"'more'");
  refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "damaged header");
  refused("{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "damaged header");
  refused("{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}", "damaged header");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "damaged header");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1", "damaged header at \"+ 1");
  refused("{, }", "damaged header");
}

static void test_lengths_that_lie(void **state) {
  (void)state;
  const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  size_t size = compose(1, text, 8);
  assert_true(assay_npy_parse(bytes, size, &header, &why) && assay_npy_fits(&header, size, &why));
  for (size_t cut = 0; cut < header.offset; cut++)
    says(assay_npy_parse(bytes, cut, &header, &why), cut == 0 ? "is empty" : "is truncated");
  assert_true(assay_npy_parse(bytes, size, &header, &why));
  says(assay_npy_fits(&header, size - 1, &why), "is truncated: shape (2,) of '<f4' makes");
  says(assay_npy_fits(&header, size + 1, &why), "is longer than its array: shape (2,)");
  bytes[8] = 200;
  says(assay_npy_parse(bytes, size, &header, &why), "is truncated: its header ends at byte 210, the file at");
  bytes[8] = 20;
  says(assay_npy_parse(bytes, size, &header, &why), "damaged header");
  compose(2, text, 8);
  bytes[11] = 0x7f;
  says(assay_npy_parse(bytes, sizeof bytes, &header, &why), "claims a header of");
}

static void test_other_files(void **state) {
  (void)state;
  static const char *const others[] = {"\x93NUMPX\1\0\0\0\0\0", "hello, world", "\x89PNG\r\n\x1a\n", "N"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    says(assay_npy_parse(others[i], strlen(others[i]), &header, &why), "is not a .npy file");
  says(assay_npy_parse("PK\003\004....", 8, &header, &why), "is an archive (.npz?): save one array");
}

static void test_fortran_order_is_strides(void **state) {
  (void)state;
  float data[24];
  assert_true(parse(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }"));
  assay_tensor tensor = assay_npy_tensor(&header, data);
  assert_int_equal(tensor.stride[0], 1);
  assert_int_equal(tensor.stride[1], 2);
  assert_int_equal(tensor.stride[2], 6);
  assert_ptr_equal(tensor.data, data);
  header.fortran = false;
  tensor = assay_npy_tensor(&header, data);
  assert_int_equal(tensor.stride[0], 12);
  assert_int_equal(tensor.stride[1], 4);
  assert_int_equal(tensor.stride[2], 1);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void test_header_as_numpy_writes_it(void **state) {
  (void)state;
  char text[ASSAY_NPY_HEADER];
  const int64_t shape[] = {3, 4};
  assert_int_equal(assay_npy_format(ASSAY_FP32, 2, shape, text), 128);
  static const char begin[] = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  assert_memory_equal(text, begin, sizeof begin - 1);
  for (size_t i = sizeof begin - 1; i < 127; i++) assert_int_equal(text[i], ' ');
  assert_int_equal(text[127], '\n');
}

static void test_what_is_written_is_read(void **state) {
  (void)state;
  const int64_t large = INT64_C(1) << 14;
  const int64_t shapes[][ASSAY_MAX_RANK] = {
      {0}, {7}, {0, 5}, {2, 3, 4}, {large, large, large, large}, {0, INT64_MAX, INT64_MAX, INT64_MAX}};
  const int ranks[] = {0, 1, 2, 3, 4, 4};
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    for (int i = 0; i < 6; i++) {
      char text[ASSAY_NPY_HEADER];
      const size_t length = assay_npy_format((assay_dtype)dtype, ranks[i], shapes[i], text);
      assert_int_equal(length % 64, 0);
      assert_true(assay_npy_parse(text, length, &header, &why));
      assert_int_equal(header.dtype, dtype);
      assert_int_equal(header.patterns, dtype == ASSAY_BF16);
      assert_int_equal(header.rank, ranks[i]);
      assert_memory_equal(header.shape, shapes[i], sizeof header.shape[0] * (size_t)ranks[i]);
    }
  }
}

/* ---- files --------------------------------------------------------------------------------------------- */

static const char *save(const char *name, size_t size) {
  const char *path = in_folder(name);
  assert_true(assay_write_file(path, bytes, size, 0666));
  return path;
}

static const char text_of_two[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

static void test_a_file_is_mapped(void **state) {
  (void)state;
  const size_t size = compose(1, text_of_two, 8);
  const float values[2] = {1.5f, -2};
  memcpy(bytes + size - 8, values, 8);
  assay_npy_file file;
  assert_true(assay_npy_open(save("x.npy", size), &file, &why));
  assert_true(file.mapped);
  assert_memory_equal(file.data, values, 8);
  struct stat status;
  assert_int_equal(stat(in_folder("x.npy"), &status), 0);
  assert_true(file.device == status.st_dev && file.inode == status.st_ino);
  assay_npy_close(&file);
}

static void test_files_that_are_refused(void **state) {
  (void)state;
  assay_npy_file file;
  says(assay_npy_open(in_folder("none.npy"), &file, &why), "cannot be read: No such file");
  says(assay_npy_open(folder, &file, &why), "is a folder");
  says(assay_npy_open(save("empty.npy", 0), &file, &why), "is empty");
  const size_t size = compose(1, text_of_two, 8);
  says(assay_npy_open(save("short.npy", size - 1), &file, &why), "is truncated");
  bytes[size] = 0;
  says(assay_npy_open(save("long.npy", size + 1), &file, &why), "is longer than its array");
  assert_null(file.memory);
}

typedef struct feeder {
  const char *path;
  size_t size;
} feeder;

static void *feed(void *argument) {
  const feeder *job = argument;
  const int pipe = open(job->path, O_WRONLY | O_CLOEXEC);
  for (size_t at = 0; at < job->size; at += 7) {
    const size_t rest = job->size - at;
    if (write(pipe, bytes + at, rest < 7 ? rest : 7) < 0) break; /* the reader has seen enough */
  }
  close(pipe);
  return NULL;
}

static bool open_pipe(size_t size, assay_npy_file *file) {
  const char *path = in_folder("pipe");
  assert_int_equal(mkfifo(path, 0600), 0);
  feeder job = {path, size};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, feed, &job), 0);
  const bool opened = assay_npy_open(path, file, &why);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(unlink(path), 0);
  return opened;
}

static void test_a_pipe_is_read(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_IGN);
  assay_npy_file file;
  const size_t size = compose(3, text_of_two, 8);
  memset(bytes + size - 8, 'e', 8);
  assert_true(open_pipe(size, &file));
  assert_false(file.mapped);
  assert_memory_equal(file.data, "eeeeeeee", 8);
  assay_npy_close(&file);
  says(open_pipe(size - 1, &file), "is truncated");
  says(open_pipe(size + 1, &file), "is longer than its array");
  says(open_pipe(20, &file), "is truncated");
  says(open_pipe(0, &file), "is empty");
  const size_t huge = compose(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }", 8);
  says(open_pipe(huge, &file), "is larger than this machine's memory");
}

/* A header of no text at all is damaged, and shorter than what a pipe is first asked for. */
static void test_short_headers(void **state) {
  (void)state;
  assay_npy_file file;
  says(open_pipe(compose(1, "", 4), &file), "damaged header");
  says(open_pipe(compose(1, "{", 0), &file), "damaged header");
}

static void test_an_endless_file_ends(void **state) {
  (void)state;
  assay_npy_file file;
  says(assay_npy_open("/dev/zero", &file, &why), "is not a .npy file");
  says(assay_npy_open("/dev/null", &file, &why), "is empty");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_three_versions),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_dictionaries),
      cmocka_unit_test(test_lengths_that_lie),
      cmocka_unit_test(test_other_files),
      cmocka_unit_test(test_fortran_order_is_strides),
      cmocka_unit_test(test_header_as_numpy_writes_it),
      cmocka_unit_test(test_what_is_written_is_read),
      IN_NEW_FOLDER(test_a_file_is_mapped),
      IN_NEW_FOLDER(test_files_that_are_refused),
      IN_NEW_FOLDER(test_a_pipe_is_read),
      IN_NEW_FOLDER(test_short_headers),
      cmocka_unit_test(test_an_endless_file_ends),
  };
  return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
