/* SPDX-License-Identifier: MIT */
/* emulator_switch.h - coroutines: a place to go on from, on a stack of its own. */
#ifndef ASSAY_EMULATOR_SWITCH_H
#define ASSAY_EMULATOR_SWITCH_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

/* A context of zeros stands for the stack that the program runs on anyway: switch away from it first. */
typedef struct assay_context {
#if defined(__x86_64__) || defined(__aarch64__)
  void *stack_pointer; /* below it lie the saved registers */
#else
  ucontext_t saved;
#endif
  /* For the address sanitizer, which must know every stack. */
  const void *stack;
  size_t stack_bytes;
  void *sanitizer;
} assay_context;

/* Makes a context that starts in `entry` on the given stack when it is switched to. `entry` never returns. */
void assay_context_make(assay_context *context, void *stack, size_t bytes, void (*entry)(void));

/* Saves where the caller is in `from` and goes on at `to`; returns when somebody switches back. Both belong
 * to the calling thread. With `last` nobody will, and the caller's stack may be used anew. */
void assay_context_switch(assay_context *from, assay_context *to, int last);

/* The first thing that `entry` does. */
void assay_context_entered(assay_context *context);

#endif
