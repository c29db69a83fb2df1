#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay sanitize`: what it says about a right kernel and about one wrong kernel for each tool, its counts, JSON, exit
# codes and bad arguments. TAP.
. "$(dirname "$0")/tap.sh"
name=strided_softmax
solution=$root/workshops/w1_strided_softmax/w1_solution.cu

# DESCRIPTION EXIT ARGUMENTS...: `assay sanitize ARGUMENTS` ends with EXIT.
sanitize() {
  what=$1 status=$2
  shift 2
  ends "$what" "$status" sanitize "$@"
}

# line PATTERN: of the learner's file.
line() {
  grep -n -e "$1" "work/$name.cu" | head -n 1 | cut -d : -f 1
}

# ---- a right kernel -------------------------------------------------------------------------------------------

sanitize "the solution has no finding" 0 $name --solution --seed 7
shows "the file, its hash and the tools stand first" 1 \
  '^sanitizing workshops/w1_strided_softmax/w1_solution\.cu  sha256 [0-9a-f]{64}  \(emulated on the CPU: memory, race, init, sync\)$'
shows "it says so, with the number of cases" 1 '^no finding in [0-9]{3} cases$'
shows "the seed is shown" 1 '^seed 7$'
shows "the last line has the total" 1 '^0 findings in [0-9]{3} cases$'
shows "every operand has a line of counts" 2 '^  [xy] +[0-9]+ +[0-9-]+ +[0-9.-]+ +[0-9]+ +[0-9]+ +[0-9-]+ +[0-9.-]+ +[0-9]+$'
shows "no time is shown" 0 '[0-9] ?(ns|us|ms|s|seconds|minutes)([^a-z]|$)|steps/s|speed'
sanitize "so has the library's variant" 0 w1 --library --seed 7
shows "it is named" 1 '^sanitizing libassay, strided_softmax, variant cuda  '

# 2 rows of 1024 floats: 8192 bytes, 256 sectors. Three passes over x; y is written once. Each of two blocks passes two
# barriers; each of its four warps takes two reductions of five shuffles.
sanitize "one case" 0 $name --solution --shape 2x1024 --dtype fp32
shows "it is one" 1 '^counts of 1 case: 1 launch, 2 blocks, 256 threads$'
shows "x is read three times" 1 '^  x +24576 +8192 +3\.00 +768 +0 +- +- +0$'
shows "y is written once" 1 '^  y +0 +- +- +0 +8192 +8192 +1\.00 +256$'
shows "both together" 1 '^  all +24576 +8192 +3\.00 +768 +8192 +8192 +1\.00 +256$'
shows "the words are counted" 1 'barriers 4, warp operations 80, atomics 0, matrix FLOPs 0$'
sanitize "a transposed view is not read in rows" 0 $name --solution --shape 32x64 --layout transposed --dtype fp32
shows "a sector holds 8 rows, and each of them asks for it" 1 '^  x +24576 +8192 +3\.00 +6144 '

sanitize "one object of JSON" 0 $name --solution --shape 2x1024 --json --seed 3
for words in '"findings": 0,' '"seed": 3,' '"interrupted": false,' '"verdict": "PASS",' '"bytes_read": 24576,' \
  '"least_bytes_read": 8192,' '"shared_passes": [0-9]+,' '"thread_steps": [0-9]+,' '"matrix_flops": 0,' '"speed": null'; do
  printf '%s\n' "$output" | grep -Eq "$words" || say "not ok" "the JSON has no $words"
done
shows "it begins and ends as one" 2 '^[{}]$'
if command -v python3 >/dev/null 2>&1; then
  if printf '%s\n' "$output" | python3 -m json.tool >"$folder/log" 2>&1; then
    say ok "a reader of JSON takes it"
  else
    say "not ok" "a reader of JSON takes it: $(cat "$folder/log")"
  fi
fi
sanitize "with speed" 0 $name --solution --shape 8x1024 --json --speed
shows "there is a rate without tools, one for each, and one for all" 6 '"steps_per_second": [0-9.e+]+'
sanitize "speed as text" 0 $name --solution --shape 8x1024 --speed
shows "in a table of six lines" 6 '^  (none|memory|race|init|sync|all four) +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]$'

# ---- a wrong kernel for each tool -----------------------------------------------------------------------------

edit 's/__shared__ float part_sum\[WARPS\]/__shared__ float part_sum[WARPS - 1]/'
place=$(grep -n 'part\[threadIdx.x / 32\] = value' "work/$name.cu" | sed -n 2p | cut -d : -f 1)
sanitize "an array that is too short" 1 $name --tool memory
shows "memory names the line" 1 "^memory +strided_softmax\\.cu:$place: "
shows "and how often, and where first" 1 '\([0-9]+ times in [0-9]+ cases; first: x [0-9]+ x [0-9]+ '

edit 's/    m = block_max(m, part_max);/    m = block_max(block_max(m, part_max), part_max);/'
place=$(line 'part\[threadIdx.x \/ 32\] = value')
sanitize "a race that changes no value" 1 $name --tool race --shape 3x300
shows "race names a line of the two" 1 "^race +strided_softmax\\.cu:($place|$((place + 2))): .*line ($place|$((place + 2)))"
sanitize "the other tools have nothing against it" 0 $name --tool memory,init --tool sync --shape 3x300
shows "they are named" 1 '\(emulated on the CPU: memory, init, sync\)$'

edit 's/^      element_store(y, c, \(.*\));$/      if (element_load(y, c) != \1) element_store(y, c, \1);/'
place=$(line 'if (element_load(y, c)')
sanitize "a read of what nobody wrote" 1 $name --tool init --json --shape 3x300
shows "init names tool and line" 2 "\"tool\": \"init\",|\"line\": $place,"
shows "the count of findings is a number" 1 '^  "findings": [1-9]'

edit 's/    sum = block_sum(sum, part_sum);/    if (threadIdx.x >= args.columns) return;\n&/'
sanitize "a barrier that not all reach" 1 $name --tool sync --shape 3x64
shows "sync names it" 1 '^sync +strided_softmax\.cu:[0-9]+: .*__syncthreads'

edit 's/element_store(y, c, /element_store(y, c + 1000000, /'
sanitize "a crash, while no tool looks at bounds" 1 $name --tool race
shows "is a line with its verdict, and how many cases met it" 1 '^CRASH +SIGSEGV: the kernel wrote .*\(3 cases; first: x '
shows "the rest is not run" 1 '^[0-9]+ cases were not run: the kernel had taken its process down too often$'
shows "the last line counts it" 1 '^0 findings and 1 other failure in 3 cases$'
sanitize "with the tool, the same is a finding" 1 $name --tool memory --shape 3x64
shows "that names the line" 1 '^memory +strided_softmax\.cu:[0-9]+: thread .* writes '

edit 's/float m = -ASSAY_INFINITY;/float m = -ASSAY_INFINITY/'
sanitize "a kernel that does not compile" 1 $name --tool race --shape 3x37
shows "has the compiler's line" 1 'strided_softmax\.cu:[0-9]+:.*error'
edit 's/const int64_t warps = /const int64_t warps == /'
sanitize "a host half that does not compile" 1 $name
shows "has its line, too" 1 '^FAIL +the source does not compile: strided_softmax\.cu:[0-9]+:'

# ---- what is not there, and bad arguments ---------------------------------------------------------------------

rm "work/$name.cu"
sanitize "a file that is not there yet" 2 $name
shows "what to do" 1 '^TODO +strided_softmax, yours: not started: \./assay start strided_softmax --backend cuda$'
"$BUILD/assay" start $name --backend cuda >"$folder/log" 2>&1
sanitize "a starter" 2 $name
shows "is said to be one" 1 '^TODO '

without= # an exercise that is for the CPU alone, while there is one
for starter in "$root"/workshops/*/*_starter.c; do
  [ -e "${starter}u" ] || without=$(basename "$starter" _starter.c)
done
if [ -n "$without" ]; then
  sanitize "an exercise without CUDA" 3 "$without" --solution
  shows "is named" 1 '^UNAVAILABLE +[a-z_]+, solution: the exercise has no \.cu file'
else
  say ok "an exercise without CUDA # SKIP all have a .cu file"
fi

sanitize "no name" 64
sanitize "an unknown name" 64 strided_sofmax
shows "a suggestion" 1 '^error: .*did you mean strided_softmax'
for tool in racecheck race,foo 'race,' ,race ''; do
  sanitize "--tool \"$tool\"" 64 $name --solution --tool "$tool"
  shows "says what is right" 1 '^error: --tool takes memory, race, init or sync, '
done
sanitize "the solution and the library" 64 $name --solution --library
sanitize "a variant without the library" 64 $name --variant cuda
sanitize "an unknown variant" 64 $name --library --variant nothing
sanitize "a variant that is not for a GPU" 3 $name --library --variant plain
sanitize "one case of many exercises" 64 all --solution --shape 2x3
shows "says why" 1 '^error: --shape, --dtype, --layout and --set describe a case of one exercise, and [0-9]+ are asked for$'
for shape in 2x 2 axb 2x1048577; do sanitize "--shape $shape" 64 $name --solution --shape $shape; done
sanitize "sizes that the workshop does not take" 64 $name --solution --shape 2x8193
shows "the operand and its limit are named" 1 '^error: validation refuses these operands: x has 8193 columns; the workshop takes 1 to 8192$'
sanitize "an unknown layout" 64 $name --solution --layout transpose
sanitize "a knob's wrong value" 64 $name --solution --set warps=3
sanitize "a timeout of nothing" 64 $name --solution --timeout 0
echo "1..$number"
