#!/bin/sh
# SPDX-License-Identifier: MIT
# The GPU workshops from the first file to the last, without a GPU and without CUDA: what a learner types, and what the
# four tools say of every solution and every variant that the emulator can run. TAP.
. "$(dirname "$0")/tap.sh"

# A defect of the race kind, applied to the file in work/ by the text of broken.txt.
apply_race() { # SOLUTION BROKEN TO
  awk -v solution="$1" '
    FNR == NR {
      if (/^\[/) { kept = 0; old = ""; new = "" }
      if (/^caught-by: sanitize_race/ && !done) kept = 1
      if (kept && /^-/) old = old substr($0, 3) "\n"
      if (kept && /^[+]/) new = new substr($0, 3) "\n"
      if (kept && /^$/ && old != "") { kept = 0; done = 1; from = old; to = new; old = "" }
      next
    }
    { text = text $0 "\n" }
    END {
      if (from == "" && old != "") { from = old; to = new }
      at = index(text, from)
      if (from == "" || at == 0) exit 1
      printf "%s%s%s", substr(text, 1, at - 1), to, substr(text, at + length(from))
    }' "$2" "$1" >"$3"
}

count=0
names=
for solution in "$root"/workshops/*/*_solution.cu; do
  name=$(basename "$(dirname "$solution")" | sed 's/^[a-z]*[0-9]*_//')
  count=$((count + 1))
  names="$names $name"
  expect "$name: start" 0 "^wrote work/$name.cu\$" start "$name" --backend cuda
  expect "$name: the starter is TODO" 2 '^0 passed, 0 failed, 1 unfinished' check "$name" --backend simt
  cp "$solution" "work/$name.cu"
  expect "$name: the finished file passes" 0 '^[0-9]+ passed, 0 failed$' check "$name" --backend simt
  if apply_race "$solution" "$(dirname "$solution")/broken.txt" "work/$name.cu"; then
    expect "$name: a race is found, with the learner's line" 1 "^race +$name.cu:[0-9]+: " sanitize "$name" --tool race
  else
    say "not ok" "$name: a race is found: broken.txt has none that fits"
  fi
done
if [ "$count" -ge 5 ]; then say ok "there are $count GPU workshops"; else say "not ok" "there are $count GPU workshops, not 5"; fi

# Side by side; those of the library take longest and begin.
# shellcheck disable=SC2016
for what in library solution; do
  for name in $names; do echo "$name $what"; done
done | xargs -P "$(nproc 2>/dev/null || echo 1)" -n 2 sh -c '"$BUILD/assay" sanitize "$0" "--$1" >"$0.$1.log" 2>&1; echo "exit status $?" >>"$0.$1.log"'
for what in solution library; do
  for name in $names; do
    if grep -q '^exit status 0$' "$name.$what.log" && grep -Eq '^0 findings in [1-9][0-9]* cases$' "$name.$what.log"; then
      say ok "$name, $what: no tool finds anything"
    elif [ $what = library ] && grep -q '^exit status 3$' "$name.$what.log" && [ -z "$(ls "$root/ops/$name/"*.cu 2>/dev/null)" ]; then
      say ok "$name, $what: there is no variant for a GPU yet, and it says so"
    else
      say "not ok" "$name, $what: no tool finds anything"
      sed 's/^/# /' "$name.$what.log" | tail -n 20
    fi
  done
done
echo "1..$number"
