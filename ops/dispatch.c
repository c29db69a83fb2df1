/* SPDX-License-Identifier: MIT */
/* dispatch.c - from an operator's name to a call of one of its variants, with everything checked before it.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "cuda_driver.h"
#include "nvrtc.h"
#include "ops.h"
#include "process.h"
#include "queue.h"

static const char *const backend_names[ASSAY_BACKEND_COUNT] = {"cpu", "cuda", "simt"};

const assay_operator *assay_operator_find(const char *name) {
  if (name == NULL) return NULL;
  for (int k = 0; k < assay_operator_count; ++k) {
    if (strcmp(assay_operators[k]->subject.name, name) == 0) return assay_operators[k];
  }
  return NULL;
}

const assay_variant *assay_variant_find(const assay_operator *op, const char *name) {
  if (op == NULL || name == NULL) return NULL;
  for (int k = 0; k < op->variant_count; ++k) {
    if (strcmp(op->variants[k].name, name) == 0) return &op->variants[k];
  }
  return NULL;
}

/* ---- what can run where -------------------------------------------------------------------------------- */

static bool cpu_can_run(const assay_variant *variant, assay_message *why) {
  const uint32_t missing = variant->features & ~assay_cpu_features();
  if (missing == 0) return true;
  (void)assay_explain(
      why, ASSAY_UNAVAILABLE,
      "variant %s needs %s, which this CPU, its operating system or ASSAY_CPU_FEATURES does not offer",
      variant->name, assay_cpu_feature_names(missing));
  return false;
}

/* The emulator compiles kernels with $CC, whose first word is the program, else cc. */
static bool emulator_can_run(const assay_variant *variant, assay_message *why) {
  char compiler[256];
  const char *asked = getenv("CC");
  if (variant->cuda_only) {
    (void)assay_explain(
        why, ASSAY_UNAVAILABLE,
        "variant %s uses instructions that the emulator does not have; it needs a GPU of architecture "
        "%d.%d",
        variant->name, variant->lowest_arch / 10, variant->lowest_arch % 10);
    return false;
  }
  if (asked == NULL || asked[strspn(asked, " ")] == '\0') asked = "cc";
  asked += strspn(asked, " ");
  snprintf(compiler, sizeof compiler, "%.*s", (int)strcspn(asked, " "), asked);
  if (assay_program_exists(compiler)) return true;
  (void)assay_explain(
      why, ASSAY_UNAVAILABLE,
      "variant %s is compiled for the emulator by a C compiler, and %s was not found: install gcc or "
      "clang, or set CC",
      variant->name, compiler);
  return false;
}

static bool cuda_can_run(const assay_variant *variant, int device, assay_message *why) {
  assay_message reason;
  cuda_device_info info;
  const cuda_driver *driver = assay_cuda_driver(&reason);
  bool ready = driver != NULL && assay_nvrtc_find(driver->version / 1000, &reason) != NULL;
  ready = ready && assay_cuda_device(device, &info, &reason) == ASSAY_OK;
  if (!ready) {
    (void)assay_explain(why, ASSAY_UNAVAILABLE, "variant %s: %s", variant->name, reason.text);
    return false;
  }
  if (info.architecture >= variant->lowest_arch) return true;
  (void)assay_explain(why, ASSAY_UNAVAILABLE,
                      "variant %s needs a GPU of architecture %d.%d; device %d, %s, has %d.%d", variant->name,
                      variant->lowest_arch / 10, variant->lowest_arch % 10, device, info.name,
                      info.architecture / 10, info.architecture % 10);
  return false;
}

bool assay_variant_serves(const assay_variant *variant, assay_backend backend) {
  return variant->backend == backend || (variant->backend == ASSAY_CUDA && backend == ASSAY_SIMT);
}

bool assay_variant_runs_on(const assay_variant *variant, assay_backend backend, int device,
                           assay_message *why) {
  if (!assay_variant_serves(variant, backend)) {
    (void)assay_explain(why, ASSAY_UNAVAILABLE, "variant %s runs on the %s backend, not on %s", variant->name,
                        backend_names[variant->backend], backend_names[backend]);
    return false;
  }
  if (backend == ASSAY_CPU) return cpu_can_run(variant, why);
  return backend == ASSAY_SIMT ? emulator_can_run(variant, why) : cuda_can_run(variant, device, why);
}

bool assay_variant_runs_here(const assay_variant *variant, assay_message *why) {
  if (variant->backend == ASSAY_CPU) return cpu_can_run(variant, why);
  return assay_cuda_device_files() || emulator_can_run(variant, why);
}

static assay_backend queue_backend(const assay_queue *queue) {
  if (queue->device == ASSAY_DEVICE_CPU) return ASSAY_CPU;
  return queue->device == ASSAY_DEVICE_EMULATOR ? ASSAY_SIMT : ASSAY_CUDA;
}

static bool runs_on_queue(const assay_variant *variant, const assay_queue *queue, assay_message *why) {
  return assay_variant_runs_on(variant, queue_backend(queue), queue->device, why);
}

bool assay_variant_is_preferred(const assay_variant *variant) {
  return variant->preferred == NULL || variant->preferred();
}

/* The first variant of the table that can run on the queue's backend and is not slower here than a later one.
 */
static const assay_variant *best_variant(const assay_operator *op, const assay_queue *queue,
                                         assay_message *why) {
  assay_explain(why, ASSAY_UNAVAILABLE, "%s has no variant for the %s backend", op->subject.name,
                backend_names[queue_backend(queue)]);
  for (int k = 0; k < op->variant_count; ++k) {
    const assay_variant *variant = &op->variants[k];
    if (!assay_variant_serves(variant, queue_backend(queue)) || !runs_on_queue(variant, queue, why)) continue;
    if (assay_variant_is_preferred(variant)) return variant;
  }
  return NULL;
}

/* ---- what is checked before a call --------------------------------------------------------------------- */

/* Every operand must be where the queue runs. */
static assay_status check_devices(const assay_tensor *tensors, const char *const *names, int count,
                                  const assay_queue *queue, assay_message *why) {
  for (int k = 0; k < count; ++k) {
    if (tensors[k].device == queue->device) continue;
    return assay_explain(why, ASSAY_BAD_DEVICE,
                         "%s is on device %" PRId32 ", but the queue runs on device %" PRId32
                         " (%d is the CPU, %d the emulator)",
                         names[k], tensors[k].device, queue->device, ASSAY_DEVICE_CPU, ASSAY_DEVICE_EMULATOR);
  }
  return ASSAY_OK;
}

static const assay_knob *find_knob(const assay_variant *variant, int index) {
  for (int k = 0; k < variant->knob_count; ++k) {
    if (variant->knobs[k].opt == index) return &variant->knobs[k];
  }
  return NULL;
}

/* "4 or 8", "1, 4 or 8". */
static void list_values(const assay_knob *knob, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < knob->value_count && used < size; ++k) {
    const char *joint = k == 0 ? "" : k + 1 == knob->value_count ? " or " : ", ";
    const int n = snprintf(text + used, size - used, "%s%" PRId64, joint, knob->values[k]);
    used += n > 0 ? (size_t)n : 0;
  }
}

/* Knobs that are not 0 must exist in the variant and have one of its values. */
static assay_status check_knobs(const assay_operator *op, const assay_variant *variant, const int64_t *opt,
                                assay_message *why) {
  for (int index = 0; index < op->subject.opt_count; ++index) {
    if (opt[index] == 0) continue;
    const char *name = op->subject.opt_names[index];
    const assay_knob *knob = find_knob(variant, index);
    if (knob == NULL) {
      return assay_explain(why, ASSAY_BAD_OPTION,
                           "%s is %" PRId64 ", but variant %s has no such knob: it must be 0", name,
                           opt[index], variant->name);
    }
    bool allowed = false;
    for (int k = 0; k < knob->value_count; ++k) allowed = allowed || knob->values[k] == opt[index];
    if (!allowed) {
      char values[160];
      list_values(knob, values, sizeof values);
      return assay_explain(why, ASSAY_BAD_OPTION,
                           "%s is %" PRId64 "; variant %s takes %s, and 0 for its default", name, opt[index],
                           variant->name, values);
    }
  }
  return ASSAY_OK;
}

/* ---- calling ------------------------------------------------------------------------------------------- */

/* Why a kernel returned `status`. What it launches explains itself as the thread's last error. */
static assay_status explain_failure(const assay_operator *op, const assay_variant *variant,
                                    assay_status status, const char *reason, assay_message *why) {
  const char *name = op->subject.name;
  if (reason[0] != '\0')
    return assay_explain(why, status, "variant %s of %s: %s", variant->name, name, reason);
  if (status == ASSAY_NO_MEMORY) {
    return assay_explain(why, status, "scratch for variant %s of %s could not be allocated", variant->name,
                         name);
  }
  return assay_explain(why, status, "variant %s of %s failed: %s", variant->name, name,
                       assay_status_name(status));
}

static assay_status run_variant(const assay_operator *op, const assay_variant *variant, int entry,
                                const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                assay_queue *queue, assay_message *why) {
  if (variant->entry[entry] == NULL) {
    return assay_explain(why, ASSAY_UNAVAILABLE, "variant %s of %s has no function %s", variant->name,
                         op->subject.name, op->subject.exports[entry].name);
  }
  if (queue->device == ASSAY_DEVICE_CPU) {
    const assay_status status = variant->entry[entry](in, out, opt, queue);
    assay_queue_release(queue);
    return status == ASSAY_OK ? ASSAY_OK : explain_failure(op, variant, status, "", why);
  }
  assay_message before; /* a call that succeeds leaves the last error alone */
  (void)assay_explain(&before, ASSAY_OK, "%s", assay_last_error());
  assay_set_last_error("");
  const assay_status status = variant->entry[entry](in, out, opt, queue);
  assay_queue_release(queue);
  if (status != ASSAY_OK) return explain_failure(op, variant, status, assay_last_error(), why);
  assay_set_last_error(before.text);
  return ASSAY_OK;
}

assay_status assay_operator_call(const assay_operator *op, const assay_variant *variant, int entry,
                                 const assay_tensor *in, const assay_tensor *out, const int64_t *opt,
                                 assay_queue *queue, assay_message *why) {
  const assay_subject *subject = &op->subject;
  static const int64_t defaults[ASSAY_MAX_OPTIONS];
  assert(entry >= 0 && entry < subject->export_count && subject->opt_count <= ASSAY_MAX_OPTIONS);
  const assay_export *function = &subject->exports[entry];
  if (queue == NULL) return assay_explain(why, ASSAY_BAD_POINTER, "queue is NULL; open one first");
  if (in == NULL) return assay_explain(why, ASSAY_BAD_POINTER, "in is NULL; it must be the array of inputs");
  if (out == NULL)
    return assay_explain(why, ASSAY_BAD_POINTER, "out is NULL; it must be the array of outputs");
  if (opt == NULL) opt = defaults;

  if (variant == NULL) {
    variant = best_variant(op, queue, why);
    if (variant == NULL) return ASSAY_UNAVAILABLE;
  } else if (!assay_variant_serves(variant, queue_backend(queue))) {
    return assay_explain(why, ASSAY_BAD_DEVICE, "variant %s runs on the %s backend, but the queue is on %s",
                         variant->name, backend_names[variant->backend], backend_names[queue_backend(queue)]);
  } else if (!runs_on_queue(variant, queue, why)) {
    return ASSAY_UNAVAILABLE;
  }

  assay_status status = subject->validate(entry, in, out, opt, ASSAY_LIMITS_LIBRARY, why);
  if (status == ASSAY_OK) status = check_devices(in, function->in_names, function->in_count, queue, why);
  if (status == ASSAY_OK) status = check_devices(out, function->out_names, function->out_count, queue, why);
  if (status == ASSAY_OK) status = check_knobs(op, variant, opt, why);
  if (status != ASSAY_OK) return status;
  return run_variant(op, variant, entry, in, out, opt, queue, why);
}

assay_status assay_call(const char *name, const char *variant, const assay_tensor *in,
                        const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  assay_message why = {""};
  assay_status status = ASSAY_OK;
  const assay_operator *op = assay_operator_find(name);
  const assay_variant *forced = assay_variant_find(op, variant);
  if (name == NULL) {
    status = assay_explain(&why, ASSAY_BAD_POINTER, "name is NULL; it must be the name of an operator");
  } else if (op == NULL) {
    status = assay_explain(&why, ASSAY_UNAVAILABLE, "there is no operator named '%.64s'", name);
  } else if (variant != NULL && forced == NULL) {
    status = assay_explain(&why, ASSAY_UNAVAILABLE, "%s has no variant named '%.64s'", name, variant);
  } else {
    status = assay_operator_call(op, forced, 0, in, out, opt, queue, &why);
  }
  if (status != ASSAY_OK) assay_set_last_error(why.text);
  return status;
}
