# SPDX-License-Identifier: MIT
# tap.sh - the words that tests of the command line share; they read it with `.` from their first lines. It enters a
# scratch folder with work/ in it, which goes when the test ends. The test prints 1..$number last.
# shellcheck shell=sh disable=SC2154
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
export ASSAY_SOURCE_DIR="$root" LC_ALL=C NO_COLOR=1 BUILD
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export ASSAY_CACHE="$folder/cache"
mkdir "$folder/work"
cd "$folder" || exit 1
number=0

say() { # ok|not ok, description
  number=$((number + 1))
  echo "$1 $number - $2"
}

# DESCRIPTION EXIT ARGUMENTS...: `assay ARGUMENTS` ends with EXIT; its output stays in $output for `shows`.
ends() {
  description=$1 code=$2
  shift 2
  output=$("$BUILD/assay" "$@" 2>&1)
  got=$?
  if [ $got -eq "$code" ]; then
    say ok "$description"
  else
    say "not ok" "$description: exit $got, not $code"
    printf '%s\n' "$output" | sed 's/^/# /' | tail -n 30
  fi
}

# DESCRIPTION COUNT WORDS: so many lines of the last output match the regular expression.
shows() {
  found=$(printf '%s\n' "$output" | grep -Ec -e "$3")
  if [ "$found" -eq "$2" ]; then
    say ok "$1"
  else
    say "not ok" "$1: $found lines, not $2, match $3"
    printf '%s\n' "$output" | sed 's/^/# /' | tail -n 30
  fi
}

# DESCRIPTION EXIT WORDS ARGUMENTS...: `assay ARGUMENTS` ends with EXIT, and its output holds WORDS (a regular expression).
expect() {
  description=$1 code=$2 words=$3
  shift 3
  output=$("$BUILD/assay" "$@" 2>&1)
  got=$?
  if [ $got -eq "$code" ] && printf '%s\n' "$output" | grep -Eq -e "$words"; then
    say ok "$description"
  else
    say "not ok" "$description: exit $got (not $code), or no match for: $words"
    printf '%s\n' "$output" | sed 's/^/# /' | tail -n 30
  fi
}

# SCRIPT: the learner's file for exercise $name is $solution changed by the sed script, which must change something.
edit() {
  sed "$1" "$solution" >"work/$name.cu"
  ! cmp -s "work/$name.cu" "$solution" || say "not ok" "the edit changes nothing: $1"
}
