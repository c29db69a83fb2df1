/* SPDX-License-Identifier: MIT */
/* interrupt.h - signals that end a run early, but in order: results so far are printed, temporary files go.
 */
#ifndef ASSAY_CLI_INTERRUPT_H
#define ASSAY_CLI_INTERRUPT_H

/* From now on SIGINT, SIGTERM, SIGHUP and a closed output pipe call check_interrupt(). A second SIGINT kills.
 */
void interrupt_watch(void);

/* Between these two the same signals are only remembered, as often as they come: check_interrupted() tells.
 * What was ignored before stays ignored. A system call that waits ends with EINTR. */
void interrupt_hold(void);
void interrupt_release(void);

/* The exit code of the signal that came (130 for SIGINT), else `code`. */
int interrupt_code(int code);

#endif
