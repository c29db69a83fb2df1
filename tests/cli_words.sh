# SPDX-License-Identifier: MIT
# cli_words.sh - words to say what a command must print and how it must end; read with `.` where $assay is the program and
# $out and $err are files for its streams.
# shellcheck shell=sh disable=SC2154
count=0 failed=0
report() { # report STATUS WHAT
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failed=$((failed + 1))
    echo "not ok $count - $2"
    sed 's/^/# stdout: /' "$out" | head -n 12
    sed 's/^/# stderr: /' "$err" | head -n 12
  fi
}

# run CODE ARGUMENT...: runs assay, sets `right` to 0 when it exits with CODE.
run() {
  expected=$1
  shift
  "$assay" "$@" >"$out" 2>"$err" </dev/null
  code=$?
  right=0
  [ $code -eq "$expected" ] || { right=1 && echo "# exit code $code, not $expected: $*"; }
}
says() { grep -qE -e "$1" "$out" || right=1; }       # a line of stdout matches
complains() {                                        # stderr is one line, and matches; stdout is empty
  [ "$(wc -l <"$err")" -eq 1 ] && grep -qE -e "^error: .*$1" "$err" && [ ! -s "$out" ] || right=1
}
quiet() { [ ! -s "$err" ] || right=1; }
json() {
  quiet
  if command -v python3 >/dev/null 2>&1; then
    python3 -m json.tool "$out" >/dev/null 2>>"$err" || right=1
  fi
  [ "$(head -n 1 "$out")" = "{" ] && [ "$(tail -n 1 "$out")" = "}" ] || right=1
}

