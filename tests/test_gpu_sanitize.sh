#!/bin/sh
# SPDX-License-Identifier: MIT
# The stages `sanitize` and `huge` of scripts/gpu.sh without a GPU: a compute-sanitizer that finds something in what was
# planted and nothing elsewhere stands in for NVIDIA's. Every defect must fit its solution, and the sum must see what a tool
# says. TAP.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/package" "$folder/logs" "$folder/out"
export GPU_PACKAGE="$folder/package" PATH="$folder/bin:$PATH" OUT="$folder/out"
cp "$BUILD/assay" "$GPU_PACKAGE/assay"
cp "$BUILD/assay" "$GPU_PACKAGE/test_parity"
number=0

say() { # STATUS DESCRIPTION
  number=$((number + 1))
  if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; fi
}

# What it says depends on $SAYS: as it should be, clean of everything, or nothing at all.
cat >"$folder/bin/compute-sanitizer" <<'END'
#!/bin/sh
case $* in *--help* | *--version*) echo "a stand-in"; exit 0 ;; esac
planted=0
case $PWD/ in */planted-*) planted=1 ;; esac
case $* in *test_parity*) planted=1 ;; esac
if [ -n "${ASSAY_EXACT_MEMORY:-}" ] || [ $planted -eq 1 ]; then :; else exit 1; fi
case ${SAYS:-true} in
true) [ $planted -eq 0 ] && echo "========= ERROR SUMMARY: 0 errors" && exit 0
  echo "========= ERROR SUMMARY: 2 errors" && exit 9 ;;
clean) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"; exit 0 ;;
*) exit 9 ;;
esac
END
printf '#!/bin/sh\necho none\n' >"$folder/bin/nvidia-smi"
chmod +x "$folder/bin/"*

"$root/scripts/sanitize.sh" list >"$folder/list"
say $? "the runs are listed"
for name in $(find "$root/workshops" -name '*_solution.cu' | sed 's|.*/[a-z][0-9]*_\([a-z_]*\)/.*|\1|' | sort); do
  found=0
  for tool in memcheck racecheck initcheck synccheck; do
    grep -q "^solution $name - $tool\$" "$folder/list" || found=1
    grep -q "^planted $name [a-z_]* $tool\$" "$folder/list" || found=1
  done
  say $found "$name: its solution under every tool, and a defect for each"
done
find "$root/ops" -name '*.cu' | sed 's|.*/ops/\([a-z_]*\)/.*|\1|' | sort -u >"$folder/operators"
bad=0
while read -r name; do grep -q "^library $name [a-z0-9_]* memcheck\$" "$folder/list" || bad=1; done <"$folder/operators"
say $bad "every operator with kernels has its variants in the list"

names=$(sed -n 's/^solution \([a-z_]*\) .*/\1/p' "$folder/list" | sort -u)
# shellcheck disable=SC2086
"$root/scripts/sanitize.sh" list $names >"$folder/all"
[ "$(grep -c '^planted' "$folder/all")" -gt "$(grep -c '^planted' "$folder/list")" ]
say $? "with names all defects are listed, without them the first of a kind"
grep '^planted' "$folder/all" | while read -r kind name which tool; do
  "$root/scripts/sanitize.sh" one "$kind" "$name" "$which" "$tool" "$folder/logs"
done >"$folder/table" 2>"$folder/complaints"
[ "$(grep -c "$(printf '\tfound\t')" "$folder/table")" -eq "$(grep -c '^planted' "$folder/all")" ]
say $? "every defect fits its solution, and is reported"
for solution in "$root"/workshops/*/*_solution.cu; do
  name=$(basename "$(dirname "$solution")" | sed 's/^[a-z]*[0-9]*_//')
  for planted in "$folder"/logs/planted-*-"$name"/work/"$name".cu; do
    cmp -s "$planted" "$solution" && echo "$planted"
  done
done >"$folder/same"
[ ! -s "$folder/same" ]
say $? "what is judged is not the solution itself"

out=$("$root/scripts/gpu.sh" sanitize split_softmax 2>&1)
code=$?
[ $code -eq 0 ] && printf '%s\n' "$out" | grep -q '^[1-9][0-9]* passed, 0 failed$' &&
  printf '%s\n' "$out" | grep -q '^ok     split_softmax staged racecheck: clean, ' &&
  printf '%s\n' "$out" | grep -q '^ok     split_softmax solution memcheck: clean, ' &&
  printf '%s\n' "$out" | grep -q '^told   planted in solutions, initcheck: 3 of 3 found$' &&
  [ -s "$OUT/sanitize.tsv" ] && [ -s "$OUT/gpu-sanitize.tar.gz" ]
say $? "the whole stage, when every tool says what it must"
out=$(SAYS=clean "$root/scripts/gpu.sh" sanitize split_softmax 2>&1)
code=$?
[ $code -eq 1 ] && printf '%s\n' "$out" | grep -q '^told   planted in solutions, racecheck: 0 of 3 found$' &&
  printf '%s\n' "$out" | grep -q '^not ok fault guard_lets_one_more memcheck: clean$'
say $? "tools that find nothing fail it"
out=$(SAYS=nothing "$root/scripts/gpu.sh" sanitize split_softmax 2>&1)
code=$?
[ $code -eq 1 ] && printf '%s\n' "$out" | grep -q '^not ok split_softmax solution synccheck: failed, '
say $? "a tool that gives no verdict is not clean"

# Every operator with kernels is checked, every solution proved; what does not end well is counted.
printf '#!/bin/sh\necho "called: $*"\n' >"$folder/package/assay"
out=$("$root/scripts/gpu.sh" huge split_softmax 2>&1)
code=$?
[ $code -eq 0 ] && printf '%s\n' "$out" | grep -q '^2 passed, 0 failed$' &&
  printf '%s\n' "$out" |
  grep -qF 'called: check split_softmax --backend cuda --library --tier L --filter ^(full_size|full_inputs|large_strides)$' &&
  printf '%s\n' "$out" | grep -qF 'called: prove split_softmax --backend cuda --named --filter ^cu_int'
say $? "more than 2^31 elements: what is run"
printf '#!/bin/sh\nexit 3\n' >"$folder/package/assay"
out=$("$root/scripts/gpu.sh" huge split_softmax 2>&1)
code=$?
[ $code -eq 1 ] && printf '%s\n' "$out" | grep -q '^0 passed, 2 failed$'
say $? "more than 2^31 elements: what cannot run is not passed"
echo "1..$number"
