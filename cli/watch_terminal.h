/* SPDX-License-Identifier: MIT */
/* watch_terminal.h - single keys without echo, the terminal as it was afterwards, and signals that wait. */
#ifndef ASSAY_CLI_WATCH_TERMINAL_H
#define ASSAY_CLI_WATCH_TERMINAL_H

#include <signal.h>
#include <stdbool.h>

/* Keys come one by one from now on, when standard input is a terminal and this program is in its foreground;
 * false: there are no keys. However the program ends, the terminal is put back; only SIGKILL prevents it. */
bool terminal_open(void);

/* Puts the terminal back, for a program that wants to use it, and takes it again. Nothing without keys. */
void terminal_release(void);
void terminal_take(void);

/* From now on signals that end, stop or inform the program wait until terminal_poll: what is in hand is done
 * whole. `usual` is the mask for programs that are started. */
void signals_hold(void);
extern sigset_t signals_usual;

/* The signal that asked the program to end, 0: none yet. */
int signals_end(void);
void signals_forget_interrupt(void);

/* poll(2) on up to two descriptors (-1 is passed over) for `milliseconds` (-1: for ever), in which signals
 * come through. A stop (SIGTSTP) is carried out here, with the terminal as it was. readable[i] says what is
 * there. */
void terminal_poll(const int descriptors[2], int milliseconds, bool readable[2]);

#endif
