/* SPDX-License-Identifier: MIT */
/* buffer.c - guarded operands on memfds, and the poison that outputs hold before a call. */
#include "buffer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rng.h"

/* Wide enough that a wrong row or tile still lands in it; costs address space only. */
static const size_t guard_bytes = (size_t)16 << 20;

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

size_t assay_memory_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* Some systems demand to be told that a memfd is no program; those before Linux 6.3 do not know the flag. */
static int open_memory(void) {
  const int fd = memfd_create("assay-operand", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  return fd >= 0 || errno != EINVAL ? fd : memfd_create("assay-operand", MFD_CLOEXEC);
}

bool assay_buffer_open(assay_buffer *buffer, size_t bytes, assay_placement placement, size_t shift) {
  *buffer = (assay_buffer){.fd = -1, .bytes = bytes};
  if (bytes > SIZE_MAX / 4 || shift > SIZE_MAX / 4) {
    errno = ENOMEM;
    return false;
  }
  buffer->page_bytes = whole_pages(bytes + shift);
  buffer->offset = placement == ASSAY_AT_START ? shift : buffer->page_bytes - bytes - shift;
  buffer->fd = open_memory();
  if (buffer->fd < 0) return false;
  void *pages = MAP_FAILED;
  if (ftruncate(buffer->fd, (off_t)buffer->page_bytes) == 0) {
    pages = mmap(NULL, buffer->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, buffer->fd, 0);
  }
  if (pages == MAP_FAILED) {
    const int error = errno;
    close(buffer->fd);
    buffer->fd = -1;
    errno = error;
    return false;
  }
  buffer->pages = pages;
  return true;
}

void assay_buffer_close(assay_buffer *buffer) {
  if (buffer->pages != NULL) munmap(buffer->pages, buffer->page_bytes);
  if (buffer->fd >= 0) close(buffer->fd);
  *buffer = (assay_buffer){.fd = -1};
}

int assay_buffer_read_only(const assay_buffer *buffer) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", buffer->fd);
  return open(path, O_RDONLY | O_CLOEXEC);
}

bool assay_mapping_open(assay_mapping *mapping, int fd, size_t page_bytes, bool writable) {
  *mapping = (assay_mapping){.page_bytes = page_bytes, .guarded_bytes = page_bytes + 2 * guard_bytes};
  if (page_bytes == 0 || page_bytes > SIZE_MAX / 4) {
    errno = EINVAL;
    return false;
  }
  void *guarded =
      mmap(NULL, mapping->guarded_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (guarded == MAP_FAILED) return false;
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *pages = mmap((unsigned char *)guarded + guard_bytes, page_bytes, protection,
                     kind | MAP_FIXED | MAP_NORESERVE, fd, 0);
  if (pages == MAP_FAILED) {
    const int error = errno;
    munmap(guarded, mapping->guarded_bytes);
    errno = error;
    return false;
  }
  mapping->guarded = guarded;
  mapping->pages = pages;
  return true;
}

bool assay_mapping_open_huge(assay_mapping *mapping, size_t bytes) {
  const size_t huge = (size_t)2 << 20;
  *mapping = (assay_mapping){0};
  if (bytes > SIZE_MAX / 4) {
    errno = ENOMEM;
    return false;
  }
  const size_t page_bytes = bytes == 0 ? huge : (bytes + huge - 1) / huge * huge;
  const size_t reserved = page_bytes + huge + 2 * guard_bytes;
  unsigned char *guarded =
      mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (guarded == MAP_FAILED) return false;
  unsigned char *pages = guarded + guard_bytes;
  pages += (huge - (uintptr_t)pages % huge) % huge;
  if (mprotect(pages, page_bytes, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(guarded, reserved);
    errno = error;
    return false;
  }
  (void)madvise(pages, page_bytes, MADV_HUGEPAGE); /* a wish: small pages do as well */
  *mapping = (assay_mapping){guarded, reserved, pages, page_bytes};
  return true;
}

void assay_mapping_close(assay_mapping *mapping) {
  if (mapping->guarded != NULL) munmap(mapping->guarded, mapping->guarded_bytes);
  *mapping = (assay_mapping){0};
}

uint64_t assay_poison_bits(assay_dtype dtype, int64_t index, uint64_t seed) {
  const uint64_t random = assay_seed_mix(seed, (uint64_t)index);
  /* Clearing one exponent bit keeps the value finite: an infinity or NaN has all of them set. */
  switch (dtype) {
  case ASSAY_FP32:
    return random & 0xbfffffffu & UINT32_MAX;
  case ASSAY_FP16:
    return random & 0xbfffu;
  case ASSAY_BF16:
    return random & 0xbfffu;
  case ASSAY_FP64:
    return random & ~(UINT64_C(1) << 62);
  case ASSAY_DTYPE_COUNT:
    break;
  }
  assert(dtype < ASSAY_DTYPE_COUNT);
  return 0;
}

void assay_poison_fill(void *data, assay_dtype dtype, int64_t count, uint64_t seed) {
  assay_poison_fill_part(data, dtype, 0, count, seed);
}

void assay_poison_fill_part(void *data, assay_dtype dtype, int64_t first, int64_t count, uint64_t seed) {
  const size_t size = assay_dtype_size(dtype);
  unsigned char *bytes = data;
  for (int64_t i = first; i < first + count; i++) {
    const uint64_t bits = assay_poison_bits(dtype, i, seed);
    if (size == 2) {
      const uint16_t half = (uint16_t)bits;
      memcpy(bytes + (size_t)i * 2, &half, 2);
    } else if (size == 4) {
      const uint32_t single = (uint32_t)bits;
      memcpy(bytes + (size_t)i * 4, &single, 4);
    } else {
      memcpy(bytes + (size_t)i * 8, &bits, 8);
    }
  }
}
