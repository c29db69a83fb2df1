/* SPDX-License-Identifier: MIT */
/* ops.c - the registry: a table made from the list in operators.h. */
#include "ops.h"

#include "operators.h"

#define OPERATOR_ENTRY(name) &assay_##name##_op,
const assay_operator *const assay_operators[] = {ASSAY_OPERATORS(OPERATOR_ENTRY)};

const int assay_operator_count = (int)(sizeof assay_operators / sizeof assay_operators[0]);
