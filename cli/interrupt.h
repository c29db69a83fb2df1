/* SPDX-License-Identifier: MIT */
/* interrupt.h - signals that end a run early, but in order: results so far are printed, temporary files go.
 */
#ifndef ASSAY_CLI_INTERRUPT_H
#define ASSAY_CLI_INTERRUPT_H

/* From now on SIGINT, SIGTERM, SIGHUP and a closed output pipe call check_interrupt(). A second SIGINT kills.
 */
void interrupt_watch(void);

/* The exit code of the signal that came (130 for SIGINT), else `code`. */
int interrupt_code(int code);

#endif
