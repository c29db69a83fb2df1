/* SPDX-License-Identifier: MIT */
/* sanitize_json.h - one target of `assay sanitize` as a JSON object. */
#ifndef ASSAY_CLI_SANITIZE_JSON_H
#define ASSAY_CLI_SANITIZE_JSON_H

#include "sanitize_report.h"

json_t *sanitize_json(const sanitize_subject *subject, const sanitize_job *job, const sanitize_result *result,
                      verdict value);
json_t *sanitize_json_missing(const sanitize_subject *subject, verdict value, const char *reason);

#endif
