#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python package: its unit tests on the library of this build, reports of assay.bench, the wheel in a fresh virtual
# environment, and what is said where no library is found. TAP.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
python=
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
  echo "1..0 # SKIP no python3 with NumPy"
  exit 0
fi
if nm -D "$BUILD/libassay.so.0" 2>/dev/null | grep -q __asan_; then
  echo "1..0 # SKIP a library with sanitizers cannot be loaded by a plain python3"
  exit 0
fi

# Every unit test is one test here; unittest says one line for each on stderr.
cd "$folder" || exit 1
pattern='test_*.py'
if ! "$python" -c 'import torch' 2>/dev/null; then
  pattern='test_[bn]*.py' # the others need it
  echo "ok - tensors of PyTorch # SKIP PyTorch is not here"
fi
ASSAY_LIBRARY="$BUILD/libassay.so.0" PYTHONPATH="$root/python" "$python" -m unittest discover -v -s "$root/python/tests" \
  -p "$pattern" >"$folder/log" 2>&1
code=$?
awk '/ \.\.\. ok$/ { print "ok - " $1 }
  / \.\.\. skipped / { print "ok - " $1 " # SKIP " substr($0, index($0, "skipped ") + 8) }
  / \.\.\. (FAIL|ERROR)$/ { print "not ok - " $1 }' "$folder/log"
count=$(grep -Ec ' \.\.\. (ok|skipped .*|FAIL|ERROR)$' "$folder/log")
[ "$pattern" = 'test_*.py' ] || count=$((count + 1))
say() { # STATUS DESCRIPTION
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok - $2"
  else
    echo "not ok - $2"
    sed 's/^/# /' "$folder/log" | tail -n 30
  fi
}
say $code "the unit tests as a whole"

ASSAY_LIBRARY=/nowhere/libassay.so.0 PYTHONPATH="$root/python" "$python" -c 'import assay' >"$folder/log" 2>&1
grep -q "^ImportError: libassay.so.0 is not found: .*tried /nowhere/libassay.so.0 (not there)$" "$folder/log"
say $? "a library that is not there is named"

# bench RUNNER...: a report of assay.bench in $folder/r.json, by fresh processes.
bench() {
  "$@" -m assay.bench softmax_backward --arrays numpy --quick --threads 1 --shape 64x257:packed:fp16,33x65:transposed:fp32 \
    -o "$folder/r.json" >"$folder/log" 2>&1
}
"$BUILD/assay" list --suite >"$folder/suite.json" 2>"$folder/log" &&
  cmp "$folder/suite.json" "$root/python/assay/bench/suite.json" >>"$folder/log" 2>&1
say $? "python/assay/bench/suite.json is what list --suite prints: copy it there when shapes or sources change"
export ASSAY_SOURCE_DIR="$root"
ASSAY_LIBRARY="$BUILD/libassay.so.0" PYTHONPATH="$root/python" bench "$python"
say $? "a report of assay.bench"
"$BUILD/assay" verify "$folder/r.json" >"$folder/log" 2>&1 && grep -q '^valid and current' "$folder/log"
say $? "it is valid and current: all that follows from the samples is what verify works out"
grep -q '"baseline": "numpy_fp32"' "$folder/r.json" && grep -q '"high": [0-9]' "$folder/r.json"
say $? "it has ratios to NumPy with their intervals"
"$BUILD/assay" compare "$folder/r.json" "$folder/r.json" >"$folder/log" 2>&1
case $? in 0 | 8) true ;; *) false ;; esac && "$BUILD/assay" plot "$folder/r.json" >>"$folder/log" 2>&1 &&
  "$BUILD/assay" record new "$folder/r.json" >>"$folder/log" 2>&1 && grep -q 'assay.softmax(x, out=y)' "$folder/r.md"
say $? "compare, plot and record take it"
sed 's/"nanoseconds": \([0-9]\)/"nanoseconds": 1\1/' "$folder/r.json" >"$folder/forged.json"
! "$BUILD/assay" verify "$folder/forged.json" >"$folder/log" 2>&1 && grep -q 'median_ns' "$folder/log"
say $? "samples that were changed afterwards are found"

# The wheel holds the library: nothing of the tree is needed where it is installed.
if "$python" -m venv --system-site-packages "$folder/venv" >"$folder/log" 2>&1; then
  cp -r "$root/python" "$folder/package"
  mkdir "$folder/build" && cp "$BUILD/libassay.so.0" "$folder/build/" && cp -r "$root/include" "$root/ops" "$root/device" "$folder/"
  printf 'build/libassay.so.0:\n\t@false\n' >"$folder/Makefile" # it is up to date
  "$folder/venv/bin/python3" -m pip install -q --no-index --disable-pip-version-check "$folder/package" >"$folder/log" 2>&1
  say $? "pip installs the package without a network"
  rm -rf "$folder/package" "$folder/build" "$folder/include" "$folder/ops" "$folder/device" "$folder/Makefile"
  "$folder/venv/bin/python3" -c 'import assay, numpy
print(assay.library_path, assay.__version__)
assert (assay.softmax(numpy.zeros((2, 4), "f4")) == 0.25).all()' >"$folder/log" 2>&1
  say $? "the installed package computes"
  grep -q "^$folder/venv/.*/assay/libassay.so.0 [0-9.]*$" "$folder/log"
  say $? "with the library that came in the wheel"
  rm -f "$folder/r.json"
  (unset ASSAY_SOURCE_DIR && bench "$folder/venv/bin/python3") &&
    "$BUILD/assay" verify "$folder/r.json" >"$folder/log" 2>&1 && grep -q '^valid and current' "$folder/log"
  say $? "assay.bench runs there too, and knows the sources that it was built from"
  "$folder/venv/bin/python3" -m pip uninstall -q -y assay-kernels >"$folder/log" 2>&1 &&
    ! find "$folder/venv" -path '*assay*' | grep -q .
  say $? "uninstalling leaves nothing"
else
  echo "ok - the wheel # SKIP this python3 makes no virtual environments"
  count=$((count + 1))
fi
echo "1..$count"
