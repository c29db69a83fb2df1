/* SPDX-License-Identifier: MIT */
/*
 * kernel_cache.h - compiled kernels on disk, from one run of the program to the next.
 *
 * The key is the whole text that decides what the compiler makes: source, headers, options, compiler,
 * architecture. It is kept behind the object in the same file and compared on every hit, so that a wrong
 * object cannot be taken for a right one, and an entry is there whole or not at all. What follows the end of
 * an ELF file disturbs no loader, so a shared object can be opened where it lies.
 */
#ifndef ASSAY_KERNEL_CACHE_H
#define ASSAY_KERNEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file.h"

enum { ASSAY_CACHE_BYTES_MOST = 1 << 30 };

/* The folder: $ASSAY_CACHE, $XDG_CACHE_HOME/assay or ~/.cache/assay, made with mode 0700 when it is not
 * there. One that belongs to somebody else, or that others may write to, is not used: then it is a private
 * temporary folder that goes when the process ends. False when even that cannot be made. */
bool assay_cache_folder(char path[ASSAY_PATH_SIZE]);

/* The file of this key, when it is there; it counts as used now. The object is what assay_cache_read gives,
 * or the file itself for a loader. */
bool assay_cache_get(const char *key, char path[ASSAY_PATH_SIZE]);

/* The object of this key, with a NUL behind it, to be freed; NULL when it is not there. */
void *assay_cache_read(const char *key, size_t *bytes);

/* Keeps an object, replacing one of the same key, and gives its file (path may be NULL). Then the entries
 * that were not used for longest go, until all together fit the limit. False with errno set when it could not
 * be written. */
bool assay_cache_put(const char *key, const void *object, size_t bytes, char path[ASSAY_PATH_SIZE]);
bool assay_cache_put_file(const char *key, const char *file, char path[ASSAY_PATH_SIZE]);

/* Removes the entries of a folder that were not used for longest until the rest fits `bytes_most`. */
void assay_cache_trim(const char *folder, uint64_t bytes_most);

#endif
