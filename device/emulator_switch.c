/* SPDX-License-Identifier: MIT */
/*
 * emulator_switch.c - switching stacks: only what a called function must preserve is saved.
 *
 * That is six registers on x86-64, and ten and eight halves of vector registers on ARM64; elsewhere ucontext,
 * which makes a system call each time. Modes of the floating-point unit are not part of it: kernels run in
 * the mode that the launch found.
 */
#include "emulator_switch.h"

#include <stdint.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#endif

#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/* Who switched last on this thread: its stack is told to us where the switch arrives. */
static _Thread_local assay_context *leaving;
#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* Pushes the registers, writes the stack pointer to *save, takes `restore` as the new one and pops. */
void assay_switch_stack(void **save, void *restore);

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".globl assay_switch_stack\n"
        ".hidden assay_switch_stack\n"
        ".type assay_switch_stack, @function\n"
        "assay_switch_stack:\n"
        "  .cfi_startproc\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  retq\n"
        "  .cfi_endproc\n"
        ".size assay_switch_stack, . - assay_switch_stack\n");

/* Six registers, the address to return to, and a null return address for that function itself: a function
 * begins with a stack pointer that is 8 off a multiple of 16. */
enum { FRAME_WORDS = 8, FRAME_ENTRY = 6 };
#else
__asm__(".text\n"
        ".p2align 4\n"
        ".globl assay_switch_stack\n"
        ".hidden assay_switch_stack\n"
        ".type assay_switch_stack, %function\n"
        "assay_switch_stack:\n"
        "  .cfi_startproc\n"
        "  stp x29, x30, [sp, #-160]!\n"
        "  stp x19, x20, [sp, #16]\n"
        "  stp x21, x22, [sp, #32]\n"
        "  stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]\n"
        "  stp x27, x28, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #16]\n"
        "  ldp x21, x22, [sp, #32]\n"
        "  ldp x23, x24, [sp, #48]\n"
        "  ldp x25, x26, [sp, #64]\n"
        "  ldp x27, x28, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  ldp x29, x30, [sp], #160\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size assay_switch_stack, . - assay_switch_stack\n");

/* x29, x30 (where `ret` goes), and the rest. */
enum { FRAME_WORDS = 20, FRAME_ENTRY = 1 };
#endif

static void make(assay_context *context, char *stack, size_t bytes, void (*entry)(void)) {
  uintptr_t frame[FRAME_WORDS] = {0};
  frame[FRAME_ENTRY] = (uintptr_t)entry;
  char *top = stack + bytes - (uintptr_t)(stack + bytes) % 16;
  context->stack_pointer = memcpy(top - sizeof frame, frame, sizeof frame);
}

static void change(assay_context *from, assay_context *to) {
  assay_switch_stack(&from->stack_pointer, to->stack_pointer);
}

#else

static void make(assay_context *context, char *stack, size_t bytes, void (*entry)(void)) {
  getcontext(&context->saved);
  context->saved.uc_stack.ss_sp = stack;
  context->saved.uc_stack.ss_size = bytes;
  context->saved.uc_link = NULL;
  makecontext(&context->saved, entry, 0);
}

static void change(assay_context *from, assay_context *to) {
  swapcontext(&from->saved, &to->saved);
}

#endif

void assay_context_make(assay_context *context, void *stack, size_t bytes, void (*entry)(void)) {
  context->stack = stack;
  context->stack_bytes = bytes;
  context->sanitizer = NULL;
#ifdef ADDRESS_SANITIZER
  /* Frames that were abandoned here left their red zones behind. */
  __asan_unpoison_memory_region(stack, bytes);
#endif
  make(context, stack, bytes, entry);
}

void assay_context_entered(assay_context *context) {
#ifdef ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(context->sanitizer, &leaving->stack, &leaving->stack_bytes);
#else
  (void)context;
#endif
}

void assay_context_switch(assay_context *from, assay_context *to, int last) {
#ifdef ADDRESS_SANITIZER
  leaving = from;
  __sanitizer_start_switch_fiber(last ? NULL : &from->sanitizer, to->stack, to->stack_bytes);
#else
  (void)last;
#endif
  change(from, to);
  assay_context_entered(from);
}
