#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks on a machine with a GPU that has neither our libraries nor a way to install them.
#
#   scripts/gpu.sh pack                here: build the programs with their libraries inside, into build/gpu/
#   scripts/gpu.sh check [NAME...]     there, in the same source tree with build/gpu/: the tests and the judge on the GPU
#   scripts/gpu.sh sanitize [NAME...]  there: the small checks under each tool of compute-sanitizer
#   scripts/gpu.sh parity              there: the planted faults of tests/test_parity.c under each tool of compute-sanitizer
#
# NAMEs pick operators and exercises, without the tests, where one command may not take long. All but pack leave one archive
# of logs in $OUT (build/gpu-out unless that is set), and their last line is the sum; parity leaves parity.tsv there too.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
package=build/gpu
objects=build/gpu-obj
out=${OUT:-build/gpu-out}
tests="cuda kernel primitives nvrtc kernels parity"

fail() {
  printf 'gpu.sh: %s\n' "$*" >&2
  exit 1
}

# Those of the names on the input that were asked for; all when nothing was.
picked() {
  sort -u | while read -r found; do
    case " $asked " in "  " | *" $found "*) echo "$found" ;; esac
  done
}

# The operators that have a kernel for a GPU, and the exercises that have a solution for one.
with_kernels() {
  for file in ops/*/*.cu; do
    if [ -e "$file" ]; then basename "$(dirname "$file")"; fi
  done | picked
}

with_solutions() {
  for file in workshops/*/*_solution.cu; do
    if [ -e "$file" ]; then basename "$(dirname "$file")" | sed 's/^[a-z][0-9]*_//'; fi
  done | picked
}

# jansson and sodium are linked in; cmocka, which many systems have as a shared library only, comes along.
pack() {
  rm -rf "$package"
  mkdir -p "$package" || exit 1
  programs=$objects/assay
  for name in $tests; do
    if [ -e "tests/test_$name.c" ]; then programs="$programs $objects/tests/test_$name"; fi
  done
  # shellcheck disable=SC2086
  make -j"$(nproc 2>/dev/null || echo 1)" BUILD="$objects" LIBS='-l:libjansson.a -l:libsodium.a -lm -ldl -lpthread' \
    LDFLAGS="'-Wl,-rpath,\$\$ORIGIN'" $programs || fail "this needs libjansson.a and libsodium.a, and cmocka"
  for program in $programs; do
    cp "$program" "$package/" && strip --strip-debug "$package/${program##*/}" || exit 1
  done
  library=$(ldd "$objects/tests/test_nvrtc" | sed -n 's/.*libcmocka[^ ]* => \([^ ]*\).*/\1/p')
  [ -n "$library" ] || fail "the tests are not linked with libcmocka"
  cp "$library" "$package/" || exit 1
  needed=$(ldd "$package/assay" | grep -E 'jansson|sodium')
  [ -z "$needed" ] || fail "the program still needs $needed"
  du -sh "$package"
  echo "take this source tree with $package/ to the GPU and run: scripts/gpu.sh check"
}

# step NAME COMMAND...: runs it into a log, shows the end, counts; 3 and skipped tests are not passes.
step() {
  step_name=$1
  log=$logs/$1.log
  shift
  echo "==> $step_name: $*"
  timeout -k 10 "${STEP_SECONDS:-300}" "$@" >"$log" 2>&1 </dev/null
  status=$?
  echo "exit status $status" >>"$log"
  tail -n "${SHOWN:-12}" "$log"
  if [ $status -eq 0 ] && ! grep -q '# SKIP' "$log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "    $step_name: not passed"
  fi
}

begin() {
  [ -x "$package/assay" ] || fail "$package/assay is not there: run 'scripts/gpu.sh pack' where it can be built"
  command -v nvidia-smi >/dev/null 2>&1 || fail "there is no nvidia-smi here: this stage needs a machine with a GPU"
  logs=$(mktemp -d) || exit 1
  trap 'rm -rf "$logs"' EXIT
  trap 'exit 130' INT TERM
  mkdir -p "$out" || exit 1
  passed=0 failed=0
  export ASSAY_SOURCE_DIR="$PWD" CMOCKA_MESSAGE_OUTPUT=TAP
  export ASSAY_CACHE="${ASSAY_CACHE:-$logs/cache}"
}

# finish STAGE: the archive and the sum.
finish() {
  [ $((passed + failed)) -gt 0 ] || fail "there is nothing to $1: no operator has a kernel for a GPU yet"
  tar -C "$logs" --exclude=./cache -czf "$out/gpu-$1.tar.gz" . || exit 1
  echo "logs: $out/gpu-$1.tar.gz"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

check() {
  begin
  step nvidia-smi nvidia-smi
  step env "$package/assay" env
  [ -z "$asked" ] || tests=
  for name in $tests; do
    if [ -x "$package/test_$name" ]; then SHOWN=40 step "test_$name" "$package/test_$name"; fi
  done
  for name in $(with_solutions); do
    step "$name-solution" "$package/assay" check "$name" --solution --backend cuda
    step "$name-simt" "$package/assay" check "$name" --solution --backend simt
    SHOWN=40 step "$name-prove" "$package/assay" prove "$name" --named --backend cuda
  done
  for name in $(with_kernels); do
    step "$name-library" "$package/assay" check "$name" --library --backend cuda
  done
  finish check
}

# The worker is a process of its own, so the tools must follow it. They let one kernel run at a time: busy_stream, which
# wants two at once, is left out by its first letters.
sanitize() {
  begin
  command -v compute-sanitizer >/dev/null 2>&1 || fail "there is no compute-sanitizer here: it comes with the CUDA toolkit"
  for name in $(with_kernels); do
    for tool in memcheck racecheck synccheck initcheck; do
      step "$name-$tool" compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
        "$package/assay" check "$name" --library --backend cuda --tier S --filter '^[^b]|^b[^u]'
    done
  done
  finish sanitize
}

# Every pair of a kernel and a tool is a process of its own, several side by side; a kernel that hangs is killed after a
# while, which its row says. Faults come first: what the time does not suffice for is missing in the table, and counted.
parity() {
  begin
  command -v compute-sanitizer >/dev/null 2>&1 || fail "there is no compute-sanitizer here: it comes with the CUDA toolkit"
  export PARITY_PROGRAM="$PWD/$package/test_parity" PARITY_SECONDS="${PARITY_SECONDS:-20}"
  "$PARITY_PROGRAM" --list >"$logs/list.tsv" || fail "'$PARITY_PROGRAM --list' failed"
  compute-sanitizer --version >"$logs/version.log" 2>&1
  nvidia-smi >"$logs/nvidia-smi.log" 2>&1
  # One kernel of each file puts its code into the cache before many processes want it.
  cut -f1,3 "$logs/list.tsv" | sed 's/:[0-9,]*$//' | sort -u -t "$(printf '\t')" -k2,2 | cut -f1 >"$logs/first"
  xargs -n 1 -P 4 timeout -k 2 60 "$PARITY_PROGRAM" --run <"$logs/first" >"$logs/first.log" 2>&1
  {
    awk -F '\t' '$2 != "none" { print $1 }' "$logs/list.tsv"
    awk -F '\t' '$2 == "none" { print $1 }' "$logs/list.tsv"
  } | while read -r name; do
    for tool in memcheck racecheck initcheck synccheck; do echo "one $name $tool $logs"; done
  done >"$logs/work"
  timeout -k 5 "${PARITY_TOTAL_SECONDS:-450}" xargs -n 4 -P "${PARITY_JOBS:-12}" scripts/parity.sh <"$logs/work" \
    >"$logs/parity.tsv"
  cp "$logs/parity.tsv" "$out/parity.tsv" || exit 1
  passed=$(grep -cv "$(printf '\tfailed\t')" "$logs/parity.tsv")
  failed=$(($(wc -l <"$logs/work") - passed))
  cut -f2,3 "$logs/parity.tsv" | sort | uniq -c
  echo "then, where the tests are built: scripts/parity.sh page parity.tsv"
  finish parity
}

stage=${1:-}
[ $# -eq 0 ] || shift
asked=$*
case $stage in
pack | check | sanitize | parity) "$stage" ;;
*)
  sed -n 's/^#   \(scripts.*\)/\1/p' "$0" >&2
  exit 64
  ;;
esac
