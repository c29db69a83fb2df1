/* SPDX-License-Identifier: MIT */
/*
 * npy.h - NumPy's file format for one array: what a header says, a file in memory, and a header of our own.
 *
 * A header is text that anybody can have written. Nothing of it is believed before it is checked, also
 * against the size of the file. NumPy has no BF16: its values are kept as uint16, and only whoever saved them
 * knows.
 */
#ifndef ASSAY_NPY_H
#define ASSAY_NPY_H

#include <stdbool.h>
#include <sys/types.h>

#include "status.h"

enum {
  ASSAY_NPY_PREFIX = 12,       /* bytes that tell how long the header is */
  ASSAY_NPY_LONGEST = 1 << 16, /* a header that is longer is refused */
  ASSAY_NPY_HEADER = 192,      /* the longest that assay_npy_format writes */
  ASSAY_NPY_SHAPE_TEXT = 96    /* any shape as text */
};

typedef struct assay_npy_header {
  assay_dtype dtype;
  bool patterns; /* uint16, or two bytes without a type: dtype is BF16, if that is what they are */
  char descr[8]; /* as the file calls its type: "<f4" */
  bool fortran;  /* the first axis is the dense one */
  int rank;
  int64_t shape[ASSAY_MAX_RANK];
  int64_t count; /* elements */
  size_t offset; /* of the first element from the beginning of the file */
  size_t bytes;  /* of all elements */
} assay_npy_header;

/* The size of the header, from the first ASSAY_NPY_PREFIX bytes of a file, or all of a shorter one. False
 * with a sentence whose subject is the file: "is empty". */
bool assay_npy_measure(const void *begin, size_t size, size_t *header_bytes, assay_message *why);

/* Reads the header at the beginning of `size` bytes. False with such a sentence. */
bool assay_npy_parse(const void *begin, size_t size, assay_npy_header *header, assay_message *why);

/* Whether a file of that many bytes holds exactly the array that its header describes. */
bool assay_npy_fits(const assay_npy_header *header, uintmax_t file_bytes, assay_message *why);

/* The array as a tensor on `data`, which holds its elements in the order of the file. */
assay_tensor assay_npy_tensor(const assay_npy_header *header, void *data);

/* Writes the header (version 1.0, a multiple of 64 bytes) of a row-major array as NumPy does; returns its
 * length. */
size_t assay_npy_format(assay_dtype dtype, int rank, const int64_t *shape, char header[ASSAY_NPY_HEADER]);

/* What that header calls the type. */
const char *assay_npy_descr(assay_dtype dtype);

/* A shape as Python writes it: "(3, 4)", "(3,)", "()". */
void assay_npy_shape(int rank, const int64_t *shape, char text[ASSAY_NPY_SHAPE_TEXT]);

/* ---- files --------------------------------------------------------------------------------------------- */

typedef struct assay_npy_file {
  assay_npy_header header;
  unsigned char *data; /* the elements, to be read only; not always aligned */
  void *memory;        /* the whole file: mapped, or read where it cannot be */
  size_t memory_bytes;
  bool mapped;
  dev_t device; /* with inode: which file it is */
  ino_t inode;
} assay_npy_file;

/* Maps a file, or reads a pipe to its end. False with a sentence whose subject is the file. */
bool assay_npy_open(const char *path, assay_npy_file *file, assay_message *why);
void assay_npy_close(assay_npy_file *file);

#endif
