/* SPDX-License-Identifier: MIT */
/* cmd_bench.c - `assay bench`: measures kernels that pass their gate, and keeps every sample. */
#include "bench_job.h"
#include "check/timer.h"
#include "core/hash.h"
#include "core/json.h"
#include "cpu.h"
#include "evidence/surroundings.h"
#include "interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const mode_names[] = {"wall", "events", "graph", NULL};

static const cli_option options[BENCH_OPTIONS] = {
    [BENCH_OPT_SOLUTION] = {"solution", OPTION_FLAG, NULL, NULL, 0, 0,
                            "time the reference solution with every knob, not your file"},
    [BENCH_OPT_LIBRARY] = {"library", OPTION_FLAG, NULL, NULL, 0, 0, "time every variant in the library"},
    [BENCH_OPT_BACKEND] = {"backend", OPTION_CHOICE, NULL, cli_backend_names, 0, 0,
                           "where kernels run; cpu is the default"},
    [BENCH_OPT_SHAPE] = {"shape", OPTION_TEXT, "SIZES", NULL, 0, 0,
                         "sizes joined by x, with :LAYOUT, :TYPE and :OPTION=N behind them; several with "
                         "commas; default: the operator's suite"},
    [BENCH_OPT_INPUT] = {"input", OPTION_EACH, "FILE", NULL, 0, 0,
                         "time on the elements of this .npy file; one for each operand, in order"},
    [BENCH_OPT_SLICE] = {"slice", OPTION_EACH, "SLICE", NULL, 0, 0,
                         "a part of the input before it, as NumPy writes it: 0:10:2,:,5"},
    [BENCH_OPT_TRANSPOSE] = {"transpose", OPTION_EACH_BARE, "AXES", NULL, 0, 0,
                             "the input before it with its axes reversed, or in this order: 1,0,2"},
    [BENCH_OPT_DTYPE] =
        {"dtype", OPTION_CHOICE, NULL, cli_dtype_names, 0, 0,
         "round inputs of other types to this one; bf16 also says that uint16 files hold bf16"},
    [BENCH_OPT_SET] = {"set", OPTION_EACH, "NAME=VALUE", NULL, 0, 0,
                       "with --input: an option of the operator, a whole number"},
    [BENCH_OPT_VARIANT] = {"variant", OPTION_TEXT, "NAME", NULL, 0, 0,
                           "only this variant, by its name in the "
                           "table"},
    [BENCH_OPT_BASELINE] = {"baseline", OPTION_TEXT, "NAME", NULL, 0, 0,
                            "only this baseline; a variant of the table may be one too"},
    [BENCH_OPT_AGAINST] = {"against", OPTION_TEXT, "FILE|REV", NULL, 0, 0,
                           "compare with another source, or with the file's state in a git revision"},
    [BENCH_OPT_CACHE] = {"cache", OPTION_CHOICE, NULL, report_cache_names, 0, 0,
                         "warm (the default), or cold: one call a sample after emptying the caches"},
    [BENCH_OPT_MODE] = {"mode", OPTION_CHOICE, NULL, mode_names, 0, 0,
                        "which clock: wall for the CPU; events and graph are for GPUs"},
    [BENCH_OPT_PROTOCOL] = {"protocol", OPTION_CHOICE, NULL, report_protocol_names, 0, 0,
                            "assay: 9 processes x 5 samples (the default); quick: 3 x 5; seeds: 1 x 7, which "
                            "describes and claims nothing"},
    [BENCH_OPT_QUICK] = {"quick", OPTION_FLAG, NULL, NULL, 0, 0, "the same as --protocol quick"},
    [BENCH_OPT_THREADS] = {"threads", OPTION_WHOLE, "N", NULL, 1, 1024,
                           "threads a call may use; default: OMP_NUM_THREADS, else the CPUs of this process"},
    [BENCH_OPT_SEED] = CLI_OPTION_SEED,
    [BENCH_OPT_PREDICTION] = {"prediction", OPTION_TEXT, "FILE", NULL, 0, 0,
                              "a prediction that was declared before, to be kept in the report"},
    [BENCH_OPT_RESUME] = {"resume", OPTION_TEXT, "FILE", NULL, 0, 0,
                          "go on with the report of an interrupted run"},
    [BENCH_OPT_OUTPUT] = {"output", OPTION_TEXT, "FILE", NULL, 0, 0, "write the report here (also: -o)"},
    [BENCH_OPT_JSON] = CLI_OPTION_JSON,
    [BENCH_OPT_COLOUR] = CLI_OPTION_COLOUR,
};

/* ---- while it runs ------------------------------------------------------------------------------------- */

static void show_progress(void *user, const char *text) {
  output_progress(&((bench_job *)user)->out, "%s", text);
}

static void show_announcement(void *user, double seconds, int samples) {
  bench_job *job = user;
  output_clear(&job->out);
  fprintf(stderr, "%d case%s, %d samples in %d process%s: about %.0f s\n", job->run.case_count,
          job->run.case_count == 1 ? "" : "s", samples, job->run.protocol.processes,
          job->run.protocol.processes == 1 ? "" : "es", seconds > 1 ? seconds : 1);
}

static const char *output_path(const bench_job *job) {
  const char *path = job->args->values[BENCH_OPT_OUTPUT].text;
  return path != NULL ? path : job->args->values[BENCH_OPT_RESUME].text;
}

/* What is there so far; false after an error message. */
static bool save(bench_job *job) {
  const char *path = output_path(job);
  if (path == NULL) return true;
  report *made = measured_report(&job->run, &job->context);
  const bool saved = made != NULL && report_save(made, path);
  if (!saved) output_error("cannot write %s: %s", path, made == NULL ? "not enough memory" : strerror(errno));
  report_free(made);
  return saved;
}

static void checkpoint(void *user) {
  bench_job *job = user;
  output_clear(&job->out);
  (void)save(job);
}

/* ---- options ------------------------------------------------------------------------------------------- */

/* What belongs to --input, or stands beside it in vain; false after an error message. */
static bool input_options_agree(const bench_job *job) {
  static const int belonging[] = {BENCH_OPT_SLICE, BENCH_OPT_TRANSPOSE, BENCH_OPT_DTYPE, BENCH_OPT_SET};
  if (bench_given(job, BENCH_OPT_INPUT)) {
    if (!bench_given(job, BENCH_OPT_SHAPE)) return true;
    output_error("--input has the shape of its file: leave out --shape");
    return false;
  }
  for (size_t i = 0; i < sizeof belonging / sizeof belonging[0]; i++) {
    if (!bench_given(job, belonging[i])) continue;
    output_error("--%s is for the files of --input; types and options of --shape stand behind its colons",
                 options[belonging[i]].name);
    return false;
  }
  return true;
}

/* Options that contradict each other, or that nothing here can do; CLI_OK, or a code after an error message.
 */
static int options_agree(const bench_job *job) {
  const cli_value *values = job->args->values;
  if (bench_given(job, BENCH_OPT_SOLUTION) && bench_given(job, BENCH_OPT_LIBRARY)) {
    output_error("--solution and --library exclude each other: run bench twice");
    return CLI_USAGE;
  }
  if (bench_given(job, BENCH_OPT_LIBRARY) && bench_given(job, BENCH_OPT_AGAINST)) {
    output_error("--against compares sources of one kernel: leave out --library");
    return CLI_USAGE;
  }
  if (bench_given(job, BENCH_OPT_BASELINE) && bench_given(job, BENCH_OPT_AGAINST)) {
    output_error("--against names the baseline: leave out --baseline");
    return CLI_USAGE;
  }
  if (bench_given(job, BENCH_OPT_QUICK) && bench_given(job, BENCH_OPT_PROTOCOL) &&
      values[BENCH_OPT_PROTOCOL].choice != SCHEDULE_QUICK) {
    output_error("--quick is a protocol of its own: leave out --protocol");
    return CLI_USAGE;
  }
  return input_options_agree(job) ? CLI_OK : CLI_USAGE;
}

/* What runs where, and by which clock: the GPU's own for a GPU, a graph unless it is told otherwise. */
static int choose_clock(bench_job *job) {
  const cli_value *values = job->args->values;
  const bool mode = bench_given(job, BENCH_OPT_MODE);
  const assay_backend backend =
      bench_given(job, BENCH_OPT_BACKEND) ? (assay_backend)values[BENCH_OPT_BACKEND].choice : ASSAY_CPU;
  job->run.backend = backend;
  job->run.timer = mode ? values[BENCH_OPT_MODE].choice : backend == ASSAY_CUDA ? TIMER_GRAPH : TIMER_WALL;
  const char *missing = backend_missing(backend);
  if (backend == ASSAY_SIMT) missing = "emulated kernels have no times: --backend cuda needs an NVIDIA GPU";
  if (missing != NULL) {
    output_error("%s", missing);
    return CLI_UNAVAILABLE;
  }
  if (timers[job->run.timer].on_gpu == (backend == ASSAY_CUDA)) return CLI_OK;
  output_error(backend == ASSAY_CUDA ? "--mode wall is for the CPU: events and graph time a GPU"
                                     : "--mode %s times a GPU: it needs --backend cuda",
               timers[job->run.timer].name);
  return CLI_USAGE;
}

/* A run of minutes must not end in a file that cannot be written. */
static bool output_is_writable(const bench_job *job) {
  const char *path = output_path(job);
  if (path == NULL) return true;
  char folder[ASSAY_PATH_SIZE];
  const char *slash = strrchr(path, '/');
  if (!assay_path_format(folder, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
                         slash == NULL ? "." : path) ||
      access(folder, W_OK) != 0) {
    output_error("--output %.200s: no file can be written there: %s", path, strerror(errno));
    return false;
  }
  return true;
}

static void fill_run(bench_job *job) {
  const cli_value *values = job->args->values;
  const schedule_name name =
      bench_given(job, BENCH_OPT_QUICK) ? SCHEDULE_QUICK : (schedule_name)values[BENCH_OPT_PROTOCOL].choice;
  job->run.protocol = schedule_of(name);
  job->run.cold = values[BENCH_OPT_CACHE].choice == REPORT_COLD;
  job->run.threads =
      values[BENCH_OPT_THREADS].whole > 0 ? (int)values[BENCH_OPT_THREADS].whole : assay_default_threads();
  /* 53 bits, so that every reader of the JSON gets the same number. */
  job->run.seed =
      bench_given(job, BENCH_OPT_SEED) ? (uint64_t)values[BENCH_OPT_SEED].whole : assay_random_seed() >> 11;
  job->run.loads = job->loads;
  job->run.progress = show_progress;
  job->run.announce = show_announcement;
  job->run.checkpoint = checkpoint;
  job->run.user = job;
  utc_now(job->created);
  job->context.created = job->created;
  job->context.only_baseline = values[BENCH_OPT_BASELINE].text;
  job->context.load = surroundings_load();
}

/* Every case of everything that is asked for. */
static int set_up(bench_job *job) {
  exercise_list chosen;
  int timed = 0;
  if (!exercise_choose(job->args->names, job->args->name_count, &chosen)) return CLI_USAGE;
  for (int i = 0; i < chosen.count; i++) {
    const assay_exercise *exercise = chosen.items[i];
    const bool has_suite = exercise->op != NULL && exercise->op->bench != NULL;
    if (!has_suite && job->args->name_count > 0 && strcmp(job->args->names[0], "all") != 0) {
      output_error("%s is an exercise without a benchmark: bench times the operators, which " PROGRAM
                   " list shows",
                   exercise->name);
      return CLI_USAGE;
    }
    if (!has_suite) continue;
    if (bench_given(job, BENCH_OPT_SHAPE) && timed > 0) {
      output_error("--shape belongs to one operator: name one");
      return CLI_USAGE;
    }
    if (bench_given(job, BENCH_OPT_INPUT) && (timed > 0 || job->args->name_count != 1)) {
      output_error("--input belongs to one operator: name one");
      return CLI_USAGE;
    }
    const int code = bench_setup(job, exercise);
    if (code != CLI_OK) return code;
    timed++;
  }
  if (bench_given(job, BENCH_OPT_VARIANT) && !job->variant_found) {
    output_error("nothing to time is named \"%.60s\": " PROGRAM
                 " list shows the library's variants, which need "
                 "--library",
                 job->args->values[BENCH_OPT_VARIANT].text);
    return CLI_USAGE;
  }
  if (bench_given(job, BENCH_OPT_BASELINE) && !job->baseline_found) {
    output_error("no baseline is named \"%.60s\": a run without --baseline shows those there are",
                 job->args->values[BENCH_OPT_BASELINE].text);
    return CLI_USAGE;
  }
  return CLI_OK;
}

static int resume(bench_job *job) {
  char message[ASSAY_PATH_SIZE + 400];
  assay_message why;
  const char *path = job->args->values[BENCH_OPT_RESUME].text;
  if (path == NULL) return CLI_OK;
  report *from = report_load(path, message, sizeof message);
  if (from == NULL) {
    output_error("%s", message);
    return CLI_USAGE;
  }
  const bool fits = measured_resume(from, &job->run, &why);
  if (!fits) output_error("--resume %.200s: %s", path, why.text);
  if (fits) memcpy(job->created, from->created, sizeof job->created);
  report_free(from);
  return fits ? CLI_OK : CLI_USAGE;
}

/* Something that was named and has no sample because it cannot run here. */
static bool named_is_missing(const bench_job *job) {
  static const int naming[] = {BENCH_OPT_VARIANT, BENCH_OPT_BASELINE};
  for (size_t n = 0; n < sizeof naming / sizeof naming[0]; n++) {
    const char *name = job->args->values[naming[n]].text;
    for (int c = 0; name != NULL && c < job->run.case_count; c++) {
      for (int v = 0; v < job->run.cases[c].variant_count; v++) {
        const bench_variant *variant = &job->run.cases[c].variants[v];
        if (strcmp(variant->name, name) == 0 && variant->gate == VERDICT_UNAVAILABLE) return true;
      }
    }
  }
  return false;
}

static int measure(bench_job *job) {
  assay_message why;
  interrupt_watch();
  const bool started = bench_measure(&job->run, &why);
  output_clear(&job->out);
  if (!started) {
    output_error("%s", why.text);
    return CLI_FAILED;
  }
  bool good = save(job);
  if (bench_given(job, BENCH_OPT_JSON)) {
    report *made = measured_report(&job->run, &job->context);
    json_t *value = made != NULL ? report_to_json(made) : NULL;
    good = value != NULL && assay_json_print(value, stdout) && good;
    json_decref(value);
    report_free(made);
  } else {
    bench_print(job);
    if (output_path(job) != NULL && good) printf("\nreport: %s\n", output_path(job));
  }
  job->asked_unavailable = named_is_missing(job);
  return interrupt_code(good ? bench_code(job) : CLI_FAILED);
}

/* "--name", and the text behind it; returns how many words there are now. An axis order needs its "=". */
static int keep_option(bench_job *job, const char **words, int count, int option, const char *text) {
  char name[ASSAY_PATH_SIZE];
  const bool joined = options[option].kind == OPTION_EACH_BARE && text != NULL;
  snprintf(name, sizeof name, "--%s%s%s", options[option].name, joined ? "=" : "", joined ? text : "");
  const char *kept = bench_keep(job, name);
  if (kept != NULL) words[count++] = kept;
  if (kept != NULL && text != NULL && !joined) words[count++] = text;
  return count;
}

/* The words of the command line, from what was parsed: positions do not matter. */
static void keep_command(bench_job *job, const char **words) {
  const cli_args *args = job->args;
  int count = 0;
  words[count++] = "assay";
  words[count++] = args->command->name;
  for (int i = 0; i < args->name_count; i++) words[count++] = args->names[i];
  for (int i = 0; i < args->each_count; i++) {
    const cli_occurrence *one = &args->each[i];
    count = keep_option(job, words, count, one->option, one->text);
  }
  for (int i = 0; i < BENCH_OPTIONS; i++) {
    const bool each = options[i].kind == OPTION_EACH || options[i].kind == OPTION_EACH_BARE;
    if (args->values[i].given && !each) count = keep_option(job, words, count, i, args->values[i].text);
  }
  job->context.command = words;
  job->context.command_count = count;
}

static int run_job(bench_job *job) {
  const char *words[2 + CLI_MAX_NAMES + 2 * BENCH_OPTIONS + 2 * CLI_MAX_EACH];
  assay_message why;
  const char *declared = job->args->values[BENCH_OPT_PREDICTION].text;
  fill_run(job);
  keep_command(job, words);
  if (!output_is_writable(job)) return CLI_USAGE;
  if (declared != NULL) {
    if (!prediction_load(declared, &job->declared, &why)) {
      output_error("--prediction: %s", why.text);
      return CLI_USAGE;
    }
    job->context.declared = &job->declared;
  }
  job->run.cases = calloc(BENCH_JOB_CASES, sizeof *job->run.cases);
  if (job->run.cases == NULL) {
    output_error("not enough memory");
    return CLI_FAILED;
  }
  int code = set_up(job);
  if (code == CLI_OK) code = resume(job);
  return code == CLI_OK ? measure(job) : code;
}

static int run_bench(const cli_args *args) {
  bench_job *job = calloc(1, sizeof *job);
  if (job == NULL) {
    output_error("not enough memory");
    return CLI_FAILED;
  }
  job->args = args;
  int code = options_agree(job);
  if (code == CLI_OK) code = choose_clock(job);
  if (code == CLI_OK) {
    output_begin(&job->out, (output_colour)args->values[BENCH_OPT_COLOUR].choice);
    code = run_job(job);
    if (job->folder[0] != '\0') assay_remove_tree(job->folder);
    for (int i = 0; i < job->text_count; i++) free(job->texts[i]);
    if (job->declared.text != NULL) prediction_free(&job->declared);
    bench_free(&job->run);
    bench_close_inputs(job);
  }
  free(job);
  return code;
}

static const char *const examples[] = {
    "bench OPERATOR --quick",        "bench OPERATOR --solution -o r.json",
    "bench OPERATOR --against HEAD", "bench OPERATOR --input x.npy --quick",
    "bench all --library -o r.json", NULL};

const cli_command command_bench = {
    .name = "bench",
    .summary = "time your kernel, the solution or the library, against baselines",
    .about =
        "Times kernels that pass a check of their results on the very inputs and in the very process of the "
        "timing. Ratios are time(baseline) / time(variant), with an interval over fresh processes and a "
        "verdict "
        "where differences beyond 1 % are shown. Every sample goes into the report. The exit code is 0 when "
        "all "
        "was timed, 1 when a kernel was wrong or suspect, 2 when something is not written yet, 3 when "
        "nothing "
        "could run.",
    .names = "NAME...|all",
    .names_min = 0,
    .names_max = CLI_MAX_NAMES,
    .examples = examples,
    .options = options,
    .option_count = BENCH_OPTIONS,
    .run = run_bench,
};
