#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random .npy files, and those of data/, through `assay apply`, against NumPy.

    apply_numpy.py ASSAY FOLDER [--cases N] [--seed N] [--data FOLDER]

NumPy writes the inputs, in all versions, orders and types that it has, and the views are taken by NumPy too. What
apply writes is loaded by NumPy, compared byte for byte with what NumPy would have written, and element by element with
the operator computed in FP64 (long double for FP64 states) under the bounds that the operators' READMEs derive, which
are written here once more. Prints a line for each operator: "ok ..." or "not ok ..." behind the reasons ("# ...").
"""
import argparse
import io
import json
import os
import subprocess
import sys

import numpy as np

from apply_reference import (
    NUMPY_TYPE,
    decode,
    encode,
    finish,
    fused_gemm,
    merge,
    round_to,
    softmax,
    softmax_backward,
    streaming_attention,
    summarise,
    wrong,
)


# ---- files and views -------------------------------------------------------------------------------------------


class Bench:
    """Runs apply, keeps score."""

    def __init__(self, program, folder, seed):
        self.program = program
        self.folder = folder
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.failures = []
        self.files = 0
        listed = json.loads(self.run(["list", "--json"]).stdout)
        self.variants = {
            op["name"]: [v["name"] for v in op["variants"] if v["available"] and v["backend"] == "cpu"]
            for op in listed["operators"]
        }

    def run(self, arguments):
        return subprocess.run([self.program] + arguments, capture_output=True, text=True, check=False)

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def path(self, name):
        return os.path.join(self.folder, name)

    def enlarge(self, logical):
        """A larger array and a slice of it that is `logical`; everything else in it is NaN."""
        garbage = 0x7FC0 if logical.dtype.kind == "u" else np.nan
        sizes, places, words = [], [], []
        for n in logical.shape:
            step, start, tail = self.pick([1, 1, 2, 3]), int(self.rng.integers(3)), int(self.rng.integers(3))
            stop = start + (n - 1) * step + 1 if n > 0 else start
            sizes.append(stop + tail)
            places.append(slice(start, stop, step))
            text = f"{start}:{stop - sizes[-1] if tail and self.chance(0.5) else stop}"
            words.append(text + (f":{step}" if step > 1 or self.chance(0.2) else ""))
        if logical.ndim < 4 and self.chance(0.4):
            axis, size = int(self.rng.integers(logical.ndim + 1)), int(self.rng.integers(1, 4))
            index = int(self.rng.integers(size))
            sizes.insert(axis, size)
            places.insert(axis, index)
            words.insert(axis, str(index - size if self.chance(0.5) else index))
        array = np.full(sizes, garbage, dtype=logical.dtype)
        array[tuple(places)] = logical
        while len(words) > 1 and words[-1] == "0:" + str(sizes[len(words) - 1]):
            words.pop()
        return array, ["--slice", ",".join(words)], tuple(places)

    def disguise(self, logical):
        """An array, and options that make `logical` of it again."""
        options, array = [], logical
        for _ in range(int(self.rng.integers(3))):
            if self.chance(0.5):
                larger, words, places = self.enlarge(array)
                assert larger[places].tobytes() == array.tobytes()
                options = words + options
                array = larger
            else:
                order = self.rng.permutation(array.ndim)
                reverse = list(order) == list(range(array.ndim))[::-1]
                words = "--transpose" if reverse and self.chance(0.5) else "--transpose=" + ",".join(map(str, order))
                options = [words] + options
                array = array.transpose(np.argsort(order))
        return array, options

    def save(self, name, array, patterns):
        """In one of the versions and orders; bf16 also as the two-byte void that extension types leave."""
        array = np.asfortranarray(array) if self.chance(0.4) else np.ascontiguousarray(array).reshape(array.shape)
        void = patterns and array.ndim > 0 and array.size > 0 and self.chance(0.5)
        stream = io.BytesIO()
        stored = array.view("V2") if void and array.flags.c_contiguous else array
        np.lib.format.write_array(stream, stored, version=self.pick([(1, 0), (2, 0), (3, 0)]))
        data = stream.getvalue()
        if self.chance(0.5):
            data = data.replace(b"'|V2'", b"'<V2'", 1)
        with open(self.path(name), "wb") as file:
            file.write(data)
        self.files += 1
        return self.path(name)

    def fail(self, command, reason):
        self.failures.append(f"{reason}: {' '.join(command)}")

    def judge(self, command, out_type, shape, want, allowed):
        """Runs the command, whose last word is the output's path, and looks at all that it left."""
        out = command[-1]
        if os.path.exists(out):
            os.remove(out)
        result = self.run(command)
        if result.returncode != 0 or result.stderr:
            return self.fail(command, f"exit {result.returncode}, {result.stderr.strip()}")
        if "--json" in command and not json.loads(result.stdout)["output"]["written"]:
            return self.fail(command, "the answer says that nothing was written")
        y = np.load(out)
        if y.dtype.str != NUMPY_TYPE[out_type] or y.shape != tuple(shape):
            return self.fail(command, f"a {y.dtype.str} of shape {y.shape}")
        np.save(self.path("again.npy"), y)
        with open(out, "rb") as ours, open(self.path("again.npy"), "rb") as theirs:
            if ours.read() != theirs.read():
                self.fail(command, "not the bytes that NumPy writes")
        got = decode(out_type, y)
        bad = wrong(out_type, got, want, allowed)
        if bad.any():
            first = tuple(np.argwhere(bad)[0])
            self.fail(
                command,
                f"{bad.sum()} of {bad.size} wrong, first {first}: {want[first]!r} expected, {got[first]!r} found,"
                f" {allowed[first]:.3g} allowed",
            )


# ---- random cases ----------------------------------------------------------------------------------------------


def contents(bench, shape, scale):
    x = bench.rng.standard_normal(shape) * scale
    if x.size and bench.chance(0.15):
        x.flat[bench.rng.integers(x.size)] = bench.pick([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40])
    if x.ndim == 2 and x.size and bench.chance(0.1):
        x[bench.rng.integers(x.shape[0])] = -np.inf
    return x


def sizes(bench, most):
    return int(bench.pick([1, 2, 3, 5, 8, 17, 33, int(bench.rng.integers(1, most + 1))]))


def rows(bench, most):
    return 0 if bench.chance(0.05) else sizes(bench, most)


def of_softmax(bench):
    n = int(bench.rng.integers(1025, 3000)) if bench.chance(0.1) else sizes(bench, 300)
    return [contents(bench, (rows(bench, 20), n), bench.pick([1, 10, 60]))], {}


def of_split(bench):
    arrays, _ = of_softmax(bench)
    return arrays, {"chunk": bench.pick([0, 256, 1024, 4096])}


def of_backward(bench):
    shape = (rows(bench, 20), sizes(bench, 300))
    y = np.exp(bench.rng.standard_normal(shape))
    return [y / y.sum(axis=1, keepdims=True), contents(bench, shape, bench.pick([1, 100]))], {}


def of_gemm(bench):
    m, k, n = rows(bench, 40), rows(bench, 90), rows(bench, 40)
    knobs = {"group": bench.pick([0, 1, 4, 8]), "tile_m": bench.pick([0, 16, 32, 64])}
    return [contents(bench, (m, k), 1), contents(bench, (k, n), 1), contents(bench, (n,), 3)], knobs


def of_summarise(bench):
    return [contents(bench, (bench.pick([0, 1, 2, 100, 1500, 5000]),), bench.pick([1, 20]))], {}


def some_state(bench):
    if bench.chance(0.15):
        return np.array([-np.inf, 0.0])
    return np.array([bench.rng.normal() * 20, bench.rng.uniform(1, 1000)])


def of_merge(bench):
    return [some_state(bench), some_state(bench)], {}


def of_finish(bench):
    state = np.array([bench.rng.normal(), bench.rng.uniform(1, 50)])
    return [state, contents(bench, (rows(bench, 3000),), bench.pick([1, 30]))], {}


def of_attention(bench):
    shape = (rows(bench, 80), sizes(bench, 64))
    if bench.chance(0.3):
        shape = (int(bench.rng.integers(1, 3)), int(bench.rng.integers(1, 4))) + shape
    arrays = [bench.rng.standard_normal(shape) * bench.pick([0.5, 2]) for _ in range(3)]
    knobs = {"causal": bench.pick([0, 1]), "block_n": bench.pick([0, 32, 64])}
    if knobs["causal"] and shape[-2] > 1 and bench.chance(0.3):  # what a row does not see changes nothing
        arrays[1][..., -1, :] = np.nan
        arrays[2][..., -1, :] = np.inf
    return arrays, knobs


FLOATS, HALVES, LONG = ["fp32", "fp16", "bf16"], ["fp16", "bf16"], ["fp32", "fp64"]

# Operator, function, definition, types, inputs that are FP64 states, whether the output is one, operands.
FUNCTIONS = [
    ("strided_softmax", None, softmax, FLOATS, (), False, of_softmax),
    ("softmax_backward", None, softmax_backward, FLOATS, (), False, of_backward),
    ("fused_gemm", None, fused_gemm, HALVES, (), False, of_gemm),
    ("online_normalizer", "summarise", summarise, LONG, (), True, of_summarise),
    ("online_normalizer", "merge", merge, ["fp64"], (0, 1), True, of_merge),
    ("online_normalizer", "finish", finish, LONG, (0,), False, of_finish),
    ("split_softmax", None, softmax, FLOATS, (), False, of_split),
    ("streaming_attention", None, streaming_attention, HALVES, (), False, of_attention),
]


def random_case(bench, entry, number):
    name, function, definition, types, states, state_out, operands = entry
    dtype = bench.pick(types)
    arrays, knobs = operands(bench)
    convert = dtype == "bf16" or bench.chance(0.4)
    command, values = ["apply", name], []
    for i, array in enumerate(arrays):
        target = "fp64" if i in states else dtype
        choices = [t for t in NUMPY_TYPE if t != "bf16" or dtype == "bf16"]
        stored = bench.pick(choices) if convert and i not in states and bench.chance(0.6) else target
        kept = encode(stored, array)
        values.append(round_to(target, decode(stored, kept)))
        disguised, options = bench.disguise(kept)
        command += ["--in", bench.save(f"in{i}.npy", disguised, stored == "bf16")] + options
    if function is not None and (function != "summarise" or bench.chance(0.5)):
        command += ["--function", function]
    if convert:
        command += ["--dtype", dtype]
    command += [word for key, value in knobs.items() if value for word in ("--set", f"{key}={value}")]
    command += ["--variant", bench.pick(bench.variants[name])] if bench.chance(0.7) else []
    command += [word for word in ("--check", "--json") if bench.chance(0.4)]
    want, allowed = definition(dtype, values, knobs)
    out_type = "fp64" if state_out else dtype
    bench.judge(command + ["--out", bench.path(f"out{number % 7}.npy")], out_type, want.shape, want, allowed)


# ---- the files of data/ ----------------------------------------------------------------------------------------


class Data:
    """The matrices of a folder: leading axes are dropped by an index, long ones are cut."""

    def __init__(self, bench, folder):
        self.bench, self.folder = bench, folder

    def has(self, *names):
        return all(os.path.exists(os.path.join(self.folder, name + ".npy")) for name in names)

    def operand(self, name, view, dtype, most):
        """Words of the command line, and the values; `view` is a slice of the matrix, "T", or None."""
        path = os.path.join(self.folder, name + ".npy")
        array = np.load(path, mmap_mode="r")
        words = ["--in", path]
        while array.ndim > 2:
            array = array[0]
            words += ["--slice", "0"]
        keep = max(1, most // max(1, array.shape[-1]))
        if array.ndim == 2 and array.shape[0] > keep:
            array = array[:keep]
            words += ["--slice", f":{keep}"]
        if view == "T":
            array = array.T
            words += ["--transpose"]
        elif view is not None:
            array = array[tuple(slice(None) if part == ":" else int(part) for part in view.split(","))]
            words += ["--slice", view]
        stored = "bf16" if array.dtype.kind in "uV" else {2: "fp16", 4: "fp32", 8: "fp64"}[array.dtype.itemsize]
        values = decode(stored, array.view("<u2") if stored == "bf16" else array)
        return words, round_to(dtype, values)

    def check(self, entry, dtype, operands, knobs):
        name, function, definition, _, states, state_out, _ = entry
        command, values = ["apply", name], []
        most = 1 << 16 if len(operands) == 3 else 1 << 20  # work that grows with the square of the rows
        for i, (file, view) in enumerate(operands):
            words, value = self.operand(file, view, "fp64" if i in states else dtype, most)
            command += words
            values.append(value)
        command += ["--function", function] if function else []
        command += ["--dtype", dtype, "--check"]
        command += [word for key, value in knobs.items() if value for word in ("--set", f"{key}={value}")]
        want, allowed = definition(dtype, values, knobs)
        out_type = "fp64" if state_out else dtype
        self.bench.judge(command + ["--out", self.bench.path("out.npy")], out_type, want.shape, want, allowed)


def data_cases(bench, folder):
    """How many calls there were."""
    data = Data(bench, folder)
    by_name = {(name, function): entry for entry in FUNCTIONS for name, function in [entry[:2]]}
    calls = []
    if data.has("logits"):
        for dtype in FLOATS:
            calls += [("strided_softmax", None, dtype, [("logits", None)], {})]
            calls += [("strided_softmax", None, dtype, [("logits", "T")], {})]
            calls += [("split_softmax", None, dtype, [("logits", None)], {"chunk": 1024})]
        calls += [("online_normalizer", "summarise", dtype, [("logits", "0,:")], {}) for dtype in LONG]
    if data.has("logits", "grad"):
        calls += [("softmax_backward", None, dtype, [("logits", None), ("grad", None)], {}) for dtype in FLOATS]
    if data.has("q", "k", "v"):
        for dtype in HALVES:
            calls += [("streaming_attention", None, dtype, [("q", None), ("k", None), ("v", None)], {"causal": c})
                      for c in (0, 1)]
            calls += [("fused_gemm", None, dtype, [("q", None), ("k", "T"), ("v", ":,0")], {"group": 4})]
    for name, function, dtype, operands, knobs in calls:
        data.check(by_name[name, function], dtype, operands, knobs)
    return len(calls)


# ---- the run ---------------------------------------------------------------------------------------------------


def report(bench, text):
    """One line of the score, behind the failures since the last one; whether there were none."""
    failures, bench.failures = bench.failures, []
    for failure in failures[:5]:
        print("# " + failure)
    print(("not ok " if failures else "ok ") + text, flush=True)
    return not failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data")
    args = parser.parse_args()
    bench = Bench(args.program, args.folder, args.seed)
    each = (args.cases + len(FUNCTIONS) - 1) // len(FUNCTIONS)
    right = True
    for entry in FUNCTIONS:
        for number in range(each):
            random_case(bench, entry, number)
        name = entry[0] if entry[1] is None else f"{entry[0]} {entry[1]}"
        right &= report(bench, f"{name}: {each} random calls agree with NumPy (seed {bench.seed})")
    right &= bench.files >= args.cases
    if args.data and os.path.isdir(args.data):
        calls = data_cases(bench, args.data)
        right &= report(bench, f"{calls} calls on the files of {os.path.basename(args.data)}/ agree with NumPy")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
