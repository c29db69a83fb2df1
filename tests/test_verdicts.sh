#!/bin/sh
# SPDX-License-Identifier: MIT
# A learner's file for each way in which a kernel can go wrong, and the verdict with its cause. TAP on stdout.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
export ASSAY_SOURCE_DIR="$root"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
cp "$root/tests/learners/right.h" "$folder/work/"
cd "$folder" || exit 1
name=strided_softmax
number=0

say() { # ok|not ok, description
  number=$((number + 1))
  echo "$1 $number - $2"
}

# FILE EXIT CHECKS WORDS [SECONDS]: `check` on tests/learners/FILE.c ends with EXIT, and its output holds WORDS (a regular expression).
# CHECKS is a filter, so that a kernel that hangs is not run on forty checks. A fifth argument is the time limit.
judge() {
  cp "$root/tests/learners/$1.c" "work/$name.c"
  output=$("$BUILD/assay" check "$name" --filter "$3" --timeout "${5:-3}" --seed 7 --color=never 2>/dev/null)
  code=$?
  if [ $code -eq "$2" ] && printf '%s\n' "$output" | grep -Eq "$4"; then
    say ok "$1: exit $2, $4"
  else
    say "not ok" "$1: exit $code (not $2), or no match for: $4"
    printf '%s\n' "$output" | sed 's/^/# /'
  fi
}

judge right 0 . '^[0-9]+ passed, 0 failed$'
judge joins_its_threads 0 'vector_edges|no_rows' '2 passed, 0 failed'
judge not_written 2 . '^TODO'
judge does_not_compile 1 . "^FAIL +build +the source does not compile: .*error: expected"
judge exports_nothing 1 . "^FAIL +build +the source exports no function named $name"
judge needs_a_symbol 1 . '^FAIL +build +the source does not compile: .*undefined reference'
judge wrong_value 1 'vector_edges' '^FAIL +vector_edges +y\[2,1\]: expected .*got .*ulp.*1 of 6 wrong'
judge gives_nan 1 'ragged_primes' '^FAIL +ragged_primes +y\[0,0\]: expected [0-9.e-]+, got nan'
judge writes_past_the_end 1 'vector_edges' '^CRASH +vector_edges +SIGSEGV: the kernel wrote past the end of y: element 1 behind its last, in row 2'
judge writes_before_the_start 1 'vector_edges' 'wrote [0-9]+ bytes before the start of y'
judge reads_past_the_end 1 'vector_edges' '^CRASH +vector_edges +SIGSEGV: the kernel read past the end of x'
judge writes_its_input 1 'inputs_untouched' '^CRASH +inputs_untouched +SIGSEGV: the kernel wrote to x\[0,0\]; inputs are read-only'
judge loops_for_ever 1 'single_column' '^TIMEOUT +single_column +no answer within 3 s'
judge exits_with_zero 1 'single_column' '^CRASH +single_column +the kernel ended its process with exit status 0'
judge prints_a_verdict 1 'worked_example' '^FAIL +worked_example'
judge forges_an_answer 1 'worked_example' "^SUSPECT +worked_example +the kernel wrote to the judge's connection"
judge crashes 1 'worked_example' '^CRASH +worked_example +SIGSEGV: the kernel wrote address 0x0, which belongs to no operand'
judge divides_by_zero 1 'worked_example' '^CRASH +worked_example +SIGFPE in the kernel'
judge aborts 1 'worked_example' '^CRASH +worked_example +SIGABRT in the kernel'
judge overflows_the_stack 1 'worked_example' '^CRASH +worked_example +SIGSEGV'
judge starts_a_late_thread 1 'worked_example' '^SUSPECT +worked_example +1 thread beyond'
judge writes_after_return 1 'worked_example' '^SUSPECT +worked_example'
judge flushes_subnormals 1 'worked_example' '^SUSPECT +worked_example +the kernel changed the floating-point mode'
judge rounds_upward_at_load 1 'worked_example' '^SUSPECT +build +loading the kernel changed the floating-point mode'
judge eats_memory 1 'worked_example' '^CRASH +worked_example +the kernel used [0-9]+ MiB of memory' 60
judge refuses 1 'worked_example|vector_edges' '^FAIL +vector_edges +returned "bad shape" for a valid call'

# After a crash the run goes on with a fresh worker: later checks are judged too.
cp "$root/tests/learners/divides_by_zero.c" "work/$name.c"
count=$("$BUILD/assay" check $name --all --filter 'worked_example|no_rows|transposed_known' --json | grep -c '"verdict": "CRASH"')
[ "$count" -eq 3 ] && say ok "a crash does not end the run" || say "not ok" "a crash does not end the run: $count of 3"

# What a kernel prints is not on our stdout.
cp "$root/tests/learners/prints_a_verdict.c" "work/$name.c"
count=$("$BUILD/assay" check $name --filter worked_example --json 2>/dev/null | grep -c '^{"passed": 40')
[ "$count" -eq 0 ] && say ok "a kernel's own output stays out of the JSON" || say "not ok" "a kernel's own output is in the JSON"

# The command that a failure prints repeats it.
cp "$root/tests/learners/wrong_value.c" "work/$name.c"
first=$("$BUILD/assay" check $name --filter ragged_primes --seed 11 --color=never | grep '^FAIL')
again=$(eval "$("$BUILD/assay" check $name --filter ragged_primes --seed 11 --color=never |
  sed -n "s|^ *repeat: *./assay|$BUILD/assay|p")" | grep '^FAIL')
if [ -n "$first" ] && [ "$first" = "$again" ]; then
  say ok "the repeat command repeats the failure"
else
  say "not ok" "the repeat command gave: $again"
fi

# No compiler: unavailable, not a failure of the learner's.
CC=/nonexistent/cc "$BUILD/assay" check $name >out 2>&1
code=$?
{ [ $code -eq 3 ] && grep -q 'no C compiler' out; } && say ok "no compiler is UNAVAILABLE, exit 3" ||
  say "not ok" "no compiler: exit $code"
echo "1..$number"
