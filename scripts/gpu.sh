#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks on a machine with a GPU that has neither our libraries nor a way to install them.
#
#   scripts/gpu.sh pack                here: build the programs with their libraries inside, into build/gpu/
#   scripts/gpu.sh check [NAME...]     there, in the same source tree with build/gpu/: the tests and the judge on the GPU
#   scripts/gpu.sh huge [NAME...]      there: more than 2^31 elements, and indices of 32 bits planted in the solutions
#   scripts/gpu.sh sanitize [NAME...]  there: the small checks under each tool of compute-sanitizer
#   scripts/gpu.sh bench [NAME...]     there: the library's kernels timed, in both modes, with warm and with cold caches
#   scripts/gpu.sh large [NAME...]     there: the same for the large shapes, in both modes; minutes an operator
#   scripts/gpu.sh python [NAME...]    there: the tests of the Python package, and assay beside PyTorch and Triton
#   scripts/gpu.sh python_cpu [NAME...]  there: assay beside PyTorch on the CPU, with one thread, with two and with all
#   scripts/gpu.sh parity              there: the planted faults of tests/test_parity.c under each tool of compute-sanitizer
#
# NAMEs pick operators and exercises, without the tests, where one command may not take long. All but pack leave one archive
# of logs in $OUT (build/gpu-out unless that is set), and their last line is the sum; parity leaves parity.tsv there too,
# bench, large and python their reports, which the archive has as well. A time is one of a machine that does nothing else:
# run these alone.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
package=${GPU_PACKAGE:-build/gpu}
objects=build/gpu-obj
out=${OUT:-build/gpu-out}
tests="cuda kernel primitives nvrtc kernels parity shared_workspace"
pair_tests="cuda_two" # these take two GPUs

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
  libraries=$objects/libassay.so.0
  for name in $tests $pair_tests; do
    if [ -e "tests/test_$name.c" ]; then programs="$programs $objects/tests/test_$name"; fi
  done
  # shellcheck disable=SC2086
  make -j"$(nproc 2>/dev/null || echo 1)" BUILD="$objects" LIBS='-l:libjansson.a -l:libsodium.a -lm -ldl -lpthread' \
    LDFLAGS="'-Wl,-rpath,\$\$ORIGIN'" $programs $libraries || fail "this needs libjansson.a and libsodium.a, and cmocka"
  for program in $programs $libraries; do
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
  for report in "$out"/*.json; do
    [ ! -e "$report" ] || cp "$report" "$logs/"
  done
  tar -C "$logs" --exclude=./cache -czf "$out/gpu-$1.tar.gz" . || exit 1
  echo "logs: $out/gpu-$1.tar.gz"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

check() {
  begin
  step nvidia-smi nvidia-smi
  step env "$package/assay" env
  [ "$(nvidia-smi -L | grep -c '^GPU')" -lt 2 ] || tests="$tests $pair_tests"
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

# Operands of 4 GiB and more, 20 GiB of host memory a process: a few side by side. The checks of the library, then the
# solutions with an index that wraps around, which must be caught.
huge() {
  begin
  {
    with_kernels | sed 's/$/ check --library --tier L --filter ^(full_size|full_inputs|large_strides)$/'
    with_solutions | sed 's/$/ prove --named --filter ^cu_int/'
  } >"$logs/work"
  nvidia-smi >"$logs/nvidia-smi.log" 2>&1
  # shellcheck disable=SC2016
  timeout -k 5 "${HUGE_TOTAL_SECONDS:-280}" xargs -L 1 -P "${HUGE_JOBS:-5}" sh -c '
    name=$2 command=$3 log=$1/$2-$3.log && shift 3
    "$0" "$command" "$name" --backend cuda "$@" >"$log" 2>&1
    echo "exit status $?" >>"$log"' "$package/assay" "$logs" <"$logs/work"
  for log in "$logs"/*-check.log "$logs"/*-prove.log; do
    [ -e "$log" ] || continue
    if grep -q '^exit status 0$' "$log"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    echo "==> $(basename "$log" .log)"
    cut -c1-150 "$log"
  done
  missing=$(($(wc -l <"$logs/work") - passed - failed))
  failed=$((failed + missing))
  [ $missing -eq 0 ] || echo "$missing runs are missing: the time did not suffice"
  finish huge
}

# Every solution and every variant under every tool, then planted faults: each run is a process of its own, several side by
# side (scripts/sanitize.sh). No tool may find anything in the kernels, and each must report the planted fault of its kind.
# How many of the solutions' defects it reports, which are made for the emulator's tools, is told. The table is
# $OUT/sanitize.tsv.
sanitize() {
  begin
  command -v compute-sanitizer >/dev/null 2>&1 || fail "there is no compute-sanitizer here: it comes with the CUDA toolkit"
  # shellcheck disable=SC2086
  scripts/sanitize.sh list $asked >"$logs/work" || fail "'scripts/sanitize.sh list' failed"
  compute-sanitizer --version >"$logs/version.log" 2>&1
  nvidia-smi >"$logs/nvidia-smi.log" 2>&1
  # Once without a tool: the code of most kernels is then in the cache before many processes want it.
  sed -n 's/^\(solution\|library\) \([a-z_]*\) .*/\2 --\1/p' "$logs/work" | sort -u |
    xargs -n 2 -P 16 timeout -k 5 40 "$package/assay" check --backend cuda --tier S --filter "$(scripts/sanitize.sh checks)" \
      >"$logs/first.log" 2>&1
  # shellcheck disable=SC2016
  timeout -k 5 "${SANITIZE_TOTAL_SECONDS:-150}" xargs -n 4 -P "${SANITIZE_JOBS:-16}" sh -c \
    'scripts/sanitize.sh one "$1" "$2" "$3" "$4" "$0"' "$logs" <"$logs/work" >"$logs/sanitize.tsv"
  sort "$logs/sanitize.tsv" >"$out/sanitize.tsv" || exit 1
  sanitize_sum <"$out/sanitize.tsv" >"$logs/sum"
  cat "$logs/sum"
  passed=$(grep -c '^ok ' "$logs/sum")
  failed=$(grep -c '^not ok ' "$logs/sum")
  missing=$(($(wc -l <"$logs/work") - $(wc -l <"$out/sanitize.tsv")))
  [ $missing -eq 0 ] || echo "not ok    $missing runs are missing: the time did not suffice"
  [ $missing -eq 0 ] || failed=$((failed + 1))
  finish sanitize
}

# A line for every kernel and tool, and one a tool for all defects of the solutions.
sanitize_sum() {
  awk -F '\t' '
    $1 == "solution" || $1 == "library" {
      printf("%s %s %s %s: %s, %s\n", ($5 == "clean" ? "ok    " : "not ok"), $2, ($3 == "-" ? $1 : $3), $4, $5, $6)
    }
    $1 == "fault" { printf("%s fault %s %s: %s\n", ($5 == "found" ? "ok    " : "not ok"), $2, $4, $5) }
    $1 == "planted" { all[$4]++; found[$4] += ($5 == "found") }
    END {
      for (tool in all)
        printf("told   planted in solutions, %s: %d of %d found\n", tool, found[tool], all[tool])
    }'
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

# The shapes of the seed documents: what events mode and cold caches are about. Where a call takes far longer than its
# start, events would show the same as a graph.
seed_shapes() {
  case $1 in
  strided_softmax) echo 256x257,1024x1024 ;;
  softmax_backward) echo 256x1025,1024x4097 ;;
  fused_gemm) echo 127x65x33,512x512x512 ;;
  split_softmax) echo 4x32769,64x131072 ;;
  streaming_attention) echo 129x32,512x64 ;;
  esac
}

# All others of the suites. They are in a report of their own: where the time is short it is they that are left out.
large_shapes() {
  case $1 in
  strided_softmax) echo 4096x2048,8192x8192,32768x4096 ;;
  softmax_backward) echo 2048x4096,2048x2048,16384x8192 ;;
  fused_gemm) echo 1024x1024x512,1024x1024x2048,4096x4096x4096,8192x8192x8192 ;;
  split_softmax) echo 4096x2048,1x131072,512x131072 ;;
  streaming_attention) echo 2048x64,4096x64x16x1,4096x128x16x1,16384x64x16x1,16384x128x16x1 ;;
  esac
}

# The seconds that are left for a step of so many, at least one.
left_of() {
  left=$((until_second - $(date +%s)))
  [ $left -lt "$1" ] || left=$1
  [ $left -gt 0 ] || left=1
  echo $left
}

# A report that is cut short by its time is written all the same, and says that it is incomplete.
bench() {
  begin
  until_second=$(($(date +%s) + ${BENCH_TOTAL_SECONDS:-450}))
  BENCH="$package/assay bench --library --backend cuda --protocol ${BENCH_PROTOCOL:-seeds}"
  step nvidia-smi nvidia-smi
  for name in $(with_kernels); do
    shapes=$(seed_shapes "$name")
    # shellcheck disable=SC2086
    {
      SHOWN=40 STEP_SECONDS=$(left_of 40) step "$name-graph-warm" $BENCH "$name" --mode graph ${shapes:+--shape $shapes} \
        -o "$out/$name-graph-warm.json"
      SHOWN=30 STEP_SECONDS=$(left_of 40) step "$name-events-warm" $BENCH "$name" --mode events ${shapes:+--shape $shapes} \
        -o "$out/$name-events-warm.json"
      SHOWN=30 STEP_SECONDS=$(left_of 40) step "$name-graph-cold" $BENCH "$name" --mode graph --cache cold \
        ${shapes:+--shape $shapes} -o "$out/$name-graph-cold.json"
    }
  done
  verify_reports
  finish bench
}

verify_reports() {
  for report in "$out"/*-graph-*.json "$out"/*-events-*.json; do
    [ -e "$report" ] && step "verify-$(basename "$report" .json)" "$package/assay" verify "$report"
  done
}

# The gate of a large product and the contents of its operands take the host far longer than the GPU its samples.
large() {
  begin
  until_second=$(($(date +%s) + ${BENCH_TOTAL_SECONDS:-500}))
  step nvidia-smi nvidia-smi
  for name in $(with_kernels); do
    shapes=$(large_shapes "$name")
    [ -n "$shapes" ] || continue
    for mode in graph events; do
      # shellcheck disable=SC2086
      SHOWN=60 STEP_SECONDS=$(left_of "${BENCH_SECONDS:-250}") step "$name-$mode-large" "$package/assay" bench "$name" --library \
        --backend cuda --protocol "${BENCH_PROTOCOL:-seeds}" --mode $mode --shape "$shapes" -o "$out/$name-$mode-large.json"
    done
  done
  verify_reports
  finish large
}

# python_bench NAME OPTION...: a report of assay beside its peers, from one process.
python_bench() {
  report=$out/python-$1.json
  name=$1
  shift
  # shellcheck disable=SC2086
  SHOWN=400 STEP_SECONDS=$(left_of "${BENCH_SECONDS:-300}") step "python-$name" python3 -B -m assay.bench "$@" -o "$report" $asked
  step "verify-python-$name" "$package/assay" verify "$report"
}

begin_python() {
  begin
  until_second=$(($(date +%s) + ${BENCH_TOTAL_SECONDS:-540}))
  export ASSAY_LIBRARY="$PWD/$package/libassay.so.0" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1
  # Compilers of torch.compile that run beside the program would still be starting when the first case is timed.
  export TORCHINDUCTOR_COMPILE_THREADS=1
}

python_gpu() {
  begin_python
  step python-tests python3 -m unittest discover -v -s python/tests
  for mode in graph events; do
    python_bench $mode --protocol seeds --backend cuda --mode $mode --seconds "${PYTHON_SECONDS:-210}"
  done
  finish python
}

# The shapes of the seed documents; the others take minutes each with one thread.
python_cpu() {
  begin_python
  for threads in 1 2 "$(nproc)"; do
    python_bench "cpu-$threads" --quick --first 2 --threads "$threads"
  done
  finish python_cpu
}

stage=${1:-}
[ $# -eq 0 ] || shift
asked=$*
case $stage in
pack | check | huge | sanitize | bench | large | parity | python_cpu) "$stage" ;;
python) python_gpu ;;
*)
  sed -n 's/^#   \(scripts.*\)/\1/p' "$0" >&2
  exit 64
  ;;
esac
