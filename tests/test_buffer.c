/* SPDX-License-Identifier: MIT */
/* test_buffer.c - guard pages at both ends, inputs that stay read-only, sparse spans, finite poison. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer.h"
#include "half.h"

/* Whether a child that touches the byte dies of SIGSEGV. */
static bool faults(volatile unsigned char *at, bool write) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    if (write) {
      *at = 1;
    } else {
      (void)*at;
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void both_ends_touch_a_guard(void **state) {
  (void)state;
  for (int placement = 0; placement < ASSAY_PLACEMENTS; placement++) {
    assay_buffer buffer;
    assay_mapping mapping;
    assert_true(assay_buffer_open(&buffer, 1000, (assay_placement)placement, 0));
    assert_true(assay_mapping_open(&mapping, buffer.fd, buffer.page_bytes, true));
    volatile unsigned char *data = mapping.pages + buffer.offset;
    assert_false(faults(data, true));
    assert_false(faults(data + 999, true));
    if (placement == ASSAY_AT_END) {
      assert_true(faults(data + 1000, false));
    } else {
      assert_true(faults(data - 1, false));
    }
    assert_true(faults(mapping.pages - 1, true));
    assert_true(faults(mapping.pages + mapping.page_bytes, true));
    assay_mapping_close(&mapping);
    assay_buffer_close(&buffer);
  }
}

static void a_shift_moves_the_base(void **state) {
  (void)state;
  assay_buffer buffer;
  assert_true(assay_buffer_open(&buffer, 64, ASSAY_AT_START, 6));
  assert_int_equal(buffer.offset, 6);
  assay_buffer_close(&buffer);
  assert_true(assay_buffer_open(&buffer, 64, ASSAY_AT_END, 6));
  assert_int_equal(buffer.page_bytes - buffer.offset - buffer.bytes, 6);
  assay_buffer_close(&buffer);
}

static void inputs_cannot_be_made_writable(void **state) {
  (void)state;
  assay_buffer buffer;
  assay_mapping mapping;
  assert_true(assay_buffer_open(&buffer, 100, ASSAY_AT_END, 0));
  buffer.pages[buffer.offset] = 7;
  const int fd = assay_buffer_read_only(&buffer);
  assert_true(fd >= 0);
  assert_false(assay_mapping_open(&mapping, fd, buffer.page_bytes, true));
  assert_true(assay_mapping_open(&mapping, fd, buffer.page_bytes, false));
  close(fd);
  assert_int_equal(mapping.pages[buffer.offset], 7); /* the same memory */
  assert_true(faults(mapping.pages + buffer.offset, true));
  assert_int_equal(mprotect(mapping.pages, mapping.page_bytes, PROT_READ | PROT_WRITE), -1);
  assert_int_equal(errno, EACCES);
  assay_mapping_close(&mapping);
  assay_buffer_close(&buffer);
}

static void huge_spans_cost_what_is_touched(void **state) {
  (void)state;
  assay_buffer buffer;
  const size_t bytes = (size_t)40 << 30;
  assert_true(assay_buffer_open(&buffer, bytes, ASSAY_AT_END, 0));
  buffer.pages[buffer.offset] = 1;
  buffer.pages[buffer.offset + bytes - 1] = 2;
  assert_int_equal(buffer.pages[buffer.offset + bytes / 2], 0);
  assay_buffer_close(&buffer);
  assert_false(assay_buffer_open(&buffer, SIZE_MAX / 2, ASSAY_AT_END, 0));
  assert_int_equal(errno, ENOMEM);
}

static void empty_buffers_have_an_address(void **state) {
  (void)state;
  assay_buffer buffer;
  assert_true(assay_buffer_open(&buffer, 0, ASSAY_AT_END, 0));
  assert_non_null(buffer.pages);
  assert_int_equal(buffer.offset, buffer.page_bytes);
  assay_buffer_close(&buffer);
}

static void poison_is_finite_random_and_repeatable(void **state) {
  (void)state;
  for (int dtype = 0; dtype < ASSAY_DTYPE_COUNT; dtype++) {
    unsigned char data[4096 * 8];
    assay_poison_fill(data, (assay_dtype)dtype, 4096, 5);
    int differ = 0;
    for (int64_t i = 0; i < 4096; i++) {
      const double value = assay_get(data, (assay_dtype)dtype, i);
      assert_true(isfinite(value));
      assert_true(assay_encode((assay_dtype)dtype, value) == assay_poison_bits((assay_dtype)dtype, i, 5));
      if (assay_poison_bits((assay_dtype)dtype, i, 5) != assay_poison_bits((assay_dtype)dtype, i, 6))
        differ++;
    }
    assert_true(differ > 4000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ends_touch_a_guard),
      cmocka_unit_test(a_shift_moves_the_base),
      cmocka_unit_test(inputs_cannot_be_made_writable),
      cmocka_unit_test(huge_spans_cost_what_is_touched),
      cmocka_unit_test(empty_buffers_have_an_address),
      cmocka_unit_test(poison_is_finite_random_and_repeatable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
