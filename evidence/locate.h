/* SPDX-License-Identifier: MIT */
/* locate.h - the line of a JSON file on which a field stands, so that a finding leads there. */
#ifndef ASSAY_LOCATE_H
#define ASSAY_LOCATE_H

/*
 * The line, from 1, of the value at `path` in `text`, which a strict parser has accepted: "seed",
 * "cases[2].variants[1].samples". When the path goes further than the file does, the line of the innermost
 * part that exists; 1 for an empty path.
 */
int json_line_of(const char *text, const char *path);

#endif
