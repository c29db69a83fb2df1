#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay list --suite`: all that is timed, in the words of a report, and the same wherever it is printed. TAP on stdout.
. "$(dirname "$0")/tap.sh"
assay=$BUILD/assay

# DESCRIPTION: the files `want` and `got` hold the same, and something.
same() {
  if [ -s want ] && cmp -s want got; then
    say ok "$1"
  else
    say "not ok" "$1"
    diff want got | sed 's/^/# /' | head -n 20
  fi
}

ends "the suites are printed" 0 list --suite
printf '%s\n' "$output" >suite.json
ends "--json changes nothing" 0 list --suite --json
printf '%s\n' "$output" >again.json
cp suite.json want && cp again.json got
same "it is JSON as it is"
if command -v python3 >/dev/null 2>&1; then
  python3 -m json.tool suite.json >/dev/null 2>&1 && say ok "Python reads it" || say "not ok" "Python reads it"
else
  say ok "Python reads it # SKIP no python3"
fi
expect "--backend picks from another list" 64 '^error: --suite .*leave out' list --suite --backend cpu
shows "in one line" 1 .
expect "so does --level" 64 '^error: --suite .*leave out' list --level beginner --suite
expect "--help has it" 0 '^  --suite ' list --help

# ---- all that is timed ------------------------------------------------------------------------------------------

# The names of a list stand two places deeper than the list's own.
"$BUILD/tests/test_suites" --list >want
awk -F '"' '/^      "name": / { op = $4 } /^          "name": / { name = $4 } /^          "sampled_rounds": / { print op "\t" name }' \
  suite.json >got
same "the operators and cases are those of the suites"
"$assay" list --json | awk '/^  "operators"/ { on = 1 } /^  "exercises"/ { on = 0 } on && /^          "name": / { print $2 }' >want
awk '/^          "name": / { name = $2 } /^          "sources": / { print name }' suite.json >got
same "the variants are those of the list, in its order"
grep -c '^            "cuda"$' suite.json >got
grep -c '^          "sampled": ' suite.json >want
same "a GPU's suite holds every case"
[ "$(grep -c '^            "cpu",$' suite.json)" -lt "$(cat want)" ] && say ok "and the CPU's holds fewer" ||
  say "not ok" "and the CPU's holds fewer"

# ---- the same everywhere ----------------------------------------------------------------------------------------

grep -E '"(available|reason|preferred)"' suite.json && say "not ok" "nothing is said of this machine" ||
  say ok "nothing is said of this machine"
cp suite.json want
mkdir other && cd other && ASSAY_CPU_FEATURES='' OMP_NUM_THREADS=1 "$assay" list --suite >../got
cd .. || exit 1
same "features of the processor and threads change nothing"

# ---- the words of a report --------------------------------------------------------------------------------------

operator=$(awk -F '"' '/^      "name": / { print $4; exit }' suite.json)
first=$(awk -F '"' '/^          "dtype": / { print name; exit } { name = $4 }' suite.json)
shape=$(printf '%s\n' "$first" | tr ' ' ':')
ends "the first case is timed" 0 bench "$operator" --library --variant plain --shape "$shape" --protocol seeds --threads 1 -o r.json

# FILE: the first case from its name to its work, without the indentation.
case_of() {
  awk -v name="\"name\": \"$first\"" '{ sub(/^ */, "") } index($0, name) { on = 1 } on { print } on && /^"flops"/ { exit }' "$1"
}
case_of r.json >want
case_of suite.json >got
same "a case has the words of its report"
awk -F '"' '/"kind": "library"/ { on = 1 } on && /"path": / { print $4 } on && /"options": / { exit }' r.json >want
awk -F '"' '$4 == "plain" { on = 1 } on && /^            "/ { print $2 } on && /^          \]/ { exit }' suite.json >got
same "the files of a variant are those of its report"
for key in contract:formula tolerance:tolerance; do
  sed -n "s/^ *\"${key%:*}\": //p" r.json | sed 's/,$//' >want
  sed -n "s/^ *\"${key#*:}\": //p" suite.json | sed 's/,$//' | head -n 1 >got
  same "so is its ${key#*:}"
done

echo "1..$number"
