# SPDX-License-Identifier: MIT
# apply_words.sh - what the tests of `assay apply` share; they read it with `.` from their first lines: a scratch folder
# with files of every kind in it, good and bad, and words to say what apply must do with them.
# shellcheck shell=sh disable=SC2034
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

# shellcheck source=tests/cli_words.sh disable=SC1091
. "$here/tests/cli_words.sh"

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
mkfifo pipe.npy

