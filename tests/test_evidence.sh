#!/bin/sh
# SPDX-License-Identifier: MIT
# verify, compare, predict, record, plot and practice on the command line: exit codes, streams, refusals, files that must
# not be lost. Prints TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
BUILD=${BUILD:-$here/build}
case $BUILD in /*) ;; *) BUILD=$here/$BUILD ;; esac
assay=$BUILD/assay
export LC_ALL=C ASSAY_SOURCE_DIR="$here"
unset NO_COLOR
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
out=$folder/.out err=$folder/.err
count=0 failed=0
report() { # report STATUS WHAT
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failed=$((failed + 1))
    echo "not ok $count - $2"
    sed 's/^/# stdout: /' "$out" | head -n 8
    sed 's/^/# stderr: /' "$err" | head -n 8
  fi
}
run() { # run CODE ARGUMENT...
  wanted=$1
  shift
  "$assay" "$@" >"$out" 2>"$err" </dev/null
  code=$?
  right=0
  [ $code -eq "$wanted" ] || { right=1 && echo "# exit code $code, not $wanted: $*"; }
}
says() { grep -qE -e "$1" "$out" || right=1; }
complains() { [ "$(wc -l <"$err")" -eq 1 ] && grep -qE -e "^error: .*$1" "$err" && [ ! -s "$out" ] || right=1; }
json() {
  [ ! -s "$err" ] && [ "$(head -n 1 "$out")" = "{" ] && [ "$(tail -n 1 "$out")" = "}" ] || right=1
}

"$BUILD/tests/test_verify" r.json || exit 1

# ---- verify ---------------------------------------------------------------------------------------------------
run 0 verify r.json --current
says '^valid and current  r.json$'
report $right "a good report is valid and current"
sed 's/"median_ns": [0-9.]*/"median_ns": 1.0/' r.json >bad.json
run 1 verify r.json bad.json
says '^bad.json:[0-9]+: cases\[0\]\.variants\[0\]\.statistics\.median_ns: '
says '^not valid  bad.json: [0-9]+ finding'
report $right "one line a finding, with file, line and field"
line=$(sed -n 's/^bad.json:\([0-9]*\): cases.0..variants.0..statistics.median_ns.*/\1/p' "$out" | head -n 1)
sed -n "${line:-1}p" bad.json | grep -q '"median_ns": 1.0' || right=1
report $right "the line is the one in the file"
run 1 verify bad.json --json
json
says '"valid": false'
report $right "verify --json"
run 64 verify absent.json
complains 'absent.json'
report $right "an absent file is a usage error"
run 64 verify
complains 'verify needs FILE'
report $right "verify needs a file"
printf '{' >torn.json
run 1 verify torn.json
says '^torn.json:1: '
report $right "a torn file is a finding"

# ---- compare --------------------------------------------------------------------------------------------------
run 8 compare r.json r.json
says '^4 compared, 0 slower, [1-4] cannot be told$'
says 'plain / fast$'
report $right "compare prints ratios with their baselines; what cannot be told is 8"
run 8 compare r.json r.json --json
json
says '"verdict": "'
report $right "compare --json"
sed 's/"cpu": "[^"]*"/"cpu": "Another CPU"/' r.json >elsewhere.json
run 8 compare r.json elsewhere.json
says 'two machines: their times form no ratio'
! grep -q 'old fast / new fast' "$out" || right=1
report $right "two machines form no ratio"
run 1 compare r.json bad.json
complains 'bad.json.*not valid, nothing is compared'
report $right "a report that is not valid is not compared"
run 64 compare r.json
complains 'compare needs OLD NEW'
report $right "compare needs two reports"
run 64 compare r.json absent.json
complains 'absent.json'
report $right "compare names the report that is absent"

# ---- predict --------------------------------------------------------------------------------------------------
run 0 predict new p.json '64x64: fast < 0.7 * plain' 'even > 0.9 * plain'
says '^wrote p.json: 2 claims'
report $right "predict new keeps claims"
cp p.json kept.json
run 1 predict new p.json 'fast < 0.1 * plain'
complains 'p.json exists'
cmp -s p.json kept.json || right=1
report $right "a prediction is never replaced"
run 64 predict new q.json 'fast <= 0.1 * plain'
complains 'claim 1.*\[SHAPE:\] VARIANT'
[ ! -e q.json ] || right=1
report $right "a claim that is none is refused, and nothing is written"
run 64 predict new q.json
complains 'needs a file and a claim'
report $right "predict new needs a claim"
run 64 predict guess
complains 'new or check'
report $right "predict takes new or check"
run 0 predict check r.json
says '^supported  .*64x64.*: fast < 0.7 \* plain'
report $right "predict check says supported"
run 0 predict check r.json --json
json
says '"fate": "supported"'
report $right "predict check --json"
run 1 predict check bad.json
complains 'not valid'
report $right "a report that is not valid supports nothing"

# ---- record ---------------------------------------------------------------------------------------------------
run 0 record new r.json
says '^wrote r.md$'
[ "$(grep -c '^## [0-9]*\. ' r.md)" -eq 15 ] || right=1
report $right "record new writes fifteen fields beside the report"
cp r.md kept.md
run 1 record new r.json
complains 'r.md exists: a record is never overwritten'
cmp -s r.md kept.md || right=1
report $right "record new never overwrites"
run 1 record check r.md
says '^r.md:[0-9]+: field 1, ".*", is blank$'
says '^r.md: 5 findings$'
report $right "record check finds the blanks"
sed 's/^\*\*(blank)\*\* .*/fast is faster than plain, 2.0x: plain \/ fast./' r.md >done.md
run 0 record check done.md
says '^done.md: 0 findings$'
report $right "a record whose claims hold passes"
sed 's/^\*\*(blank)\*\* .*/even is faster than plain, 3.0x: plain \/ even./' r.md >claims.md
run 1 record check claims.md
says 'the report gives [0-9.]*x: plain / even'
says '"faster": even against plain'
report $right "claims that the report does not support are found"
run 0 record new -o form.md
[ "$(grep -c '(blank)' form.md)" -eq 15 ] || right=1
report $right "without a report the form is blank"
run 1 record new bad.json --output bad.md
complains 'not valid, no record is made of it'
[ ! -e bad.md ] || right=1
report $right "no record is made of a report that is not valid"
mkdir -p sub
run 0 record new r.json --output sub/elsewhere.md
"$assay" record check sub/elsewhere.md >"$out" 2>"$err"
says '^sub/elsewhere.md: 5 findings$'
report $right "a record elsewhere still finds its report"
run 64 record check absent.md
complains 'absent.md'
report $right "record check names the absent record"
run 64 record new a b c
complains 'at most 3 names|is too many'
report $right "record new takes one report"

# A run of checks: correctness in place of timing.
run 0 check online_normalizer --solution --tier S --all --filter '^(every_cut|empty_identity)$' --json
cp "$out" checks.json
run 0 record new checks.json
says '^wrote checks.md$'
[ "$(grep -c '^## [0-9]*\. ' checks.md)" -eq 15 ] && [ "$(grep -c '(blank)' checks.md)" -eq 7 ] || right=1
grep -qE '^\| online_normalizer \| solution \| every_cut \| PASS \| [1-9][0-9]* \|  \|$' checks.md || right=1
grep -qx -e '- checks: 2 passed, 0 failed, 0 unfinished' checks.md || right=1
report $right "record new fills a record from a run of checks"
sed 's/^\*\*(blank)\*\* .*/words/' checks.md >filled.md
run 0 record check filled.md
report $right "a record of checks passes when its blanks are filled"
sed 's/| every_cut | PASS |/| every_cut | FAIL |/' filled.md >bad.md
run 1 record check bad.md
says 'the report gives no such row'
says 'a row of the report is missing'
report $right "a verdict that was changed is found"
sed 's/2 passed/20 passed/' filled.md >bad.md
run 1 record check bad.md
says 'the report gives no such row'
report $right "a sum that was changed is found"
sed 's/^words$/this is faster/' filled.md >bad.md
run 1 record check bad.md
says '"faster"'
report $right "checks support no claim about time"
echo >>checks.json
run 1 record check filled.md
says 'is not the one that this record is about'
report $right "an answer that was changed is found"

# ---- plot -----------------------------------------------------------------------------------------------------
run 0 plot r.json
says '^  fast .*\|.* us'
says 'each sample a dot'
report $right "plot shows dots in the terminal"
run 64 plot r.json -o r.pdf
complains '\.svg, \.png or \.html'
report $right "plot names the formats"
run 64 plot absent.json
complains 'absent.json'
report $right "plot names the absent report"
mkdir -p none
PATH=$folder/none "$assay" plot r.json --output none.svg >"$out" 2>"$err" </dev/null
[ $? -eq 3 ] && [ ! -e none.svg ] && grep -q 'gnuplot was not found' "$err" && grep -q 'each sample a dot' "$out"
report $? "without gnuplot a picture is unavailable, and the text follows"
PATH=$folder/none "$assay" plot r.json --output none.html >"$out" 2>"$err" </dev/null &&
  grep -q 'gnuplot was not found' none.html && grep -q '<pre>' none.html && grep -q '</html>' none.html
report $? "without gnuplot a page has text plots"

# A report with commands in its names: nothing of it may run, and nothing of it may become markup. Its numbers are good.
sed 's/"name": "fast"/"name": "`touch ran`<b>\\"$(touch ran)"/; s/"candidate": "fast"/"candidate": "`touch ran`<b>\\"$(touch ran)"/' \
  r.json >evil.json
run 0 plot evil.json -o evil.html
! grep -q '<b>' evil.html && [ ! -e ran ] || right=1
report $right "a name with commands in it stays a name on the page"
if command -v gnuplot >/dev/null 2>&1; then
  run 0 plot evil.json -o evil.svg
  [ ! -e ran ] && head -c 300 evil.svg | grep -q '<svg' || right=1
  report $right "and in a picture"
  run 0 plot r.json -o r.svg
  [ "$(grep -c '<use ' r.svg)" -ge 270 ] || right=1 # 2 cases x 3 variants x 45 samples
  report $right "every raw sample is a dot of the picture"
  run 0 plot r.json -o r.png
  [ "$(head -c 4 r.png | od -An -c | tr -d ' ')" = '211PNG' ] || right=1
  report $right "a PNG is a PNG"
  run 0 plot r.json -o r.html
  [ "$(grep -c '<svg' r.html)" -eq 3 ] && ! grep -qE '<script|src=|href="http' r.html || right=1
  grep -q 'valid and current' r.html && grep -q 'fast: faster' r.html || right=1
  report $right "a page holds its pictures and asks for no other file"
else
  for what in "and in a picture" "every raw sample is a dot of the picture" "a PNG is a PNG" \
    "a page holds its pictures and asks for no other file"; do
    count=$((count + 1))
    echo "ok $count - $what # SKIP no gnuplot here"
  done
fi

# ---- practice -------------------------------------------------------------------------------------------------
run 64 practice 1
complains 'no terminal: --yes'
report $right "practice without a terminal asks for --yes"
run 64 practice 7 --yes
complains 'from 1 to 6, capstone_a to capstone_c, bug, demo or list'
report $right "practice names what there is"
run 0 practice list
says '^capstone_b +split_softmax +Capstone B: '
report $right "practice list shows sessions and capstones"
run 64 practice 1 something --yes
complains 'its own exercise'
report $right "a session takes no exercise"
run 64 practice bug nothing_known --yes
complains 'no exercise'
report $right "the bug drill refuses an unknown exercise"
[ ! -e work ] || right=1
report $right "nothing was written by what was refused"

echo "1..$count"
[ "$failed" -eq 0 ]
