#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes results/VALIDATION.md from the kept reports and the output of the checks: scripts/validation.sh [REPORT...]
#
# Every number in it that a report holds is cited, so that tests/test_documents.sh finds it when it is no longer true.
# The checks run here and now; their totals are what they print.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$here" || exit 1
assay=${ASSAY:-$here/assay}
output=${OUTPUT:-results/VALIDATION.md}
export LC_ALL=C
[ $# -gt 0 ] || set -- results/cpu/*.json
[ -e "$1" ] || { echo "validation.sh: there is no report $1: run the benchmarks first" >&2; exit 64; }
command -v jq >/dev/null 2>&1 || { echo "validation.sh: jq is needed to read reports" >&2; exit 3; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
page=$scratch/page

for file in "$@"; do
  "$assay" verify "$file" >"$scratch/verify" 2>&1 || { cat "$scratch/verify" >&2; exit 1; }
done

head_of() { # head_of FILE: what was run, when, on what
  jq -r '"| `" + $file + "` | " + .created + " | " + .environment.cpu + ", " + (.environment.threads | tostring) + " threads | "
    + .mode + ", " + .cache + " | " + .protocol.name + ", " + (.protocol.processes * .protocol.rounds | tostring) + " samples | "
    + (.cases | length | tostring) + " | " + ([.cases[].variants[] | select(.statistics != null)] | length | tostring) + " |"' \
    --arg file "$1" "$1"
}

# One row a ratio, losers too; the citation's path is that from the top of the tree.
rows_of() {
  jq -r --arg file "$1" '.mode as $mode | .cache as $cache | .cases[] | . as $case | .comparisons[] |
    "<!-- report: \($file); \($case.operator); \($case.name); \(.candidate); " as $cite |
    "| \($case.operator), \($case.name) | \($cache) | \(.baseline) / \(.candidate) | \($cite)ratio \(.baseline) -->@\(.ratio)@x | \($cite)verdict \(.baseline) -->\(.verdict) |"' "$1" |
    awk '{ while (match($0, /@[^@]*@/)) { n = substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, 1, RSTART - 1) sprintf("%.2f", n) substr($0, RSTART + RLENGTH) } print }'
}

checks() { # checks WHAT: the totals of the checks of every exercise
  "$assay" list --json | jq -r '.exercises[].name' | while read -r name; do
    "$assay" check "$name" "$1" --json >"$scratch/check" 2>/dev/null
    jq -r --arg name "$name" --arg what "$1" \
      '"| \($name) | \($what) | \(.passed) | \(.failed) | \(.unavailable) | \(.seed) |"' "$scratch/check"
  done
}

{
  echo '# Validation'
  echo
  echo "Written by \`scripts/validation.sh\` on $(date -u +%Y-%m-%d) at revision $(git describe --always --dirty 2>/dev/null || echo unknown), from the reports named here and the checks run then. Not edited by hand."
  echo
  echo '## What was run'
  echo
  echo '| report | measured | machine | mode, cache | protocol | cases | variants timed |'
  echo '|---|---|---|---|---|--:|--:|'
  for file in "$@"; do head_of "$file"; done
  echo
  echo '| exercise | judged | passed | failed | unavailable | seed |'
  echo '|---|---|--:|--:|--:|--:|'
  checks --solution
  checks --library
  echo
  cat scripts/validation_review.md
  echo
  echo '## Measured ratios'
  echo
  echo 'time(baseline) / time(variant): above 1 the variant is faster. All ratios of all reports, losers too; warm and cold are separate experiments.'
  echo
  echo '| case | cache | ratio of | ratio | verdict |'
  echo '|---|---|---|--:|---|'
  for file in "$@"; do rows_of "$file"; done
} >"$page" || exit 1

mkdir -p "$(dirname "$output")"
cp "$page" "$output.new" && mv "$output.new" "$output"
"$assay" verify "$output" --label
