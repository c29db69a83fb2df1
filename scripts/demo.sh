#!/bin/sh
# SPDX-License-Identifier: MIT
# The demonstration: judges every solution and the library, applies the operators to the real tensors of data/, lets a
# check catch a broken kernel, and ends with one screen. `./setup demo` builds and then runs it.
#
# Every result on the screen is read from what the commands answer; the answers stay in BUILD/demo.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C NO_COLOR=1 ASSAY_SOURCE_DIR="$PWD"
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export assay="$BUILD/assay" folder="$BUILD/demo"
begin=$(date +%s)
trap 'exit 130' INT TERM

fail() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

# value FILE KEY: of the first KEY in an answer in JSON.
value() {
  sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$1" | head -n 1
}

[ -x "$assay" ] || fail "$assay is not built yet: ./setup demo builds it first"
{ rm -rf "$folder" && mkdir -p "$folder/work"; } || fail "cannot make $folder"

# ---- the solutions and the library ------------------------------------------------------------------------------

"$assay" list --json >"$folder/list.json" || fail "./assay list failed"
names=$(sed -n '/"exercises"/,$d; s/^      "name": "\(.*\)",$/\1/p' "$folder/list.json")
first=$(sed -n '/"exercises"/,$ s/^      "name": "\(.*\)",$/\1/p' "$folder/list.json" | head -n 1)
workers=$(nproc 2>/dev/null || echo 1)
[ "$workers" -le 4 ] || workers=4 # each of them uses threads, and the largest cases gigabytes

judge='"$assay" check "$1" "--$2" --json >"$folder/$1.$2.json" && word=passed || word=FAILED
  printf "    %s  %s %s\n" "$word" "$1" "$2"
  [ $word = passed ]'
echo "==> every named check on the solutions and the library, $workers at a time (one to two minutes)"
for name in $names; do
  printf '%s\n' "$name library" "$name solution"
done | xargs -P "$workers" -L 1 sh -c "$judge" judge || fail "what FAILED above did not pass: ./assay check NAME --library" \
  "or --solution shows why"

# ---- the real tensors -------------------------------------------------------------------------------------------

# inputs NAME: what an operator reads, as arguments.
inputs() {
  case $1 in
  strided_softmax) echo "--in data/logits.npy" ;;
  softmax_backward) echo "--in data/probs.npy --in data/grad.npy" ;;
  fused_gemm) echo "--in data/gemm_a.npy --in data/gemm_b.npy --in data/gemm_bias.npy" ;;
  online_normalizer) echo "--in data/wide.npy --slice 1" ;;
  split_softmax) echo "--in data/wide.npy" ;;
  streaming_attention) echo "--in data/q.npy --in data/k.npy --in data/v.npy" ;;
  *) fail "scripts/demo.sh knows no real tensors for $1" ;;
  esac
}

echo "==> the library on the real tensors of data/, every element compared with the FP64 oracle"
for name in $names; do
  arguments=$(inputs "$name") || exit 1
  # shellcheck disable=SC2086
  "$assay" apply "$name" $arguments --out "$folder/$name.npy" --check --json >"$folder/$name.apply.json" ||
    fail "this did not pass: ./assay apply $name $arguments --out y.npy --check"
  echo "    passed  ./assay apply $name $arguments --out y.npy --check"
done

# ---- times ------------------------------------------------------------------------------------------------------

timed=strided_softmax
baseline=eager_fp32
variant=$(value "$folder/$timed.apply.json" variant)
echo "==> the variant $variant against $baseline on data/logits.npy, one thread, three processes"
"$assay" bench "$timed" --library --variant "$variant" --baseline "$baseline" --input data/logits.npy --threads 1 \
  --quick --json >"$folder/times.json" || fail "this did not pass: ./assay bench $timed --library --input data/logits.npy --quick"

# ---- a broken kernel --------------------------------------------------------------------------------------------

name=strided_softmax
defect=one_running_sum
lesson=$(echo workshops/w*_$name)
awk -v name="[$defect]" '/^\[/ { on = ($0 == name); next } on' "$lesson/broken.txt" >"$folder/defect"
check=$(sed -n 's/^caught-by: //p' "$folder/defect")
solution=$lesson/$(sed -n 's/^file: //p' "$folder/defect")
OLD=$(sed -n 's/^- //p' "$folder/defect") NEW=$(sed -n 's/^+ //p' "$folder/defect") awk '
  { text = text $0 "\n" }
  END {
    at = index(text, ENVIRON["OLD"])
    if (at == 0 || ENVIRON["OLD"] == "") exit 1
    printf "%s%s%s", substr(text, 1, at - 1), ENVIRON["NEW"], substr(text, at + length(ENVIRON["OLD"]))
  }' "$solution" >"$folder/work/$name.c" || fail "$defect is not a change of $solution"

echo "==> one change breaks a copy of $solution, and the judge has to notice"
(cd "$folder" && "$assay" check "$name" --seed 1 --json) >"$folder/broken.json"
[ $? -eq 1 ] || fail "the broken kernel passed all checks"
(cd "$folder" && "$assay" check "$name" --seed 1 --filter "^$check\$") >"$folder/broken.txt"
[ $? -eq 1 ] || fail "the broken kernel passed $check"
echo "==> done in $(($(date +%s) - begin)) s"

# ---- the screen -------------------------------------------------------------------------------------------------

# row NAME: what was found out about an operator.
row() {
  tensors=$(inputs "$1" | sed 's/--in data\///g; s/\.npy//g; s/ --slice \([0-9]*\)/[\1]/')
  share=$(awk -v share="$(value "$folder/$1.apply.json" largest_share_of_allowed)" 'BEGIN { printf "%.2g", 100 * share }')
  printf '   %-19s %10s %9s   %-24s %8s   %s %%\n' "$1" "$(value "$folder/$1.solution.json" passed)" \
    "$(value "$folder/$1.library.json" passed)" "$tensors" "$(value "$folder/$1.apply.json" elements)" "$share"
}

# timing: the variant's median, the ratio by pairs of samples, and what the three processes agree on.
timing() {
  awk -v variant="$variant" -v baseline="$baseline" '
    /^ *"median_ns":/ && median == "" { gsub(/[^0-9.e+-]/, "", $2); median = $2 / 1e6 }
    /^ *"ratio":/ { gsub(/[^0-9.e+-]/, "", $2); ratio = $2 }
    /^ *"verdict": "(faster|slower|same|cannot tell)"/ { sub(/^[^:]*: "/, ""); sub(/".*/, ""); verdict = $0 }
    END { printf "%s %.3g ms, %s / %s %.2gx: %s", variant, median, baseline, variant, ratio, verdict }
  ' "$folder/times.json"
}

# sum KEY: over all judgements.
sum() {
  for file in "$folder"/*.solution.json "$folder"/*.library.json; do value "$file" "$1"; done |
    awk '{ sum += $1 } END { print sum }'
}

# explanation PART...: these lines of what the judge says about the failure.
explanation() {
  for part in "$@"; do sed -n "s/; threads .*//; s/^ *\($part: .*\)/       \1/p" "$folder/broken.txt"; done
}

"$assay" env --json >"$folder/env.json" || fail "./assay env failed"
right=$(value "$folder/broken.json" passed) wrong=$(value "$folder/broken.json" failed)
features=$(value "$folder/env.json" cpu_features)
program=$assay
[ "$BUILD" != "$PWD/build" ] || program=../../assay
cat <<END

Assay finds out whether a compute kernel is right. A kernel is a function that does the arithmetic
of a neural network, such as softmax; a wrong one often gives plausible numbers. Just judged, on
$(value "$folder/env.json" cpu) (${features:-no vector extensions known}), $(value "$folder/env.json" threads) threads:

1. Six kernels of a transformer, each as a solution to learn from and as fast variants in the
   library. Every check is built to provoke one mistake. Then the library worked on real tensors, of
   a language model that reads the opening of Moby-Dick: each element was compared with its FP64
   definition, and the last column is the largest error in parts of what the derived bound allows.

                       checks passed:       on real tensors
   kernel                solution   library   of data/                 elements   error
$(for name in $names; do row "$name"; done)

   all checks: $(sum passed) passed, $(sum failed) failed, $(sum unavailable) not available on this machine
   time of a call on logits, 1 thread: $(timing)

2. A kernel that looks right: the solution of strided_softmax, summing a row in the obvious way.
$(sed -n 's/^- /     - /p; s/^+ /     + /p' "$folder/defect")
   $right of $((right + wrong)) checks pass. The one that was built for this mistake does not:
     FAIL  $check
$(explanation case 'row of x' expected got error catches)
   Again: cd ${folder#"$PWD/"} && $program check $name --filter $check

3. Your turn. This gives you a file to write the first kernel in, the lesson, and the verdict:
     ./assay start $first
     ./assay lesson $first
     ./assay check $first
END
