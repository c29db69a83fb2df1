/* SPDX-License-Identifier: MIT */
/* cmd_prove.c - `assay prove`: shows that the checks of an exercise can fail. */
#include "check/prove.h"
#include "cli.h"
#include "core/hash.h"
#include "core/json.h"
#include "exercise.h"
#include "interrupt.h"
#include "output.h"

#include <regex.h>
#include <string.h>

enum {
  PROVE_BACKEND = 0,
  PROVE_FILTER,
  PROVE_SEED,
  PROVE_TIMEOUT,
  PROVE_NAMED,
  PROVE_JSON,
  PROVE_COLOUR,
  PROVE_OPTIONS
};

static const char *const backends[] = {"cpu", "cuda", NULL};

static const cli_option options[PROVE_OPTIONS] = {
    [PROVE_BACKEND] =
        {"backend", OPTION_CHOICE, NULL, backends, 0, 0,
         "cpu (the default): all defects, those of .cu files emulated; cuda: those of .cu files, "
         "on the GPU"},
    [PROVE_FILTER] = {"filter", OPTION_TEXT, "REGEX", NULL, 0, 0,
                      "only defects whose name matches the extended regular expression"},
    [PROVE_SEED] = CLI_OPTION_SEED,
    [PROVE_TIMEOUT] = {"timeout", OPTION_SECONDS, "SECONDS", NULL, 0, 86400, "limit of one call; default: 2"},
    [PROVE_NAMED] =
        {"named", OPTION_FLAG, NULL, NULL, 0, 0,
         "run only the check that a defect names: the same proof, quicker, with a smaller matrix"},
    [PROVE_JSON] = CLI_OPTION_JSON,
    [PROVE_COLOUR] = CLI_OPTION_COLOUR,
};

typedef struct prove_job {
  output out;
  bool json;
  int steps;
  const char *exercise; /* of the last printed step */
} prove_job;

static void print_step(prove_job *job, const prove_step *step) {
  const bool defect = !step->honest; /* nothing is caught in the starter and the solution */
  if (job->exercise == NULL || strcmp(job->exercise, step->exercise) != 0) {
    printf("proving the checks of %s\n", step->exercise);
    job->exercise = step->exercise;
  }
  const char *good = defect ? "caught  " : "right   ";
  const char *bad = defect ? "SURVIVED" : "WRONG   ";
  output_word(&job->out, step->caught ? OUTPUT_GOOD : OUTPUT_BAD, step->caught ? good : bad);
  printf("  %-28s  %s: %s", step->defect, step->caught_by, step->reason);
  if (defect) printf(" (%d check%s failed it)", step->killers, step->killers == 1 ? "" : "s");
  putchar('\n');
}

static void show_step(void *user, const prove_step *step) {
  prove_job *job = user;
  job->steps++;
  output_clear(&job->out);
  if (!job->json) print_step(job, step);
  output_progress(&job->out, "%s: %d done", step->exercise, job->steps);
}

/* The checks that nothing made fail, and the sums. */
static void print_end(const json_t *report, uint64_t seed) {
  size_t index;
  json_t *entry;
  json_array_foreach(json_object_get(report, "unproved"), index, entry) {
    printf("unproved  %s of %s: nothing makes it fail\n", json_string_value(json_object_get(entry, "check")),
           json_string_value(json_object_get(entry, "exercise")));
  }
  printf("seed %llu\n", (unsigned long long)seed);
  const int unavailable = (int)json_integer_value(json_object_get(report, "unavailable"));
  if (unavailable > 0)
    printf("unavailable  %d defects of the program itself: set ASSAY_SOURCE_DIR to Assay's source tree\n",
           unavailable);
  printf("%d defects, %d caught, %d survived\n", (int)json_integer_value(json_object_get(report, "defects")),
         (int)json_integer_value(json_object_get(report, "caught")),
         (int)json_integer_value(json_object_get(report, "survived")));
}

static bool filter_is_usable(const char *filter) {
  regex_t compiled;
  const int error = regcomp(&compiled, filter, REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    char reason[128];
    regerror(error, &compiled, reason, sizeof reason);
    output_error("--filter \"%.60s\" is no extended regular expression: %s", filter, reason);
    return false;
  }
  regfree(&compiled);
  return true;
}

static int prove_chosen(const cli_args *args, const exercise_list *chosen) {
  const cli_value *values = args->values;
  const prove_options wanted = {
      .seed = values[PROVE_SEED].given ? (uint64_t)values[PROVE_SEED].whole : assay_random_seed() >> 11,
      .filter = values[PROVE_FILTER].text,
      .seconds = values[PROVE_TIMEOUT].seconds,
      .on_gpu = values[PROVE_BACKEND].given && values[PROVE_BACKEND].choice == (int)ASSAY_CUDA,
      .named_only = values[PROVE_NAMED].given,
  };
  prove_job job = {.json = values[PROVE_JSON].given};
  output_begin(&job.out, (output_colour)values[PROVE_COLOUR].choice);
  json_t *report = json_object();
  interrupt_watch();
  bool proved = true;
  for (int i = 0; i < chosen->count && !check_interrupted(); i++) {
    output_progress(&job.out, "%s: building", chosen->items[i]->name);
    assay_message why = {""};
    const bool done = prove_exercise(chosen->items[i], &wanted, show_step, &job, report, &why);
    output_clear(&job.out);
    if (!done && why.text[0] != '\0') output_error("%s", why.text);
    proved = proved && done;
  }
  const bool unavailable = json_integer_value(json_object_get(report, "unavailable")) > 0;
  const bool matched = wanted.filter == NULL || job.steps > 0 || unavailable || check_interrupted();
  if (matched && job.json) {
    json_object_set_new(report, "seed", json_integer((json_int_t)wanted.seed));
    json_object_set_new(report, "interrupted", json_boolean(check_interrupted()));
    assay_json_print(report, stdout);
  } else if (matched) {
    print_end(report, wanted.seed);
  }
  json_decref(report);
  if (!matched) return CLI_USAGE;
  return interrupt_code(!proved ? CLI_FAILED : unavailable ? CLI_UNAVAILABLE : CLI_OK);
}

static int run_prove(const cli_args *args) {
  exercise_list chosen;
  if (args->values[PROVE_FILTER].given && !filter_is_usable(args->values[PROVE_FILTER].text))
    return CLI_USAGE;
  if (!exercise_choose(args->names, args->name_count, &chosen)) return CLI_USAGE;
  const cli_value *backend = &args->values[PROVE_BACKEND];
  const char *missing = backend->given ? backend_missing((assay_backend)backend->choice) : NULL;
  if (missing != NULL) {
    output_error("--backend cuda: %s", missing);
    return CLI_UNAVAILABLE;
  }
  return prove_chosen(args, &chosen);
}

static const char *const examples[] = {"prove NAME", "prove all --json", NULL};

const cli_command command_prove = {
    .name = "prove",
    .summary = "show that every check can fail",
    .about =
        "Builds every defect that broken.txt of an exercise describes and demands that its named check does "
        "not pass; names the checks that no defect makes fail. Defects of the program itself are built in a "
        "copy of its source tree. The exit code is 0 only when every defect is caught and every check is "
        "proved, and 3 when that holds but for defects whose source tree is not here.",
    .names = "[NAME...|all]",
    .names_min = 0,
    .names_max = CLI_MAX_NAMES,
    .examples = examples,
    .options = options,
    .option_count = PROVE_OPTIONS,
    .run = run_prove,
};
