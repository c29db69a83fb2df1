/* SPDX-License-Identifier: MIT */
/* hash.c - SHA-256 names what was judged; the random bytes seed inputs that nobody can know beforehand. */
#include "hash.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>

static void write_hex(const unsigned char digest[crypto_hash_sha256_BYTES], char text[ASSAY_HASH_TEXT]) {
  sodium_bin2hex(text, ASSAY_HASH_TEXT, digest, crypto_hash_sha256_BYTES);
}

void assay_hash_bytes(const void *data, size_t size, char text[ASSAY_HASH_TEXT]) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, data, size);
  write_hex(digest, text);
}

bool assay_hash_file(const char *path, char text[ASSAY_HASH_TEXT]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  unsigned char block[65536];
  ssize_t got;
  while ((got = read(file, block, sizeof block)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    crypto_hash_sha256_update(&state, block, (unsigned long long)got);
  }
  const int reason = errno;
  close(file);
  errno = reason;
  if (got < 0) return false;
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state, digest);
  write_hex(digest, text);
  return true;
}

uint64_t assay_random_seed(void) {
  /* It fails only on a system without random numbers, where no seed of ours could be trusted. */
  if (sodium_init() < 0) abort();
  uint64_t seed;
  randombytes_buf(&seed, sizeof seed);
  return seed;
}
