#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages say what the program says: a page for each command, and in it each option of `--help` and no other.
# Pages are written in scdoc's form in docs/man/; what needs scdoc or man is skipped where that is missing. Prints TAP.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export LC_ALL=C
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

count=0 failures=0
# report NAME: what is in the file `out` is what is wrong, or "skip: " and why.
report() {
  count=$((count + 1))
  if [ ! -s "$scratch/out" ]; then
    echo "ok $count - $1"
  elif grep -q '^skip: ' "$scratch/out"; then
    echo "ok $count - $1 # SKIP $(sed 's/^skip: //' "$scratch/out")"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    head -n 40 "$scratch/out" | sed 's/^/# /'
  fi
}

"$BUILD/assay" --help >"$scratch/help" || exit 1
commands=$(awk '/^commands:/ { list = 1; next } /^$/ { list = 0 } list && /^  [a-z]/ && $1 != "help" { print $1 }' "$scratch/help")

# The options that stand at the head of their lines in a help text or a page, one a line.
options_of_help() {
  sed -n '/^options:/,/^$/p' | grep -oE '^  (-h, )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u
}

options_of_page() {
  sed -n '/^# OPTIONS/,/^# [A-NP-Z]/p' "$1" | grep -E '^\*-' | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

{
  [ "$(echo "$commands" | wc -l)" -ge 15 ] || echo "--help lists too few commands:" $commands
  for command in $commands; do
    page=docs/man/assay-$command.1.scd
    [ -s "$page" ] || { echo "$command has no $page" && continue; }
    [ "$(head -n 1 "$page")" = "assay-$command(1)" ] || echo "$page: the first line is not assay-$command(1)"
    grep -q "\*assay-$command\*(1)" docs/man/assay.1.scd || echo "docs/man/assay.1.scd does not name assay-$command(1)"
    for part in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
      grep -qx "# $part" "$page" || echo "$page has no part $part"
    done
  done
} >"$scratch/out" 2>&1
report "every command has its page, and assay(1) names it"

{
  for command in $commands; do
    page=docs/man/assay-$command.1.scd
    [ -s "$page" ] || continue
    "$BUILD/assay" "$command" --help | options_of_help >"$scratch/help_options"
    options_of_page "$page" >"$scratch/page_options"
    diff "$scratch/help_options" "$scratch/page_options" | sed -n "s|^<|$page lacks|p; s|^>|$page has, and --help has not,|p"
  done
  options_of_help <"$scratch/help" >"$scratch/help_options"
  options_of_page docs/man/assay.1.scd >"$scratch/page_options"
  grep -qx -- --version "$scratch/page_options" || echo "no --version was found: is it looked for in the right way?"
  diff "$scratch/help_options" "$scratch/page_options"
} >"$scratch/out" 2>&1
report "the options of a page are those of --help"

{
  sed -n '/^exit codes:/,$s/^  \([0-9, ]*[0-9]\)  .*/\1/p' "$scratch/help" | tr -s ', ' '\n\n' | sort -n >"$scratch/codes"
  [ "$(wc -l <"$scratch/codes")" -ge 6 ] || echo "--help lists too few exit codes"
  while read -r code; do
    sed -n '/^# EXIT STATUS/,/^# [A-DF-Z]/p' docs/man/assay.1.scd | grep -q "\*$code\*" || echo "assay(1) does not say what exit code $code means"
  done <"$scratch/codes"
} >"$scratch/out" 2>&1
report "assay(1) has the exit codes of --help"

{
  if ! command -v scdoc >/dev/null 2>&1; then
    echo "skip: no scdoc here"
  else
    for page in docs/man/*.scd; do
      scdoc <"$page" >"$scratch/$(basename "$page" .scd)" || echo "$page: scdoc refuses it"
    done
  fi
} >"$scratch/out" 2>&1
report "scdoc accepts every page"

{
  if ! command -v scdoc >/dev/null 2>&1 || ! man --version 2>/dev/null | grep -q '^man 2'; then
    echo "skip: no scdoc, or no man that warns"
  else
    # First that a warning would be seen.
    printf '.TH x 1\n.no_such_request\n' >"$scratch/wrong.1"
    man --warnings=mac -E UTF-8 -l -Tutf8 -Z "$scratch/wrong.1" 2>&1 >/dev/null | grep -q . || echo "man does not warn about a wrong page"
    for page in "$scratch"/assay*.1; do
      man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null | sed "s#^#$(basename "$page"): #"
    done
  fi
} >"$scratch/out" 2>&1
report "man shows every page without a warning"

echo "1..$count"
[ "$failures" -eq 0 ]
