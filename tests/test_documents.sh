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

# ---- this project's documents and reports ---------------------------------------------------------------------
cd "$here" || exit 1
right=0
: >"$out"
for document in $(find . -name '*.md' -not -path './build*' -not -path './work/*' -not -path './.git/*' | sort); do
  grep -q '<!-- report:' "$document" || continue
  "$assay" verify "$document" >>"$out" 2>&1 || right=1
done
report $right "numbers in documents that cite a report are in it"

right=0
: >"$out"
for file in $(find results -name '*.json' -not -path '*/sources/*' 2>/dev/null | sort); do
  "$assay" verify "$file" >>"$out" 2>&1 || right=1
done
report $right "every report that is kept is valid"

# ---- a tree of its own ----------------------------------------------------------------------------------------
tree=$folder/tree
mkdir -p "$tree/include/assay" "$tree/core" "$tree/results/sources" "$tree/docs"
cp include/assay/*.h "$tree/include/assay/"
cp core/stats.c core/hash.c core/rng.c "$tree/core/"
export ASSAY_SOURCE_DIR="$tree"
"$BUILD/tests/test_verify" "$tree/results/sample.json" || exit 1
for file in stats hash rng; do
  hash=$(sha256sum <"$tree/core/$file.c" | cut -d' ' -f1)
  cp "$tree/core/$file.c" "$tree/results/sources/$hash"
done
op=$(sed -n 's/.*"operator": "\(.*\)",/\1/p' "$tree/results/sample.json" | head -n 1)
cd "$tree" || exit 1

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

for wrong in "fast|median us|21" "fast|ratio plain|2.2x" "fast|ratio plain|2.0" "even|verdict plain|faster" "absent|median us|20" \
  "fast|mode|20" "fast|ratio nobody|2.0x" "fast|median us|about 20"; do
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
