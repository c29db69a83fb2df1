#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/peers.py where there is no PyTorch: what it refuses, and that the report which it would write is a valid one.
# Prints TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd -P)
BUILD=${BUILD:-$here/build}
case $BUILD in /*) ;; *) BUILD=$here/$BUILD ;; esac
export LC_ALL=C ASSAY_SOURCE_DIR="$here"
if ! command -v python3 >/dev/null 2>&1; then
  echo "1..0 # SKIP no python3 here"
  exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out
count=0 failed=0
report() { # report STATUS WHAT
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failed=$((failed + 1))
    echo "not ok $count - $2"
    sed 's/^/# /' "$out" | head -n 12
  fi
}

# refused CODE WORDS ARGUMENT...: one line on stderr that holds the words.
refused() {
  wanted=$1 words=$2
  shift 2
  python3 -B "$here/scripts/peers.py" "$@" >"$out" 2>&1
  code=$?
  [ $code -eq "$wanted" ] && [ "$(wc -l <"$out")" -eq 1 ] && grep -qF -e "$words" "$out"
}
refused 64 'required: -o/--output'
report $? "an output is needed"
refused 64 'there is no operator "foo"' -o "$folder/r.json" foo
report $? "an unknown operator is named"
refused 64 'invalid float value' -o "$folder/r.json" --seconds soon
report $? "a time that is no number"
mkdir "$folder/empty"
echo 'raise ImportError("there is none")' >"$folder/empty/torch.py"
PYTHONPATH=$folder/empty
export PYTHONPATH
refused 3 'PyTorch is needed, and cannot be imported: there is none' -o "$folder/r.json"
report $? "without PyTorch it is unavailable"
unset PYTHONPATH
[ ! -e "$folder/r.json" ]
report $? "and writes nothing"

# A report of invented times, by the code that writes real ones; PyTorch and Triton are stand-ins.
cat >"$folder/invent.py" <<'END'
import sys
from types import SimpleNamespace as Thing

sys.path.insert(0, sys.argv[1] + "/scripts")
import peers_cases
import peers_report

sys.modules["triton"] = Thing(__version__="0.0")
properties = Thing(name="Example GPU", major=9, minor=0)
torch = Thing(__version__="0.0", version=Thing(cuda="13.0"), get_num_threads=lambda: 2,
              cuda=Thing(get_device_properties=lambda index: properties), backends=Thing(cudnn=Thing(version=lambda: 1)))
sys.argv[:] = [sys.argv[0], "-o", sys.argv[2]]
protocol = {"name": "seeds", "processes": 1, "rounds": 7, "calls": 20, "warmup": 5}
report = peers_report.Report(sys.argv[2], "graph", 5, protocol, peers_report.surroundings(torch))
peers = [peers_cases.Peer(name, kind, "y = f(x)", "once", None) for name, kind in (("one", "torch"), ("two", "triton"), ("three", "torch"))]
for number, case in enumerate(peers_cases.CASES):
    samples = {name: [{"process": 0, "round": turn, "position": (place + turn) % 2, "calls": 20,
                       "nanoseconds": 10**8 + 1000 * turn + place, "sm_mhz": 1000 * (number % 2)} for turn in range(7)]
               for place, name in enumerate(("one", "two"))}
    report.add(case, peers, {"one": (0.5, 10), "two": (0.25, 10)}, {"three": "wrong: the largest error is 3 times what is allowed"}, samples)
report.save(complete=True)
END
python3 -B "$folder/invent.py" "$here" "$folder/r.json" >"$out" 2>&1 && "$BUILD/assay" verify "$folder/r.json" >>"$out" 2>&1 &&
  grep -q 'valid and current' "$out"
report $? "what it writes is a valid report"
"$BUILD/assay" plot "$folder/r.json" >"$out" 2>&1 && grep -q '^strided_softmax, 256x257 transposed fp16$' "$out"
report $? "and can be shown"
{ printf '# P\n<!-- report: %s; fused_gemm; 512x512x512; two; median us -->5000.15 us\n' "$folder/r.json" >"$folder/p.md"; } &&
  (cd "$folder" && sed -i "s|$folder/||" p.md && "$BUILD/assay" verify p.md >"$out" 2>&1) && grep -q '1 number cited, 0 findings' "$out"
report $? "and cited"

# The whole program over stand-ins for PyTorch and Triton, in which calls are counted, and time is what an event says.
mkdir "$folder/stand_in"
cat >"$folder/stand_in/torch.py" <<'END'
from contextlib import nullcontext
from types import SimpleNamespace as Thing

log = []


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        log.append("record")

    def elapsed_time(self, other):
        return 0.25


class Graph:
    def replay(self):
        log.append("replay")


class Generator:
    def __init__(self, device):
        pass

    def manual_seed(self, seed):
        return self


stream = Thing(wait_stream=lambda other: None)
properties = Thing(name="Example GPU", major=9, minor=0)
cuda = Thing(is_available=lambda: True, Event=Event, CUDAGraph=Graph, Stream=lambda: stream, stream=nullcontext, graph=nullcontext,
             current_stream=lambda: stream, synchronize=lambda: None, _sleep=lambda cycles: log.append("lead"), empty_cache=lambda: None,
             get_device_properties=lambda index: properties)
__version__, float16, float32 = "0.0", None, None
version, backends = Thing(cuda="13.0"), Thing(cudnn=Thing(version=lambda: 1))
Generator = Generator


def get_num_threads():
    return 2


def mm(left, right):
    log.append("burst")


def randn(shape, **options):
    return 0.0
END
cat >"$folder/stand_in/triton.py" <<'END'
import sys
from types import SimpleNamespace as Thing

__version__ = "0.0"
language = Thing(constexpr=None)
sys.modules["triton.language"] = language


def jit(function):
    return function
END
cat >"$folder/whole.py" <<'END'
import sys

sys.path.insert(0, sys.argv.pop(1) + "/scripts")
import peers
import peers_cases
import torch


class Numbers:
    """As much of a tensor as a comparison with FP64 values needs."""

    def __init__(self, values):
        self.values, self.shape = values, len(values)

    def __getitem__(self, rows):
        return self

    def double(self):
        return self

    def numel(self):
        return len(self.values)

    def __sub__(self, other):
        return Numbers([a - b for a, b in zip(self.values, other.values)])

    def __truediv__(self, other):
        return Numbers([a / b for a, b in zip(self.values, other.values)])

    def __rmul__(self, factor):
        return Numbers([factor * a for a in self.values])

    def __le__(self, most):
        return Numbers([a <= most for a in self.values])

    def abs(self):
        return Numbers([abs(a) for a in self.values])

    def all(self):
        return all(self.values)

    def nan_to_num(self, nan):
        return Numbers([nan if a != a else a for a in self.values])

    def max(self):
        return max(self.values)


def fails():
    raise RuntimeError("no backend\ntakes this")


def make(torch, kernels, normal):
    right, rough, wrong, nothing = ([1.0, 2.0], [1.0, 2.15], [1.0, 3.0], [1.0, float("nan")])
    peer = lambda name, call, slack=1: peers_cases.Peer(name, "torch", "y = f(x)", "once", call, slack)
    peers = [peer("right", lambda: Numbers(right)), peer("rough", lambda: Numbers(rough), 4), peer("wrong", lambda: Numbers(wrong)),
             peer("rough_unsaid", lambda: Numbers(rough)), peer("nan", lambda: Numbers(nothing)), peer("fails", fails)]
    return peers, lambda: iter([(slice(0, 2), Numbers([1.0, 2.0]), Numbers([0.1, 0.1]))])


operator = peers_cases.CASES[0].operator
peers_cases.CASES[:] = [peers_cases.Case(operator, {"rows": rows, "columns": 2}, "packed", {}, group, (8, 10), make)
                        for rows, group in ((1, peers_cases.SEEDS), (2, peers_cases.LARGE))]
peers.BURST_SECONDS = 0.001
try:
    peers.main()
finally:
    marks = [mark for mark in torch.log if mark != "burst"]
    print("marks", marks.count("lead"), marks.count("record"), marks.count("replay"))
END
PYTHONPATH=$folder/stand_in python3 -B "$folder/whole.py" "$here" -o "$folder/g.json" --events "$folder/e.json" --seed 5 >"$out" 2>&1
code=$?
# Two peers, seven rounds: two cases in graphs, each with a replay before it is timed, and one case of launches.
[ $code -eq 1 ] && grep -qx 'marks 28 84 32' "$out" && grep -q '^2 of 2 cases, 6 peers wrong, ' "$out"
report $? "a run times what is right, and ends with 1 when something is wrong"
for words in 'left out: wrong: wrong: the largest error is 10 times' 'left out: rough_unsaid: wrong: the largest error is 1.5 times' \
  'left out: nan: wrong: the largest error is inf times' 'left out: fails: RuntimeError: no backend takes this' 'right 12.50, rough 12.50 us'; do
  grep -qF -e "$words" "$out" || { report 1 "it says: $words" && continue; }
  report 0 "it says: $words"
done
"$BUILD/assay" verify "$folder/g.json" "$folder/e.json" >"$out" 2>&1 && [ "$(grep -c '^ *"process": 0,' "$folder/g.json")" -eq 28 ] &&
  [ "$(grep -c '^ *"process": 0,' "$folder/e.json")" -eq 14 ] && grep -q 'held to 4 times the allowed error' "$folder/g.json" &&
  ! grep -q sm_mhz "$folder/g.json" && [ "$(grep -c '^ *"complete": true,$' "$folder/g.json")" -eq 1 ]
report $? "its two reports are valid and hold every sample"

# Every case is one of Assay's suites, under its name: sizes and options of the tables in ops/.
python3 -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import peers_cases
for case in peers_cases.CASES: print(case.operator + "\t" + case.name)' "$here/scripts" >"$folder/cases" &&
  "$BUILD/tests/test_suites" --list >"$folder/suites" && grep -vxF -f "$folder/suites" "$folder/cases" >"$out"
[ $? -eq 1 ] && [ -s "$folder/cases" ] && [ ! -s "$out" ]
report $? "every shape is one of Assay's own, by its name"

echo "1..$count"
[ "$failed" -eq 0 ]
