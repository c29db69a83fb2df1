#!/bin/sh
# SPDX-License-Identifier: MIT
# Are the checks able to fail? Every defect of every workshop, the built-in wrong kernels, starters and solutions. TAP.
# --named runs one check a defect; test-full runs the whole matrix.
set -u
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export ASSAY_BUILD_DIR="$BUILD" ASSAY_SOURCE_DIR="${ASSAY_SOURCE_DIR:-$PWD}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$BUILD/assay" prove all --named --seed 20261130 --color=never >"$folder/log" 2>&1
code=$?
number=0
while IFS= read -r line; do
  case $line in
  caught* | right*) word=ok ;;
  SURVIVED* | WRONG* | unproved*) word="not ok" ;;
  *) continue ;;
  esac
  number=$((number + 1))
  echo "$word $number - $line" | sed 's/#/no. /g'
done <"$folder/log"
number=$((number + 1))
if [ $code -eq 0 ]; then
  echo "ok $number - prove all exits 0: $(tail -n 1 "$folder/log")"
else
  echo "not ok $number - prove all exits $code"
  grep -v '^caught' "$folder/log" | sed 's/^/# /'
fi

# A list with a defect that no check can see, and one whose check is not the one that sees it, must not be proved.
mkdir "$folder/tree"
for part in Makefile include core device ops check cli workshops; do cp -R "$ASSAY_SOURCE_DIR/$part" "$folder/tree/"; done
list=$(find "$folder/tree/workshops" -name broken.txt | head -n 1)
name=$(basename "$(dirname "$list")" | sed 's/^w[0-9]*_//')
solution=$(basename "$(find "$(dirname "$list")" -name '*_solution.c')")
cat >"$list" <<EOF
[harmless]
file: $solution
caught-by: worked_example
why: nothing changes
- #include "assay/workshop.h"
+ #include "assay/workshop.h" /* the same */
[unknown_check]
file: $solution
caught-by: no_such_check
why: the check has another name
- #include "assay/workshop.h"
+ #error "nothing"
EOF
ASSAY_SOURCE_DIR="$folder/tree" "$BUILD/assay" prove "$name" --filter 'harmless|unknown_check' --color=never >"$folder/log" 2>&1
code=$?
number=$((number + 1))
if [ $code -eq 1 ] && [ "$(grep -c '^SURVIVED' "$folder/log")" -eq 2 ]; then
  echo "ok $number - a defect that nothing catches, or that names no check, fails the proof"
else
  echo "not ok $number - two defects had to survive, exit $code"
  sed 's/^/# /' "$folder/log"
fi
echo "1..$number"
