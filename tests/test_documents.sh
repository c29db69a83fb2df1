#!/bin/sh
# SPDX-License-Identifier: MIT
# Every number in a document that cites a report is held to it; and the tool that does so is tried on a tree of its own.
# Prints TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
BUILD=${BUILD:-$here/build}
case $BUILD in /*) ;; *) BUILD=$here/$BUILD ;; esac
assay=$BUILD/assay
export LC_ALL=C ASSAY_SOURCE_DIR="$here"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out
count=0 failed=0
report() { # report STATUS WHAT
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failed=$((failed + 1))
    echo "not ok $count - $2"
    sed 's/^/# /' "$out" | head -n 12
  fi
}
# run CODE ARGUMENT...: sets `right` to 0 when assay exits with CODE.
run() {
  wanted=$1
  shift
  "$assay" "$@" >"$out" 2>&1 </dev/null
  code=$?
  right=0
  [ $code -eq "$wanted" ] || { right=1 && echo "# exit code $code, not $wanted: $*"; }
}
says() { grep -qF -e "$1" "$out" || { right=1 && echo "# not said: $1"; }; }

# Cells of the measured tables with a number that is not cited, of FILE.
uncited() {
  awk '/^## Measured: / { on = 1 } /^## What lost/ { on = 0 } on && /^\| / {
    gsub(/<!-- report:[^>]*-->[0-9.]+x( \[[0-9.]+, [0-9.]+\])?/, "")
    gsub(/<!-- report:[^>]*-->[0-9.]+/, "")
    gsub(/`[^`]*`/, "") # the name of a kernel may have digits
    cells = split($0, cell, "|")
    for (i = 5; i < cells; i++) if (cell[i] ~ /[0-9]/ && cell[i] !~ /^ left out: /) print NR ": " cell[i]
  }' "$1"
}

# ---- this project's documents and reports ---------------------------------------------------------------------
cd "$here" || exit 1
right=0
: >"$out"
for document in $(find . -name '*.md' -not -path './build*' -not -path './work/*' -not -path './.git/*' | sort); do
  grep -q '<!-- report:' "$document" || continue
  "$assay" verify "$document" >>"$out" 2>&1 || right=1
done
report $right "numbers in documents that cite a report are in it"
: >"$out"
[ ! -e results/VALIDATION.md ] || uncited results/VALIDATION.md >"$out"
[ ! -s "$out" ]
report $? "every measured number in the validation's tables cites a report"

right=0
: >"$out"
for file in $(find results -name '*.json' -not -path '*/sources/*' 2>/dev/null | sort); do
  "$assay" verify "$file" >>"$out" 2>&1 || right=1
done
report $right "every report that is kept is valid"

# ---- a tree of its own ----------------------------------------------------------------------------------------
tree=$folder/tree
mkdir -p "$tree/include/assay" "$tree/core" "$tree/results" "$tree/docs"
cp include/assay/*.h "$tree/include/assay/"
cp core/stats.c core/hash.c core/rng.c "$tree/core/"
export ASSAY_SOURCE_DIR="$tree"
"$BUILD/tests/test_verify" "$tree/results/sample.json" || exit 1
op=$(sed -n 's/.*"operator": "\(.*\)",/\1/p' "$tree/results/sample.json" | head -n 1)
cd "$tree" || exit 1

# The copies of what ran.
run 0 verify results/sample.json --keep
says "3 sources kept, 3 of them copied to $tree/results/sources now"
for file in stats hash rng; do
  cmp -s "core/$file.c" "results/sources/$(sha256sum <"core/$file.c" | cut -d' ' -f1)" || right=1
done
[ "$(ls results/sources | wc -l)" -eq 3 ] || right=1
report $right "--keep copies every source that ran, by its hash"
ls -i --full-time results/sources >"$folder/before"
run 0 verify results/sample.json --keep
says '3 sources kept, 0 of them copied'
ls -i --full-time results/sources >"$folder/after"
cmp -s "$folder/before" "$folder/after" || right=1
report $right "--keep leaves the copies alone that are there"
mkdir -p "$folder/bare/include/assay" "$folder/moved"
cp include/assay/*.h "$folder/bare/include/assay/"
cp -R results "$folder/moved/results"
mkdir "$folder/moved/results/cpu" && mv "$folder/moved/results/sample.json" "$folder/moved/results/cpu/"
export ASSAY_SOURCE_DIR="$folder/bare"
cd "$folder" || exit 1
run 0 verify "$folder/moved/results/cpu/sample.json"
says 'valid, not current'
rm "$folder/moved/results/sources/$(sha256sum <tree/core/rng.c | cut -d' ' -f1)"
"$assay" verify "$folder/moved/results/cpu/sample.json" 2>&1 | grep -qF 'core/rng.c is gone, and no copy' || right=1
report $right "with its copies a report is valid without the tree, and not without one of them"
export ASSAY_SOURCE_DIR="$tree"
cd "$tree" || exit 1
mkdir "$folder/away" && cp results/sample.json "$folder/away/"
mv results/sources "$folder/sources.away"
run 0 verify "$folder/away/sample.json" --keep --json
says '"sources_copied": 3'
[ "$(ls "$folder/away/sources" | wc -l)" -eq 3 ] || right=1
report $right "a report elsewhere has its copies beside it"
echo '/* edited */' >>core/stats.c
run 1 verify results/sample.json --keep
says 'core/stats.c is another file now, and no copy'
[ ! -e results/sources ] || right=1
report $right "--keep keeps nothing when a source is not the one that ran"
sed -i '$d' core/stats.c
mv "$folder/sources.away" results/sources
run 64 verify README.md --keep
says '--keep copies the sources of reports'
report $right "--keep is not for documents"

cite() { echo "<!-- report: results/sample.json; $op; 64x64; $1; $2 -->$3"; }
{
  echo "# A page"
  echo "fast takes $(cite fast 'median us' 20) us, that is $(cite fast 'ratio plain' 2.0x) (plain / fast)."
  echo "even against plain: $(cite even 'verdict plain' same)."
  echo 'A citation in `<!-- report: code -->` is no citation.'
} >docs/good.md
run 0 verify docs/good.md
says '3 numbers cited, 0 findings'
report $right "right numbers are accepted, in as many digits as are written"
jq_there=0
command -v jq >/dev/null 2>&1 && jq_there=1
if [ $jq_there -eq 1 ]; then
  jq -r --arg op "$op" '.cases[] | select(.name | test("64x64")) | .comparisons[] | select(.candidate == "fast") |
    "\(.ratio) \(.low) \(.high) \(.verdict)"' results/sample.json |
    while read -r ratio low high verdict; do
      cite fast 'comparison plain' "$(printf '%.2fx [%.2f, %.3f] %s' "$ratio" "$low" "$high" "$verdict")"
    done >docs/whole.md
  run 0 verify docs/whole.md
  says '1 number cited, 0 findings'
  report $right "a whole comparison is accepted"
else
  report 0 "a whole comparison is accepted # SKIP no jq here"
fi

for wrong in "fast|median us|21" "fast|ratio plain|2.2x" "fast|ratio plain|2.0" "even|verdict plain|faster" "absent|median us|20" \
  "fast|mode|20" "fast|comparison plain|2.0x faster" "fast|comparison plain|2.0x [1.1, 2.0] faster" \
  "fast|comparison plain|2.0x [2.0, 2.0] slower" "fast|percent of ceiling|0.0001" "fast|ratio nobody|2.0x" "fast|median us|about 20"; do
  variant=${wrong%%|*} value=${wrong##*|} field=${wrong#*|}
  { echo "# A page" && echo && cite "$variant" "${field%|*}" "$value"; } >docs/bad.md
  run 1 verify docs/bad.md
  says 'docs/bad.md:3: '
  report $right "a wrong citation is found: $wrong"
done
for text in '<!-- report: results/none.json; a; b; c; median us -->1' '<!-- report: results/sample.json; a; b -->1' \
  "<!-- report: results/sample.json; $op; 9x9; fast; median us -->20" "<!-- report: results/sample.json; $op; fp32; fast; median us -->20"; do
  echo "$text" >docs/bad.md
  run 1 verify docs/bad.md
  says 'docs/bad.md:1: '
  report $right "a citation that leads nowhere is found: $text"
done

# ---- the page that is written from reports and checks -----------------------------------------------------------
mkdir -p scripts checks "$folder/bin"
cp "$here/scripts/validation.sh" "$here/scripts/validation_review.md" scripts/
ln -s "$(command -v dirname)" "$folder/bin/"
PATH=$folder/bin ASSAY=$assay /bin/sh scripts/validation.sh results/sample.json >"$out" 2>&1
[ $? -eq 3 ] && [ "$(wc -l <"$out")" -eq 1 ] && grep -q 'jq is needed' "$out"
report $? "validation.sh without jq is unavailable"
if [ $jq_there -eq 1 ]; then
  for name in $("$assay" list --json | jq -r '.exercises[].name'); do
    for what in solution library; do
      echo '{"passed": 41, "failed": 0, "unavailable": 2, "seed": 5, "tier": "M", "checks": [{"variant": "avx2"}]}' \
        >"checks/$name.$what.json"
    done
  done
  ASSAY=$assay sh scripts/validation.sh >"$out" 2>&1
  [ $? -eq 64 ] && grep -q 'there is no report results/cpu/library-warm.json: ./assay bench' "$out"
  report $? "validation.sh names the report that is absent"
  cp results/sample.json results/lib-warm.json
  "$BUILD/tests/test_verify" results/lib-cold.json cold
  CHECKS=checks ASSAY=$assay sh scripts/validation.sh results/lib-warm.json results/lib-cold.json >"$out" 2>&1
  right=$?
  says 'numbers cited, 0 findings'
  for words in "| $op | library | 41 | 0 | 2 | avx2 | M | 5 |" '`results/lib-cold.json`' '## What is not claimed' \
    '| warm: median us |' '| cold: median us |' 'Machine: Example CPU'; do
    grep -qF -e "$words" results/VALIDATION.md || { right=1 && echo "# not written: $words"; }
  done
  [ "$(grep -c '^- .*slower$' results/VALIDATION.md)" -eq 0 ] && grep -qx 'None.' results/VALIDATION.md || right=1
  [ "$(grep -c '^| 64x64\|^| 128x128' results/VALIDATION.md)" -eq 2 ] || right=1
  uncited results/VALIDATION.md >>"$out"
  [ -z "$(uncited results/VALIDATION.md)" ] || right=1
  report $right "validation.sh writes a page whose measured numbers are all cited"
  sed '/^## Measured/,$ s/-->[1-9][0-9]*\.[0-9]* |/-->1.00 |/' results/VALIDATION.md >docs/bad.md
  run 1 verify docs/bad.md
  says 'median us of'
  report $right "a changed median in it is found"
  ! grep -q '^## Measured: on a GPU' results/VALIDATION.md
  report $? "without reports of a GPU it has no part about one"

  # The same library by both clocks, and other kernels: no ratio between two files, and a kernel that is left out shows.
  mkdir results/h200
  "$BUILD/tests/test_verify_gpu" results/h200/lib-graph.json graph
  "$BUILD/tests/test_verify_gpu" results/h200/lib-events.json events
  jq '.mode = "graph" | .prediction = null | .label = "exploratory" | .cases[].comparisons = [] | .cases[].variants[].kind = "baseline" |
    .cases[].variants[].name |= "other_" + . | .cases[].skipped = [{name: "other_lost", reason: "wrong | and more"}]' \
    results/h200/lib-graph.json >results/h200/others.json
  CHECKS=checks ASSAY=$assay sh scripts/validation.sh results/lib-warm.json results/lib-cold.json >"$out" 2>&1
  right=$?
  says 'numbers cited, 0 findings'
  for words in '## Measured: on a GPU' '| graph, warm: median us | ratio | SM MHz | events, warm: median us | ratio | SM MHz |' \
    'other_fast (baseline)' 'other_lost |  | left out: wrong   and more' '`results/h200/lib-graph.json`: empty graph node 1.25 us' \
    '; fast; sm mhz -->1722'; do
    grep -qF -e "$words" results/VALIDATION.md || { right=1 && echo "# not written: $words"; }
  done
  uncited results/VALIDATION.md >>"$out"
  [ -z "$(uncited results/VALIDATION.md)" ] || right=1
  grep -E '^\|[^|]*\| other_' results/VALIDATION.md | grep -qE -e '-->[0-9.]+x' && right=1
  report $right "reports of a GPU stand in a table of their own, every number cited"
  ! grep -q 'From Python' results/VALIDATION.md
  report $? "without reports of assay.bench it has no part about Python"
  jq '.overheads[].name = "assay.softmax(x)"' results/h200/lib-graph.json >results/h200/python-graph.json
  cp results/lib-warm.json results/h200/python-cpu-1.json
  CHECKS=checks ASSAY=$assay sh scripts/validation.sh results/lib-warm.json results/lib-cold.json >"$out" 2>&1
  right=$?
  says 'numbers cited, 0 findings'
  for words in '## From Python: on a GPU' '| graph: median us | to the fastest peer |' '## From Python: on a CPU' \
    '`results/h200/python-graph.json`: `assay.softmax(x)` 1.25 us' 'fast; ratio plain -->2.00x `plain` |' '| plain (peer) |'; do
    grep -qF -e "$words" results/VALIDATION.md || { right=1 && echo "# not written: $words"; }
  done
  uncited results/VALIDATION.md >>"$out"
  [ -z "$(uncited results/VALIDATION.md)" ] || right=1
  report $right "reports of assay.bench stand in a part of their own, with ratios to the fastest peer"
  sed 's/sm mhz -->1722/sm mhz -->1980/' results/VALIDATION.md >docs/bad.md
  run 1 verify docs/bad.md
  says 'sm mhz of fast at 64x64 packed fp32 is 1722, not 1980'
  report $right "a changed clock in it is found"
  rm -r results/VALIDATION.md results/lib-warm.json results/lib-cold.json results/h200
else
  for what in "validation.sh names the report that is absent" "a changed median in it is found" \
    "without reports of a GPU it has no part about one" "without reports of assay.bench it has no part about Python" \
    "reports of assay.bench stand in a part of their own, with ratios to the fastest peer" "a changed clock in it is found" \
    "reports of a GPU stand in a table of their own, every number cited" \
    "validation.sh writes a page whose measured numbers are all cited"; do
    report 0 "$what # SKIP no jq here"
  done
fi

# A changed kernel makes its report valid only, and the document has to say so.
run 0 verify results/sample.json
says 'valid and current'
report $right "a report is valid and current"
echo '/* edited */' >>core/stats.c
run 0 verify results/sample.json
says 'valid, not current'
says 'core/stats.c has changed'
report $right "a changed kernel leaves its report valid, by the kept copy"
run 1 verify results/sample.json --current
report $right "--current makes that a finding"
run 1 verify docs/good.md
says 'is not current, and the number does not say so'
report $right "a document without the label is found"
run 0 verify docs/good.md --label
says '3 labels changed'
grep -q '20 (not current) us' docs/good.md || right=1
report $right "--label writes it"
run 0 verify docs/good.md
report $right "a labelled document is accepted"
sed -i '$d' core/stats.c
run 1 verify docs/good.md
says 'the label is out of date'
report $right "a label that is out of date is found"
run 0 verify docs/good.md --label
! grep -q 'not current' docs/good.md || right=1
report $right "--label takes it away"
kept=$(ls results/sources | head -n 1)
printf x >>"results/sources/$kept"
run 1 verify results/sample.json
says 'kept copy'
report $right "a byte more in a kept copy is found"

echo "1..$count"
[ "$failed" -eq 0 ]
