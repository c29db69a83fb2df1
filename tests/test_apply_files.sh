#!/bin/sh
# SPDX-License-Identifier: MIT
# `assay apply`: every kind of bad file, and what must not be lost by bad outputs, full disks and signals. TAP.
. "$(dirname "$0")/apply_words.sh"

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

echo "1..$count"
[ $failed -eq 0 ]
