#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line as a newcomer meets it: names, files, streams, exit codes. Prints TAP. The verdicts on right and
# wrong kernels are tested elsewhere.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
BUILD=${BUILD:-$here/build}
case $BUILD in /*) ;; *) BUILD=$here/$BUILD ;; esac
assay=$BUILD/assay
unset NO_COLOR PAGER
export LC_ALL=C

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/course" "$folder/logs" && cd "$folder/course" || exit 1
out=$folder/logs/out err=$folder/logs/err

. "$here/tests/cli_words.sh"

# No operator is named here: the tests take the first exercise that `list` shows.
run 0 list
says '^exercises:'
says 'not started'
quiet
report $right "list shows what is not started"
alias=$(awk '/^exercises:/ { getline; print $1; exit }' "$out")
name=$(awk '/^exercises:/ { getline; print $2; exit }' "$out")
operator=$(awk '/^operators / { getline; sub(/:.*/, ""); print $1; exit }' "$out")
[ -n "$alias" ] && [ -n "$name" ] && [ -n "$operator" ] && [ "$name" != "$operator" ]
report $? "an exercise that is no operator comes first"

# ---- help -----------------------------------------------------------------------------------------------------
run 0
says "^now: +$name \\($alias\\)"
says "^next: ./assay start $name$"
quiet
report $right "a bare call shows where to begin"

run 0 --help
for command in list start reset lesson hint check watch explain sanitize trace prove apply bench predict record compare plot verify practice env help; do says "^  $command"; done
report $right "--help lists every command"
cp "$out" "$folder/logs/help"
run 0 help
cmp -s "$out" "$folder/logs/help" || right=1
report $right "help is --help"

for command in list start reset lesson hint check watch explain sanitize trace prove apply bench predict record compare plot verify practice env; do
  run 0 help $command
  says "^usage: ./assay $command"
  says '^examples:'
  cp "$out" "$folder/logs/help"
  run "$([ $right -eq 0 ] && echo 0 || echo 99)" $command --help
  cmp -s "$out" "$folder/logs/help" || right=1
  report $right "help $command is $command --help"
done

run 0 --version
says '^assay [0-9]+\.[0-9]+\.[0-9]+$'
says '^compiler '
says '^built in '
report $right "--version says version, compiler and what is built in"
# Of a build without history there is none; a build of a copy has that of its origin.
revision=$(cat "${BUILD:-build}/revision" 2>/dev/null)
if [ -n "$revision" ]; then says "^revision +$revision\$"; fi
case $revision in '' | *[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*) ;; *) right=1 ;; esac
report $right "and the git revision, where it is known"

# ---- usage errors ---------------------------------------------------------------------------------------------
run 64 chekc
complains 'did you mean check'
report $right "an unknown command gets a suggestion"
run 64 help lsit
complains 'did you mean list'
report $right "help of an unknown command too"
run 64 list --jsno
complains 'did you mean --json'
report $right "an unknown option gets a suggestion"
run 64 --json list
complains 'behind a command'
report $right "an option in front of the command is refused"
for command in start reset lesson hint check watch explain prove; do
  run 64 $command "${name}x"
  complains "no exercise \"${name}x\": did you mean $name"
  says_list=$(grep -c 'assay list' "$err")
  [ "$says_list" -eq 1 ] || right=1
  report $right "$command refuses an unknown name with a suggestion"
done
run 64 start
complains 'start needs NAME'
report $right "start needs a name"
run 64 start "$name" "$alias"
complains 'at most 1 name'
report $right "start takes one name"
run 64 check
complains 'or all'
report $right "check needs a name"
run 64 check "$name" --seed -1
complains '--seed takes a whole number'
report $right "a bad number says the range"
run 64 check "$name" --backend gpu
complains '--backend takes one of cpu, cuda, simt'
report $right "a bad choice says the words"
run 64 check "$name" --variant nothing
complains 'give --library too'
report $right "--variant needs --library"
run 64 check "$operator" --library --variant nothing
complains 'has no variant "nothing"'
report $right "an unknown variant is refused"
run 64 check "$name" --library --solution
complains 'exclude each other'
report $right "--library and --solution exclude each other"
run 64 check "$name" --solution --filter '('
complains 'no extended regular expression'
report $right "a bad filter is refused"
run 64 check "$name" --solution --filter '^no_such_check$'
complains 'matches no check'
report $right "a filter that matches nothing is refused"
run 64 prove "$name" --filter '^no_such_defect$'
complains 'no defect of'
report $right "so is a filter of prove"
run 64 start "$(printf 'a\nb\033[31m')"
complains 'a.b'
report $right "control characters of a name do not reach the terminal"

# ---- start, check, reset --------------------------------------------------------------------------------------
run 2 check "$name"
says "not started: ./assay start $name"
says "^0 passed, 0 failed, 1 unfinished$"
report $right "check of an exercise that is not started is TODO"
[ ! -e work ]
report $? "check does not make the work folder"

run 0 start "$alias"
says "work/$name.c"
says "assay check $name"
quiet
[ -s "work/$name.c" ] || right=1
report $right "start by alias writes work/$name.c"
echo '/* mine */' >>"work/$name.c"
run 1 start "$name"
complains "work/$name.c exists"
tail -n 1 "work/$name.c" | grep -q mine || right=1
report $right "start never overwrites"
run 0 list
says "started \\(work/$name.c\\)"
report $right "list shows what is started"

run 64 reset "$name"
complains '--force'
tail -n 1 "work/$name.c" | grep -q mine || right=1
report $right "reset without a terminal needs --force"
run 0 reset "$name" --force
says "work/$name.c.backup-1"
tail -n 1 "work/$name.c.backup-1" | grep -q mine || right=1
! grep -q mine "work/$name.c" || right=1
report $right "reset keeps a backup"
run 0 reset "$alias" --force
says "work/$name.c.backup-2"
tail -n 1 "work/$name.c.backup-1" | grep -q mine || right=1
report $right "a second reset takes the next number"

mkdir -p deep/below && cd deep/below || exit 1
run 0 list
says "started \\(\.\./\.\./work/$name.c\\)"
report $right "the work folder is found from below"
run 1 start "$name"
complains 'exists'
[ ! -e work ] || right=1
report $right "start from below makes no second work folder"
cd ../.. || exit 1

mkdir -p "$folder/other/work" "$folder/other/project" && cd "$folder/other/project" || exit 1
run 1 reset "$name"
complains "work/$name.c does not exist: ./assay start"
report $right "reset of an exercise that is not started says how to start"
run 0 start "$name"
[ -s "work/$name.c" ] && [ ! -e "../work/$name.c" ] || right=1
report $right "a folder above that happens to be called work is not used"
cd "$folder/course" || exit 1

# Root may write anywhere, so a folder that is a file stands in for one that cannot be written.
mkdir "$folder/blocked" && : >"$folder/blocked/work" && cd "$folder/blocked" || exit 1
run 1 start "$name"
complains 'cannot make the folder work'
report $right "start says why it cannot write"
cd "$folder/course" || exit 1

run 3 start online_normalizer --backend cuda
complains 'no CUDA starter'
report $right "a starter that does not exist is unavailable"
run 3 check "$name" --backend cuda
says '^UNAVAILABLE'
report $right "a backend that is not there is unavailable"
run 3 check cuda_add --solution --backend cpu
says '^UNAVAILABLE .*does not exist for this backend'
report $right "an exercise that is named and not written for a backend is unavailable"
run 0 check all --solution --backend cpu --tier S --filter '^worked_example$'
says '^[1-9][0-9]* passed, 0 failed$'
report $right "\"all\" takes the exercises that are written for a backend"
run 3 check online_normalizer --library --backend simt --json
says '"unavailable": 1'
json
report $right "the same in JSON"

# ---- an exercise that is no operator --------------------------------------------------------------------------
run 3 check "$name" --library
says "^UNAVAILABLE .*the exercise is no operator of the library"
report $right "check --library of an exercise that is no operator is unavailable"
run 64 bench "$name"
complains "$name is an exercise without a benchmark: bench times the operators"
report $right "bench says that it has no benchmark"
run 64 apply "$name" --in x.npy --out y.npy
complains "$name is an exercise and no operator"
report $right "apply says that it is no operator"
run 64 practice demo "$name" --yes
complains "$name is no operator"
report $right "so does the demonstration"
run 3 trace "$name"
complains "$name has no .cu file"
report $right "trace says that it has no CUDA kernel"
run 3 sanitize "$name"
says '^UNAVAILABLE .*no .cu file'
report $right "so does sanitize"
run 0 check "$name" --solution
says "reference solution, not your work"
tail -n 1 "$out" | grep -qE '^[1-9][0-9]* passed, 0 failed$' || right=1
report $right "its solution passes"
for exercise in $("$assay" list --json | awk '/"exercises"/ { on = 1 } on && /^      "name"/ { gsub(/[",]/, ""); print $2 }'); do
  run 0 lesson "$exercise"
  for part in "assay start $exercise" "assay check $exercise" "assay hint $exercise"; do says "$part"; done
  for level in 1 2 3; do
    run "$([ $right -eq 0 ] && echo 0 || echo 99)" hint "$exercise" --level $level
    says "^## Hint $level"
  done
  report $right "$exercise has a lesson that says how to work, and three hints"
done
mkdir "$folder/passes" && cd "$folder/passes" || exit 1
run 0 start "$name"
cp "$here"/workshops/"$alias"_*/"$alias"_solution.c "work/$name.c"
run 0 check "$name"
second=$("$assay" list --json | awk '/"exercises"/ { on = 1 } on && /^      "name"/ && ++n == 2 { gsub(/[",]/, ""); print $2 }')
says "^next: compare your kernel with .*; then ./assay start $second\$"
report $right "a learner who has passed is told what comes next"
cd "$folder/course" || exit 1

run 2 check "$name"
head -n 1 "$out" | grep -qE "^checking work/$name.c  sha256 [0-9a-f]{64}$" || right=1
[ "$(grep -c '^TODO' "$out")" -eq 1 ] || right=1
says "^next: edit work/$name.c, then ./assay check $name$"
tail -n 1 "$out" | grep -qE '^0 passed, 0 failed, [0-9]+ unfinished' || right=1
quiet
report $right "check of a starter says TODO once and what to do next"
if command -v sha256sum >/dev/null 2>&1; then
  sum=$(sha256sum <"work/$name.c" | cut -d ' ' -f 1)
  says "sha256 $sum"
  report $right "the hash is the file's"
fi

run 2 check "$name" --json --seed 7
json
says '"seed": 7,'
says "\"path\": \"work/$name.c\""
says '"verdict": "TODO"'
says '"interrupted": false'
for key in passed failed unfinished unavailable not_run checks workshop backend variant check reason; do
  says "\"$key\": "
done
report $right "check --json prints one object with the agreed keys"

# ---- a folder of an older version -----------------------------------------------------------------------------
cp "work/$name.c" "$folder/logs/kept.c"
printf '/* an exercise of long ago */\n' >work/gone_sums.c
for command in check start; do
  run 64 $command gone_sums
  complains 'no exercise "gone_sums" in this version, work/gone_sums.c is kept as it is'
  [ "$(cat work/gone_sums.c)" = '/* an exercise of long ago */' ] || right=1
  report $right "$command says that a file's exercise is not in this version"
done
sed 's|#include "assay/workshop.h"|&\n#include "assay/workshop_0.h"|' "$folder/logs/kept.c" >"work/$name.c"
run 1 check "$name"
says '^FAIL +build +the source does not compile: .*assay/workshop_0.h'
report $right "a file that includes a header of an older version is told so"
sed 's|#include "assay/workshop.h"|&\nstatic const int old_entry = ASSAY_ENTRY_OF_LONG_AGO;|' "$folder/logs/kept.c" >"work/$name.c"
run 1 check "$name"
says '^FAIL +build +the source does not compile: .*ASSAY_ENTRY_OF_LONG_AGO'
report $right "so is one that uses an entry which is no longer there"
cp "$folder/logs/kept.c" "work/$name.c"
rm work/gone_sums.c

# ---- texts ----------------------------------------------------------------------------------------------------
run 0 lesson "$alias"
says '^# '
quiet
report $right "lesson prints the lesson"
for level in 1 2 3; do
  run 0 hint "$name" --level $level
  says '^## '
  [ "$(grep -c '^## ' "$out")" -eq 1 ] || right=1
  case $level in
  3) says 'last hint' ;;
  *) says "hint $name --level $((level + 1))" ;;
  esac
  cp "$out" "$folder/logs/hint$level"
  report $right "hint of level $level is one section, and tells what comes next"
done
run 0 hint "$name"
cmp -s "$out" "$folder/logs/hint3" || right=1
report $right "a hint without a level is the next one, at most the last"
run 64 hint "$name" --level 4
complains 'from 1 to 3'
report $right "there are three hints"

# ---- machine-readable answers and streams ---------------------------------------------------------------------
run 0 list --json
json
for key in operators variants available reason exercises alias level title checks started file; do says "\"$key\": "; done
report $right "list --json"
run 0 list --level beginner --json
json
report $right "list --level --json"
run 0 env
says '^version +[0-9]'
says '^CUDA driver +(for CUDA [0-9]|.*(install|update|check))'
says '^NVRTC +([0-9]+\.[0-9]+, /|.*install)'
says '^kernel cache +/'
report $right "env"
run 0 env --json
json
says '"work_folder": "/.*/work"'
for key in driver driver_reason devices nvrtc nvrtc_reason nvrtc_found cache; do says "\"$key\": "; done
report $right "env --json"

run 2 check "$name" --color always
says "$(printf '\033\\[33mTODO')"
report $right "--color=always colours"
run 2 check "$name"
! grep -q "$(printf '\033')" "$out" || right=1
report $right "no colour without a terminal"
if command -v script >/dev/null 2>&1; then
  on_terminal() { # the exit code is not looked at: what counts is what is printed
    script -qc "$* '$assay' check $name" /dev/null </dev/null >"$out" 2>"$err"
  }
  right=0
  on_terminal env TERM=xterm
  says "$(printf '\033\\[33mTODO')"
  report $right "colour on a terminal"
  for setting in NO_COLOR=1 TERM=dumb; do
    right=0
    on_terminal env TERM=xterm $setting
    says 'TODO'
    ! grep -q "$(printf '\033\\[33m')" "$out" || right=1
    report $right "no colour with $setting"
  done
fi

if [ -c /dev/full ]; then
  for command in list "lesson $name" env "check $name --json" --help; do
    right=0
    # shellcheck disable=SC2086
    "$assay" $command >/dev/full 2>"$err"
    [ $? -eq 1 ] && grep -q '^error: the output could not be written' "$err" || right=1
    : >"$out"
    report $right "a full device is noticed by $command"
  done
fi

right=0
"$assay" list 2>"$err" | head -n 1 >"$out"
quiet
report $right "a reader that leaves early is no error"

# Interrupted while it works (the largest checks take longer than this), check still prints what it has. --foreground
# keeps timeout from sending the signal twice: a second one ends the program at once.
mkdir "$folder/tmp"
TMPDIR=$folder/tmp timeout --foreground --preserve-status -s INT 1 "$assay" check "$operator" --solution --tier L --json \
  >"$out" 2>"$err" </dev/null
[ $? -eq 130 ]
right=$?
json
says '"interrupted": true'
says '"not_run": [1-9]'
[ -z "$(ls "$folder/tmp")" ] || right=1
report $right "an interrupted check prints its results and leaves no temporary file"

# An operator's name in the code of the commands would be a special case.
right=0
"$assay" list --json >"$out" 2>"$err"
sed -n '/"exercises"/,$d; s/^      "name": "\([^"]*\)".*/\1/p' "$out" >"$folder/logs/operators"
[ -s "$folder/logs/operators" ] || right=1
if grep -rlwF -f "$folder/logs/operators" "$here/cli" >>"$err"; then right=1; fi
report $right "no command names an operator"

echo "1..$count"
[ $failed -eq 0 ]
