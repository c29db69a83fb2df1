/* SPDX-License-Identifier: MIT */
/* list_suite.h - the operators with their shapes, as one JSON object. */
#ifndef ASSAY_CLI_LIST_SUITE_H
#define ASSAY_CLI_LIST_SUITE_H

/* Prints it: every operator that is timed, with its variants and their sources, and its cases with the words
 * of reports. */
void list_suite(void);

#endif
