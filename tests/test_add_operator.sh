#!/bin/sh
# SPDX-License-Identifier: MIT
# Follows docs/adding-an-operator.md to the letter in a copy of the tree: `sh` blocks are run, `c` blocks put where their
# first lines say. Then the operator is looked at as its author would. The copy has the objects of the build folder with
# their dates, so that only what is new is compiled. Prints TAP.
cd "$(dirname "$0")/.." || exit 1
root=$PWD
BUILD=${BUILD:-build}
case $BUILD in /*) objects=$BUILD ;; *) objects=$root/$BUILD ;; esac
export LC_ALL=C
# In the copy everything is where it is by default; BUILD in the environment would lead make back here.
unset ASSAY_SOURCE_DIR ASSAY_BUILD_DIR BUILD
export MAKEFLAGS="${MAKEFLAGS:-} BUILD=build"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
tree=$scratch/tree
page=docs/adding-an-operator.md

count=0 failures=0
# report CODE NAME: the file `out` explains a failure.
report() {
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failures=$((failures + 1))
    echo "not ok $count - $2"
    tail -n 40 "$scratch/out" | sed 's/^/# /'
  fi
}

# ---- the copy --------------------------------------------------------------------------------------------------

mkdir -p "$tree/tests" "$tree/build"
cp -a Makefile assay include core device ops workshops check bench evidence cli scripts data "$tree/" &&
  cp -a tests/add_operator "$tree/tests/" &&
  for part in "$objects"/*; do
    case ${part##*/} in
    core | device | ops | workshops | check | bench | evidence | cli | embedded.* | flags | objects | requirements | revision | assay)
      cp -a "$part" "$tree/build/" ;;
    esac
  done >"$scratch/out" 2>&1
report $? "the tree is copied"
touch "$scratch/copied"
# The lists of dependencies name the objects where they were built.
find "$tree/build" -name '*.d' -exec sed -i \
  's#^[^ :]*/\(core\|device\|ops\|workshops\|check\|bench\|evidence\|cli\)/\([^ :]*[.]o:\)#build/\1/\2#' {} +

# ---- the page --------------------------------------------------------------------------------------------------

# Each fenced block becomes a file: 1.sh, 2.c, in the order of the page.
awk -v folder="$scratch" '
  /^```(sh|c)$/ { n++; file = folder "/" n "." substr($0, 4); next }
  /^```/ { file = "" }
  file != "" { print >file }
  END { print n + 0 >(folder "/blocks") }' "$page"
blocks=$(cat "$scratch/blocks")
[ "$blocks" -ge 6 ] && ls "$scratch"/*.c "$scratch"/*.sh >"$scratch/out" 2>&1
report $? "$page has its blocks"

# place FILE: "/* PATH: behind|before the line with TEXT */" and the lines for there; TEXT counts where it first stands.
place() {
  head=$(head -n 1 "$1")
  path=$(echo "$head" | sed -n 's#^/\* \([^:]*\): .*#\1#p')
  where=$(echo "$head" | sed -n 's#^/\* [^:]*: \(behind\|before\) the line with .*#\1#p')
  text=$(echo "$head" | sed -n 's#^/\* [^:]*: [a-z]* the line with \(.*\) \*/$#\1#p')
  [ -n "$where" ] && [ -n "$text" ] && [ -f "$tree/$path" ] || { echo "cannot read: $head" && return 1; }
  grep -qF -- "$text" "$tree/$path" || { echo "$path has no line with: $text" && return 1; }
  sed 1d "$1" >"$scratch/lines"
  awk -v where="$where" -v text="$text" -v lines="$scratch/lines" '
    function insert() { while ((getline line <lines) > 0) print line; done = 1 }
    !done && where == "before" && index($0, text) { insert() }
    { print }
    !done && where == "behind" && index($0, text) { insert() }' "$tree/$path" >"$scratch/changed" &&
    cp "$scratch/changed" "$tree/$path"
}

number=0
while [ "$number" -lt "$blocks" ]; do
  number=$((number + 1))
  if [ -e "$scratch/$number.c" ]; then
    place "$scratch/$number.c" >"$scratch/out" 2>&1
    report $? "block $number: $(head -n 1 "$scratch/$number.c" | sed 's/#/no. /g')"
    continue
  fi
  while read -r command; do
    (cd "$tree" && sh -c "$command") >"$scratch/out" 2>&1
    report $? "block $number: $command"
    case $command in
    *' prove '*) cp "$scratch/out" "$scratch/proof" ;;
    *' list') cp "$scratch/out" "$scratch/list" ;;
    *' bench '*) cp "$scratch/out" "$scratch/bench" ;;
    esac
  done <"$scratch/$number.sh"
done

# ---- what became of it -----------------------------------------------------------------------------------------

tail -n 3 "$scratch/proof" >"$scratch/out"
defects=$(grep -c '^\[' tests/add_operator/workshops/*/broken.txt)
grep -q ', 0 survived$' "$scratch/proof" && ! grep -q '^unproved\|^WRONG' "$scratch/proof" &&
  [ "$(grep -c '^caught' "$scratch/proof")" -gt "$defects" ]
report $? "every defect is caught, the built-in ones too, and every check is proved"
cp "$scratch/list" "$scratch/out"
[ "$(grep -c log_softmax "$scratch/list")" -ge 2 ]
report $? "list shows the operator and the exercise"
cp "$scratch/bench" "$scratch/out"
grep -q 'eager_fp32 / plain' "$scratch/bench"
report $? "bench compares the variant with its baseline"
(cd "$tree" && ./assay start w7 && ./assay lesson w7 && ./assay hint w7 --level 3) >"$scratch/out" 2>&1
report $? "a learner can begin"
(cd "$tree" && ./assay check w7) >"$scratch/out" 2>&1
[ $? -eq 2 ]
report $? "the starter is to be done"
(cd "$tree" && ./assay completion bash) >"$scratch/out" 2>&1
grep -q 'words="[^"]*log_softmax w7' "$scratch/out"
report $? "shells complete its name"
(cd "$tree/build" && find . -name '*.o' -newer "$scratch/copied") >"$scratch/out" 2>&1
new=$(wc -l <"$scratch/out")
[ "$new" -ge 5 ] && [ "$new" -le 12 ]
report $? "only what is new was compiled: $new objects"
echo "1..$count"
[ "$failures" -eq 0 ]
