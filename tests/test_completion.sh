#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What bash, zsh and fish offer behind `assay`: the files that `assay completion` prints, driven as the shells do. TAP.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export LC_ALL=C
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

count=0 failures=0
# report NAME WRONG: WRONG is empty, or "skip: " and why, or what is wrong.
report() {
  count=$((count + 1))
  case $2 in
  '') echo "ok $count - $1" ;;
  'skip: '*) echo "ok $count - $1 # SKIP ${2#skip: }" ;;
  *)
    failures=$((failures + 1))
    echo "not ok $count - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
    ;;
  esac
}

for shell in bash zsh fish; do "$BUILD/assay" completion $shell >"$scratch/$shell" || exit 1; done
"$BUILD/assay" completion tcsh >"$scratch/out" 2>&1
if [ $? -eq 64 ] && [ "$(wc -l <"$scratch/out")" -eq 1 ] && grep -q 'takes bash, zsh or fish' "$scratch/out"; then wrong=; else
  wrong=$(cat "$scratch/out")
fi
report "another shell is refused in one line" "$wrong"

help=$("$BUILD/assay" --help)
commands=$(awk '/^commands:/ { list = 1; next } /^$/ { list = 0 } list && /^  [a-z]/ { print $1 }' <<<"$help")
exercises=$("$BUILD/assay" list --json | sed -n '/"exercises"/,$s/^      "name": "\(.*\)",$/\1/p')

# ---- bash ------------------------------------------------------------------------------------------------------

# shellcheck disable=SC1091
source "$scratch/bash"

# offer WORDS...: what bash offers for the last word, sorted.
offer() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _assay
  printf '%s\n' "${COMPREPLY[@]}" | sort
}

# expect NAME WANTED WORDS...: WANTED one a line, in any order.
expect() {
  local name=$1 wanted got
  wanted=$(sort <<<"$2")
  shift 2
  got=$(offer "$@")
  if [ "$wanted" = "$got" ]; then report "bash: $name" ""; else report "bash: $name" "wanted:
$wanted
got:
$got"; fi
}

expect "every command of --help" "$commands" assay ""
expect "the rest of a command" "check" assay ch
expect "options before a command" "--help
--version" assay --
expect "commands behind help" "$(grep -vx help <<<"$commands")" assay help ""
expect "choices of an option" "cpu
cuda
simt" assay check --backend ""
expect "choices behind =, as bash cuts it" "cuda
cpu" assay check --backend = c
expect "nothing for a free value" "" assay check --seed ""

wrong=
for command in $commands; do
  [ "$command" = help ] && continue
  wanted=$("$BUILD/assay" "$command" --help | sed -n '/^options:/,/^$/p' | grep -oE '^  (-h, )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort)
  got=$(offer assay "$command" --)
  [ "$wanted" = "$got" ] || wrong="$wrong$command: wanted $wanted, got $got
"
done
report "bash: every command's options are those of its --help" "$wrong"

wrong=
for name in $exercises; do
  for command in start lesson check bench; do
    offer assay $command "$name" | grep -qx "$name" || wrong="$wrong$command $name "
  done
done
[ -n "$exercises" ] || wrong="no exercise was found"
report "bash: every exercise is offered" "$wrong"

wrong=
for operator in $("$BUILD/assay" list --json | sed -n '/"operators"/,/"exercises"/s/^      "name": "\(.*\)",$/\1/p'); do
  offer assay apply "$operator" | grep -qx "$operator" || wrong="$wrong$operator "
done
report "bash: every operator is offered to apply" "$wrong"

(cd "$scratch" && : >"a report.json" && offer assay verify "a r") >"$scratch/out"
if grep -qx "a report.json" "$scratch/out"; then report "bash: files, with blanks in their names" ""; else
  report "bash: files, with blanks in their names" "$(cat "$scratch/out")"
fi
(cd "$scratch" && offer assay bench w1 -o "a r") >"$scratch/out"
if grep -qx "a report.json" "$scratch/out"; then report "bash: files behind -o" ""; else
  report "bash: files behind -o" "$(cat "$scratch/out")"
fi

# ---- fish: it can be asked without a terminal ------------------------------------------------------------------

fish_offers() {
  HOME=$scratch XDG_CONFIG_HOME=$scratch fish --no-config -c "source $scratch/fish; complete -C '$1'" 2>&1 | cut -f 1 | sort
}

if command -v fish >/dev/null 2>&1; then
  got=$(fish_offers 'assay ' | grep -v '^-')
  [ "$got" = "$(sort <<<"$commands")" ] && wrong= || wrong="got: $got"
  report "fish: every command of --help" "$wrong"
  got=$(fish_offers 'assay check --backend ')
  [ "$got" = "$(printf 'cpu\ncuda\nsimt')" ] && wrong= || wrong="got: $got"
  report "fish: choices of an option" "$wrong"
  wrong=
  for command in $commands; do
    [ "$command" = help ] && continue
    wanted=$(offer assay "$command" --)
    got=$(fish_offers "assay $command --")
    [ "$wanted" = "$got" ] || wrong="$wrong$command: wanted $wanted, got $got
"
  done
  report "fish: every command's options" "$wrong"
  got=$(fish_offers 'assay start ')
  [ "$got" = "$(offer assay start "")" ] && wrong= || wrong="got: $got"
  report "fish: exercises" "$wrong"
else
  report "fish completes" "skip: no fish here"
fi

# ---- zsh: a terminal of its own, since completion needs the line editor ----------------------------------------

# Types the words and a TAB, and prints the line that zsh makes of them.
zsh_completes() {
  mkdir -p "$scratch/functions" && cp "$scratch/zsh" "$scratch/functions/_assay"
  HOME=$scratch timeout 60 zsh -f -c '
    zmodload zsh/zpty || exit 3
    zpty -b line "TERM=dumb zsh -f -i"
    typeset seen="" part
    until_sees() { local n=0; while (( n++ < 300 )); do
      while zpty -rt line part 2>/dev/null; do seen+=$part; done
      [[ $seen == *$1* ]] && return 0; sleep 0.05; done; return 1; }
    zpty -w line "PS1=; fpath=('"$scratch"'/functions \$fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; echo rea\"\"dy"
    until_sees ready || exit 4
    seen=""
    zpty -w -n line "$1"$'"'\\t'"'
    until_sees "$2"; result=$?
    print -r -- "$seen"
    zpty -d line
    exit $result' zsh "$1" "$2"
}

if command -v zsh >/dev/null 2>&1; then
  zsh -n "$scratch/zsh" 2>"$scratch/out" && wrong= || wrong=$(cat "$scratch/out")
  report "zsh: the file is zsh" "$wrong"
  while IFS='|' read -r typed wanted; do
    got=$(zsh_completes "$typed" "$wanted" 2>&1) && wrong= || wrong="got: $got"
    report "zsh: '$typed' becomes '$wanted'" "$wrong"
  done <<'END'
assay pract|assay practice
assay check --backend=cu|--backend=cuda
assay check --solut|--solution
assay apply streaming|streaming_attention
assay practice de|practice demo
END
else
  report "zsh completes" "skip: no zsh here"
fi

echo "1..$count"
[ "$failures" -eq 0 ]
