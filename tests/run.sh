#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests and adds them up: tests/run.sh [NAME...], NAME "tensor" for tests/test_tensor.c or .sh.
#
# Every test prints TAP. What matters of a test is shown when it has ended; the last line is the sum. A program counts one
# more failure when it ends by a signal or at the time limit, prints no test, or fewer than it announced. As many tests run
# side by side as there are processors (TEST_JOBS), scripts first, since the long ones are among them.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
LIMIT=${TEST_SECONDS:-900}
JOBS=${TEST_JOBS:-$(nproc 2>/dev/null || echo 1)}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C
# Programs that are not in build/ itself do not find the source folder from where they are.
export ASSAY_SOURCE_DIR="$PWD"
logs=$BUILD/tests/logs
mkdir -p "$logs" || exit 1

# Prints what matters of one test's TAP, and leaves "passed failed skipped" in the file `sums`.
# cmocka 1.1 says "not ok ... # SKIP" for a skipped test.
digest() {
  awk -v sums="$1" -v code="$2" '
    { sub(/\r$/, "") }
    /^1\.\.[0-9]+/ { planned += substr($1, 4); if ($1 == "1..0" && /# SKIP/) skipped++; next }
    /^(not )?ok([ \t]|$)/ {
      shown = 0
      if (/# SKIP/) { skipped++; sub(/^(not )?ok/, "skip"); print "    " $0 }
      else if (/^ok/) passed++
      else { failed++; shown = 1; print "    " $0 }
      next
    }
    shown { print "    " $0 }
    { last[NR % 20] = $0 }
    END {
      why = ""
      if (code == 124 || code == 137) why = "ran into the time limit"
      else if (code > 128) why = "ended by signal " (code - 128)
      else if (code != 0 && failed == 0) why = "exit status " code " without a failing test"
      else if (passed + failed + skipped == 0) why = "no test was run"
      else if (passed + failed + skipped < planned) why = "stopped before its last test"
      if (why != "") {
        failed++
        print "    not ok - " why
        for (i = NR - 19; i <= NR; i++) if (i > 0 && (i % 20) in last) print "    | " last[i % 20]
      }
      print passed + 0, failed + 0, skipped + 0 > sums
    }'
}

# one NAME: runs a test and leaves what is to be shown in $logs/NAME.shown, its sums in $logs/NAME.sums.
one() {
  if [ -e "tests/test_$1.sh" ]; then
    test_program=tests/test_$1.sh
  else
    test_program=$BUILD/tests/test_$1
  fi
  begin=$(date +%s)
  code=0
  if [ -x "$test_program" ]; then
    timeout -k 10 "$LIMIT" "$test_program" >"$logs/$1.log" 2>&1 </dev/null || code=$?
  else
    echo "not ok 1 - there is no ${test_program#"$PWD/"}; 'make tests' builds the test programs" >"$logs/$1.log"
  fi
  digest "$logs/$1.sums" "$code" <"$logs/$1.log" >"$logs/$1.shown"
  read -r p f s <"$logs/$1.sums" || { p=0 f=1 s=0; }
  {
    cat "$logs/$1.shown"
    printf '%-24s %4d passed, %d failed, %d skipped, %d s\n' "$1" "$p" "$f" "$s" $(($(date +%s) - begin))
  } >"$logs/$1.text"
  cat "$logs/$1.text"
}

if [ "${1:-}" = --one ]; then
  one "$2"
  exit 0
fi

if [ $# -eq 0 ]; then
  for file in tests/test_*.sh tests/test_*.c; do
    [ -e "$file" ] || continue
    name=${file#tests/test_}
    set -- "$@" "${name%.*}"
  done
fi
for name in "$@"; do rm -f "$logs/$name.sums"; done
printf '%s\n' "$@" | xargs -P "$JOBS" -n 1 tests/run.sh --one

passed=0 failed=0 skipped=0
for name in "$@"; do
  read -r p f s 2>/dev/null <"$logs/$name.sums" || { p=0 f=1 s=0; }
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
