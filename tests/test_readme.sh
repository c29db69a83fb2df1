#!/bin/sh
# SPDX-License-Identifier: MIT
# Do the README files tell the truth? Every command of a console block of README.md is run and its output compared with
# what stands there; data/README.md is held to the files beside it. TAP on stdout.
#
# What differs from run to run and from machine to machine is masked on both sides: times, seeds, hashes, the processor,
# which variant it runs, and how large errors are. `...` as a transcript's first line stands for what goes before.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export LC_ALL=C BUILD ASSAY_SOURCE_DIR="$root"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

count=0 failures=0
# report WHAT: what stands in $scratch/wrong is what is wrong; nothing is a pass.
report() {
  count=$((count + 1))
  if [ ! -s "$scratch/wrong" ]; then
    echo "ok $count - $1"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    head -n 60 "$scratch/wrong" | sed 's/^/# /'
  fi
}

# ---- README.md --------------------------------------------------------------------------------------------------

# How many checks run depends on the instructions of the processor and on whether there is a GPU: where they are not those
# of the README's machine, which has no GPU, the counts are masked too.
gpu=no
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then gpu=yes; fi
features=$("$BUILD/assay" env --json | sed -n 's/^ *"cpu_features": "\(.*\)".*/\1/p')
mask() {
  sed -e "s|$BUILD/assay|../../assay|g; s|$BUILD|build|g; s|cd ${BUILD#"$root/"}/demo|cd build/demo|" \
    -e 's/sha256 [0-9a-f]\{64\}/sha256 HASH/' -e 's/^seed [0-9]*,/seed N,/' \
    -e 's/^.* ([^()]*), [0-9]* threads:$/PROCESSOR/' -e 's/variant [a-z0-9_]*$/variant V/' \
    -e 's/largest error is .* ulp, .* % of what/largest error is E ulp, E % of what/' \
    -e 's/^\(   time of a call on logits, 1 thread: \).*/\1TIMES/' \
    -e 's/^\(   [a-z_]* .* \)[0-9.e+-]* %$/\1E %/' |
    if [ $gpu = no ] && grep -q "($features), [0-9]* threads:\$" README.md; then
      cat
    elif [ $gpu = yes ]; then
      sed -e 's/^\(   [a-z_]*\)  *[0-9]*  *[0-9]*   \(.* E %\)$/\1 N N \2/' \
        -e 's/^   all checks: [0-9]* passed, 0 failed, [0-9]* not/   all checks: N passed, 0 failed, N not/'
    else
      sed -e 's/^\(   [a-z_]*  *[0-9]*\)  *[0-9]*   \(.* E %\)$/\1 N \2/' \
        -e 's/^   all checks: [0-9]* passed, 0 failed, [0-9]* not/   all checks: N passed, 0 failed, N not/'
    fi
}

awk -v folder="$scratch" '
  /^```console$/ { on = 1; next }
  /^```/ { on = 0 }
  on && /^\$ / { n++; print substr($0, 3) >(folder "/" n ".command"); printf "" >(folder "/" n ".want"); next }
  on { print >(folder "/" n ".want") }
  END { print n + 0 >(folder "/commands") }' README.md

# A folder as the reader's own, with the name that the commands use for the arrays.
mkdir "$scratch/reader" && ln -s "$root/data" "$scratch/reader/data"

# perform COMMAND: what the reader would see. The tests cannot run themselves: the last line of one test stands for it.
perform() {
  case $1 in
  "./assay "*) (cd "$scratch/reader" && eval "\"$BUILD/assay\" ${1#./assay }") ;;
  "./setup demo") scripts/demo.sh ;;
  "./setup test")
    mkdir -p "$scratch/build/tests" && ln -s "$BUILD/tests/test_status" "$scratch/build/tests/"
    BUILD=$scratch/build tests/run.sh status | tail -n 1
    ;;
  *) echo "tests/test_readme.sh does not know how to run this" ;;
  esac 2>&1
}

# transcript NUMBER COMMAND: what the README shows and what was seen, masked, must not differ.
transcript() {
  perform "$2" >"$scratch/seen"
  if [ "$(head -n 1 "$scratch/$1.want")" = ... ]; then
    sed 1d "$scratch/$1.want" >"$scratch/want"
    tail -n "$(wc -l <"$scratch/want")" "$scratch/seen" >"$scratch/last"
    mv "$scratch/last" "$scratch/seen"
  else
    cp "$scratch/$1.want" "$scratch/want"
  fi
  for side in want seen; do
    mask <"$scratch/$side" >"$scratch/$side.masked"
    if [ "$2" = "./setup test" ]; then # how many tests there are grows with every change
      sed 's/[0-9][0-9]* passed/N passed/; s/, [0-9]* skipped//' "$scratch/$side.masked" >"$scratch/$side"
      mv "$scratch/$side" "$scratch/$side.masked"
    fi
  done
  [ -s "$scratch/want.masked" ] || echo "the README shows no output"
  diff "$scratch/want.masked" "$scratch/seen.masked" | sed 's/^</README: /; s/^>/seen:   /'
}

number=0
while [ $number -lt "$(cat "$scratch/commands")" ]; do
  number=$((number + 1))
  command=$(cat "$scratch/$number.command")
  if [ "$command" = "./setup demo" ] && grep -qa __asan_init "$BUILD/assay"; then
    count=$((count + 1))
    echo "ok $count - \$ $command # SKIP a sanitizer makes it slow"
    continue
  fi
  transcript $number "$command" >"$scratch/wrong"
  report "\$ $command"
done

for command in "./setup demo" "./setup test" "./assay start " "./assay check " "./assay apply "; do
  grep -qF -e "$command" "$scratch"/*.command || echo "no console block runs $command"
done >"$scratch/wrong"
report "the transcripts of README.md show the main commands"

demo=$(grep -lx './setup demo' "$scratch"/*.command | head -n 1)
awk 'length($0) > 100 { print "longer than 100 columns: " $0 } END { if (NR > 41) print NR " lines are more than one screen" }' \
  "${demo%.command}.want" >"$scratch/wrong"
report "the demonstration ends with one screen"

# ---- data/README.md ---------------------------------------------------------------------------------------------

# row FILE: the file's line in the table as it should be, but for the words about it.
row() {
  header=$(head -c 128 "$1" | tr -d '\000')
  case $header in *"'fortran_order': False"*) ;; *) echo "$1 is not in C order" >>"$scratch/wrong" ;; esac
  [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' ')" = 934e554d50590100 ] || echo "$1 is not version 1.0" >>"$scratch/wrong"
  shape=$(printf '%s\n' "$header" | sed -n "s/.*'shape': (\([0-9, ]*\)).*/\1/p" | sed 's/,$//; s/, / x /g')
  case $header in *"'<f2'"*) type=FP16 ;; *"'<f4'"*) type=FP32 ;; *) type="another type" ;; esac
  echo "| \`$(basename "$1")\` | $shape | $type | $(($(wc -c <"$1"))) | \`$(sha256sum <"$1" | cut -d ' ' -f 1)\` |"
}

: >"$scratch/wrong"
for file in data/*.npy; do row "$file"; done | sort >"$scratch/files"
grep '^| `' data/README.md | awk -F '|' '{ print "|" $2 "|" $3 "|" $4 "|" $6 "|" $7 "|" }' | sort >"$scratch/table"
diff "$scratch/table" "$scratch/files" | sed -n 's/^</README: /p; s/^>/file:   /p' >>"$scratch/wrong"
[ "$(wc -l <"$scratch/files")" -ge 10 ] || echo "there are fewer than ten tensors" >>"$scratch/wrong"
report "data/README.md has the right shape, type, size and hash of every tensor"

total=$(cat data/*.npy | wc -c)
: >"$scratch/wrong"
[ "$total" -lt 4000000 ] || echo "$total bytes" >"$scratch/wrong"
grep -qF "$((total)) bytes together" data/README.md || echo "data/README.md does not say $((total)) bytes" >>"$scratch/wrong"
report "the tensors are less than 4 MB together"

echo "1..$count"
[ $failures -eq 0 ]
