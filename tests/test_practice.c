/* SPDX-License-Identifier: MIT */
/* test_practice.c - the rehearsals, unattended, with a benchmark that invents its times; and the tables of
 * sessions. */
#include "evidence_sample.h"
#include "folder.h"

#include <fcntl.h>
#include <regex.h>
#include <unistd.h>

#include "check/engine.h"
#include "cli/cli.h"
#include "cli/rehearse.h"
#include "evidence/verify.h"
#include "ops/ops.h"
#include "workshops/practice.h"

static int benches;
static int bench_code;
static bool interrupted; /* it writes what it has before it ends with the code */
static const char *last_operator;
static int (*real_command)(int argc, const char *const *argv);

/* A report of the operator argv[1] at --output, bound to the --prediction. */
static void invent_report(int argc, const char *const *argv) {
  const char *output = NULL;
  const char *declared = NULL;
  for (int i = 1; i + 1 < argc; i++) {
    if (strcmp(argv[i], "--output") == 0) output = argv[i + 1];
    if (strcmp(argv[i], "--prediction") == 0) declared = argv[i + 1];
  }
  assert_non_null(output);
  assert_false(assay_file_exists(output));
  sample_plan plan = sample_usual;
  prediction read = {.text = NULL};
  assay_message why = {""};
  if (declared != NULL && !prediction_load(declared, &read, &why)) fail_msg("%s", why.text);
  plan.prediction = read.text;
  sample_write(&plan, argv[1], output);
  prediction_free(&read);
}

/* What bench does, as far as a session can see. */
static int invented(int argc, const char *const *argv) {
  if (strcmp(argv[0], "bench") != 0) return real_command(argc, argv);
  benches++;
  last_operator = argv[1];
  if (bench_code == CLI_OK || interrupted) invent_report(argc, argv);
  return bench_code;
}

/* Runs in a folder of its own, with what is printed in a file. */
static int quietly(const char *const *argv, int argc, char **printed) {
  char before[ASSAY_PATH_SIZE];
  const char *words[16] = {"assay"};
  size_t size;
  real_command = rehearse_command;
  rehearse_command = invented;
  for (int i = 0; i < argc; i++) words[i + 1] = argv[i];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(folder), 0);
  fflush(stdout);
  const int shown = dup(STDOUT_FILENO);
  const int file = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(shown >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
  const int code = cli_run(argc + 1, words);
  fflush(stdout);
  dup2(shown, STDOUT_FILENO);
  close(shown);
  close(file);
  *printed = assay_read_file("printed", 1 << 22, &size);
  assert_int_equal(chdir(before), 0);
  rehearse_command = real_command;
  assert_non_null(*printed);
  return code;
}

static void says(const char *printed, const char *words) {
  if (strstr(printed, words) == NULL) fail_msg("not said: %s", words);
}

static void test_sessions_run_unattended(void **state) {
  (void)state;
  static const int codes[] = {CLI_OK,          CLI_OK,          CLI_UNAVAILABLE,
                              CLI_OK,          CLI_UNAVAILABLE, CLI_UNAVAILABLE,
                              CLI_UNAVAILABLE, CLI_UNAVAILABLE, CLI_UNAVAILABLE};
  const assay_practice *practice;
  assert_int_equal(assay_practice_count + assay_capstone_count, sizeof codes / sizeof codes[0]);
  for (int i = 0; (practice = assay_practice_at(i)) != NULL; i++) {
    char name[80];
    char *printed;
    const char *const words[] = {"practice", practice->name, "--yes"};
    benches = 0;
    const int code = quietly(words, 3, &printed);
    says(printed, practice->title);
    says(printed, practice->question);
    if (codes[i] == CLI_UNAVAILABLE) says(printed, "left out: ");
    free(printed);
    assert_int_equal(code, codes[i]);
    /* What a capstone times takes a GPU. */
    if (practice->prediction == NULL || i >= assay_practice_count) {
      assert_int_equal(benches, 0);
      snprintf(name, sizeof name, "work/practice-%s/run-1/checks-1.json", practice->name);
      assert_true(assay_file_exists(in_folder(name)));
      snprintf(name, sizeof name, "work/practice-%s/run-1/checks-1.md", practice->name);
    } else {
      verify_outcome outcome;
      assay_message why = {""};
      assert_in_range(benches, 1, practice->step_count);
      assert_string_equal(last_operator, practice->exercise);
      snprintf(name, sizeof name, "work/practice-%s/run-1/report-1.json", practice->name);
      if (!verify_quietly(in_folder(name), VERIFY_NUMBERS, &outcome, &why)) fail_msg("%s", why.text);
      snprintf(name, sizeof name, "work/practice-%s/run-1/prediction.json", practice->name);
      assert_true(assay_file_exists(in_folder(name)));
      continue;
    }
    assert_true(assay_file_exists(in_folder(name)));
  }
}

/* ---- Python -------------------------------------------------------------------------------------------- */

/* "test_practice --python ...": assay.bench as far as a session can see, in place of Python. */
static int pretend_python(int argc, const char *const *argv) {
  const char *path = getenv("PYTHONPATH");
  if (argc < 3 || strcmp(argv[0], "-m") != 0 || strcmp(argv[1], "assay.bench") != 0) return CLI_USAGE;
  printf("packages in %s\n", path != NULL ? path : "");
  for (int i = 3; i < argc; i++) printf("%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
  invent_report(argc - 1, argv + 1);
  return (int)strtol(getenv("PRETEND_CODE"), NULL, 10);
}

/* A program for ASSAY_PYTHON, or for PATH, that answers `-c "import MODULE"` by the shell's words. */
static const char *python_that(const char *imports) {
  char script[2 * ASSAY_PATH_SIZE];
  const char *path = in_folder("python3");
  const int size =
      snprintf(script, sizeof script, "#!/bin/sh\n[ \"$1\" != -c ] || { %s; }\nexec '%s' --python \"$@\"\n",
               imports, assay_program_path());
  assert_true(assay_write_file(path, script, (size_t)size, 0700));
  return path;
}

/* The session with a step for PyTorch. */
static const assay_practice *with_pytorch(int *step) {
  const assay_practice *practice;
  for (int i = 0; (practice = assay_practice_at(i)) != NULL; i++) {
    for (*step = 0; *step < practice->step_count; (*step)++)
      if (practice->steps[*step].need == PRACTICE_NEEDS_PYTORCH) return practice;
  }
  fail_msg("no step needs PyTorch");
  return NULL;
}

static void test_python_times_a_step(void **state) {
  (void)state;
  int step;
  char *printed;
  char words[ASSAY_PATH_SIZE + 200];
  char name[80];
  verify_outcome outcome;
  assay_message why = {""};
  const assay_practice *practice = with_pytorch(&step);
  const char *const arguments[] = {"practice", practice->name, "--yes"};
  setenv("PYTHONPATH", "/before", 1);
  python_that("exit 0");
  char *path = strdup(getenv("PATH"));
  snprintf(words, sizeof words, "%s:%s", folder, path);
  setenv("PATH", words, 1);
  setenv("ASSAY_PYTHON", "", 1);
  const int code = quietly(arguments, 3, &printed);
  setenv("PATH", path, 1);
  free(path);
  assert_int_equal(code, CLI_OK);
  snprintf(words, sizeof words, "$ env PYTHONPATH=%s/python:/before python3 -m assay.bench %s --shape ",
           sample_tree(), practice->exercise);
  says(printed, words);
  snprintf(words, sizeof words, "packages in %s/python:/before\n--shape ", sample_tree());
  says(printed, words);
  snprintf(words, sizeof words,
           " --quick --output work/practice-%s/run-1/report-%d.json --prediction work/practice-%s/",
           practice->name, step + 1, practice->name);
  says(printed, words);
  assert_null(strstr(printed, "left out: "));
  free(printed);
  snprintf(name, sizeof name, "work/practice-%s/run-1/report-%d.json", practice->name, step + 1);
  if (!verify_quietly(in_folder(name), VERIFY_NUMBERS, &outcome, &why)) fail_msg("%s", why.text);
  snprintf(name, sizeof name, "work/practice-%s/run-1/report-%d.md", practice->name, step + 1);
  assert_true(assay_file_exists(in_folder(name)));
  unsetenv("PYTHONPATH");
}

/* A kernel that Python found wrong fails the session, which goes on to its end all the same. */
static void test_python_fails(void **state) {
  (void)state;
  int step;
  char *printed;
  const assay_practice *practice = with_pytorch(&step);
  const char *const arguments[] = {"practice", practice->name, "--yes"};
  setenv("ASSAY_PYTHON", python_that("exit 0"), 1);
  setenv("PRETEND_CODE", "1", 1);
  assert_int_equal(quietly(arguments, 3, &printed), CLI_FAILED);
  says(printed, "  a variant was not timed: see above\n");
  says(printed, practice->question);
  free(printed);
  setenv("PRETEND_CODE", "0", 1);
}

static void test_what_python_lacks(void **state) {
  (void)state;
  static const struct {
    const char *imports, *words; /* NULL: there is no such program */
  } lacks[] = {
      {NULL, "UNAVAILABLE: PyTorch: there is no /nowhere/python3: install "},
      {"case $2 in *torch*) echo no >&2; exit 1;; esac; exit 0", "/python3 cannot import torch: `"},
      {"case $2 in *torch*) exit 0;; esac; echo Traceback; echo 'ImportError: no assay'; exit 1",
       "/python3 cannot import assay.bench: ImportError: no assay; `pip install "},
  };
  int step;
  const assay_practice *practice = with_pytorch(&step);
  const char *const arguments[] = {"practice", practice->name, "--yes"};
  for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
    char *printed;
    setenv("ASSAY_PYTHON", lacks[i].imports != NULL ? python_that(lacks[i].imports) : "/nowhere/python3", 1);
    assert_int_equal(quietly(arguments, 3, &printed), CLI_UNAVAILABLE);
    says(printed, "\n  left out: UNAVAILABLE: PyTorch: ");
    says(printed, lacks[i].words);
    assert_null(strstr(printed, "-m assay.bench"));
    free(printed);
  }
}

/* A capstone says what is left out and why, and what is to be done by hand; what it shows is shown. */
static void test_a_capstone_without_a_gpu(void **state) {
  (void)state;
  char *printed;
  const char *const words[] = {"practice", "capstone_b", "--yes"};
  assert_int_equal(quietly(words, 3, &printed), CLI_UNAVAILABLE);
  says(printed, "Capstone B: ");
  says(printed, "one workspace for both, the second call between two stages of the first:\n"
                "  first call: 18002 of 18002 elements wrong; second call: 0\n");
  says(printed, "left out: no NVIDIA GPU");
  free(printed);
  const char *const last[] = {"practice", "capstone_c", "--yes"};
  assert_int_equal(quietly(last, 3, &printed), CLI_UNAVAILABLE);
  says(printed, "By hand:\n");
  says(printed, "scripts/gpu.sh sanitize split_softmax\n");
  free(printed);
}

static void test_a_second_run_keeps_the_first(void **state) {
  (void)state;
  char *printed;
  const char *const words[] = {"practice", "4", "--yes"};
  for (int run = 0; run < 2; run++) {
    assert_int_equal(quietly(words, 3, &printed), CLI_OK);
    free(printed);
  }
  assert_true(assay_file_exists(in_folder("work/practice-4/run-1/checks-3.md")));
  assert_true(assay_file_exists(in_folder("work/practice-4/run-2/checks-1.md")));
}

static void test_a_failing_bench_ends_a_session(void **state) {
  (void)state;
  char *printed;
  const char *const words[] = {"practice", "1", "--yes"};
  bench_code = 130;
  assert_int_equal(quietly(words, 3, &printed), 130);
  assert_null(strstr(printed, assay_practices[0].question));
  free(printed);
  interrupted = true;
  benches = 0;
  assert_int_equal(quietly(words, 3, &printed), 130);
  assert_int_equal(benches, 1);
  free(printed);
  interrupted = false;
  bench_code = CLI_OK;
}

static void test_the_bug_drill(void **state) {
  (void)state;
  int run = 0;
  for (int i = 0; i < assay_exercise_count; i++) {
    char *printed;
    char name[160];
    const char *const words[] = {"practice", "bug", assay_exercises[i].name, "--yes", "--seed", "11"};
    if ((assay_exercises[i].backends & ASSAY_ON_CPU) == 0) continue;
    assert_int_equal(quietly(words, 6, &printed), CLI_OK);
    says(printed, "  1) line ");
    says(printed, "  2) line ");
    says(printed, "And why is that wrong?");
    says(printed, "cause: ");
    says(printed, "score: ");
    free(printed);
    snprintf(name, sizeof name, "work/practice-bug/run-%d/%s.c", ++run, assay_exercises[i].name);
    assert_true(assay_file_exists(in_folder(name)));
  }
  assert_true(run > 0);
}

static void test_the_demonstration(void **state) {
  (void)state;
  char *printed;
  const char *const words[] = {"practice", "demo", "--yes"};
  benches = 0;
  assert_int_equal(quietly(words, 3, &printed), CLI_OK);
  for (int i = 1; i <= 5; i++) {
    char heading[32];
    snprintf(heading, sizeof heading, "%d of 5, a minute", i);
    says(printed, heading);
  }
  says(printed, "1 caught, 0 survived");
  free(printed);
  assert_int_equal(benches, 1);
  assert_true(assay_file_exists(in_folder("work/practice-demo/run-1/report.json")));
  assert_true(assay_file_exists(in_folder("work/practice-demo/run-1/report.md")));
}

/* Every name in the tables must exist: exercises, checks, predictions that parse. */
static void test_the_tables(void **state) {
  (void)state;
  const assay_practice *practice;
  for (int i = 0; (practice = assay_practice_at(i)) != NULL; i++) {
    const assay_exercise *exercise = assay_exercise_find(practice->exercise);
    prediction declared;
    assay_message why = {""};
    assert_non_null(exercise);
    assert_ptr_equal(assay_practice_find(practice->name), practice);
    assert_true(practice->step_count > 0);
    if (practice->prediction != NULL && !prediction_parse(practice->prediction, &declared, &why))
      fail_msg("%s", why.text);
    for (int s = 0; s < practice->step_count; s++) {
      const assay_practice_step *step = &practice->steps[s];
      assert_true((step->show != NULL) != (step->command != NULL));
      for (int w = 0; w + 1 < PRACTICE_WORDS && step->arguments[w] != NULL; w++) {
        regex_t filter;
        int matching = 0;
        if (strcmp(step->arguments[w], "--filter") != 0) continue;
        assert_int_equal(regcomp(&filter, step->arguments[w + 1], REG_EXTENDED | REG_NOSUB), 0);
        for (const assay_check *check = exercise->subject->checks; check->name != NULL; check++)
          matching += regexec(&filter, check->name, 0, NULL, 0) == 0;
        regfree(&filter);
        int wanted = 1;
        for (const char *c = step->arguments[w + 1]; *c != '\0'; c++) wanted += *c == '|';
        assert_int_equal(matching, wanted);
      }
    }
  }
}

/* The check engine starts this very program again as its worker: without this a worker would run the tests,
 * which start workers, without end. */
int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--worker") == 0) return worker_main((int)strtol(argv[2], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "--python") == 0)
    return pretend_python(argc - 2, (const char *const *)argv + 2);
  /* Sessions must not depend on the Python of this machine. */
  setenv("ASSAY_PYTHON", "/nowhere/python3", 1);
  setenv("PRETEND_CODE", "0", 1);
  const struct CMUnitTest tests[] = {
      IN_NEW_FOLDER(test_sessions_run_unattended),
      IN_NEW_FOLDER(test_what_python_lacks),
      IN_NEW_FOLDER(test_python_times_a_step),
      IN_NEW_FOLDER(test_python_fails),
      IN_NEW_FOLDER(test_a_capstone_without_a_gpu),
      IN_NEW_FOLDER(test_a_second_run_keeps_the_first),
      IN_NEW_FOLDER(test_a_failing_bench_ends_a_session),
      IN_NEW_FOLDER(test_the_bug_drill),
      IN_NEW_FOLDER(test_the_demonstration),
      cmocka_unit_test(test_the_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
