#!/bin/sh
# SPDX-License-Identifier: MIT
# CUDA kernels without a GPU: a learner's .cu file for each way in which it can go wrong, and what runs where. TAP.
. "$(dirname "$0")/tap.sh"
name=strided_softmax
solution=$root/workshops/w1_strided_softmax/w1_solution.cu

# DESCRIPTION EDIT WORDS: the solution, changed by the sed script EDIT, fails worked_example on the emulator with WORDS.
broken() {
  sed "$2" "$solution" >"work/$name.cu"
  if cmp -s "work/$name.cu" "$solution"; then
    say "not ok" "$1: the edit changes nothing"
    return
  fi
  expect "$1" 1 "$3" check $name --backend simt --filter worked_example --seed 7 --color=never --timeout 60
}

expect "start writes a .cu file" 0 '^wrote work/strided_softmax.cu$' start $name --backend cuda
expect "a starter is TODO" 2 '^TODO' check $name --backend simt
expect "a .cu file alone is what a plain run judges, emulated, and it says so" 2 '^checking work/strided_softmax.cu .*emulated on the CPU: simt' check $name --color=never
expect "a GPU that is asked for and is not there is exit 3" 3 'no NVIDIA GPU|^[0-9]+ passed' check $name --backend cuda --solution

broken "a device half that does not compile" 's/float m = -ASSAY_INFINITY;/float m = -ASSAY_INFINITY/' \
  '^FAIL +worked_example .*strided_softmax.cu:[0-9]+:.*error'
broken "a host half that does not compile" 's/const int64_t warps = /const int64_t warps == /' \
  '^FAIL +build .*the source does not compile'
broken "a word that a GPU compiler does not have" 's/float m = -ASSAY_INFINITY/float m = -INFINITY/' \
  'strided_softmax.cu:[0-9]+:.*INFINITY'
broken "a header that a GPU compiler does not have" 's/^#include "assay.kernel.h"/&\n#ifdef ASSAY_DEVICE\n#include <stdio.h>\n#endif/' \
  'strided_softmax.cu:[0-9]+: #include in a kernel'
broken "a kernel that is not in the file" 's/"softmax_row"/"softmax_rows"/' 'softmax_rows'
broken "a barrier that not all threads reach" 's/  __syncthreads();/  if (threadIdx.x < 32) __syncthreads();/' \
  'strided_softmax.cu:[0-9]+: .*__syncthreads'
broken "a wait for memory that nobody changes" \
  's/^    float m = -ASSAY_INFINITY;/    __shared__ unsigned flag;\n    flag = 0;\n    while (load_acquire(\&flag) == 0) spin_pause();\n&/' \
  'strided_softmax.cu:[0-9]+: '
broken "a write past the end names operand and thread" 's/element_store(y, c, /element_store(y, c + 1000000, /' \
  '^CRASH +worked_example +SIGSEGV: the kernel wrote .*kernel softmax_row, block [0-9]+, thread [0-9]+'
broken "a write to the input" 's/element_store(y, c, /element_store((element *)x, c, /' \
  '^CRASH +worked_example +SIGSEGV: the kernel wrote to x.*read-only'
broken "a launch that no GPU takes" 's/assay_dim(32 \* warps)/assay_dim(4096)/' 'launch of softmax_row: '

# C takes an integer for an enum, C++ does not, and the scan does not look at types: only the GPU's compiler tells.
sed 's/^    float m = -ASSAY_INFINITY;/    enum state { IDLE, BUSY } state = 1;\n&\n    if (state == IDLE) m = 0.0f;/' "$solution" >"work/$name.cu"
line=$(grep -n 'enum state' "work/$name.cu" | cut -d : -f 1)
if "$BUILD/assay" env --json | grep -q '"nvrtc": {'; then
  for run in first second; do
    expect "the GPU's compiler refuses what the emulator's took ($run run)" 1 \
      "^FAIL +worked_example +strided_softmax.cu:$line: .*\"state\".*the GPU's \(NVRTC [0-9.]+\) does not" \
      check $name --backend simt --filter worked_example --color=never
  done
  cp "$solution" "work/$name.cu"
  "$BUILD/assay" check $name --backend simt --filter worked_example >"$folder/log" 2>&1
  if grep -rql 'accepted by nvrtc' "$ASSAY_CACHE"; then
    say ok "what the GPU's compiler took is remembered"
  else
    say "not ok" "what the GPU's compiler took is remembered: nothing in the cache says so"
    sed 's/^/# /' "$folder/log"
  fi
else
  expect "without NVRTC the emulator's compiler is the only one, and the kernel passes" 0 '^1 passed, 0 failed' \
    check $name --backend simt --filter worked_example --color=never
fi

# The judge's seed decides the order of threads, so a failure that depends on it repeats.
sed 's/block_sum(sum, part_sum)/block_sum(sum, part_max)/' "$solution" >"work/$name.cu"
first=$("$BUILD/assay" check $name --backend simt --filter thread_orders --seed 5 --threads 1 --color=never | grep '^FAIL')
again=$("$BUILD/assay" check $name --backend simt --filter thread_orders --seed 5 --threads 1 --color=never | grep '^FAIL')
if [ -n "$first" ] && [ "$first" = "$again" ]; then
  say ok "a race found by an order of threads is found again"
else
  say "not ok" "a race found by an order of threads: first '$first', again '$again'"
fi

# Both files exist: both run, each labelled.
cp "$solution" "work/$name.cu"
cp "$root/workshops/w1_strided_softmax/w1_solution.c" "work/$name.c"
output=$("$BUILD/assay" check $name --filter 'vector_edges' --color=never)
if [ "$(printf '%s\n' "$output" | grep -c '^PASS  vector_edges')" -eq 2 ] &&
  printf '%s\n' "$output" | grep -q 'work/strided_softmax.cu'; then
  say ok "a C file and a .cu file are both judged"
else
  say "not ok" "a C file and a .cu file are both judged"
  printf '%s\n' "$output" | sed 's/^/# /'
fi

expect "the solution passes" 0 '^[0-9]+ passed, 0 failed$' check $name --solution --backend simt --color=never
expect "the library's variant passes" 0 '^[0-9]+ passed, 0 failed$' check $name --library --backend simt --color=never
echo "1..$number"
