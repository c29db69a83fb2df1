#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay bench` on tiny shapes: what it records, what it refuses, and that kernels which fool a clock are found out.
# Nothing here looks at how long anything takes. TAP on stdout.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
export ASSAY_SOURCE_DIR="$root"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
cp "$root/tests/learners/right.h" "$folder/work/"
cd "$folder" || exit 1
name=strided_softmax
number=0

say() { # ok|not ok, description
  number=$((number + 1))
  echo "$1 $number - $2"
}

bench() {
  "$BUILD/assay" bench "$@" --threads 1 --color=never >out 2>err
}

# DESCRIPTION EXIT WORDS ARGUMENTS...: `bench ARGUMENTS` ends with EXIT, and what it prints holds WORDS (a regular
# expression).
expect() {
  what=$1 wanted=$2 words=$3
  shift 3
  bench "$@"
  code=$?
  if [ $code -eq "$wanted" ] && cat out err | grep -Eq "$words"; then
    say ok "$what"
  else
    say "not ok" "$what: exit $code (not $wanted), or no match for: $words"
    cat out err | sed 's/^/# /'
  fi
}

# DESCRIPTION COUNT WORDS FILE: so many lines of the file match.
lines() {
  found=$(grep -Ec "$3" "$4")
  [ "$found" -eq "$2" ] && say ok "$1" || say "not ok" "$1: $found lines, not $2"
}

# ---- what a run records ----------------------------------------------------------------------------------------

small="--shape 8x9 --protocol seeds"
expect "the solution is timed" 0 '^  solution +[0-9.]+ .s' $name --solution --baseline copy_then_kernel $small -o r.json
grep -q '^1 case, 14 samples in 1 process: about [0-9]* s$' err && say ok "the length of the run is announced" ||
  say "not ok" "the length of the run is announced"
lines "the report has the format" 1 '^  "format": "assay-report-1",$' r.json
lines "the report is complete" 1 '^  "complete": true,$' r.json
lines "a protocol that describes gives no interval" 1 '"low": null' r.json
lines "and claims nothing" 1 '"verdict": "cannot tell"' r.json
lines "seven samples a variant" 14 '"process": 0,' r.json
lines "twenty calls each, as the protocol has it" 15 '^ *"calls": 20,$' r.json
lines "the gate passed" 2 '"verdict": "PASS"' r.json
lines "the source is named first" 1 '"path": "workshops/w1_strided_softmax/w1_solution.c"' r.json
lines "ceilings are kept" 3 '"rate": [0-9]' r.json

expect "--json prints the report" 0 '^  "format": "assay-report-1"' $name --library --variant plain $small --json
lines "and nothing else" 1 '^}$' out
expect "cold samples are one call" 0 'cache cold' $name --library --variant plain --baseline eager_fp32 --shape 8x9 \
  --quick --cache cold -o cold.json
lines "each of them, as the protocol has it" 31 '^ *"calls": 1,$' cold.json
expect "a variant can be the baseline" 0 'x: plain / ' $name --library --baseline plain $small
expect "a merge of two states" 0 'merge fp32' online_normalizer --library --variant plain --shape 2:merge --protocol seeds
expect "an option of the case" 0 '9x16 packed causal=1 fp16' streaming_attention --library --variant plain \
  --shape 9x16:causal=1 --protocol seeds
expect "every knob of a solution" 0 '^  solution chunk=4096 ' split_softmax --solution --shape 2x9 --protocol seeds

# ---- files of one's own ----------------------------------------------------------------------------------------

expect "a file that is not started is skipped" 2 '^  yours +TODO +not started: ' $name $small -o r.json
lines "and recorded so" 1 '"reason": "not started: ./assay start strided_softmax"' r.json
lines "with nothing timed" 0 '"process"' r.json

# FILE EXIT WORDS
learner() {
  cp "$root/tests/learners/$1.c" work/$name.c
  expect "$1: exit $2, $3" "$2" "$3" $name $small --baseline copy_then_kernel
}
learner right 0 '^  yours +[0-9.]+ .s'
learner not_written 2 '^  yours +TODO +not written yet'
learner does_not_compile 1 '^  yours +FAIL +the source does not compile'
learner wrong_value 1 '^  yours +FAIL +y\[7,8\]: expected .* 1 of 72 compared are wrong'
learner writes_its_input 1 '^  yours +FAIL +the kernel wrote to input 0'
learner crashes 1 '^  yours +CRASH +SIGSEGV'
learner exits_with_zero 1 '^  yours +CRASH +the kernel ended its process'
learner forges_an_answer 1 "^  yours +SUSPECT +the kernel wrote to the judge's connection"
learner starts_a_late_thread 1 '^  yours +SUSPECT +1 thread still ran'
learner flushes_subnormals 1 '^  yours +SUSPECT +the kernel changed the floating-point mode'
learner remembers_by_pointer 1 '^  yours +FAIL +y\[[0-9]+,[0-9]+\]: expected'
learner works_when_checked 1 '^  yours +FAIL +y\[[0-9]+,[0-9]+\]: expected'
learner works_in_a_thread 1 '^  yours +(FAIL|SUSPECT|CRASH) '
case $(uname -m) in
x86_64) learner slows_the_clock 1 "^  yours +SUSPECT +the judge's clock saw [0-9.]+ times" ;;
*) say ok "slows_the_clock # SKIP it patches x86-64 programs" ;;
esac

cp "$root/workshops/w1_strided_softmax/w1_solution.c" work/$name.c
cp work/$name.c old.c
expect "against another file" 0 'x: against old.c / yours ' $name $small --against old.c -o r.json
lines "it is the baseline" 1 '"kind": "baseline"' r.json
expect "against a file that is wrong" 1 'against .*wrong_value.c +FAIL' $name $small \
  --against "$root/tests/learners/wrong_value.c"
expect "against nothing" 64 'is no file, and git has no' $name $small --against no_such_revision
if command -v git >/dev/null && git init -q . && git add -f work/$name.c &&
  git -c user.name=t -c user.email=t@t commit -qm t; then
  echo "/* another */" >>work/$name.c
  expect "against a revision" 0 'x: against HEAD / yours ' $name $small --against HEAD
else
  say ok "against a revision # SKIP no git"
fi

# ---- on arrays of one's own ------------------------------------------------------------------------------------

# NPY NAME DTYPE SHAPE FORMAT VALUE...: a .npy file, its elements written by printf.
npy() {
  file=$1 header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
  { printf '\223NUMPY\001\000\166\000%-117s\n' "$header" && shift 3 && printf "$@"; } >"$file"
}
# Two rows of 0.5, 1, 1.5 and 2, 3, 4 in FP32; four of FP16; all ones; a NaN.
npy x.npy '<f4' '2, 3' '\000\000\000\077\000\000\200\077\000\000\300\077\000\000\000\100\000\000\100\100\000\000\200\100'
npy h.npy '<f2' '2, 2' '\000\070\000\074\000\076\000\100'
npy ones.npy '<f4' '2, 2' '\000\000\200\077\000\000\200\077\000\000\200\077\000\000\200\077'
npy flat.npy '<f4' '2,' '\000\000\000\077\000\000\200\077'
printf 'not an array' >text.npy
sum=$(sha256sum <x.npy | cut -d' ' -f1)
expect "on a file" 0 '^2x3 input fp32$' $name --library --variant plain --input x.npy --protocol seeds -o f.json
lines "what was taken is named" 1 '^  x  x.npy  \(2, 3\)$' out
lines "the report has the file's hash" 1 "^ *\"sha256\": \"$sum\",\$" f.json
lines "and the file's name" 1 '^ *"file": "x.npy",$' f.json
lines "and the command" 1 '^ *"--input",$' f.json
"$BUILD/assay" verify f.json >out 2>err && say ok "the report is valid" || say "not ok" "the report is valid: $(cat out)"
expect "on a view of it" 0 '^3x1 input fp16$' $name --library --variant plain --input x.npy --slice 1: --transpose \
  --dtype fp16 --protocol seeds -o f.json
lines "the view's strides are kept" 1 '^ *"strides": \[$' f.json
expect "on two files" 0 '^2x2 input fp16$' softmax_backward --library --variant plain --input h.npy --input h.npy \
  --protocol seeds
expect "options of the operator" 0 '^2x2 input causal=1 fp16$' streaming_attention --library --variant plain \
  --input h.npy --input h.npy --input h.npy --set causal=1 --protocol seeds
expect "a product of files" 0 '^2x2x2 input fp16$' fused_gemm --library --variant plain --input h.npy --input h.npy \
  --input h.npy --slice 0 --protocol seeds
expect "on one axis" 0 '^2 input fp32$' online_normalizer --library --variant plain --input flat.npy --protocol seeds
cp work/$name.c mine.c && cp "$root/tests/learners/remembers_by_pointer.c" work/$name.c
expect "a kernel that remembers is wrong on files too" 1 '^  yours +FAIL' $name --input x.npy --protocol seeds
mv mine.c work/$name.c
npy y.npy '<f4' '2, 3' '\000\000\000\077\000\000\200\077\000\000\300\077\000\000\000\100\000\000\100\100\000\000\000\100'
bench $name --library --variant plain --input x.npy --protocol seeds -o f.json
bench $name --library --variant plain --input y.npy --protocol seeds -o y.json
"$BUILD/assay" compare f.json y.json >out 2>err
[ $? -eq 64 ] && grep -q 'no measured variant of the same case' err && say ok "other files are another case" ||
  say "not ok" "other files are another case: $(cat out err)"
"$BUILD/assay" compare f.json f.json >out 2>err
[ $? -eq 8 ] && say ok "the same files are the same case" || say "not ok" "the same files are the same case: $(cat out err)"
expect "with a workspace left out" 0 '^2x3 input fp32$' split_softmax --library --variant plain --input x.npy --protocol seeds
sed 's/"complete": true/"complete": false/' f.json >again.json
expect "resumed only on the same contents" 64 'other contents of the files' $name --library --variant plain \
  --input y.npy --protocol seeds --resume again.json
expect "a file that is absent" 64 '^error: no.npy ' $name --library --input no.npy
expect "a file that is no array" 64 '^error: text.npy ' $name --library --input text.npy
expect "a shape that the operator does not take" 64 '^error: --input: strided_softmax: ' $name --library --input flat.npy
expect "types that differ" 64 '^error: --input: softmax_backward: ' softmax_backward --library --input h.npy --input ones.npy
expect "too few files" 64 'give --input FILE for each' softmax_backward --library --input h.npy
expect "a file whose elements are all equal" 64 'all elements are equal' $name --library --input ones.npy
expect "a shape beside files" 64 'leave out --shape' $name --library --input x.npy --shape 8x9
expect "a view without a file" 64 'for the files of --input' $name --library --transpose --shape 8x9
expect "files for several operators" 64 'belongs to one operator' --library --input x.npy
expect "an option that is not there" 64 'tile' $name --library --input x.npy --set tile=4
[ "$(grep -c '^error: ' err)" -eq 1 ] && say ok "each in one line" || say "not ok" "each in one line"

# ---- interrupted and resumed -----------------------------------------------------------------------------------

"$BUILD/assay" bench $name --shape 8x9 --quick --seed 3 --threads 1 --baseline copy_then_kernel -o i.json >out 2>err &
pid=$!
tries=0
while [ ! -e i.json ] && [ $tries -lt 600 ]; do sleep 0.1 && tries=$((tries + 1)); done
kill -TERM $pid
wait $pid
code=$?
{ [ $code -eq 143 ] || grep -q '"complete": true' i.json; } && say ok "an interrupted run ends with its signal" ||
  say "not ok" "an interrupted run ends with its signal: exit $code"
sed 's/"complete": true/"complete": false/' i.json >half.json
expect "it is resumed" 0 'report: half.json' $name --shape 8x9 --quick --baseline copy_then_kernel --resume half.json
lines "and then complete" 1 '"complete": true' half.json
lines "with all samples" 30 '"process": [0-2],' half.json
expect "a complete one is not resumed" 64 'is complete' $name --shape 8x9 --quick --baseline copy_then_kernel \
  --resume half.json
sed 's/"complete": true/"complete": false/' half.json >again.json
expect "nor with another protocol" 64 'has the protocol quick' $name --shape 8x9 --protocol seeds --resume again.json
expect "nor for another shape" 64 'has no case' $name --shape 8x10 --quick --resume again.json
echo "/* changed */" >>work/$name.c
expect "nor with another source" 64 'source of yours .* was changed' $name --shape 8x9 --quick \
  --baseline copy_then_kernel --resume again.json
echo '{"format": "assay-report-1"}' >bad.json
expect "nor from what is no report" 64 'bad.json: created: is missing' $name --shape 8x9 --resume bad.json

# ---- oneDNN, in builds that found its headers ------------------------------------------------------------------

for case in strided_softmax:8x9:onednn_softmax:fp32 strided_softmax:8x9:onednn_softmax:bf16 \
  split_softmax:2x300:onednn_softmax:fp16 softmax_backward:8x9:onednn_softmax_backward:fp32 \
  softmax_backward:8x9:onednn_softmax_backward:fp16 fused_gemm:9x8x7:onednn_matmul_relu:fp16 \
  fused_gemm:9x8x7:onednn_matmul_relu:bf16; do
  op=${case%%:*} dtype=${case##*:} rest=${case#*:}
  shape=${rest%%:*} rest=${rest#*:} baseline=${rest%:*}
  if grep -q "$baseline" "$BUILD/assay"; then
    expect "$baseline of $op on $dtype is right where it is" 0 "^  $baseline +([0-9.]+ .s|UNAVAILABLE) " $op --library \
      --variant plain --shape "$shape:$dtype" --protocol seeds
  else
    say ok "$baseline of $op on $dtype is right where it is # SKIP this build has no oneDNN"
  fi
done

# ---- what is refused -------------------------------------------------------------------------------------------

expect "sizes" 64 '^error: --shape takes up to 2 sizes' $name --shape 8y9
expect "too many sizes" 64 '^error: --shape takes up to 2 sizes' $name --shape 8x9x10
expect "an unknown layout" 64 '^error: --shape has "sideways"' $name --shape 8x9:sideways
expect "an option that is not there" 64 '^error: --shape has "tile=4"' $name --shape 8x9:tile=4
expect "a size that is not valid" 64 'a softmax row needs at least 1' $name --shape 8x0
expect "an unknown variant" 64 'nothing to time is named "sse"' $name --library --variant sse
expect "an unknown baseline" 64 'no baseline is named "x"' $name --library --baseline x
expect "solution and library" 64 'exclude each other' $name --solution --library
expect "two protocols" 64 'protocol of its own' $name --quick --protocol seeds
expect "an unknown exercise" 64 'no exercise' no_such_exercise
expect "one shape for several operators" 64 'belongs to one operator' $name fused_gemm --shape 8x9 --solution
expect "an output in no folder" 64 'no file can be written there' $name --solution -o no/such/r.json
expect "events without a GPU" 64 'mode events times a GPU: it needs --backend cuda' $name --mode events
expect "emulated kernels" 3 'emulated kernels have no times' $name --backend simt
if [ -e /dev/nvidiactl ]; then
  expect "the wall's clock for a GPU" 64 'mode wall is for the CPU' $name --backend cuda --mode wall
  expect "a graph on the GPU" 0 '^  cuda +[0-9.]+ .s' $name --library --backend cuda --shape 64x100 --protocol seeds
  expect "events on the GPU" 0 '^  solution +[0-9.]+ .s' $name --solution --backend cuda --mode events --shape 64x100 \
    --protocol seeds
else
  expect "a backend that is not here" 3 'no NVIDIA GPU' $name --backend cuda
fi
expect "a prediction that is none" 64 '^error: --prediction' $name --solution --prediction bad.json
expect "beyond the workshop, one's own file is left out" 3 'beyond the workshop: ' $name --solution --shape 1x9000 \
  --protocol seeds
ASSAY_CPU_FEATURES=none "$BUILD/assay" bench $name --library --shape 8x9 --protocol seeds --variant avx2 >out 2>err
code=$?
case $(uname -m) in
x86_64) [ $code -eq 3 ] && say ok "a variant that cannot run here" || say "not ok" "a variant that cannot run: exit $code" ;;
*) say ok "a variant that cannot run here # SKIP there is none" ;;
esac
echo "1..$number"
