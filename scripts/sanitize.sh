#!/bin/sh
# SPDX-License-Identifier: MIT
# One kernel under one tool of NVIDIA's compute-sanitizer, through the judge; scripts/gpu.sh sanitize runs many side by side.
#
#   scripts/sanitize.sh list [NAME...]   the runs that there are: KIND NAME WHICH TOOL, the kernels first
#   scripts/sanitize.sh one KIND NAME WHICH TOOL FOLDER   runs one: a line for the table, the log in FOLDER
#   scripts/sanitize.sh checks           the expression for the checks that kernels are run on
#
# KIND is solution (WHICH is -), library (WHICH is a variant), planted (WHICH is a defect of broken.txt that our own tool of
# the same kind catches) or fault (NAME is a kernel of tests/test_parity.c that TOOL must report). Without NAMEs only the first
# defect of each kind of an exercise is listed.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C ASSAY_SOURCE_DIR="$PWD"
package=${GPU_PACKAGE:-$PWD/build/gpu}
tools="memcheck racecheck initcheck synccheck"
# Small checks that differ in sizes, layouts, knobs and calls, which decide what is accessed and who waits for whom; those that
# differ in contents alone take most of the time and the same ways. SANITIZE_CHECKS='^[^b]|^b[^u]' runs all small checks but
# busy_stream, which wants two kernels at once: the tools let one run at a time.
calls="worked_example|no_rows|repeatable|fresh_contents|graph_replay"
rows="ragged_primes|misaligned_base|transposed|warps|stepped_columns|sliced_columns|y_sliced|general_strides|overlapping_windows"
products="knob_values|short_last_group|padded_both|two_byte_rows|tall_matrix|wide_matrix|empty_output|depth_zero"
chunks="lone_last_element|masked_chunks|every_chunk_size|workspace_overrun|workspace_contents"
heads="tile_edges|causal_tiles|few_keys|nan_value|masked_keys|block_sizes|pitched_rows|heads_and_batches|any_head_size"
checks=${SANITIZE_CHECKS:-"^($calls|$rows|$products|$chunks|$heads)\$"}
# For a planted mistake.
some_checks='^(worked_example|ragged_primes|lone_last_element|masked_chunks|tile_edges|repeatable|fresh_contents)$'

asked_for() { # NAME: was it named, or was nothing?
  case " $asked " in "  " | *" $1 "*) return 0 ;; esac
  return 1
}

# A fault of each kind that compute-sanitizer is known to report (docs/sanitizer-parity.md).
faults() {
  cat <<'END'
fault guard_lets_one_more - memcheck
fault load_without_barrier - racecheck
fault adds_to_the_output - initcheck
fault barrier_in_each_branch - synccheck
END
}

# Defects of the solutions of which our tools say the kind: NAME DEFECT TOOL.
planted() {
  for broken in workshops/*/broken.txt; do
    name=$(basename "$(dirname "$broken")" | sed 's/^[a-z]*[0-9]*_//')
    awk -v name="$name" -v all="$asked" '
      BEGIN { tool["memory"] = "memcheck"; tool["race"] = "racecheck"; tool["init"] = "initcheck"; tool["sync"] = "synccheck" }
      /^\[/ { defect = substr($0, 2, length($0) - 2) }
      /^file: .*_solution\.cu$/ { file = 1 }
      /^file: / && !/_solution\.cu$/ { file = 0 }
      /^caught-by: sanitize_/ && file && (all || !seen[$2]++) { print "planted", name, defect, tool[substr($2, 10)] }' "$broken"
  done
}

list() {
  "$package/assay" list >"$scratch/variants" || exit 1
  {
    for file in workshops/*/*_solution.cu; do
      name=$(basename "$(dirname "$file")" | sed 's/^[a-z]*[0-9]*_//')
      for tool in $tools; do echo "solution $name - $tool"; done
    done
    awk '/^  [a-z_]+: / { name = substr($1, 1, length($1) - 1) } /^    / && $2 == "cuda" { print name, $1 }' "$scratch/variants" |
      while read -r name variant; do
        for tool in $tools; do echo "library $name $variant $tool"; done
      done
    faults
    planted
  } | while read -r kind name rest; do
    if [ "$kind" = fault ] || asked_for "$name"; then echo "$kind $name $rest"; fi
  done
}

# The solution with a defect in it, as FOLDER/work/NAME.cu. Fails when the old text is not there exactly once.
plant() { # NAME DEFECT FOLDER
  mkdir -p "$3/work" || return 1
  solution=$(ls workshops/*_"$1"/*_solution.cu)
  awk -v defect="[$2]" '
    FNR == NR {
      if (/^\[/) kept = $0 == defect
      if (kept && /^-/) from = from substr($0, 3) "\n"
      if (kept && /^[+]/) to = to substr($0, 3) "\n"
      next
    }
    { text = text $0 "\n" }
    END {
      at = index(text, "\n" from)
      if (from == "" || at == 0) exit 1
      printf "%s%s%s", substr(text, 1, at), to, substr(text, at + 1 + length(from))
    }' "$(dirname "$solution")/broken.txt" "$solution" >"$3/work/$1.cu"
}

# Options that make a tool look at more, where this version has them: room behind each allocation, so that what is far behind
# an operand is not the next one; shared memory came late to initcheck.
options() {
  case $1 in
  memcheck) compute-sanitizer --help 2>&1 | grep -q -e '--padding' && echo "--padding 65536" ;;
  racecheck) echo "--racecheck-report all" ;;
  initcheck) compute-sanitizer --help 2>&1 | grep -q initcheck-address-space && echo "--initcheck-address-space all" ;;
  esac
}

# The words of a line: "clean", "found", or "failed" when the tool could not judge, or when clean is not what it must be.
one() {
  kind=$1 name=$2 which=$3 tool=$4 folder=$5
  log=$folder/$kind-$name-$which-$tool.log
  set -- check "$name" --backend cuda --tier S --timeout 60
  case $kind in
  solution) set -- "$@" --solution --filter "$checks" ;;
  library) set -- "$@" --library --variant "$which" --filter "$checks" ;;
  planted)
    plant "$name" "$which" "$folder/planted-$which-$name" || exit 1
    cd "$folder/planted-$which-$name" || exit 1
    set -- "$@" --filter "$some_checks"
    ;;
  esac
  program=$package/assay
  if [ "$kind" = fault ]; then
    program=$package/test_parity
    set -- --run "$name"
  else
    export ASSAY_EXACT_MEMORY=1
  fi
  limit=${SANITIZE_SECONDS:-300}
  case $kind in planted | fault) limit=${SANITIZE_PLANTED_SECONDS:-30} ;; esac
  begin=$(date +%s)
  # shellcheck disable=SC2046
  timeout -k 5 "$limit" compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
    $(options "$tool") --port $((20000 + $$ % 2000 * 20)) "$program" "$@" >"$log" 2>&1 </dev/null
  status=$?
  echo "exit status $status" >>"$log"
  # A kernel that hangs is stopped before there is a sum.
  if grep -qE 'ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]|^=+ (Invalid|Uninitialized|Barrier error|(Error|Warning): Race)' \
    "$log"; then
    word=found
  elif [ $status -eq 0 ] && grep -qE 'ERROR SUMMARY: 0|RACECHECK SUMMARY: 0' "$log"; then
    word=clean
  else
    word=failed
  fi
  printf '%s\t%s\t%s\t%s\t%s\t%s s\n' "$kind" "$name" "$which" "$tool" "$word" $(($(date +%s) - begin))
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
case ${1:-} in
checks) echo "$checks" ;;
list)
  shift
  asked=$*
  list
  ;;
one)
  if [ $# -ne 6 ]; then
    echo "sanitize.sh: one takes KIND NAME WHICH TOOL FOLDER" >&2
    exit 64
  fi
  one "$2" "$3" "$4" "$5" "$6"
  ;;
*)
  sed -n 's/^#   \(scripts.*\)/\1/p' "$0" >&2
  exit 64
  ;;
esac
