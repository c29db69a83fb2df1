/* SPDX-License-Identifier: MIT */
/* judge_request.h - the probe's functions that make operands and talk to the worker. */
#ifndef ASSAY_JUDGE_REQUEST_H
#define ASSAY_JUDGE_REQUEST_H

#include "probe.h"

assay_case *judge_make(assay_probe *probe, const assay_plan *plan);
assay_tensor judge_in(const assay_case *operands, int index);
assay_tensor judge_out(const assay_case *operands, int index);
bool judge_fill(assay_probe *probe, assay_case *operands, int index, const double *values);
bool judge_run(assay_probe *probe, const assay_probe_call *calls, int count);
bool judge_reject(assay_probe *probe, const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                  assay_status status, const char *word);
void judge_release(assay_probe *probe); /* in judge.c, which uses it between cases */
void judge_fail(assay_probe *probe, const char *text);
void judge_unavailable(assay_probe *probe, const char *reason);

#endif
