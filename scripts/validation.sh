#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes results/VALIDATION.md from the kept reports and the output of the checks:
#
#     scripts/validation.sh [REPORT...]     default: results/cpu/{library,solution}-{warm,cold}.json
#
# CHECKS=FOLDER takes the answers of `check NAME --solution|--library --json` from FOLDER/NAME.solution.json and
# NAME.library.json, where `./setup demo` leaves them (build/demo); without it the checks run here and now. OUTPUT=FILE
# writes elsewhere. Reports of the library on a GPU are those in GPU=FOLDER (results/h200), with its
# review.md; those named python-*.json there are of `python -m assay.bench`. Without one their part is left out. Every number
# of a report is cited, so that tests/test_documents.sh finds it when it is no longer true.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$here" || exit 1
assay=${ASSAY:-$here/assay}
output=${OUTPUT:-results/VALIDATION.md}
export LC_ALL=C NO_COLOR=1
fail() { # fail CODE WORDS...
  code=$1
  shift
  printf 'validation.sh: %s\n' "$*" >&2
  exit "$code"
}
if [ $# -eq 0 ]; then
  for kind in library solution; do
    for cache in warm cold; do set -- "$@" "results/cpu/$kind-$cache.json"; done
  done
fi
gpu_list=$(for file in "${GPU:-results/h200}"/*.json; do
  case $file in */python-*) ;; *) [ ! -e "$file" ] || echo "$file" ;; esac
done)
python_list=$(for file in "${GPU:-results/h200}"/python-*.json; do [ ! -e "$file" ] || echo "$file"; done)
command -v jq >/dev/null 2>&1 || fail 3 "jq is needed to read reports: install it"
for file in "$@"; do
  case $file in
  /*) fail 64 "$file must be named from the top of the tree, where its citations will look for it: results/cpu/..." ;;
  esac
  [ -e "$file" ] || fail 64 "there is no report $file: ./assay bench all --library (or --solution) --cache warm (or cold) -o $file"
done
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
page=$scratch/page
for file in "$@" $gpu_list $python_list; do
  "$assay" verify "$file" >"$scratch/verify" 2>&1 || { cat "$scratch/verify" >&2 && exit 1; }
done

# ---- what was run -----------------------------------------------------------------------------------------------

report_row() { # report_row FILE
  jq -r --arg file "$1" 'def short: . * 10 | round / 10;
    "| `\($file)` | \(.created) | \(.git.revision // "none" | .[:12]) | \(.mode), \(.cache) | " +
    "\(.protocol.name): \(.protocol.processes) x \(.protocol.rounds) | \(.cases | length) | " +
    "\([.cases[].variants[] | select(.statistics != null)] | length) | \([.cases[].skipped[]] | length) | " +
    "\(if .complete then "yes" else "no" end) | \(.environment.load_start | short) .. \(.environment.load_end | short) |"' "$1"
}

# The machine of a report in one line; reports of one machine share it.
machine_of() {
  jq -r '.environment | "\(.cpu) (\(.features)), \(.threads) threads\(if .pinned then ", pinned" else "" end), " +
    "\(.memory_bytes / 1073741824 | floor) GiB, \(.pages) pages; \(.system); kernels by \(.compiler), library by " +
    "\(.built_by) \(.flags)" + (if .gpu == null then "" else "; \(.gpu.name), driver \(.gpu.driver)" end)' "$1"
}

check_answer() { # check_answer NAME solution|library: the path of the answer
  if [ -n "${CHECKS:-}" ]; then
    echo "$CHECKS/$1.$2.json"
  else
    "$assay" check "$1" "--$2" --all --json >"$scratch/$1.$2.json" 2>/dev/null
    echo "$scratch/$1.$2.json"
  fi
}

check_rows() { # check_rows NAME
  for what in solution library; do
    answer=$(check_answer "$1" "$what")
    jq -r --arg name "$1" --arg what "$what" '"| \($name) | \($what) | \(.passed) | \(.failed) | \(.unavailable) | " +
      "\([.checks[].variant] | unique | join(", ")) | \(.tier) | \(.seed) |"' "$answer" >"$scratch/row" 2>/dev/null ||
      fail 1 "$answer is no answer of check --json: ./assay check $1 --$what --json"
    cat "$scratch/row"
  done
}

# The logs of a run of the checks on another machine: the last line that says something.
log_rows() { # log_rows FOLDER
  for log in "$1"/*.log; do
    last=$(grep -v '^exit status' "$log" | grep -E '[0-9]+ (passed|defects|errors|hazards)|PASSED' | tail -n 1 |
      sed 's/^[= []*//; s/^ *PASSED *\] *//; s/|/ /g')
    [ -z "$last" ] || printf '| `%s` | %s |\n' "$log" "$last"
  done
}

# ---- what was measured ------------------------------------------------------------------------------------------

# Numbers leave jq as @DIGITS:NUMBER@ and are rounded here; "s" is three digits or more, "p" two.
round_numbers() {
  awk '{
    while (match($0, /@[0-9sp]:[^@]*@/)) {
      kind = substr($0, RSTART + 1, 1)
      number = substr($0, RSTART + 3, RLENGTH - 4) + 0
      if (kind == "p") kind = number >= 10 ? 0 : number >= 1 ? 1 : 2
      if (kind == "s") kind = number >= 100 ? 0 : number >= 10 ? 1 : number >= 1 ? 2 : 3
      $0 = substr($0, 1, RSTART - 1) sprintf("%." kind "f", number) substr($0, RSTART + RLENGTH)
    }
    print
  }'
}

# One table an operator. Reports of the same kernels with warm and with cold caches stand beside each other, and never
# meet in one ratio.
tables() { # tables FILE...
  jq -rn '
    def ceiling($r; $unit): [$r.ceilings[] | select(.unit == $unit) | .rate] | max // 0;
    def share($r; $case; $ns): [(["bytes", "flops"][] as $u | ceiling($r; $u) as $rate |
      if $rate > 0 then $case.work[$u] / ($ns * 1e-9) / $rate else 0 end)] | max * 100;
    def cite($file; $case; $name; $field): "<!-- report: \($file); \($case.operator); \($case.name); \($name); \($field) -->";
    def cell($file; $r; $row):
      ([$r.cases[] | select(.operator == $row.op and .name == $row.case)][0] //
        {operator: $row.op, name: $row.case, variants: [], skipped: [], comparisons: []}) as $case |
      ([$case.variants[] | select(.name == $row.name)][0]) as $v |
      if $v == null then "left out: \([$case.skipped[] | select(.name == $row.name) | .reason][0] // "not in this report") | | "
      elif $v.statistics == null then "left out: \($v.gate.verdict), \($v.gate.reason) | | "
      else (if $row.first then cite($file; $case; $v.name; "median us") + "@s:\($v.statistics.median_ns / 1000)@" else "" end)
        + " | " + (if $row.first then cite($file; $case; $v.name; "percent of ceiling")
          + "@p:\(share($r; $case; $v.statistics.median_ns))@ %" else "" end) + " | " +
        ([$case.comparisons[] | select(.candidate == $row.name and .baseline == $row.baseline)][0] as $c |
          if $c == null then "" else cite($file; $case; $v.name; "comparison \($c.baseline)") + "@2:\($c.ratio)@x"
            + (if $c.low == null then "" else " [@2:\($c.low)@, @2:\($c.high)@]" end) + " \($c.verdict)" end)
      end;
    [inputs | {file: input_filename, r: .}] as $all |
    [$all[0].r.cases[].operator] | reduce .[] as $o ([]; if index($o) then . else . + [$o] end) | .[] as $op |
    "", "### \($op)", "",
    "| case | variant | against |" + ([$all[] | " \(.r.cache): median us | of ceiling | \(.r.cache): ratio |"] | add),
    "|---|---|---|" + ([$all[] | "--:|--:|---|"] | add),
    ($all[0].r.cases[] | select(.operator == $op) | . as $case |
      ([.variants[] | {name, kind}] + [.skipped[] | {name, kind: "skipped"}]) as $names |
      range($names | length) as $n | $names[$n] as $v |
      ([$case.comparisons[] | select(.candidate == $v.name) | .baseline] | if length == 0 then [null] else . end) as $against |
      range($against | length) as $i |
      {op: $op, case: $case.name, name: $v.name, baseline: $against[$i], first: ($i == 0)} as $row |
      "| \(if $n + $i == 0 then $case.name else "" end) | \(if $i > 0 then "" else $v.name end)\(if $v.kind == "baseline" then " (baseline)" else "" end) | \($row.baseline // "") | " +
      ([$all[] | cell(.file; .r; $row)] | join(" | ")) + " |")
    ' "$@" | round_numbers
}

# One table an operator: every kernel of every report of a GPU, in columns by clock and cache. A ratio is to the first
# baseline of its own report.
gpu_tables() { # gpu_tables FILE...
  jq -rn '
    def once: reduce .[] as $one ([]; if index([$one]) then . else . + [$one] end);
    def cite($file; $row; $field): "<!-- report: \($file); \($row.op); \($row.case); \($row.name); \($field) -->";
    [inputs | {file: input_filename, r: .}] as $all |
    ([["graph", "warm"], ["events", "warm"], ["graph", "cold"], ["events", "cold"]] |
      map(select(. as $c | any($all[]; .r.mode == $c[0] and .r.cache == $c[1])))) as $columns |
    [$all[] | .r as $r | $r.cases[] | .operator as $op | .name as $case |
      (.variants[], .skipped[]) | {op: $op, case: $case, name: .name}] as $rows |
    ([$rows[].op] | once)[] as $op |
    "", "### \($op)", "",
    "| case | kernel | against |" + ([$columns[] | " \(.[0]), \(.[1]): median us | ratio | SM MHz |"] | add),
    "|---|---|---|" + ([$columns[] | "--:|---|--:|"] | add),
    (([$rows[] | select(.op == $op) | .case] | once)[] as $case |
      ([$rows[] | select(.op == $op and .case == $case)] | once | to_entries[]) as {key: $n, value: $row} |
      [$columns[] as $c | [$all[] | select(.r.mode == $c[0] and .r.cache == $c[1]) |
        .file as $file | .r.cases[] | select(.operator == $op and .name == $case) | . as $found |
        {file: $file, left: [.skipped[] | select(.name == $row.name) | .reason][0],
          v: [.variants[] | select(.name == $row.name)][0],
          pair: [.comparisons[] | select(.candidate == $row.name)][0]} | select(.left or .v)][0]] as $cells |
      ([$cells[] | select(.pair) | .pair.baseline][0]) as $against |
      "| \(if $n == 0 then $case else "" end) | \($row.name)\(if any($cells[]; .v.kind == "baseline") then " (baseline)" else "" end) | \($against // "") | " +
      ([$cells[] | if . == null then " | | "
        elif .v == null then "left out: \(.left | gsub("[|\n]"; " ")) | | "
        elif .v.statistics == null then "left out: \(.v.gate.verdict), \(.v.gate.reason | gsub("[|\n]"; " ")) | | "
        else cite(.file; $row; "median us") + "@s:\(.v.statistics.median_ns / 1000)@ | " +
          (if .pair and .pair.baseline == $against then cite(.file; $row; "ratio \($against)") + "@2:\(.pair.ratio)@x" else "" end) + " | " +
          (if .v.samples[0].sm_mhz then cite(.file; $row; "sm mhz") + "@0:\([.v.samples[].sm_mhz] | sort |
            (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2)@" else "" end) end] | join(" | ")) + " |")
    ' "$@" | round_numbers
}

# One table an operator: assay and its peers from one process, a column a report. A ratio is to the fastest peer there.
side_tables() { # side_tables FILE...
  jq -rn '
    def once: reduce .[] as $one ([]; if index([$one]) then . else . + [$one] end);
    def head($r): if $r.environment.gpu then $r.mode elif $r.environment.threads == 1 then "1 thread"
      else "\($r.environment.threads) threads" end;
    def cite($file; $case; $name; $field): "<!-- report: \($file); \($case.operator); \($case.name); \($name); \($field) -->";
    def cell($one; $row):
      ([$one.r.cases[] | select(.operator == $row.op and .name == $row.case)][0]) as $case |
      ([$case.variants[]? | select(.name == $row.name)][0]) as $v |
      if $v == null then (([$case.skipped[]? | select(.name == $row.name) | .reason][0]) as $why |
        (if $why then "left out: \($why | gsub("[|\n]"; " "))" else "" end) + " | ")
      elif $v.statistics == null then "left out: \($v.gate.verdict), \($v.gate.reason | gsub("[|\n]"; " ")) | "
      else cite($one.file; $case; $v.name; "median us") + "@s:\($v.statistics.median_ns / 1000)@ | " +
        (([$case.variants[] | select(.kind == "baseline" and .statistics)] | min_by(.statistics.median_ns)) as $peer |
          if $peer == null or $v.kind == "baseline" then "" else
            ([$case.comparisons[] | select(.candidate == $v.name and .baseline == $peer.name)][0]) as $c |
            cite($one.file; $case; $v.name; "ratio \($peer.name)") + "@2:\($c.ratio)@x `\($peer.name)`" end) end;
    [inputs | {file: input_filename, r: .}] as $all |
    [$all[].r.cases[] | .operator as $op | .name as $case |
      (.variants[] | {op: $op, case: $case, name: .name, peer: (.kind == "baseline")}),
      (.skipped[] | {op: $op, case: $case, name: .name, peer: true})] as $rows |
    ([$rows[].op] | once)[] as $op |
    "", "### \($op)", "",
    "| case | kernel |" + ([$all[] | " \(head(.r)): median us | to the fastest peer |"] | add),
    "|---|---|" + ([$all[] | "--:|---|"] | add),
    (([$rows[] | select(.op == $op) | .case] | once)[] as $case |
      ([$rows[] | select(.op == $op and .case == $case)] | unique_by(.name) | sort_by([.peer, .name]) |
        to_entries[]) as {key: $n, value: $row} |
      "| \(if $n == 0 then $case else "" end) | \($row.name)\(if $row.peer then " (peer)" else "" end) | " +
      ([$all[] | cell(.; $row)] | join(" | ")) + " |")
    ' "$@" | round_numbers
}

# What a call costs from Python, for one element.
python_overheads() { # python_overheads FILE...
  for file in "$@"; do
    jq -r --arg file "$file" 'select(.overheads? // [] != []) | "- `\($file)`: " +
      ([.overheads[] | "`\(.name)` @2:\(.call_ns / 1000)@ us"] | join(", "))' "$file" | round_numbers
  done
}

# What a call costs that does nothing, by clock.
gpu_overheads() { # gpu_overheads FILE...
  for file in "$@"; do
    jq -r --arg file "$file" '[.overheads[]? | select(.name | startswith("empty "))] as $empty |
      select($empty != []) | "- `\($file)`: " + ([$empty[] | "\(.name) @2:\(.call_ns / 1000)@ us"] |
      join(", ")) + (if .environment.gpu.clock_mhz_most then "; SM clock at most \(.environment.gpu.clock_mhz_most) MHz" else "" end)' \
      "$file" | round_numbers
  done
}

# What each baseline computes, once an operator.
baseline_rows() { # baseline_rows FILE...
  jq -rn '[inputs | .cases[] | .operator as $op | .variants[] | select(.kind == "baseline") |
    "- \($op), `\(.name)`: \(.expression). Rounding: \(.rounding)."] |
    reduce .[] as $row ([]; if index($row) then . else . + [$row] end) | .[]' "$@"
}

slower_rows() { # slower_rows FILE...
  for file in "$@"; do
    jq -r --arg file "$file" '.cache as $cache | .cases[] | . as $case | .comparisons[] | select(.verdict == "slower") |
      "- \($case.operator), \($case.name), \($cache): \(.candidate) against \(.baseline): " +
      "<!-- report: \($file); \($case.operator); \($case.name); \(.candidate); comparison \(.baseline) -->" +
      "@2:\(.ratio)@x [@2:\(.low)@, @2:\(.high)@] slower"' "$file" | round_numbers
  done
}

# The reports in pairs: A-warm.json with A-cold.json where both are named, else alone.
sections() {
  for file in "$@"; do
    partner=
    case $file in
    *-warm.json) partner=${file%-warm.json}-cold.json ;;
    *-cold.json) partner=${file%-cold.json}-warm.json ;;
    esac
    found=0
    for other in "$@"; do [ "$other" != "$partner" ] || found=1; done
    case $found$file in
    1*-warm.json) printf '%s %s\n' "$file" "$partner" ;;
    1*-cold.json) ;;
    *) printf '%s\n' "$file" ;;
    esac
  done
}

kind_of() { # kind_of FILE: what was timed, in words
  jq -r '[.cases[].variants[] | select(.kind != "baseline") | .kind] | unique | join(", ")' "$1" |
    sed 's/^library$/the library/; s/^solution$/the solutions, with every knob/; s/^yours$/a learner'"'"'s file/'
}

{
  echo '# Validation'
  echo
  echo "Written by \`scripts/validation.sh\` on $(date -u +%Y-%m-%d) at revision $(git describe --always --dirty 2>/dev/null ||
    echo unknown), from the reports and check answers named here. Not edited by hand."
  echo
  echo '## What was run, when, on what'
  echo
  echo 'Benchmarks. Each report holds every raw sample; `./assay verify` works all of it out again.'
  echo
  echo '| report | measured | revision | mode, cache | protocol | cases | variants timed | left out | complete | load average |'
  echo '|---|---|---|---|---|--:|--:|--:|---|---|'
  for file in "$@" $gpu_list $python_list; do report_row "$file"; done
  echo
  for file in "$@" $gpu_list $python_list; do machine_of "$file"; done | sort -u | sed 's/^/- Machine: /'
  for file in "$@" $gpu_list $python_list; do
    "$assay" verify "$file" | sed -n 's/^valid, not current  /- Not current: /p'
  done
  echo
  checks_env=${CHECKS:-$scratch}/env.json
  [ -e "$checks_env" ] || { checks_env=$scratch/env.json && "$assay" env --json >"$checks_env"; }
  echo "Checks, each judged by the FP64 definition of its operator, on $(jq -r \
    '"\(.cpu) (\(.cpu_features)), \(.threads) threads, \(.compiler)"' "$checks_env"):"
  echo
  echo '| exercise | judged | passed | failed | unavailable | variants | tier | seed |'
  echo '|---|---|--:|--:|--:|---|---|--:|'
  "$assay" list --json | jq -r '.operators[].name' >"$scratch/names"
  while read -r name; do check_rows "$name" || exit 1; done <"$scratch/names"
  for folder in results/*/check-*; do
    [ -d "$folder" ] || continue
    echo
    echo "Checks on another machine, from its logs in \`$folder\`: $(sed -n 's/^CUDA device 0  *//p' "$folder/env.log" 2>/dev/null)"
    echo
    echo '| log | ends with |'
    echo '|---|---|'
    log_rows "$folder"
  done
  echo
  cat scripts/validation_review.md
  echo
  if [ -e "${GPU:-results/h200}/review.md" ]; then
    cat "${GPU:-results/h200}/review.md"
    echo
  fi
  echo '## Measured examples'
  echo
  echo 'Medians are of one call. A ratio is time(baseline) / time(variant), with its interval over the processes of the run: above'
  echo '1 the variant is faster. "Of ceiling" is the share of what the machine can do at most by bytes or by operations, measured in'
  echo 'the same run; operands that stay in a cache can be above 100 %. Warm and cold are separate experiments side by side. Nothing'
  echo 'that was timed is left out. The baselines:'
  echo
  baseline_rows "$@"
  sections "$@" >"$scratch/sections"
  while read -r files; do
    echo
    # shellcheck disable=SC2086
    echo "## Measured: $(kind_of ${files%% *})"
    # shellcheck disable=SC2086
    tables $files
  done <"$scratch/sections"
  if [ -n "$gpu_list" ]; then
    # shellcheck disable=SC2086
    overheads=$(gpu_overheads $gpu_list)
    echo
    echo '## Measured: on a GPU'
    echo
    echo 'Medians are of one call, among 20 in a CUDA graph or launched one by one (alone with cold caches): separate experiments. A ratio is'
    echo 'time(baseline) / time(kernel) within one report. Every kernel that was timed is here, losers included; PyTorch and Triton'
    echo 'stand further down, beside the same kernels. The time of a call that does nothing is in all of them:'
    echo
    echo "${overheads:-- it was not measured}"
    # shellcheck disable=SC2086
    gpu_tables $gpu_list
    echo
    echo 'What the baselines compute:'
    echo
    # shellcheck disable=SC2086
    baseline_rows $gpu_list
  fi
  if [ -n "$python_list" ]; then
    echo
    echo '## Measured: from Python, beside NumPy, PyTorch and Triton'
    echo
    echo 'Reports of `python -m assay.bench`: both sides in one process, on the same arrays, in the same rounds. The ratio is'
    echo 'time(fastest peer) / time(kernel), and the peer stands behind it. What a call costs on the host before any kernel works:'
    echo
    # shellcheck disable=SC2086
    python_overheads $python_list
    for mode in gpu cpu; do
      files=$(for file in $python_list; do
        jq -r --arg file "$file" --arg mode $mode 'select((.environment.gpu == null) == ($mode == "cpu")) | $file' "$file"
      done)
      [ -n "$files" ] || continue
      echo
      if [ $mode = gpu ]; then echo '## From Python: on a GPU'; else echo '## From Python: on a CPU'; fi
      # shellcheck disable=SC2086
      side_tables $files
    done
    echo
    echo 'What the peers compute:'
    echo
    # shellcheck disable=SC2086
    baseline_rows $python_list
  fi
  echo
  echo '## What lost'
  echo
  echo 'Every comparison above whose verdict is "slower".'
  echo
  slower_rows "$@" >"$scratch/slower"
  if [ -s "$scratch/slower" ]; then cat "$scratch/slower"; else echo 'None.'; fi
} >"$page" || exit 1

mkdir -p "$(dirname "$output")" && cp "$page" "$output.new" && mv "$output.new" "$output" || exit 1
"$assay" verify "$output" --label
