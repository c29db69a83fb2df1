#!/bin/sh
# SPDX-License-Identifier: MIT
# What a learner's way leaves behind and is told: where you are, hints level by level, the solution, progress.json through
# upgrades and damage, worked examples with numbers of one's own. TAP.
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P)
BUILD=${BUILD:-$root/build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
export ASSAY_SOURCE_DIR="$root" LC_ALL=C NO_COLOR=1
assay=$BUILD/assay
unset PAGER
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/course" && cd "$folder/course" || exit 1
out=$folder/out err=$folder/err
state=work/progress.json
count=0 failed=0

report() { # report WHAT: passes when `right` is 0
  count=$((count + 1))
  if [ "$right" -eq 0 ]; then
    echo "ok $count - $1"
    return
  fi
  failed=$((failed + 1))
  echo "not ok $count - $1"
  sed 's/^/# stdout: /' "$out" | head -n 12
  sed 's/^/# stderr: /' "$err" | head -n 12
}
run() { # run CODE ARGUMENT...
  expected=$1
  shift
  "$assay" "$@" >"$out" 2>"$err" </dev/null
  code=$?
  right=0
  [ $code -eq "$expected" ] || { right=1 && echo "# exit code $code, not $expected: $*"; }
}
says() { grep -qE -e "$1" "$out" || right=1; }
quiet() { [ ! -s "$err" ] || right=1; }
complains() { { [ "$(wc -l <"$err")" -eq 1 ] && grep -qE -e "^error: .*$1" "$err"; } || right=1; }
keeps() { grep -qE -e "$1" "$state" || right=1; } # progress.json has a line like this
here() { # what a bare call says: the state, the next command
  run 0
  says "^now: .*$1"
  says "^next: ./assay $2\$"
  quiet
}

# The first exercise and the one behind it; names come from the list, as everywhere in tests of commands.
"$assay" list >"$out"
alias=$(awk '/^exercises:/ { getline; print $1; exit }' "$out")
name=$(awk '/^exercises:/ { getline; print $2; exit }' "$out")
second=$(awk '/^exercises:/ { getline; getline; print $2; exit }' "$out")
total=$(awk '/^exercises:/ { on = 1; next } /^$/ { on = 0 } on { n++ } END { print n }' "$out")
solution=$root/workshops/${alias}_$name/${alias}_solution.c
[ -s "$solution" ] || echo "Bail out! no $solution"

# ---- where you are --------------------------------------------------------------------------------------------
here "not started" "start $name"
says "^0 of $total exercises done"
report "a bare call in an empty folder names the first exercise and how to start it"
right=0
[ ! -e work ] || right=1
report "and makes no folder"
run 0 lesson "$name"
[ ! -e work ] || right=1
report "nor does the lesson"

"$assay" start "$name" >/dev/null
here "started, nothing written yet" "lesson $name"
report "behind start comes the lesson"
"$assay" lesson "$name" >/dev/null
keeps '"lesson": "20[0-9-]*T[0-9:]*Z"'
here "nothing written yet" "watch $name"
report "behind the lesson comes watch"
"$assay" check "$name" >/dev/null
keeps '"state": "unfinished"'
report "the starter is kept as unfinished"

sed 's/return ASSAY_OK;/return ASSAY_BAD_SHAPE;/' "$solution" >"work/$name.c"
here "is not checked as it is now" "check $name"
report "a changed file is to be checked"
run 1 check "$name"
keeps '"state": "failed"'
here "work/$name.c fails [a-z_]+" "watch $name"
report "a failed check is named"
echo '/* another try */' >>"work/$name.c"
here "is not checked as it is now" "check $name"
report "and forgotten when the file changes"

# ---- hints ----------------------------------------------------------------------------------------------------
for level in 1 2 3 3; do
  run 0 hint "$name"
  says "^## Hint $level\$"
  [ "$(grep -c '^## ' "$out")" -eq 1 ] || right=1
  keeps "\"hints\": $level"
  report "hint shows level $level and keeps it"
done
says "lesson $name --solution"
report "the last hint says how to see the solution"
run 0 hint "$name" --level 1
says '^## Hint 1$'
keeps '"hints": 3'
report "an earlier level can be read again, and the highest stays"
run 0 hint "$second" --all
[ "$(grep -c '^## Hint' "$out")" -eq 3 ] || right=1
[ "$(grep -c '"hints": 3' "$state")" -eq 2 ] || right=1
report "--all shows the three levels and counts as the third"
run 64 hint "$name" --all --level 2
complains 'exclude each other'
report "--all and --level exclude each other"

# ---- the solution and a pass ----------------------------------------------------------------------------------
run 0 lesson "$second" --solution
says 'ASSAY_API assay_kernel'
keeps '"solution_shown": "20'
report "lesson --solution prints the solution, and a look before the pass is kept"
run 64 lesson "$name" --backend cuda
complains 'give --solution too'
report "--backend of lesson chooses a solution"
run 3 lesson "$name" --solution --backend cuda
complains 'no CUDA solution'
report "a solution that does not exist is unavailable"

cp "$solution" "work/$name.c"
run 0 check "$name"
says "compare your kernel with a solution"
sum=$("$assay" check "$name" | sed -n '1s/.*sha256 \([0-9a-f]*\).*/\1/p')
keeps "\"sha256\": \"$sum\""
keeps '"first": "20'
report "a pass is kept with its date and the hash of the file"
run 0 list
says "^ *$alias +$name .* passed 20[0-9-]+ \\(work/$name.c\\)"
report "list shows the pass"
run 0 list --json
says '"passed": "20'
says '"hints": 3'
says '"solution_shown": true'
says '"done": 1,'
says "\"current\": \"$second\""
says "\"next\": \"start $second\""
report "and so does list --json"
run 0
says "^1 of $total exercises done"
says "^next: ./assay start $second\$"
report "a bare call goes on to the next exercise"
run 0 check "$name" --failures
! grep -q '^PASS' "$out" || right=1
says '^[1-9][0-9]* passed, 0 failed$'
report "check --failures shows no check that passes, and counts it"
run 0 check "$name" --solution
cp "$state" "$folder/before"
run 0 check "$name" --filter worked
cmp -s "$state" "$folder/before" || right=1
report "a run of some checks changes nothing that is kept"
run 0 lesson "$name" --solution
cmp -s "$state" "$folder/before" || right=1
report "to look at the solution after the pass is not kept against anybody"
echo '/* later */' >>"work/$name.c"
sed 's/return ASSAY_OK;/return ASSAY_BAD_SHAPE;/' "$solution" >"work/$name.c"
run 1 check "$name"
run 0
says "^1 of $total exercises done"
report "a pass stays when the file fails later"

# ---- other versions, damage, no rights ------------------------------------------------------------------------
sed -i 's/"version": 1,/"version": 3,\n  "later": {"kept": [1, 2.5, "x"]},/; s/"hints": 3/"mood": "fine",\n      "hints": 3/' "$state"
run 0 hint "$second" --level 2
quiet
says '^## Hint 2'
keeps '"version": 3'
keeps '"mood": "fine"'
tr -d ' \n' <"$state" | grep -qF '"later":{"kept":[1,2.5,"x"]}' || right=1
run 1 check "$name"
keeps '"mood": "fine"'
report "a file of a later version keeps what this one does not know"

for damage in '{' '[]' '{"version": 1}' '{"version": "x", "exercises": {}}' '{"version": 1, "exercises": {"a": 7}}' \
  '{"version": 1, "exercises": {"a": {"passed": [1]}}}'; do
  rm -f work/progress.json.damaged-*
  printf '%s' "$damage" >"$state"
  run 0 list
  complains "$state cannot be read, is kept as $state.damaged-1"
  [ "$(cat "$state.damaged-1")" = "$damage" ] && [ ! -e "$state" ] || right=1
  report "damage is set aside and said in one line: $damage"
done
printf '{' >"$state"
run 0 hint "$name"
complains "$state.damaged-2"
says '^## Hint 1$'
keeps '"hints": 1'
report "a second damaged file takes the next number, and the command does its work"

rm -f "$state"
mkdir "$state"
run 0 hint "$name"
says '^## Hint 1$'
complains 'progress is not kept|is kept as'
report "a file that cannot be written costs one line, not the answer"
rm -rf "$state" work/progress.json.damaged-*

# Two commands at the same time: both events are there in the end.
i=0
while [ $i -lt 12 ]; do
  "$assay" hint "$name" --level $((i % 3 + 1)) >/dev/null 2>&1 &
  "$assay" hint "$second" --level $((i % 2 + 1)) >/dev/null 2>&1 &
  i=$((i + 1))
done
wait
right=0
keeps '"hints": 3'
keeps '"hints": 2'
[ -z "$(find work -name '.assay-*')" ] || right=1
report "commands at the same time lose nothing and leave no temporary file"

# ---- explain --------------------------------------------------------------------------------------------------
"$assay" list >"$folder/list"
for exercise in $(awk '/^exercises:/ { on = 1; next } /^$/ { on = 0 } on { print $2 }' "$folder/list"); do
  run 0 explain "$exercise"
  quiet
  [ "$(wc -l <"$out")" -ge 4 ] || right=1
  says "^your own: ./assay explain $exercise --values"
  report "explain $exercise shows the lesson's example"
done
explained() { # explained NAME VALUES LINE: a line of the answer
  run 0 explain "$1" --values "$2"
  quiet
  grep -qxF -e "$3" "$out" || right=1
  report "explain $1 --values $2: $3"
}
explained strided_softmax 1,0,1,2 'y:            0.0900306 0.244728 0.665241'
explained strided_softmax 1,-inf,0,nan 'y:            nan nan nan'
explained softmax_backward 0,0,1,-1 'dx:           0.5 -0.5'
explained fused_gemm 1,2,3,-4,0.5,0 'relu:         3.5 0 6.5 0'
explained online_normalizer 0,5,5 'merged:       5 2'
explained online_normalizer 2,0,0,0 'of the whole: 0 3'
explained split_softmax 2,0,0,0,0 '  y:          0.25 0.25 0.25 0.25'
explained streaming_attention 0,0,1,1,4,2,2,8 'o = accumulator / sum = 6'
explained cuda_add 70,32,40 'element 40: block 40 / 32 = 1, thread 40 % 32 = 8; 1 * 32 + 8 = 40'
explained cuda_add 0,32,0 'no element, no block: nothing is launched, since a grid of 0 blocks is an error'
explained cuda_sum 3,1,4,1,5,9,2,6 'every lane:   31'
explained cuda_softmax 0,1,2 'y:            0.0900306 0.244728 0.665241'
refused() { # refused NAME VALUES WORDS
  run 64 explain "$1" --values "$2"
  complains "$3"
  [ ! -s "$out" ] || right=1
  report "explain $1 refuses --values $2"
}
refused fused_gemm 1,2,3,4,5,6,7 'needs 4 \* K \+ 2 values, and 7 are none'
refused softmax_backward 1,2,3 'same number of elements'
refused cuda_add 70,32 'takes 3 numbers, not 2'
refused cuda_add 70,0,1 'threads a block are a whole number'
refused cuda_add 70,32,70 'from 0 to 69'
refused online_normalizer 3,1,2 'from 0 to 2, not 3'
refused split_softmax 0.5,1 'the chunk, a whole number'
refused streaming_attention 1,2,3,4,5,6 'none of it'
refused cuda_sum '1,,2' 'numbers with commas between them'
refused cuda_sum '' 'numbers with commas between them'
refused cuda_sum 1x 'not "1x"'
run 64 explain "$name" more
complains 'at most 1 name'
report "explain takes one name"

# ---- exercises in CUDA C alone --------------------------------------------------------------------------------
run 0 start cuda_add
says '^wrote work/cuda_add.cu$'
report "start writes the CUDA starter where there is no other"
run 2 check cuda_add --backend simt
says '^TODO  cuda_add is not written yet'
report "its starter is TODO"
here "cuda_add \\(b7\\), beginner: started, nothing written" "lesson cuda_add"
report "the exercise that was edited last is the current one"
run 0 lesson cuda_add --solution
says '^KERNEL\(add, '
report "its solution is CUDA C"

# The lesson's other way to join blocks, which the solution does not take.
cat >work/cuda_sum.cu <<'EOF'
#include "assay/kernel.h"
enum { THREADS = 256 };
typedef struct sum_args {
  const float *x;
  int64_t count;
  float *y;
} sum_args;
#ifdef ASSAY_DEVICE
KERNEL(clear, sum_args, 32) {
  if (threadIdx.x == 0) args.y[0] = 0.0f;
}
KERNEL(sum, sum_args, THREADS) {
  float value = 0.0f;
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < args.count; i += (int64_t)gridDim.x * THREADS)
    value += args.x[i];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) atomicAdd(&args.y[0], value);
}
#else
ASSAY_API assay_kernel cuda_sum;
assay_status cuda_sum(const assay_tensor *in, const assay_tensor *out, const int64_t *opt, assay_queue *queue) {
  const sum_args args = {in[0].data, in[0].shape[0], out[0].data};
  const assay_define defines[] = {{NULL, 0}};
  const int64_t blocks = args.count < 64 * THREADS ? (args.count + THREADS - 1) / THREADS : 64;
  const assay_status status = LAUNCH(queue, "clear", assay_dim(1), assay_dim(32), 0, 1, defines, args);
  (void)opt;
  if (status != ASSAY_OK || blocks == 0) return status;
  return LAUNCH(queue, "sum", assay_dim(blocks), assay_dim(THREADS), 0, 1, defines, args);
}
#endif
EOF
run 0 check cuda_sum --backend simt
says '^[0-9]+ passed, 0 failed$'
keeps '"simt": \{'
report "atomic additions pass as well"

echo "1..$count"
[ $failed -eq 0 ]
