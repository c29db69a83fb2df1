/* SPDX-License-Identifier: MIT */
/* test_verify_gpu.c - what only a report of a GPU has: clocks of samples, nodes of a graph, times of empty
 * calls. They come back as they were written, are shown, and a change of each is found. */
#include "evidence_sample.h"
#include "folder.h"

#include "evidence/plot.h"
#include "evidence/record.h"
#include "evidence/verify.h"

typedef struct finding_at {
  const char *path; /* that is looked for */
  bool found;
  int count;
  char first[400];
} finding_at;

static void look(void *user, const verify_finding *finding) {
  finding_at *self = user;
  if (self->path != NULL && strcmp(self->path, finding->path) == 0) self->found = true;
  if (self->count++ == 0) snprintf(self->first, sizeof self->first, "%s: %s", finding->path, finding->text);
}

static finding_at verify_at(const char *path, const char *wanted) {
  finding_at self = {.path = wanted};
  verify_outcome outcome;
  assay_message why = {""};
  assert_true(verify_file(path, VERIFY_ALL, look, &self, &outcome, &why));
  return self;
}

static json_t *case_at(json_t *root, size_t c) {
  return json_array_get(json_object_get(root, "cases"), c);
}

static json_t *variant_at(json_t *root, size_t c, size_t v) {
  return json_array_get(json_object_get(case_at(root, c), "variants"), v);
}

static json_t *sample_at(json_t *root, size_t v, size_t s) {
  return json_array_get(json_object_get(variant_at(root, 0, v), "samples"), s);
}

static void set(json_t *object, const char *key, json_t *value) {
  assert_int_equal(json_object_set_new(object, key, value), 0);
}

static void add_clocks(json_t *root) {
  for (size_t c = 0; c < 2; c++) {
    for (size_t v = 0; v < 3; v++) {
      json_t *samples = json_object_get(variant_at(root, c, v), "samples");
      json_t *sample;
      size_t s;
      set(variant_at(root, c, v), "graph_nodes", json_integer((json_int_t)v + 1));
      json_array_foreach(samples, s, sample) {
        set(sample, "sm_mhz", json_integer(1700 + (json_int_t)s));
      }
    }
  }
}

/* The usual sample as if a GPU had been timed, to be given back. */
static json_t *gpu_report(void) {
  char message[400];
  const char *path = in_folder("cpu.json");
  sample_write(&sample_usual, assay_operators[0]->subject.name, path);
  json_t *root = assay_json_load(path, message, sizeof message);
  assert_non_null(root);
  set(root, "mode", json_string("graph"));
  set(json_object_get(root, "environment"), "gpu",
      json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", "Example GPU", "architecture", "9.0", "driver",
                "CUDA 13.0", "compiler", "NVRTC 13.0", "clock_mhz_most", 1980));
  set(root, "overheads",
      json_pack("[{s:s, s:i, s:[i, i, i], s:f}]", "name", "empty graph node", "calls", 20, "samples", 25000,
                24000, 26000, "call_ns", 1250.0));
  add_clocks(root);
  return root;
}

static const char *saved(const json_t *root) {
  const char *path = in_folder("gpu.json");
  assert_true(assay_json_save(root, path));
  return path;
}

static void test_it_is_valid_and_comes_back(void **state) {
  (void)state;
  char message[400];
  json_t *root = gpu_report();
  const finding_at none = verify_at(saved(root), NULL);
  if (none.count > 0) fail_msg("%s", none.first);
  report *read = report_from_json(root, "x", message, sizeof message);
  if (read == NULL) fail_msg("%s", message);
  assert_int_equal(read->environment.gpu->clock_mhz_most, 1980);
  assert_int_equal(read->overheads.count, 1);
  assert_int_equal(read->overheads.items[0].samples.count, 3);
  assert_int_equal(read->cases.items[0].variants.items[2].graph_nodes, 3);
  assert_int_equal(read->cases.items[0].variants.items[0].samples.items[5].sm_mhz, 1705);
  json_t *again = report_to_json(read);
  assert_true(json_equal(root, again));
  json_decref(again);
  json_decref(root);
  report_free(read);
}

/* A report from before there were such fields. */
static void test_without_them_it_is_valid(void **state) {
  (void)state;
  json_t *root = gpu_report();
  json_object_del(root, "overheads");
  json_object_del(json_object_get(json_object_get(root, "environment"), "gpu"), "clock_mhz_most");
  for (size_t c = 0; c < 2; c++) {
    for (size_t v = 0; v < 3; v++) {
      json_t *sample;
      size_t s;
      json_object_del(variant_at(root, c, v), "graph_nodes");
      json_array_foreach(json_object_get(variant_at(root, c, v), "samples"), s, sample) {
        json_object_del(sample, "sm_mhz");
      }
    }
  }
  const finding_at none = verify_at(saved(root), NULL);
  if (none.count > 0) fail_msg("%s", none.first);
  json_decref(root);
}

/* ---- tampering ----------------------------------------------------------------------------------------- */

static void one_clock_lost(json_t *root) {
  json_object_del(sample_at(root, 1, 7), "sm_mhz");
}
static void one_clock_alone(json_t *root) {
  json_t *sample;
  size_t s;
  json_array_foreach(json_object_get(variant_at(root, 0, 1), "samples"), s, sample) {
    if (s != 7) json_object_del(sample, "sm_mhz");
  }
}
static void clock_beyond(json_t *root) {
  set(sample_at(root, 1, 7), "sm_mhz", json_integer(2200));
}
static void clock_of_nothing(json_t *root) {
  set(sample_at(root, 1, 7), "sm_mhz", json_integer(0));
}
static void clock_of_a_cpu(json_t *root) {
  set(root, "mode", json_string("wall"));
}
static void nodes_without_a_graph(json_t *root) {
  set(root, "mode", json_string("events"));
}
static void no_nodes(json_t *root) {
  set(variant_at(root, 0, 1), "graph_nodes", json_integer(0));
}
static void overhead(json_t *root) {
  set(json_array_get(json_object_get(root, "overheads"), 0), "call_ns", json_real(1.0));
}
static void overhead_without_samples(json_t *root) {
  set(json_array_get(json_object_get(root, "overheads"), 0), "samples", json_array());
}

static const struct {
  void (*change)(json_t *root);
  const char *path; /* of a finding that there must be */
} tamperings[] = {
    {one_clock_lost, "cases[0].variants[1].samples[7].sm_mhz"},
    {one_clock_alone, "cases[0].variants[1].samples[7].sm_mhz"},
    {clock_beyond, "cases[0].variants[1].samples[7].sm_mhz"},
    {clock_of_nothing, "cases[0].variants[1].samples[7].sm_mhz"},
    {clock_of_a_cpu, "cases[0].variants[1].samples[0].sm_mhz"},
    {clock_of_a_cpu, "overheads[0].name"},
    {clock_of_a_cpu, "cases[0].variants[1].graph_nodes"},
    {nodes_without_a_graph, "cases[0].variants[1].graph_nodes"},
    {no_nodes, "cases[0].variants[1].graph_nodes"},
    {overhead, "overheads[0].call_ns"},
    {overhead_without_samples, "overheads[0].call_ns"},
};

static void test_each_tampering_is_found(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof tamperings / sizeof tamperings[0]; i++) {
    json_t *root = gpu_report();
    tamperings[i].change(root);
    const finding_at all = verify_at(saved(root), tamperings[i].path);
    if (!all.found)
      fail_msg("tampering %zu: nothing at %s; %d findings, the first: %s", i, tamperings[i].path, all.count,
               all.first);
    json_decref(root);
  }
}

/* ---- showing ------------------------------------------------------------------------------------------- */

static void test_page_and_record_show_them(void **state) {
  (void)state;
  static const char *const words[] = {"Example GPU (9.0), driver CUDA 13.0, kernels by NVRTC 13.0",
                                      "1980 MHz, by its driver",
                                      "1700 to 1744 MHz behind the samples",
                                      "empty graph node",
                                      "1.25 us, included in every time",
                                      "<th class=\"n\">SM MHz</th>",
                                      "1700 to 1744"};
  char message[400];
  json_t *root = gpu_report();
  report *read = report_from_json(root, "x", message, sizeof message);
  assert_non_null(read);
  char *page = plot_page(read, "gpu.json", "valid");
  assert_non_null(page);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strstr(page, words[i]) == NULL) fail_msg("the page does not hold \"%s\"", words[i]);
  }
  free(page);
  char *record = record_text(read, "gpu.json", "0");
  assert_non_null(record);
  assert_non_null(strstr(record, "- SM clock: 1700 to 1744 MHz behind the samples\n"));
  assert_non_null(strstr(record, "- empty graph node: 1.25 us, included in every time\n"));
  free(record);
  json_decref(root);
  report_free(read);
}

/* What a call costs from Python is told of a CPU too; it is in no time, and nothing that is empty was called.
 */
static void test_calls_of_a_cpu(void **state) {
  (void)state;
  char message[400];
  const char *path = in_folder("cpu.json");
  sample_write(&sample_usual, assay_operators[0]->subject.name, path);
  json_t *root = assay_json_load(path, message, sizeof message);
  assert_non_null(root);
  set(root, "overheads",
      json_pack("[{s:s, s:i, s:[i, i, i], s:f}]", "name", "Python call <with out>", "calls", 10, "samples",
                25000, 24000, 26000, "call_ns", 2500.0));
  const finding_at none = verify_at(saved(root), NULL);
  if (none.count > 0) fail_msg("%s", none.first);
  report *read = report_from_json(root, "x", message, sizeof message);
  assert_non_null(read);
  char *page = plot_page(read, "cpu.json", "valid");
  assert_non_null(page);
  assert_non_null(strstr(page, "<th>Python call &lt;with out&gt;</th><td>2.5 us a call</td>"));
  assert_null(strstr(page, "included in every time"));
  free(page);
  char *record = record_text(read, "cpu.json", "0");
  assert_non_null(record);
  assert_non_null(strstr(record, "- GPU: none was used\n- Python call <with out>: 2.5 us a call\n"));
  free(record);
  report_free(read);
  json_t *empty = json_deep_copy(json_array_get(json_object_get(root, "overheads"), 0));
  set(empty, "name", json_string("empty launch"));
  assert_int_equal(json_array_append_new(json_object_get(root, "overheads"), empty), 0);
  const finding_at found = verify_at(saved(root), "overheads[1].name");
  assert_true(found.found && found.count == 1);
  json_decref(root);
}

/* "test_verify_gpu PATH MODE": writes the report there, for tests of documents. */
int main(int argc, char **argv) {
  if (argc == 3) {
    if (set_up(NULL) != 0) return 1;
    json_t *root = gpu_report();
    set(root, "mode", json_string(argv[2]));
    for (size_t v = 0; strcmp(argv[2], "graph") != 0 && v < 6; v++)
      json_object_del(variant_at(root, v / 3, v % 3), "graph_nodes");
    const bool written = assay_json_save(root, argv[1]);
    json_decref(root);
    return tear_down(NULL) == 0 && written ? 0 : 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_it_is_valid_and_comes_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_without_them_it_is_valid, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_each_tampering_is_found, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_page_and_record_show_them, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_calls_of_a_cpu, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
