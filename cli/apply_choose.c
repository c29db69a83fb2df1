/* SPDX-License-Identifier: MIT */
/* apply_choose.c - from the command line of `assay apply` to operator, function, variant and knobs. */
#include "apply.h"
#include "choose.h"
#include "ops/ops.h"
#include "output.h"
#include "suggest.h"
#include "workshops/workshops.h"

#include <stdio.h>
#include <string.h>

static int choose_operator(apply_job *job, const char *word) {
  const assay_exercise *exercise = assay_exercise_find(word); /* also by an alias */
  job->op = exercise != NULL ? exercise->op : assay_operator_find(word);
  if (job->op != NULL) return CLI_OK;
  if (exercise != NULL) {
    output_error("%s is an exercise and no operator: apply runs the operators, which " PROGRAM " list shows",
                 exercise->name);
    return CLI_USAGE;
  }
  suggestion near;
  suggest_begin(&near, word);
  for (int i = 0; i < assay_operator_count; i++) suggest_try(&near, assay_operators[i]->subject.name);
  const char *best = suggest_best(&near);
  if (best != NULL) {
    output_error("no operator \"%.60s\": did you mean %s?", word, best);
  } else {
    output_error("no operator \"%.60s\": " PROGRAM " list shows them", word);
  }
  return CLI_USAGE;
}

static int choose_function(apply_job *job, const cli_value *value) {
  const assay_subject *subject = &job->op->subject;
  const char *names[ASSAY_MAX_EXPORTS];
  for (int i = 0; i < subject->export_count; i++) names[i] = subject->exports[i].name;
  if (value->given)
    job->entry = choose_name(subject->name, "function", value->text, names, subject->export_count);
  return job->entry < 0 ? CLI_USAGE : CLI_OK;
}

static int choose_variant(apply_job *job, const cli_value *value) {
  enum { MOST_VARIANTS = 64 };
  const char *names[MOST_VARIANTS];
  assay_message why = {"no variant runs here"};
  for (int i = 0; i < job->op->variant_count && i < MOST_VARIANTS; i++) {
    const assay_variant *variant = &job->op->variants[i];
    names[i] = variant->name;
    if (value->given || job->variant != NULL || variant->backend != ASSAY_CPU) continue;
    if (assay_variant_runs_here(variant, &why)) job->variant = variant;
  }
  if (value->given) {
    const int index =
        choose_name(job->op->subject.name, "variant", value->text, names, job->op->variant_count);
    if (index < 0) return CLI_USAGE;
    if (assay_variant_runs_here(&job->op->variants[index], &why)) job->variant = &job->op->variants[index];
  }
  if (job->variant != NULL) return CLI_OK;
  output_error("%s", why.text);
  return CLI_UNAVAILABLE;
}

int apply_choose(apply_job *job, const cli_args *args, const apply_places *places) {
  int code = choose_operator(job, args->names[0]);
  if (code == CLI_OK) code = choose_function(job, &args->values[APPLY_FUNCTION]);
  if (code == CLI_OK) code = choose_variant(job, &args->values[APPLY_VARIANT]);
  for (int i = 0; i < args->each_count && code == CLI_OK; i++) {
    if (args->each[i].option != APPLY_SET) continue;
    if (!choose_knob(&job->op->subject, args->each[i].text, job->opt)) code = CLI_USAGE;
  }
  if (code == CLI_OK) code = apply_count_inputs(job, args, places);
  if (code != CLI_OK) return code;
  if (!args->values[APPLY_OUT].given) {
    output_error("apply needs --out FILE, where the result goes");
    return CLI_USAGE;
  }
  job->out_path = args->values[APPLY_OUT].text;
  return CLI_OK;
}
