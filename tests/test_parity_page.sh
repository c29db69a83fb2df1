#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/sanitizer-parity.md says what our tools say now; and what a run under compute-sanitizer is taken for, with a
# stand-in that prints what the real one would. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
count=0 failed=0
report() { # report STATUS WHAT
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failed=$((failed + 1))
    echo "not ok $count - $2"
    sed 's/^/# /' "$folder/out" | head -n 12
  fi
}

scripts/parity.sh print >"$folder/page" 2>"$folder/out" && diff docs/sanitizer-parity.md "$folder/page" >"$folder/out"
report $? "the page has what our tools say now (scripts/parity.sh page)"

# ---- a stand-in for compute-sanitizer, which judges by the name of the kernel ------------------------------------
cat >"$folder/compute-sanitizer" <<'END'
#!/bin/sh
case "$*" in
--help) echo "  --initcheck-address-space arg" ;;
*"--run finds") echo "at finds+0x50 in fault_races.cu:54"; echo "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)"; exit 9 ;;
*"--run wrong_exit") echo "in fault_memory.cu:28"; echo "in fault_memory.cu:9"; echo "ERROR SUMMARY: 3 errors"; exit 1 ;;
*"--run silent") echo "$*"; echo "ERROR SUMMARY: 0 errors" ;;
*"--run sleeps") exec sleep 30 ;;
*"--run breaks") echo "could not attach"; exit 2 ;;
esac
END
chmod +x "$folder/compute-sanitizer"
PATH=$folder:$PATH
export PATH PARITY_SECONDS=1 PARITY_PROGRAM=program
judged() { # judged NAME TOOL WORD LINES
  scripts/parity.sh one "$1" "$2" "$folder" >"$folder/out" 2>&1
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" | cmp -s - "$folder/out"
  report $? "a run under $2 that $1 is '$3'"
}
judged finds racecheck found 54
judged wrong_exit memcheck found 9,28
judged silent initcheck - ""
judged sleeps synccheck hang ""
judged breaks memcheck failed ""
grep -q -e '--initcheck-address-space all' "$folder/silent-initcheck.log"
report $? "initcheck looks at shared memory where it can"

# ---- the words of the table ------------------------------------------------------------------------------------
cat >"$folder/program" <<'END'
#!/bin/sh
printf 'crooked\tmemory\tfault_memory.cu:28\tline\t-\t9\t-\n'
printf 'two_sides\trace\tfault_races.cu:54,55\t-\tline\t-\t-\n'
printf 'quiet\tnone\tclean_maps.cu\t-\t-\t-\t-\n'
END
chmod +x "$folder/program"
printf '%s\t%s\t%s\t%s\n' crooked memcheck found 9,28 crooked racecheck found 9 crooked initcheck - "" \
  two_sides racecheck found 55 two_sides memcheck hang "" quiet racecheck found 3 >"$folder/theirs"
PARITY_PROGRAM=$folder/program scripts/parity.sh print "$folder/theirs" >"$folder/page" 2>"$folder/out"
says() {
  grep -qF -e "$1" "$folder/page"
  status=$?
  cp "$folder/page" "$folder/out"
  report $status "$2"
}
# shellcheck disable=SC2016
says '| `crooked` | `fault_memory.cu:28` | line | - | other | - | line | other | - | ? |' "lines, other lines, silence, not run"
# shellcheck disable=SC2016
says '| `two_sides` | `fault_races.cu:54,55` | - | line | - | - | hang | line | ? | ? |' "either line of a race counts"
says '| Races | 1 | race: 1 | racecheck: 1 | 1 |' "finds are counted by kind"
says '| racecheck | 1 | 1 | quiet |' "a report on a kernel without a fault is counted"

echo "1..$count"
[ "$failed" -eq 0 ]
