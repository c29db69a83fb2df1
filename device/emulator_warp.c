/* SPDX-License-Identifier: MIT */
/*
 * emulator_warp.c - the operations at which lanes of a warp meet: shuffles, votes, reductions.
 *
 * The last lane to come computes the results of all, so that each finds its own when it goes on.
 */
#include "emulator_machine.h"
#include "emulator_watched.h"

static const char *const names[ASSAY_WARP_OPERATIONS] = {
    [ASSAY_WARP_SYNC] = "__syncwarp",
    [ASSAY_WARP_SHUFFLE] = "__shfl_sync",
    [ASSAY_WARP_SHUFFLE_UP] = "__shfl_up_sync",
    [ASSAY_WARP_SHUFFLE_DOWN] = "__shfl_down_sync",
    [ASSAY_WARP_SHUFFLE_XOR] = "__shfl_xor_sync",
    [ASSAY_WARP_BALLOT] = "__ballot_sync",
    [ASSAY_WARP_ANY] = "__any_sync",
    [ASSAY_WARP_ALL] = "__all_sync",
    [ASSAY_WARP_MATCH_ANY] = "__match_any_sync",
    [ASSAY_WARP_ADD] = "__reduce_add_sync",
    [ASSAY_WARP_MIN] = "__reduce_min_sync",
    [ASSAY_WARP_MAX] = "__reduce_max_sync",
    [ASSAY_WARP_MIN_SIGNED] = "__reduce_min_sync",
    [ASSAY_WARP_MAX_SIGNED] = "__reduce_max_sync",
    [ASSAY_WARP_AND] = "__reduce_and_sync",
    [ASSAY_WARP_OR] = "__reduce_or_sync",
    [ASSAY_WARP_XOR] = "__reduce_xor_sync",
    [ASSAY_WARP_LDMATRIX_X2] = "ldmatrix_x2",
    [ASSAY_WARP_LDMATRIX_X2_TRANS] = "ldmatrix_x2_trans",
    [ASSAY_WARP_LDMATRIX_X4] = "ldmatrix_x4",
    [ASSAY_WARP_LDMATRIX_X4_TRANS] = "ldmatrix_x4_trans",
    [ASSAY_WARP_MMA_FP16] = "mma_m16n8k16_fp16",
    [ASSAY_WARP_MMA_BF16] = "mma_m16n8k16_bf16",
};

const char *assay_emulator_operation_name(int32_t operation) {
  return names[operation];
}

/* The lane that a shuffle reads, as PTX defines it for the bounds that CUDA passes. */
static uint32_t shuffle_source(const assay_warp_request *request, uint32_t lane) {
  const uint32_t width = (uint32_t)request->width;
  const uint32_t first = lane & ~(width - 1);
  const uint32_t last = first + width - 1;
  const uint32_t argument = (uint32_t)request->argument & (ASSAY_WARP_LANES - 1);
  uint32_t source = 0;
  switch (request->operation) {
  case ASSAY_WARP_SHUFFLE:
    return first + (argument & (width - 1));
  case ASSAY_WARP_SHUFFLE_UP:
    return lane >= first + argument ? lane - argument : lane;
  case ASSAY_WARP_SHUFFLE_DOWN:
    source = lane + argument;
    break;
  default:
    source = lane ^ argument;
    break;
  }
  return source <= last ? source : lane;
}

static void shuffle(emulated_lane *const *warp, uint32_t mask) {
  uint64_t given[ASSAY_WARP_LANES] = {0};
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++)
    if ((mask >> i & 1u) != 0) given[i] = warp[i]->request->value;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if ((mask >> i & 1u) == 0) continue;
    assay_warp_request *request = warp[i]->request;
    const uint32_t source = shuffle_source(request, i);
    if ((mask >> source & 1u) == 0) {
      assay_emulator_fail(warp[i], request->line, "%s reads lane %u, which its mask 0x%08x does not name",
                          names[request->operation], source, mask);
    }
    request->value = given[source];
  }
}

static uint64_t reduce(int32_t operation, uint64_t sum, uint64_t value) {
  switch (operation) {
  case ASSAY_WARP_ADD:
    return (uint32_t)(sum + value);
  case ASSAY_WARP_MIN:
    return sum < value ? sum : value;
  case ASSAY_WARP_MAX:
    return sum > value ? sum : value;
  case ASSAY_WARP_MIN_SIGNED:
    return (int32_t)sum < (int32_t)value ? sum : value;
  case ASSAY_WARP_MAX_SIGNED:
    return (int32_t)sum > (int32_t)value ? sum : value;
  case ASSAY_WARP_AND:
    return sum & value;
  case ASSAY_WARP_OR:
    return sum | value;
  default:
    return sum ^ value;
  }
}

/* Votes and reductions: every lane gets the same. */
static uint64_t common_result(emulated_lane *const *warp, uint32_t mask, int32_t operation) {
  uint32_t ballot = 0;
  uint64_t sum = 0;
  bool first = true;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if ((mask >> i & 1u) == 0) continue;
    const uint64_t value = warp[i]->request->value;
    if (value != 0) ballot |= 1u << i;
    sum = first ? value : reduce(operation, sum, value);
    first = false;
  }
  switch (operation) {
  case ASSAY_WARP_BALLOT:
    return ballot;
  case ASSAY_WARP_ANY:
    return ballot != 0;
  case ASSAY_WARP_ALL:
    return ballot == mask;
  default:
    return sum;
  }
}

static void match_any(emulated_lane *const *warp, uint32_t mask) {
  uint32_t equal[ASSAY_WARP_LANES] = {0};
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    for (uint32_t j = 0; j < ASSAY_WARP_LANES; j++) {
      if ((mask >> i & mask >> j & 1u) != 0 && warp[i]->request->value == warp[j]->request->value)
        equal[i] |= 1u << j;
    }
  }
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++)
    if ((mask >> i & 1u) != 0) warp[i]->request->value = equal[i];
}

static void execute(emulated_lane *const *warp, uint32_t mask, int32_t operation) {
  if (operation == ASSAY_WARP_SYNC) return;
  if (operation >= ASSAY_WARP_LDMATRIX_X2) {
    assay_emulator_matrix(warp, operation);
  } else if (operation >= ASSAY_WARP_SHUFFLE && operation <= ASSAY_WARP_SHUFFLE_XOR) {
    shuffle(warp, mask);
  } else if (operation == ASSAY_WARP_MATCH_ANY) {
    match_any(warp, mask);
  } else {
    const uint64_t result = common_result(warp, mask, operation);
    for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++)
      if ((mask >> i & 1u) != 0) warp[i]->request->value = result;
  }
}

/* Every lane of the mask waits somewhere in its warp: whether all wait for this. Only __syncwarp may stand on
 * different lines. */
static bool all_meet(emulated_lane *const *warp, const emulated_lane *lane) {
  const assay_warp_request *mine = lane->request;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if ((mine->mask >> i & 1u) == 0) continue;
    const assay_warp_request *other = warp[i]->request;
    if (other->operation != mine->operation || other->mask != mine->mask) return false;
  }
  if (mine->operation == ASSAY_WARP_SYNC) return true;
  for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++) {
    if ((mine->mask >> i & 1u) == 0 || warp[i]->request->line == mine->line) continue;
    assay_emulator_fail(
        warp[i], warp[i]->request->line,
        "%s of this lane meets that of lane %u on line %d; the lanes of a mask must come to the same one",
        names[mine->operation], lane->number % ASSAY_WARP_LANES, mine->line);
  }
  return true;
}

static void check_request(emulated_lane *lane, const assay_warp_request *request) {
  const uint32_t width = (uint32_t)request->width;
  if ((request->mask >> lane->number % ASSAY_WARP_LANES & 1u) == 0) {
    assay_emulator_fail(lane, request->line, "the mask 0x%08x of %s does not name lane %u, which calls it",
                        request->mask, names[request->operation], lane->number % ASSAY_WARP_LANES);
  }
  if (request->operation < ASSAY_WARP_SHUFFLE || request->operation > ASSAY_WARP_SHUFFLE_XOR) return;
  if (width == 0 || width > ASSAY_WARP_LANES || (width & (width - 1)) != 0) {
    assay_emulator_fail(lane, request->line, "the width of %s is %d; it must be 1, 2, 4, 8, 16 or 32",
                        names[request->operation], request->width);
  }
}

void assay_emulator_meet(assay_warp_request *request) {
  emulated_machine *machine = assay_emulator_current();
  emulated_lane *lane = machine->current;
  const uint32_t warp = lane->number / ASSAY_WARP_LANES;
  uint32_t *meeting = &lane->block->meeting[warp];
  lane->line = request->line;
  check_request(lane, request);
  lane->request = request;
  lane->state = LANE_MEETING;
  *meeting |= 1u << lane->number % ASSAY_WARP_LANES;
  if ((*meeting & request->mask) == request->mask) {
    emulated_lane *lanes[ASSAY_WARP_LANES] = {NULL};
    for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++)
      if ((request->mask >> i & 1u) != 0) lanes[i] = &lane->block->lanes[warp * ASSAY_WARP_LANES + i];
    if (all_meet(lanes, lane)) {
      uint32_t count = 0;
      const uint32_t mask = request->mask;
      const bool watched = machine->launch->watch != NULL;
      if (watched) assay_watch_before_warp(machine, lanes, request->operation);
      execute(lanes, mask, request->operation);
      if (watched) assay_watch_after_warp(machine, lanes, mask, request->operation);
      assay_emulator_step(lane, mask, names[request->operation], request->line);
      *meeting &= ~mask;
      for (uint32_t i = 0; i < ASSAY_WARP_LANES; i++)
        if (lanes[i] != NULL) lanes[count++] = lanes[i];
      assay_emulator_release(machine, lanes, count);
    }
  }
  assay_emulator_wait(machine);
}
