/* SPDX-License-Identifier: MIT */
/* emulator_stack.c - guarded stacks, mapped in chunks and kept by the thread that uses them. */
#include "emulator_stack.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK_STACKS = 64, CHUNKS_MOST = ASSAY_STACKS_MOST / CHUNK_STACKS, SIGNAL_STACK_BYTES = 64 << 10 };

struct assay_stacks {
  uint32_t chunk_count;
  size_t page_bytes;
  size_t stride; /* from one stack to the next: guard, stack, stagger */
  char *chunks[CHUNKS_MOST];
  void *signal_stack;
};

static pthread_key_t stacks_key;
static bool stacks_key_made;

bool assay_guarded_make(assay_guarded *memory, size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t inner = (bytes + page - 1) / page * page;
  *memory = (assay_guarded){0};
  char *mapping = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  if (inner > 0 && mprotect(mapping + page, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, inner + 2 * page);
    return false;
  }
  *memory =
      (assay_guarded){.mapping = mapping, .mapped_bytes = inner + 2 * page, .end = mapping + page + inner};
  return true;
}

void assay_guarded_free(assay_guarded *memory) {
  if (memory->mapping != NULL) munmap(memory->mapping, memory->mapped_bytes);
  *memory = (assay_guarded){0};
}

static void free_stacks(void *value) {
  assay_stacks *stacks = value;
  for (uint32_t i = 0; i < stacks->chunk_count; i++) munmap(stacks->chunks[i], CHUNK_STACKS * stacks->stride);
  if (stacks->signal_stack != NULL) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(stacks->signal_stack, SIGNAL_STACK_BYTES);
  }
  free(stacks);
}

static void make_key(void) {
  stacks_key_made = pthread_key_create(&stacks_key, free_stacks) == 0;
}

/* A handler cannot run on the stack that just overflowed. */
static void arrange_signal_stack(assay_stacks *stacks) {
  stack_t present;
  if (sigaltstack(NULL, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  void *memory = mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t wanted = {.ss_sp = memory, .ss_size = SIGNAL_STACK_BYTES};
  sigaltstack(&wanted, NULL);
  stacks->signal_stack = memory;
}

static bool add_chunk(assay_stacks *stacks) {
  const size_t bytes = CHUNK_STACKS * stacks->stride;
  char *chunk = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (chunk == MAP_FAILED) return false;
  for (size_t i = 0; i < CHUNK_STACKS; i++) {
    char *stack = chunk + i * stacks->stride + stacks->page_bytes;
    if (mprotect(stack, stacks->stride - stacks->page_bytes, PROT_READ | PROT_WRITE) == 0) continue;
    munmap(chunk, bytes);
    return false;
  }
  stacks->chunks[stacks->chunk_count++] = chunk;
  return true;
}

assay_stacks *assay_stacks_take(uint32_t count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  assert(count <= ASSAY_STACKS_MOST);
  pthread_once(&once, make_key);
  if (!stacks_key_made) return NULL;
  assay_stacks *stacks = pthread_getspecific(stacks_key);
  if (stacks == NULL) {
    stacks = calloc(1, sizeof *stacks);
    if (stacks == NULL || pthread_setspecific(stacks_key, stacks) != 0) {
      free(stacks);
      return NULL;
    }
    stacks->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    stacks->stride = 2 * stacks->page_bytes + ASSAY_LANE_STACK_BYTES;
    arrange_signal_stack(stacks);
  }
  while (stacks->chunk_count * CHUNK_STACKS < count) {
    if (!add_chunk(stacks)) return NULL;
  }
  return stacks;
}

void *assay_stack(const assay_stacks *stacks, uint32_t k, size_t *bytes) {
  char *start = stacks->chunks[k / CHUNK_STACKS] + k % CHUNK_STACKS * stacks->stride + stacks->page_bytes;
  /* Tops at different distances from a page's end, or the warm part of all stacks would compete for the same
   * few lines of the cache. */
  const size_t stagger = k % 32 * 128;
  *bytes = ASSAY_LANE_STACK_BYTES + stacks->page_bytes - stagger;
  return start;
}

bool assay_stack_guards(const assay_stacks *stacks, const void *address, uint32_t *k) {
  const uintptr_t asked = (uintptr_t)address;
  for (uint32_t i = 0; i < stacks->chunk_count; i++) {
    const uintptr_t chunk = (uintptr_t)stacks->chunks[i];
    if (asked < chunk || asked >= chunk + CHUNK_STACKS * stacks->stride) continue;
    *k = i * CHUNK_STACKS + (uint32_t)((asked - chunk) / stacks->stride);
    return (asked - chunk) % stacks->stride < stacks->page_bytes;
  }
  return false;
}
