#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay apply`: answers, every kind of bad input, and what must not be lost; then random files against NumPy. TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
BUILD=${BUILD:-$here/build}
case $BUILD in /*) ;; *) BUILD=$here/$BUILD ;; esac
assay=$BUILD/assay
export LC_ALL=C

folder=$(mktemp -d) || exit 1
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/logs" "$folder/random" "$folder/here" && cd "$folder/here" || exit 1
out=$folder/logs/out err=$folder/logs/err
: >"$out" && : >"$err"

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

# run CODE ARGUMENT...: runs apply, sets `right` to 0 when it exits with CODE.
run() {
  expected=$1
  shift
  "$assay" apply "$@" >"$out" 2>"$err" </dev/null
  code=$?
  right=0
  [ $code -eq "$expected" ] || { right=1 && echo "# exit code $code, not $expected: $*"; }
}
says() { grep -qF -e "$1" "$out" || right=1; }
quiet() { [ ! -s "$err" ] || right=1; }
complains() { # stderr is one line that says it; stdout is empty
  [ "$(wc -l <"$err")" -eq 1 ] && grep -q '^error: ' "$err" && grep -qF -e "$1" "$err" && [ ! -s "$out" ] || right=1
}
# No temporary file is left, and no output that was not there.
nothing_left() {
  [ -z "$(find . -name '.assay-*')" ] && [ ! -e none.npy ] || right=1
}
old_is_kept() { [ "$(cat old.npy)" = old ] || right=1; }

python=
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
  report 1 "NumPy is here: './setup test' installs it"
  echo "1..$count"
  exit 1
fi

"$python" - <<'END' || exit 1
import numpy as np

def header(name, text, data=b"", magic=b"\x93NUMPY", version=1, length=None):
    text = text.encode() + b"\n"
    size = (len(text) if length is None else length).to_bytes(2 if version == 1 else 4, "little")
    open(name, "wb").write(magic + bytes([version, 0]) + size + text + data)

def described(name, shape, descr="'<f4'", data=b"", **more):
    header(name, "{'descr': %s, 'fortran_order': False, 'shape': %s, }" % (descr, shape), data, **more)

x = np.arange(12, dtype="<f4").reshape(3, 4)
np.save("x.npy", x)
np.save("x_fortran.npy", np.asfortranarray(x))
np.save("x64.npy", x.astype("<f8"))
np.save("x16.npy", x.astype("<f2"))
np.save("large64.npy", np.array([[1e300, 1.0, -1e300]]))
np.save("patterns.npy", np.full((2, 3), 0x3F80, "<u2"))
np.save("a.npy", x.astype("<f2"))
np.save("b.npy", np.ones((4, 2), "<f2"))
np.save("bias.npy", np.zeros(2, "<f2"))
np.save("state.npy", np.array([1.0, 2.0]))
np.save("no_rows.npy", np.zeros((0, 4), "<f4"))
np.save("no_columns.npy", np.zeros((3, 0), "<f4"))
np.save("scalar.npy", np.array(1, "<f4"))
np.save("five.npy", np.zeros((1, 1, 1, 1, 1), "<f4"))
bad = x.copy()
bad[1, 2], bad[2, 0] = np.nan, np.inf
np.save("nan.npy", bad)
np.save("objects.npy", np.array([[None]]), allow_pickle=True)
np.save("big_endian.npy", x.astype(">f4"))
np.save("structured.npy", np.zeros(3, [("a", "<f4"), ("b", "<i4")]))
np.save("integers.npy", x.astype("<i4"))
np.savez("archive.npz", x=x)
open("text.npy", "w").write("1 2 3\n")
open("empty.npy", "w").close()
whole = open("x.npy", "rb").read()
open("truncated.npy", "wb").write(whole[:-5])
open("cut.npy", "wb").write(whole[:40])
open("longer.npy", "wb").write(whole + b"more")
described("lying_shape.npy", "(300, 4)", data=bytes(48))
described("overflow.npy", "(4294967296, 4294967296)")
described("too_large.npy", "(9223372036854775808, 1)")
described("huge.npy", "(1099511627776, 2)")
described("negative.npy", "(-3, 4)", data=bytes(48))
described("lying_length.npy", "(3, 4)", data=bytes(48), length=60000)
described("long_header.npy", "(3, 4)", data=bytes(48), version=2, length=1 << 30)
described("version.npy", "(3, 4)", data=bytes(48), version=9)
header("damaged.npy", "{'descr': '<f4', 'shape': [3, 4]", bytes(48))
described("misaligned.npy", "(3, 4)", data=x.tobytes())
np.save("tall.npy", np.ones((1 << 20, 1), "<f2"))
np.save("wide.npy", np.ones((1, 1 << 20), "<f2"))
np.save("wide_bias.npy", np.ones(1 << 20, "<f2"))
END
printf old >old.npy

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

mkfifo pipe.npy
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

# ---- bad files ------------------------------------------------------------------------------------------------
bad_file() { # FILE WORDS: exit 1, one line that names the file and says WORDS, nothing written
  run 1 w1 --in "$1" --out none.npy
  complains "$1 $2"
  nothing_left
  run 1 w1 --in "$1" --out old.npy
  old_is_kept
  report $right "$1 $2"
}
bad_file missing.npy 'cannot be read: No such file'
bad_file "$folder" 'is a folder'
bad_file empty.npy 'is empty'
bad_file text.npy 'is not a .npy file'
bad_file archive.npz 'is an archive (.npz?): save one array'
bad_file truncated.npy 'is truncated: shape (3, 4)'
bad_file cut.npy 'is truncated: its header ends at byte 128, the file at 40'
bad_file longer.npy 'is longer than its array'
bad_file lying_shape.npy 'is truncated: shape (300, 4)'
bad_file lying_length.npy 'is truncated: its header ends'
bad_file long_header.npy 'claims a header of 1073741824 bytes'
bad_file version.npy 'has format version 9.0'
bad_file damaged.npy 'has a damaged header'
bad_file overflow.npy 'claims the shape (4294967296, 4294967296), which no memory holds'
bad_file too_large.npy 'claims a size that does not fit 64 bits'
bad_file huge.npy 'is truncated: shape (1099511627776, 2)'
bad_file negative.npy 'claims a negative size'
bad_file five.npy 'has more than 4 dimensions'
bad_file objects.npy 'holds Python objects'
bad_file big_endian.npy "is big-endian ('>f4'): convert it, np.save(path, x.astype('<f4'))"
bad_file structured.npy 'has a structured dtype: save one field'
bad_file integers.npy "has dtype '<i4'"

run 1 fused_gemm --in tall.npy --in wide.npy --in wide_bias.npy --out none.npy
complains 'MiB of memory for the output, more than there is here'
nothing_left
report $right "an output larger than the memory is refused"

run 0 w1 --in nan.npy --out y.npy --check
report $right "NaN is allowed when nothing is promised"
run 1 w1 --in nan.npy --finite --out none.npy
complains 'nan.npy has nan at [1,2]: --finite promises'
nothing_left
report $right "--finite refuses NaN, with its place"
run 1 w1 --in nan.npy --slice 2: --finite --out none.npy
complains 'has inf at [0,0] of the view'
report $right "--finite refuses infinity, with its place in the view"
run 1 w1 --in large64.npy --dtype fp32 --finite --out none.npy
complains 'has inf at [0,0]'
report $right "--finite refuses what rounding makes infinite"
run 0 w1 --in nan.npy --slice 0:1 --finite --out y.npy
report $right "--finite looks at the view alone"

# ---- outputs --------------------------------------------------------------------------------------------------
cp x.npy x_before.npy
ln x.npy x_hard.npy
ln -s x.npy x_soft.npy
for name in x.npy ./x.npy x_hard.npy x_soft.npy; do
  run 64 w1 --in x.npy --out $name
  complains "--out $name is the input x.npy"
  cmp -s x.npy x_before.npy || right=1
  report $right "an output over an input is refused: $name"
done
run 64 fused_gemm --in a.npy --in b.npy --in bias.npy --out bias.npy
complains 'is the input bias.npy'
report $right "so is one over a later input"
run 64 w1 --in x.npy --out "$folder/here"
complains 'is a folder: name a file in it'
report $right "an output that is a folder is refused"
run 1 w1 --in x.npy --out no/such/none.npy
complains 'cannot write no/such/none.npy: no/such/: No such file'
report $right "an output in a folder that does not exist is refused"
run 1 w1 --in x.npy --out x_before.npy/none.npy
complains 'Not a directory'
report $right "so is one in a folder that is a file"
right=0
"$assay" apply w1 --in x.npy --out /dev/stdout >"$out" 2>"$err"
[ $? -eq 64 ] || right=1
complains 'is standard output, where the answer goes'
report $right "standard output is for the answer"

mkdir -m 555 locked
cp "$assay" "$folder/assay"
as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ -z "$as" ] || $as true 2>/dev/null; then
  right=0
  $as "$folder/assay" apply w1 --in x.npy --out locked/none.npy >"$out" 2>"$err"
  [ $? -eq 1 ] || right=1
  complains 'cannot write locked/none.npy: locked/: Permission denied'
  [ -z "$(ls locked)" ] || right=1
  report $right "an output in a folder that may not be written is refused"
fi

if [ -c /dev/full ]; then
  run 1 w1 --in x.npy --out /dev/full
  complains 'cannot write /dev/full: No space left on device'
  report $right "a full device is an error"
fi
# A limit on the size of files would end the program by a signal, without a word. 16 blocks leave room for what an OpenMP
# runtime writes before main.
right=0
"$python" -c 'import numpy as np; np.save("wider.npy", np.zeros((96, 64), "<f4"))'
(
  ulimit -f 16
  exec "$assay" apply w1 --in wider.npy --out old.npy
) >"$out" 2>"$err"
[ $? -eq 1 ] || right=1
complains 'cannot write old.npy: File too large'
nothing_left
old_is_kept
report $right "a limit on the size of files is an error, and the old output is kept"
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16k tmpfs disk 2>/dev/null; then
  mounted=$folder/here/disk
  cp old.npy disk/old.npy
  run 1 w1 --in wider.npy --out disk/old.npy
  [ "$(wc -c <wider.npy)" -gt 16384 ] || right=1
  complains 'cannot write disk/old.npy: No space left on device'
  [ "$(cat disk/old.npy)" = old ] && [ "$(ls -A disk)" = old.npy ] || right=1
  report $right "on a full disk the old output is kept, and nothing else is left"
  umount disk && mounted=
fi

# ---- signals --------------------------------------------------------------------------------------------------
# Two Ctrl-C while the output, 256 MiB, is being written; one while an input is being waited for.
"$python" - "$assay" >"$out" 2>"$err" <<'END'
import glob, os, signal, subprocess, sys, time
import numpy as np

np.save("high.npy", np.ones((8192, 1), "<f2"))
np.save("broad.npy", np.ones((1, 16384), "<f2"))
np.save("broad_bias.npy", np.ones(16384, "<f2"))
command = [sys.argv[1], "apply", "fused_gemm", "--in", "high.npy", "--in", "broad.npy", "--in", "broad_bias.npy"]
signal.signal(signal.SIGINT, signal.SIG_DFL)
process = subprocess.Popen(command + ["--out", "old.npy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while not glob.glob(".assay-*.tmp") and process.poll() is None:
    time.sleep(0.0005)
process.send_signal(signal.SIGINT)
process.send_signal(signal.SIGINT)
answer, error = process.communicate()
print("writing:", process.returncode, repr(answer), error.strip(), glob.glob(".assay-*"), open("old.npy").read())
waiting = subprocess.Popen([sys.argv[1], "apply", "w1", "--in", "pipe.npy", "--out", "old.npy"])
time.sleep(0.3)
waiting.send_signal(signal.SIGINT)
print("reading:", waiting.wait(), glob.glob(".assay-*"), open("old.npy").read())
END
right=$?
says "writing: 130 '' error: interrupted: old.npy is not written [] old"
report $right "Ctrl-C, even twice, while the output is written leaves the old one and no temporary file"
right=0
says 'reading: -2 [] old'
report $right "Ctrl-C before that ends at once"
rm -f high.npy broad.npy broad_bias.npy

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
