#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay trace`: what it shows of a right kernel, and how a wrong one ends. TAP.
. "$(dirname "$0")/tap.sh"
name=strided_softmax
solution=$root/workshops/w1_strided_softmax/w1_solution.cu

# DESCRIPTION EXIT ARGUMENTS...: `assay trace ARGUMENTS` ends with EXIT.
trace() {
  what=$1 status=$2
  shift 2
  ends "$what" "$status" trace "$@"
}

trace "the solution can be followed" 0 $name --solution --shape 2x257 --steps 1000
shows "it begins with the file" 1 '^tracing workshops/w1_strided_softmax/w1_solution\.cu  sha256 [0-9a-f]{64}$'
shows "the case has shape, type, layout and seed" 1 '^case: x 2 x 257 fp32, strides 257, 1 \(packed\), seed 1$'
shows "the launch has kernel, grid and block" 1 '^launch 1 of 1: softmax_row, grid 2 x 1 x 1, block 128 x 1 x 1; block 0$'
first=$(grep -n '^  __syncthreads();$' "$solution" | head -n 1 | cut -d : -f 1)
shows "each of four warps comes to the first barrier, on its line" 4 "^ +[0-9]+ +[0-3]  all +__syncthreads +$first  __syncthreads\\(\\);\$"
shows "both barriers are passed" 8 ' __syncthreads +[0-9]+  __syncthreads'
shows "a warp's maximum takes five shuffles" 20 ' __shfl_xor_sync +[0-9]+  value = warp_max\(value\);$'
shows "each warp ends once" 4 '^ +[0-9]+ +[0-3]  all +end$'
shows "all steps are shown" 1 '^52 steps of block 0; other blocks are left out'

trace "the other block" 0 w1 --solution --shape 2x257 --block 1
shows "the launch names it" 1 'block 128 x 1 x 1; block 1$'
shows "forty steps are shown, and the rest is counted" 1 '^52 steps of block 1, 12 left out \(--steps 52 shows all\)'
trace "five steps" 0 $name --solution --steps 5
shows "the fifth is the last" 1 '^ +5 +0  all '
shows "there is no sixth" 0 '^ +6 '
trace "a type, a layout and a knob" 0 $name --solution --dtype bf16 --layout transposed --set warps=8 --shape 3x5 --seed 9
shows "they are those of the case" 1 '^case: x 3 x 5 bf16, strides 1, 3 \(transposed\), seed 9$'
shows "and of the launch" 1 'grid 3 x 1 x 1, block 256 x 1 x 1'
trace "no rows" 0 $name --solution --shape 0x5
shows "nothing is launched" 1 '^no kernel was launched$'
trace "one JSON object" 0 $name --solution --json --steps 1
shows "it has the steps" 1 '"steps": 52,'
shows "and the words" 1 '"word": "__shfl_xor_sync"'

edit 's/  __syncthreads();/  if (threadIdx.x < 32) __syncthreads();/'
trace "a broken rule" 1 $name
shows "its sentence stands at the end" 1 "^FAIL: strided_softmax.cu:$first: __syncthreads is not reached by thread \\(32,0,0\\)"
edit 's/element_store(y, c, /element_store(y, c + 1000000, /'
trace "a crash" 1 $name --steps 3
shows "one line has its cause" 1 '^CRASH: SIGSEGV: the kernel wrote .*kernel softmax_row, block 0, thread 0'
shows "what came before is shown" 3 '__shfl_xor_sync'
edit 's/float m = -ASSAY_INFINITY;/float m = -ASSAY_INFINITY/'
trace "a kernel that does not compile" 1 $name
shows "the compiler's line" 1 '^FAIL: .*strided_softmax.cu:[0-9]+:.*error'
edit 's/const int64_t warps = /const int64_t warps == /'
trace "a host half that does not compile" 1 $name
shows "its line, too" 1 '^FAIL: the source does not compile: strided_softmax.cu:[0-9]+:'

rm "work/$name.cu"
trace "a file that is not there yet" 2 $name
shows "what to do" 1 '^error: work/strided_softmax.cu is not there yet: ./assay start strided_softmax --backend cuda'
"$BUILD/assay" start $name --backend cuda >"$folder/log" 2>&1
trace "a starter" 2 $name
shows "is said to be one" 1 '^TODO: '

without= # an exercise that is for the CPU alone, while there is one
for starter in "$root"/workshops/*/*_starter.c; do
  [ -e "${starter}u" ] || without=$(basename "$starter" _starter.c)
done
if [ -n "$without" ]; then
  trace "an exercise without CUDA" 3 "$without" --solution
  shows "is named" 1 '^error: [a-z_]+ has no .cu file yet'
else
  say ok "an exercise without CUDA # SKIP all have a .cu file"
fi
trace "no name" 64
trace "an unknown name" 64 strided_sofmax
for shape in 2x 2 2x3x4 2x-3 x axb 2x1048577 2x99999999999999999999; do
  trace "--shape $shape" 64 $name --solution --shape $shape
  shows "says what is right" 1 '^error: --shape .* must be 2 whole numbers joined by x: rows and columns'
done
trace "sizes that the workshop does not take" 64 $name --solution --shape 2x8193
shows "the operand and its limit are named" 1 '^error: validation refuses these operands: x has 8193 columns; the workshop takes 1 to 8192$'
trace "a type that it does not take" 64 $name --solution --dtype fp64
trace "an unknown layout" 64 $name --solution --layout transpose
shows "a suggestion" 1 'did you mean transposed\?$'
trace "a knob's wrong value" 64 $name --solution --set warps=3
trace "a knob that is no pair" 64 $name --solution --set warps
trace "a block that the grid does not have" 64 $name --solution --shape 2x257 --block 2
shows "how many there are" 1 '^error: --block 2: the largest grid has 2 blocks, 0 to 1$'
trace "no steps" 64 $name --solution --steps 0
# What the page about threads shows is what is printed.
{
  "$BUILD/assay" trace $name --solution --shape 2x257 --steps 10
  "$BUILD/assay" trace $name --solution --shape 2x257 --steps 52
  edit 's/^  __syncthreads();/  if (threadIdx.x < 32) __syncthreads();/'
  "$BUILD/assay" trace $name --shape 2x257
  edit 's/^    sum = block_sum(sum, part_sum);/    if (threadIdx.x >= args.columns) return;\n&/'
  "$BUILD/assay" trace $name --shape 1x100
} 2>&1 | sed 's/^ *//' >"$folder/printed"
sed 's/^ *//' "$root/docs/threads.md" | grep -E '^(tracing|case: x|launch|step  warp|[0-9]+ +[0-3]  |[0-9]+ steps of)' >"$folder/shown"
lines=$(wc -l <"$folder/shown")
wrong=$(grep -vxFf "$folder/printed" "$folder/shown")
if [ "$lines" -ge 35 ] && [ -z "$wrong" ]; then
  say ok "docs/threads.md shows what is printed, in $lines lines"
else
  say "not ok" "docs/threads.md shows what is printed: $lines lines, of them wrong:"
  printf '%s\n' "$wrong" | sed 's/^/# /'
fi
echo "1..$number"
