#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay apply`: answers, bad arguments, a result that is wrong; then random files against NumPy. TAP.
. "$(dirname "$0")/apply_words.sh"

# ---- answers --------------------------------------------------------------------------------------------------
same() { # same FILE EXPRESSION: NumPy finds them equal, and of one type and shape
  "$python" -c "
import numpy as np, sys
y = np.load('$1'); x = np.load('x.npy'); e = np.exp(x - x.max(1, keepdims=True)); s = e / e.sum(1, keepdims=True)
want = $2
sys.exit(not (y.dtype == want.dtype and y.shape == want.shape and np.allclose(y, want, atol=1e-6)))" 2>>"$err" || right=1
}

run 0 strided_softmax --in x.npy --out y.npy --check --variant plain
quiet
says 'strided_softmax, variant plain'
says 'x  x.npy  fp32 (3, 4)'
says 'y  y.npy  fp32 (3, 4)'
says 'check: 12 of 12 elements are within the derived bound'
[ "$(wc -l <"$out")" -eq 4 ] || right=1
same y.npy s
report $right "apply writes what NumPy computes, and says what ran"

run 0 w1 --in x_fortran.npy --out y.npy --threads 1
quiet
same y.npy s
[ "$(wc -l <"$out")" -eq 3 ] || right=1
! grep -q copied "$out" || right=1
report $right "Fortran order is a view, and an alias names the operator"

run 0 split_softmax --in x_fortran.npy --out y.npy
says 'copied because it has to be contiguous'
same y.npy s
report $right "an operator that wants it contiguous gets a copy, and apply says so"

run 0 w1 --in misaligned.npy --out y.npy
same y.npy s
report $right "elements that a header has misaligned are copied"

run 0 w1 --in x.npy --slice ::2,1: --transpose --out y.npy --json
quiet
same y.npy 'np.exp(x[::2, 1:].T - x[::2, 1:].T.max(1, keepdims=True)) / np.exp(x[::2, 1:].T - x[::2, 1:].T.max(1, keepdims=True)).sum(1, keepdims=True)'
"$python" -c "
import json
a = json.load(open('$out'))
assert a['operator'] == 'strided_softmax' and a['inputs'][0]['shape'] == [3, 2] and a['check'] is None
assert a['inputs'][0]['stored_shape'] == [3, 4] and a['output'] == {
    'name': 'y', 'file': 'y.npy', 'dtype': 'fp32', 'shape': [3, 2], 'stored_dtype': '<f4', 'written': True}" 2>>"$err" || right=1
report $right "views are applied in their order; --json is one object"

run 0 fused_gemm --in a.npy --in b.npy --transpose --transpose --in bias.npy --set group=8 --out y.npy --check
says 'group 8'
same y.npy 'np.repeat(x.sum(1, keepdims=True), 2, 1).astype("<f2")'
report $right "each input has its own view; --set sets a knob"

run 0 w1 --in x64.npy --dtype fp16 --out y.npy
says 'rounded once from fp64'
same y.npy 's.astype("<f2")'
report $right "--dtype rounds the input and says so"
run 0 w1 --in large64.npy --dtype fp32 --out y.npy
says '(2 became infinite)'
report $right "numbers that become infinite on the way are counted"

run 0 w1 --in patterns.npy --dtype bf16 --out y.npy --check
says 'x  patterns.npy  bf16 (2, 3), stored as <u2'
says 'stored as uint16: NumPy has no bf16'
same y.npy 'np.full((2, 3), 0x3eab, "<u2")'
report $right "bf16 is read from uint16 and written as uint16"

run 0 online_normalizer --function finish --in state.npy --in x.npy --slice 0 --out y.npy --dtype fp32 --check
same y.npy '(np.exp(x[0] - 1) / 2).astype("<f4")'
report $right "a state stays fp64 beside --dtype fp32"
run 0 online_normalizer --in x.npy --slice 0 --out y.npy
says 'function summarise'
same y.npy 'np.array([3.0, np.exp(x[0].astype("f8") - 3).sum()])'
report $right "the first function is the default"

run 0 w1 --in no_rows.npy --out y.npy --check
same y.npy 'np.zeros((0, 4), "<f4")'
report $right "no rows in, no rows out"

ln y.npy hard.npy
run 0 w1 --in x.npy --out y.npy
[ "$(wc -c <hard.npy)" -eq 128 ] && [ "$(wc -c <y.npy)" -gt 128 ] || right=1
report $right "an existing output is replaced, not written into"
ln -s y.npy link.npy
run 0 w1 --in no_rows.npy --out link.npy
[ -L link.npy ] && [ "$(wc -c <y.npy)" -eq 128 ] || right=1
report $right "a link to an output stays one"

cat x.npy >pipe.npy &
run 0 w1 --in pipe.npy --out y.npy
same y.npy s
report $right "an input may be a pipe"
cat pipe.npy >y2.npy &
run 0 w1 --in x.npy --out pipe.npy
wait
cmp -s y.npy y2.npy || right=1
report $right "so may the output"

# ---- usage ----------------------------------------------------------------------------------------------------
bad_usage() { # WORDS ARGUMENT...: exit 64, one line that says WORDS, nothing written
  words=$1
  shift
  run 64 "$@"
  complains "$words"
  nothing_left
  report $right "usage: $words"
}
bad_usage 'apply needs OP' --in x.npy --out none.npy
bad_usage 'did you mean split_softmax' split_sotfmax --in x.npy --out none.npy
bad_usage 'no operator "nonsense"' nonsense --in x.npy --out none.npy
bad_usage 'apply needs --out FILE' w1 --in x.npy
bad_usage 'takes 3 inputs, a, b and bias: give --in FILE for each, in this order, not 1' fused_gemm --in a.npy --out none.npy
bad_usage 'takes 1 input, x: give --in FILE' w1 --out none.npy
bad_usage 'not 2' w1 --in x.npy --in x.npy --out none.npy
bad_usage '--slice stands behind the --in' w1 --slice 0 --in x.npy --out none.npy
bad_usage 'x.npy: --slice "0:x" is no slice' w1 --in x.npy --slice 0:x --out none.npy
bad_usage 'step below 1' w1 --in x.npy --slice ::-1 --out none.npy
bad_usage 'index outside axis 0' w1 --in x.npy --slice 7 --out none.npy
bad_usage 'x.npy: --transpose "0,0" is no order of axes' w1 --in x.npy --transpose=0,0 --out none.npy
bad_usage 'has no function "sumarise": did you mean summarise?' w4 --function sumarise --in x.npy --out none.npy
bad_usage 'has no variant "avx9000"' w1 --variant avx9000 --in x.npy --out none.npy
bad_usage 'has no knob "chunks": did you mean chunk?' split_softmax --set chunks=256 --in x.npy --out none.npy
bad_usage '--set takes NAME=VALUE' split_softmax --set chunk --in x.npy --out none.npy
bad_usage 'not "chunk=many"' split_softmax --set chunk=many --in x.npy --out none.npy
bad_usage 'chunk is 300; it must be 256, 1024, 4096' split_softmax --set chunk=300 --in x.npy --out none.npy
bad_usage '--dtype takes one of fp32, fp16, bf16, fp64' w1 --dtype int8 --in x.npy --out none.npy
bad_usage '--dtype fp32, fp16 or bf16 converts the files' w1 --in x64.npy --out none.npy
bad_usage '--dtype fp16 or bf16 converts the files' fused_gemm --in x64.npy --in b.npy --in bias.npy --out none.npy
bad_usage 'add --dtype bf16' w1 --in patterns.npy --out none.npy
bad_usage "holds '<u2': add --dtype bf16" w1 --in patterns.npy --dtype fp32 --out none.npy
bad_usage 'a softmax row needs at least 1' w1 --in no_columns.npy --out none.npy
bad_usage 'x has rank 0; it must be 2' w1 --in scalar.npy --out none.npy
bad_usage 'a has 4 columns and b has 2 rows' fused_gemm --in a.npy --in b.npy --transpose --in bias.npy --out none.npy
ASSAY_CPU_FEATURES=none "$assay" list --json >"$folder/logs/list" 2>/dev/null
if grep -q '"available": false' "$folder/logs/list"; then
  export ASSAY_CPU_FEATURES=none
  run 3 w1 --variant avx2 --in x.npy --out none.npy
  unset ASSAY_CPU_FEATURES
  complains 'variant avx2 needs'
  nothing_left
  report $right "a variant that cannot run here is unavailable, not replaced"
fi

# ---- a result that is wrong -----------------------------------------------------------------------------------
# libm's exponential is what the plain variant computes with, and not the oracle: here it is a constant.
echo 'float expf(float x); float expf(float x) { return x < -1e30f ? 0.0f : 1.5f; }' >wrong.c
if ${CC:-cc} -shared -fPIC -fno-builtin -o wrong.so wrong.c 2>>"$err"; then
  wrong() {
    right=0
    LD_PRELOAD=$folder/here/wrong.so ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
      "$assay" apply w1 --in x.npy --variant plain --check --out old.npy "$@" >"$out" 2>"$err"
    [ $? -eq 1 ] || right=1
    grep -qF 'error: old.npy is not written: the result failed the check' "$err" || right=1
    old_is_kept
    nothing_left
  }
  wrong
  says 'check: FAIL, 12 of 12 elements are wrong; first y[0,0]: expected 0.0320586'
  says 'y  old.npy  fp32 (3, 4), not written'
  report $right "a result that fails --check is not written"
  wrong --json
  says '"passed": false'
  says '"written": false'
  says '"index": "[0,0]"'
  report $right "the same in JSON"
fi

# ---- NumPy ----------------------------------------------------------------------------------------------------
# The lines of the property test are tests of this one. The files of data/ take part where they are.
"$python" "$here/tests/apply_numpy.py" "$assay" "$folder/random" --data "$here/data" >"$folder/logs/numpy" 2>"$err"
numpy_code=$?
: >"$out"
while read -r word rest; do
  case $word in
  ok) report 0 "$rest" ;;
  not) report 1 "${rest#ok }" ;;
  *) echo "$word $rest" ;;
  esac
done <"$folder/logs/numpy"
[ $numpy_code -eq 0 ] && [ "$(grep -c '^ok ' "$folder/logs/numpy")" -ge 8 ]
report $? "random files agree with NumPy for every operator"

echo "1..$count"
[ $failed -eq 0 ]
