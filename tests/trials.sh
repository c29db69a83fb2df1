#!/bin/sh
# SPDX-License-Identifier: MIT
# How far a verdict of `assay bench` can be trusted, tried for real: tests/trials.sh [ROUNDS] [FOLDER]
#
# A kernel is compared with itself, and with a copy of itself that does one row in twenty twice, on twenty shapes a
# round. The first must hardly ever be "faster" or "slower", the second nearly always "slower". The reports of the first
# round are kept in FOLDER as same.json and slower.json; tests/test_schedule.c judges the ones in tests/series/ again.
# It takes about five minutes a round and means nothing on a busy machine, so no test run calls it.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/build}
rounds=${1:-5}
kept=${2:-}
export ASSAY_SOURCE_DIR="$root" LC_ALL=C
name=softmax_backward
solution=$root/workshops/w2_softmax_backward/w2_solution.c
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
case $rounds in '' | *[!0-9]* | 0) echo "trials.sh: ROUNDS is \"$rounds\"; it must be a positive number" >&2; exit 64 ;; esac
[ -z "$kept" ] || [ -d "$kept" ] || { echo "trials.sh: FOLDER is \"$kept\"; it must be a folder" >&2; exit 64; }

mkdir "$folder/work" || exit 1
cp "$solution" "$folder/same.c"
# Rows are a multiple of twenty a thread, so that the copy does 5 % more to the row.
awk '{ print }
  /backward_rows\(in, dx, first, last, / {
    print "    for (int64_t r = first; r < last; r += 20) backward_rows(in, dx, r, r + 1, scratch + t * 2 * pitch, pitch);"
    found++
  }
  END { exit found != 1 }' "$solution" >"$folder/slower.c" || { echo "trials.sh: $solution has changed" >&2; exit 1; }

shapes=
for rows in 240 480 720 960; do
  for columns in 333 512 769 1024 1281; do shapes="$shapes${shapes:+,}${rows}x$columns"; done
done

# trial CANDIDATE: its verdicts against the solution, one a line.
cd "$folder" || exit 1
trial() {
  cp "$1.c" "work/$name.c"
  "$BUILD/assay" bench "$name" --shape "$shapes" --against same.c -o "$1.json" >out 2>err || { cat out err >&2; exit 1; }
  "$BUILD/assay" verify "$1.json" >out 2>&1 || { cat out >&2; exit 1; }
  sed -n 's/^ *"verdict": "\(faster\|slower\|same\|cannot tell\)".*/\1/p' "$1.json"
}

: >same.verdicts
: >slower.verdicts
round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  for candidate in same slower; do
    trial $candidate >>$candidate.verdicts || exit 1
    # Where this machine has its temporary folder is nobody's concern.
    if [ -n "$kept" ] && [ "$round" -eq 1 ]; then sed "s#$folder/##" $candidate.json >"$kept/$candidate.json" || exit 1; fi
  done
done

all=$(wc -l <same.verdicts)
false=$(grep -c -e faster -e slower same.verdicts)
found=$(grep -c slower slower.verdicts)
for candidate in same slower; do
  echo "$candidate:" && sort $candidate.verdicts | uniq -c
done
echo "a kernel against itself: $false of $all verdicts are false"
echo "the same, 5 % slower: found in $found of $(wc -l <slower.verdicts)"
[ $((false * 20)) -le "$all" ] && [ $((found * 10)) -ge $((all * 9)) ]
