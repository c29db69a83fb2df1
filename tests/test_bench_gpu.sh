#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay bench --backend cuda` without a GPU, over a driver that runs a few kernels by itself (pretend_driver.c): both
# clocks, cold caches, what the report holds, and what is found out. Kernels are compiled by the real NVRTC, and results
# are compared as always. TAP on stdout.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
CC=${CC:-cc}
if [ -e /dev/nvidiactl ]; then
  echo "1..0 # SKIP there is a GPU: test_bench.sh takes that"
  exit 0
fi
if nm -D "$BUILD/assay" 2>/dev/null | grep -q '__asan_init'; then
  echo "1..0 # SKIP a sanitizer's runtime must be loaded first, and so must this test's"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir driver

# To the program there is a device file, and its libcuda is ours.
cat >files.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int access(const char *path, int mode) {
  return strcmp(path, "/dev/nvidiactl") == 0 ? 0 : faccessat(AT_FDCWD, path, mode, 0);
}
END
if ! $CC -shared -fPIC files.c -o files.so >log 2>&1 ||
  ! $CC -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -fvisibility=hidden "$root/tests/pretend_driver.c" -lm -o driver/libcuda.so.1 \
    >>log 2>&1; then
  sed 's/^/# /' log
  echo "1..1"
  echo "not ok 1 - the driver for this test is compiled"
  exit 1
fi
number=0 failed=0
say() { # STATUS WHAT
  number=$((number + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $number - $2"
  else
    failed=1
    echo "not ok $number - $2"
    cat out err 2>/dev/null | head -n 15 | sed 's/^/# /'
  fi
}

bench() {
  ASSAY_SOURCE_DIR=$root ASSAY_CACHE=$folder/cache LD_PRELOAD=$folder/files.so \
    LD_LIBRARY_PATH=$folder/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    "$BUILD/assay" bench "$@" --backend cuda --color=never >out 2>err
}

# DESCRIPTION EXIT WORDS ARGUMENTS...
expect() {
  what=$1 wanted=$2 words=$3
  shift 3
  bench "$@"
  code=$?
  [ $code -eq "$wanted" ] && cat out err | grep -Eq "$words"
  say $? "$what (exit $code)"
}

# DESCRIPTION COUNT WORDS FILE: so many lines of the file match.
lines() {
  found=$(grep -Ec "$3" "$4")
  [ "$found" -eq "$2" ]
  say $? "$1 ($found lines)"
}

valid() {
  ASSAY_SOURCE_DIR=$root "$BUILD/assay" verify "$1" >out 2>err
  say $? "$1 is valid"
}

name=strided_softmax
small="--solution --baseline solution --shape 9x8:fp32 --protocol seeds"
bench $name $small
if grep -q 'NVRTC' err && ! grep -q 'solution' out; then
  echo "1..0 # SKIP $(head -n 1 err)"
  exit 0
fi
expect "a graph is the usual clock" 0 '^  solution warps=8 +[0-9.]+ .s' $name $small -o graph.json
lines "it is named" 1 'timed by graph$' out
lines "the clock of the samples is shown, and what an empty node costs" 1 \
  '^SM clock behind the samples 1700 to 1700 MHz; empty graph node [0-9.]+ us, included in all times$' out
lines "every sample has its clock" 21 '^ *"sm_mhz": 1700$' graph.json
lines "every variant one node a call" 3 '^ *"graph_nodes": 1,$' graph.json
lines "the device's highest clock" 1 '^ *"clock_mhz_most": 1980$' graph.json
lines "both empty calls" 2 '^ *"name": "empty (graph node|launch)",$' graph.json
lines "the dialect's headers are sources" 3 '"path": "include/assay/kernel_cuda.h"' graph.json
lines "kernels have flags of their own" 3 '"options": ".*; kernels: --std=c\+\+17 ' graph.json
valid graph.json
expect "launches one by one" 0 '^  solution +[0-9.]+ .s' $name $small --mode events -o events.json
lines "have an empty launch beside them" 1 'empty launch [0-9.]+ us, included' out
lines "and no nodes" 0 'graph_nodes' events.json
valid events.json
expect "cold caches" 0 'cache cold' $name $small --cache cold -o cold.json
lines "are one call a sample" 22 '^ *"calls": 1,$' cold.json
valid cold.json
expect "three processes with new inputs in each round" 0 '^  solution +[0-9.]+ .s' $name --solution --variant solution \
  --baseline solution --shape 9x8:fp32 --quick -o quick.json
valid quick.json
PRETEND=writes
export PRETEND
expect "a kernel that writes to its input is found out" 1 '^  solution +FAIL +the kernel wrote to input 0' $name $small
PRETEND=elsewhere
expect "a call that leaves nothing in the graph is found out" 1 '^  solution +FAIL +.*a call puts its work elsewhere' $name $small
unset PRETEND
bench $name --library --shape 9x8:fp32 --protocol seeds -o all.json
lines "a run against all baselines is kept" 1 '^  "mode": "graph",$' all.json
lines "none of them is one of a CPU" 0 '"expression": ".*plain C' all.json
lines "and none is a library for CPUs" 0 '"name": "(onednn|openblas)' all.json

echo "1..$number"
exit $failed
