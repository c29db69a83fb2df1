/* SPDX-License-Identifier: MIT */
/* hash.h - SHA-256 and random bytes, by libsodium. */
#ifndef ASSAY_HASH_H
#define ASSAY_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASSAY_HASH_TEXT = 65 }; /* 64 lower-case hex digits and the NUL */

void assay_hash_bytes(const void *data, size_t size, char text[ASSAY_HASH_TEXT]);

/* False when the file cannot be read; errno says why. */
bool assay_hash_file(const char *path, char text[ASSAY_HASH_TEXT]);

/* A seed from the operating system's random numbers. */
uint64_t assay_random_seed(void);

#endif
