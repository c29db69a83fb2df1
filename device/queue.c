/* SPDX-License-Identifier: MIT */
/* queue.c - opened queues, the CPU's, and the arena of each thread that calls kernels. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu.h"
#include "cuda_queue.h"
#include "queue.h"
#include "status.h"

enum { THREADS_MOST = 1024, ALIGNMENT = 64, BLOCK_BYTES_LEAST = 1 << 16 };

/* The head of a block; its memory begins one ALIGNMENT behind it. */
typedef struct arena_block {
  struct arena_block *older;
  size_t size; /* without the head */
  size_t used;
} arena_block;

_Static_assert(sizeof(arena_block) <= ALIGNMENT, "the head of a block must fit in front of its memory");

/* Scratch that lives from one release to the next. Only the newest block has room. After a release there is
 * one block at most, and `wanted` is the size that would have held everything so far in one piece. */
typedef struct scratch_arena {
  arena_block *newest;
  size_t wanted;
  bool freed_at_exit; /* this thread has the key set that frees its blocks */
} scratch_arena;

static _Thread_local scratch_arena arena;
static pthread_key_t arena_key;
static bool arena_key_made;

static void free_blocks(arena_block *block) {
  while (block != NULL) {
    arena_block *older = block->older;
    free(block);
    block = older;
  }
}

/* Runs when a thread that used scratch ends. */
static void free_arena(void *value) {
  scratch_arena *ended = value;
  free_blocks(ended->newest);
  *ended = (scratch_arena){0};
}

static void make_arena_key(void) {
  arena_key_made = pthread_key_create(&arena_key, free_arena) == 0;
}

static bool arrange_freeing(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (arena.freed_at_exit) return true;
  pthread_once(&once, make_arena_key);
  arena.freed_at_exit = arena_key_made && pthread_setspecific(arena_key, &arena) == 0;
  return arena.freed_at_exit;
}

static bool add_block(size_t bytes) {
  size_t size = bytes > BLOCK_BYTES_LEAST ? bytes : BLOCK_BYTES_LEAST;
  if (arena.newest == NULL && arena.wanted > size) size = arena.wanted;
  arena_block *block = aligned_alloc(ALIGNMENT, ALIGNMENT + size);
  if (block == NULL) return false;
  *block = (arena_block){.older = arena.newest, .size = size};
  arena.newest = block;
  return true;
}

void *assay_arena_scratch(assay_queue *queue, size_t bytes) {
  (void)queue;
  if (bytes > PTRDIFF_MAX - 2 * ALIGNMENT || !arrange_freeing()) return NULL;
  /* Even 0 bytes get an address of their own. */
  const size_t rounded = bytes == 0 ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  arena_block *block = arena.newest;
  if ((block == NULL || block->size - block->used < rounded) && !add_block(rounded)) return NULL;
  block = arena.newest;
  void *memory = (char *)block + ALIGNMENT + block->used;
  block->used += rounded;
  assert((uintptr_t)memory % ALIGNMENT == 0 && block->used <= block->size);
  return memory;
}

void assay_scratch_release(void) {
  arena_block *block = arena.newest;
  if (block == NULL) return;
  if (block->older == NULL) {
    block->used = 0;
    return;
  }
  size_t total = 0;
  for (; block != NULL; block = block->older) total += block->used;
  free_blocks(arena.newest);
  arena.newest = NULL;
  if (total > arena.wanted) arena.wanted = total;
}

bool assay_queue_uses_arena(const assay_queue *queue) {
  return queue->calls->scratch == assay_arena_scratch || queue->calls->scratch == assay_emulator_scratch;
}

static const assay_queue_calls cpu_calls = {.version = 2, .scratch = assay_arena_scratch};

void assay_queue_init_cpu(assay_queue *queue, int threads) {
  assert(threads >= 1 && threads <= THREADS_MOST);
  *queue = (assay_queue){.calls = &cpu_calls, .device = ASSAY_DEVICE_CPU, .threads = threads};
}

assay_status assay_queue_check_open(int *threads, assay_queue **queue, assay_message *why) {
  if (queue == NULL)
    return assay_explain(why, ASSAY_BAD_POINTER, "queue is NULL; pass the address of a queue pointer");
  *queue = NULL;
  if (*threads < 0 || *threads > THREADS_MOST) {
    return assay_explain(why, ASSAY_BAD_OPTION,
                         "threads is %d; it must be 0 (the default of this process) to %d", *threads,
                         THREADS_MOST);
  }
  if (*threads == 0) *threads = assay_default_threads();
  return ASSAY_OK;
}

static void close_cpu(assay_queue *queue) {
  free(queue);
}

/* A call on the CPU has ended when it returns. */
static assay_status wait_cpu(assay_queue *queue) {
  (void)queue;
  return ASSAY_OK;
}

static const assay_queue_kind cpu_kind = {.close = close_cpu, .wait = wait_cpu};

assay_status assay_queue_open_cpu(int threads, assay_queue **queue) {
  assay_message why;
  assay_queue_owned *opened = NULL;
  assay_status status = assay_queue_check_open(&threads, queue, &why);
  if (status == ASSAY_OK && (opened = malloc(sizeof *opened)) == NULL) {
    status =
        assay_explain(&why, ASSAY_NO_MEMORY, "a queue of %zu bytes could not be allocated", sizeof *opened);
  }
  if (status != ASSAY_OK) {
    assay_set_last_error(why.text);
    return status;
  }
  assert(queue != NULL && opened != NULL);
  assay_queue_init_cpu(&opened->queue, threads);
  opened->kind = &cpu_kind;
  *queue = &opened->queue;
  return ASSAY_OK;
}

void assay_queue_close(assay_queue *queue) {
  if (queue != NULL) ((assay_queue_owned *)queue)->kind->close(queue);
}

assay_status assay_queue_wait(assay_queue *queue) {
  if (queue == NULL) {
    assay_set_last_error("queue is NULL; open one first");
    return ASSAY_BAD_POINTER;
  }
  return ((assay_queue_owned *)queue)->kind->wait(queue);
}

int assay_queue_threads(const assay_queue *queue) {
  return queue == NULL ? 0 : queue->threads;
}

const char *assay_queue_log(const assay_queue *queue) {
  const assay_queue_kind *kind = ((const assay_queue_owned *)queue)->kind;
  return kind->log != NULL ? kind->log(queue) : "";
}

/* The calls tell whose queue it is; one that somebody else made has no kind. */
void assay_queue_release(assay_queue *queue) {
  if (assay_queue_uses_arena(queue)) {
    assay_scratch_release();
  } else if (queue->calls == &assay_cuda_calls) {
    ((assay_queue_owned *)queue)->kind->release(queue);
  }
}
