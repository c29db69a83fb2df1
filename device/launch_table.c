/* SPDX-License-Identifier: MIT */
/* launch_table.c - a hash table of lists that only grow at their heads. */
#include "launch_table.h"

#include <stdlib.h>
#include <string.h>

/* Multiplying by an odd constant and folding spreads every bit over the word; bad luck costs time, nothing
 * else. */
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

/* The length and the last bytes, in which names of files and kernels differ. */
static uint64_t mix_text(uint64_t hash, const char *text) {
  const size_t length = strlen(text);
  uint64_t word = 0;
  if (length >= sizeof word) {
    memcpy(&word, text + length - sizeof word, sizeof word);
  } else {
    memcpy(&word, text, length);
  }
  return mix(hash ^ length, word);
}

/* The names of defines are compared on a hit, and add nothing here. */
static uint64_t hash_launch(const assay_launch *launch) {
  uint64_t hash = mix_text(mix_text(0, launch->file), launch->kernel);
  for (const assay_define *define = launch->defines; define != NULL && define->name != NULL; define++)
    hash = mix(hash, (uint64_t)define->value);
  return hash;
}

bool assay_defines_equal(const assay_define *a, const assay_define *b) {
  static const assay_define none = {NULL, 0};
  if (a == NULL) a = &none;
  if (b == NULL) b = &none;
  for (; a->name != NULL && b->name != NULL; a++, b++)
    if (a->value != b->value || strcmp(a->name, b->name) != 0) return false;
  return a->name == NULL && b->name == NULL;
}

const void *assay_launch_find(assay_launch_table *table, const assay_launch *launch) {
  const uint64_t hash = hash_launch(launch);
  const assay_launch_entry *entry =
      atomic_load_explicit(&table->buckets[hash % ASSAY_LAUNCH_BUCKETS], memory_order_acquire);
  for (; entry != NULL; entry = entry->older) {
    if (entry->hash == hash && strcmp(entry->kernel, launch->kernel) == 0 &&
        strcmp(entry->file, launch->file) == 0 && assay_defines_equal(entry->defines, launch->defines)) {
      return entry->value;
    }
  }
  return NULL;
}

/* One block of memory: the entry, its defines, and all texts. */
bool assay_launch_add(assay_launch_table *table, const assay_launch *launch, const void *value) {
  size_t count = 0;
  size_t text_bytes = strlen(launch->file) + 1 + strlen(launch->kernel) + 1;
  for (; launch->defines != NULL && launch->defines[count].name != NULL; count++)
    text_bytes += strlen(launch->defines[count].name) + 1;
  assay_launch_entry *entry = malloc(sizeof *entry + (count + 1) * sizeof(assay_define) + text_bytes);
  if (entry == NULL) return false;
  assay_define *defines = (assay_define *)(entry + 1);
  char *text = (char *)(defines + count + 1);
  for (size_t i = 0; i < count; i++) {
    defines[i] = (assay_define){text, launch->defines[i].value};
    text = stpcpy(text, launch->defines[i].name) + 1;
  }
  defines[count] = (assay_define){NULL, 0};
  entry->file = text;
  text = stpcpy(text, launch->file) + 1;
  entry->kernel = text;
  stpcpy(text, launch->kernel);
  entry->defines = defines;
  entry->value = value;
  entry->hash = hash_launch(launch);
  _Atomic(assay_launch_entry *) *bucket = &table->buckets[entry->hash % ASSAY_LAUNCH_BUCKETS];
  entry->older = atomic_load_explicit(bucket, memory_order_relaxed);
  atomic_store_explicit(bucket, entry, memory_order_release);
  return true;
}
