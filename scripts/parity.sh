#!/bin/sh
# SPDX-License-Identifier: MIT
# What our four tools and compute-sanitizer's four say of the same planted faults (tests/test_parity.c).
#
#   scripts/parity.sh one NAME TOOL FOLDER   there: one kernel under one tool; a line for the table, the log in FOLDER
#   scripts/parity.sh page [FILE]            here: writes the tables of docs/sanitizer-parity.md; FILE is parity.tsv of
#                                            `scripts/gpu.sh parity`, the newest in results/ unless it is given
#   scripts/parity.sh print [FILE]           the same page to the standard output
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C ASSAY_SOURCE_DIR="$PWD"
page=docs/sanitizer-parity.md
case ${BUILD:=build} in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
program=${PARITY_PROGRAM:-$BUILD/tests/test_parity}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

fail() {
  printf 'parity.sh: %s\n' "$*" >&2
  exit 1
}

# Options that make a tool look at more, where this version has them: shared memory came late to initcheck.
options() {
  case $1 in
  racecheck) echo "--racecheck-report all" ;;
  initcheck) compute-sanitizer --help 2>&1 | grep -q initcheck-address-space && echo "--initcheck-address-space all" ;;
  esac
}

# NAME, TOOL, the word, and the lines that the log names: "found", "-", "hang", or "failed" when the tool could not judge.
one() {
  name=$1 tool=$2 folder=$3
  log=$folder/$name-$tool.log
  # shellcheck disable=SC2046
  timeout -k 2 "${PARITY_SECONDS:-20}" compute-sanitizer --tool "$tool" --error-exitcode 9 $(options "$tool") \
    --port $((20000 + $$ % 2000 * 20)) "$program" --run "$name" >"$log" 2>&1 </dev/null
  status=$?
  echo "exit status $status" >>"$log"
  lines=$(grep -oE '(fault|clean)_[a-z]+\.cu:[0-9]+' "$log" | cut -d: -f2 | sort -nu | paste -sd, -)
  if [ $status -eq 124 ] || [ $status -eq 137 ]; then
    word=hang
  elif grep -qE 'ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]' "$log"; then
    word=found
  elif [ $status -eq 0 ] && grep -qE 'ERROR SUMMARY: 0|RACECHECK SUMMARY: 0' "$log"; then
    word=-
  else
    word=failed
  fi
  printf '%s\t%s\t%s\t%s\n' "$name" "$tool" "$word" "$lines"
}

# The tables, from what our tools say now ($1) and what compute-sanitizer's said ($2).
tables() {
  awk -F '\t' '
    function planted(lines, place, wanted, seen, i, k, n, m) {
      n = split(place, wanted, /[:,]/)
      m = split(lines, seen, ",")
      for (i = 2; i <= n; i++) for (k = 1; k <= m; k++) if (wanted[i] == seen[k]) return 1
      return 0
    }
    function theirs(name, tool, place, word) {
      if (!((name, tool) in said)) return "?"
      word = said[name, tool]
      if (word == "found") return planted(lines[name, tool], place) ? "line" : "other"
      return word
    }
    function ours(word, place) { return word !~ /^[0-9]/ ? word : planted(word, place) ? "line" : "other" }
    FNR == 1 { file++ }
    file == 1 && $1 == "#" { next }
    file == 1 { said[$1, $2] = $3; lines[$1, $2] = $4; measured = 1; next }
    $2 == "none" {
      clean++
      bad = $4 != "-" || $5 != "-" || $6 != "-" || $7 != "-"
      alarms_ours += bad
      for (t = 1; t <= 4; t++) {
        word = theirs($1, tool[t], $3)
        judged[t] += word != "?"
        if (word == "-" || word == "?") continue
        alarms[t]++
        who[t] = who[t] (who[t] == "" ? "" : ", ") $1 (word == "hang" || word == "failed" ? " (" word ")" : "")
      }
      next
    }
    {
      row = "| `" $1 "` | `" $3 "` |"
      own = 0
      for (t = 1; t <= 4; t++) {
        word = ours($(3 + t), $3)
        if ($2 == mine[t]) { own = t; if (word == "line") found_ours[t]++ }
        row = row " " word " |"
      }
      any = 0
      for (t = 1; t <= 4; t++) {
        word = theirs($1, tool[t], $3)
        if (word == "line" || word == "other") any = 1
        if (t == own && (word == "line" || word == "other")) found_theirs[t]++
        row = row " " word " |"
      }
      total[own]++
      any_theirs[own] += any
      rows[own] = rows[own] row "\n"
    }
    BEGIN {
      split("memory race init sync", mine, " ")
      split("memcheck racecheck initcheck synccheck", tool, " ")
      split("Accesses outside an array, and askew|Races|Reads of what nobody wrote|Barriers, masks, waits", title, "|")
      title[0] = "Mistakes that our tools do not see"
    }
    END {
      print "| planted faults | how many | found by our tool of that kind | by NVIDIA\047s of that kind | by any of NVIDIA\047s |"
      print "|---|---|---|---|---|"
      for (t = 1; t <= 4; t++)
        printf("| %s | %d | %s: %d | %s: %s | %s |\n", title[t], total[t], mine[t], found_ours[t], tool[t],
          measured ? found_theirs[t] + 0 : "?", measured ? any_theirs[t] + 0 : "?")
      printf "\n"
      for (t = 1; t <= 5; t++) {
        k = t % 5
        printf "### %s\n\n", title[k]
        print "| fault | place | memory | race | init | sync | memcheck | racecheck | initcheck | synccheck |"
        print "|---|---|---|---|---|---|---|---|---|---|"
        printf "%s\n", rows[k]
      }
      print "### Kernels without a fault\n"
      print "| tool | kernels | not silent over | which |"
      print "|---|---|---|---|"
      printf "| ours, all four | %d | %d | |\n", clean, alarms_ours
      for (t = 1; t <= 4; t++)
        printf("| %s | %s | %s | %s |\n", tool[t], judged[t] > 0 ? judged[t] : "?", judged[t] > 0 ? alarms[t] + 0 : "?",
          who[t])
    }' "$2" "$1"
}

# The newest table that was kept; nothing when there is none yet.
newest() {
  for file in results/*/parity-*/parity.tsv; do
    [ -e "$file" ] && echo "$file"
  done | sort | tail -n 1
}

print_page() {
  [ -x "$program" ] || fail "$program is not there: run 'make tests'"
  theirs=${1:-$(newest)}
  [ -n "$theirs" ] || theirs=/dev/null
  [ -r "$theirs" ] || fail "$theirs cannot be read: it must be parity.tsv of 'scripts/gpu.sh parity'"
  "$program" --table >"$scratch/ours.tsv" || fail "'$program --table' failed"
  # awk counts files by their first lines, so none may be empty.
  { printf '#\t#\t#\t#\n' && cat "$theirs"; } >"$scratch/theirs.tsv"
  tables "$scratch/ours.tsv" "$scratch/theirs.tsv" >"$scratch/tables" || exit 1
  awk -v tables="$scratch/tables" '
    /^<!-- end of the tables -->/ { inside = 0 }
    !inside { print }
    /^<!-- tables: scripts\/parity.sh page -->/ { inside = 1; while ((getline line < tables) > 0) print line }' "$page"
}

case ${1:-} in
one)
  [ $# -eq 4 ] || fail "one takes NAME TOOL FOLDER"
  one "$2" "$3" "$4"
  ;;
print) print_page "${2:-}" ;;
page)
  print_page "${2:-}" >"$scratch/page" || exit 1
  cp "$scratch/page" "$page.new" && mv "$page.new" "$page"
  ;;
*)
  sed -n 's/^#   \(scripts.*\)/\1/p' "$0" >&2
  exit 64
  ;;
esac
