/* SPDX-License-Identifier: MIT */
/* kernel_words.h - the words that a kernel cannot use, and what to write instead. */
#ifndef ASSAY_KERNEL_WORDS_H
#define ASSAY_KERNEL_WORDS_H

#include <stddef.h>

/* Advice on a word that NVRTC does not know, or that the emulator does not; NULL for every other word. */
const char *assay_word_refused_by_nvrtc(const char *word, size_t length);
const char *assay_word_refused_by_emulator(const char *word, size_t length);

#endif
