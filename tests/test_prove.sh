#!/bin/sh
# SPDX-License-Identifier: MIT
# Are the checks able to fail? Every defect of every workshop, the built-in wrong kernels, starters and solutions. TAP.
# --named runs one check a defect; `assay prove all` shows the whole matrix.
set -u
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export ASSAY_BUILD_DIR="$BUILD" ASSAY_SOURCE_DIR="${ASSAY_SOURCE_DIR:-$PWD}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One process an exercise, as many at a time as there are CPUs.
names=$("$BUILD/assay" list --json | sed -n '/"exercises"/,$s/^      "name": "\(.*\)",$/\1/p')
prove_one="\"$BUILD/assay\" prove \"\$0\" --named --seed 20261130 --color=never >\"$folder/\$0.log\" 2>&1
  echo \$? >\"$folder/\$0.code\""
# shellcheck disable=SC2086
printf '%s\n' $names | xargs -P "$(nproc 2>/dev/null || echo 1)" -n 1 sh -c "$prove_one"
number=0
for name in $names; do
  while IFS= read -r line; do
    case $line in
    caught* | right*) word=ok ;;
    SURVIVED* | WRONG* | unproved*) word="not ok" ;;
    *) continue ;;
    esac
    number=$((number + 1))
    echo "$word $number - $name: $line" | sed 's/#/no. /g'
  done <"$folder/$name.log"
  number=$((number + 1))
  code=$(cat "$folder/$name.code")
  if [ "$code" -eq 0 ]; then
    echo "ok $number - prove $name exits 0: $(tail -n 1 "$folder/$name.log")"
  else
    echo "not ok $number - prove $name exits $code"
    grep -v '^caught' "$folder/$name.log" | sed 's/^/# /'
  fi
done
[ -n "$names" ] || { number=$((number + 1)) && echo "not ok $number - there is no exercise to prove"; }

# A list with a defect that no check can see, and one whose check is not the one that sees it, must not be proved.
mkdir "$folder/tree"
for part in Makefile include core device ops check cli workshops; do cp -R "$ASSAY_SOURCE_DIR/$part" "$folder/tree/"; done
list=$(find "$folder/tree/workshops/" -path "*/w1_*" -name broken.txt)
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
