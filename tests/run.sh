#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests and adds them up: tests/run.sh [NAME...], NAME "tensor" for tests/test_tensor.c or .sh.
#
# Every test prints TAP. A failing test is shown with its explanation at once; the last line is the sum. A program
# counts one more failure when it ends by a signal or at the time limit, prints no test, or fewer than it announced.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
LIMIT=${TEST_SECONDS:-900}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C
# Programs that are not in build/ itself do not find the source folder from where they are.
export ASSAY_SOURCE_DIR="$PWD"
logs=$BUILD/tests/logs
mkdir -p "$logs" || exit 1

if [ $# -eq 0 ]; then
  for file in tests/test_*.c tests/test_*.sh; do
    [ -e "$file" ] || continue
    name=${file#tests/test_}
    set -- "$@" "${name%.*}"
  done
fi

# Prints what matters of one test's TAP as it comes, and leaves "passed failed skipped" in the file `sums`.
# cmocka 1.1 says "not ok ... # SKIP" for a skipped test.
digest() {
  awk -v sums="$1" -v status="$2" '
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
      getline code < status
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

passed=0 failed=0 skipped=0
for name in "$@"; do
  sums=$logs/$name.sums status=$logs/$name.status
  rm -f "$sums" "$status"
  begin=$(date +%s)
  if [ -e "tests/test_$name.sh" ]; then
    test_program=tests/test_$name.sh
  else
    test_program=$BUILD/tests/test_$name
  fi
  {
    code=0
    if [ -x "$test_program" ]; then
      timeout -k 10 "$LIMIT" "$test_program" 2>&1 || code=$?
    else
      echo "not ok 1 - there is no ${test_program#"$PWD/"}; 'make tests' builds the test programs"
    fi
    echo "$code" >"$status"
  } </dev/null | tee "$logs/$name.log" | digest "$sums" "$status"
  read -r p f s <"$sums" || { p=0 f=1 s=0; }
  seconds=$(($(date +%s) - begin))
  printf '%-24s %4d passed, %d failed, %d skipped, %d s\n' "$name" "$p" "$f" "$s" "$seconds"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done

if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
