# SPDX-License-Identifier: MIT
"""assay.bench: shapes, references and peers; on NumPy, and on PyTorch's tensors where it is."""

import contextlib
import io
import json
import math
import os
import pathlib
import random
import tempfile
import unittest

import numpy

from assay.bench import __main__ as bench
from assay.bench import _gate, _numpy_peers, _problems, _spaces, _suite

try:
    import torch

    from assay.bench import _torch_peers

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is made
except ImportError:
    torch = None
try:
    import triton

    from assay.bench import _triton_peers
except ImportError:
    triton = None

SPACES = [_spaces.NumpySpace()] + ([_spaces.TorchSpace("cpu")] if torch is not None else [])
SMALL = {
    "strided_softmax": "17x33:sliced",
    "softmax_backward": "17x65:transposed",
    "fused_gemm": "9x13x70:padded",
    "split_softmax": "3x700:exact_workspace:fp32",
    "streaming_attention": "37x16x3x2:causal=1",
}


def case_of(name, text=None):
    return _suite.operators()[name].parse(text or SMALL[name], "cpu")[0]


class Suite(unittest.TestCase):
    """What is worked out here is what `assay list --suite` says of every shape of both backends."""

    def test_every_case_has_the_facts_of_the_suite(self):
        count = 0
        for name, operator in _suite.operators().items():
            for entry in operator.entry["cases"]:
                case = operator._case(entry)
                self.assertEqual(case.name, entry["name"])
                self.assertEqual(case.work, (entry["work"]["bytes"], entry["work"]["flops"]), f"{name} {case.name}")
                self.assertEqual(case.sampled, entry["sampled"], f"{name} {case.name}")
                self.assertEqual(case.sampled_rounds, entry["sampled_rounds"], f"{name} {case.name}")
                self.assertIn(case.layout, _suite.LAYOUTS[name])
                count += 1
        self.assertGreaterEqual(count, 30)

    def test_shapes(self):
        softmax = _suite.operators()["strided_softmax"]
        self.assertEqual(softmax.parse("256x257", "cpu")[0].name, "256x257 transposed fp16")
        self.assertEqual(len(softmax.parse("256x257", "cuda")), 2)  # packed on a GPU as well
        self.assertEqual(softmax.parse("5x6:packed:fp32:warps=4", "cpu")[0].name, "5x6 packed warps=4 fp32")
        attention = _suite.operators()["streaming_attention"]
        self.assertEqual(attention.parse("8x4x2:causal=1", "cpu")[0].dims["batch"], 1)
        for text in ("5y6", "5x6x7", "5x6:fp13", "5x6:warps=x", "5x6:general", "0x6", "", "x5"):
            with self.assertRaises(_suite.Usage, msg=text):
                softmax.parse(text, "cpu")


class Plain:
    """The definitions once more, element by element in Python's own numbers."""

    @staticmethod
    def strided_softmax(p):
        rows = []
        for row in p.x.tolist():
            powers = [math.exp(one - max(row)) for one in row]
            rows.append([power / math.fsum(powers) for power in powers])
        return rows

    split_softmax = strided_softmax

    @staticmethod
    def softmax_backward(p):
        rows = []
        for y, g in zip(p.y.tolist(), p.g.tolist(), strict=True):
            dot = math.fsum(a * b for a, b in zip(y, g, strict=True))
            rows.append([a * (b - dot) for a, b in zip(y, g, strict=True)])
        return rows

    @staticmethod
    def fused_gemm(p):
        columns = list(zip(*p.b.tolist(), strict=True))
        bias = p.bias.tolist()
        return [
            [
                max(0.0, math.fsum([*(x * y for x, y in zip(row, column, strict=True)), shift]))
                for column, shift in zip(columns, bias, strict=True)
            ]
            for row in p.a.tolist()
        ]

    @staticmethod
    def streaming_attention(p):
        flat = [one.reshape(-1, p.n, p.d).tolist() for one in (p.q, p.k, p.v)]
        found = []
        for q, k, v in zip(*flat, strict=True):
            for i in range(p.n):
                keys = range(i + 1) if p.causal else range(p.n)
                scores = [math.fsum(a * b for a, b in zip(q[i], k[j], strict=True)) / math.sqrt(p.d) for j in keys]
                powers = [math.exp(score - max(scores)) for score in scores]
                total = math.fsum(powers)
                found.append(
                    [math.fsum(w * v[j][c] for w, j in zip(powers, keys, strict=True)) / total for c in range(p.d)]
                )
        return found


class References(unittest.TestCase):
    def test_they_are_the_definitions(self):
        for space in SPACES:
            for name in SMALL:
                problem = _problems.PROBLEMS[name](space, case_of(name))
                problem.fill(3)
                plain = numpy.array(getattr(Plain, name)(problem)).reshape(problem.shape)
                seen = numpy.zeros(problem.shape, dtype=bool)
                for index, wanted, allowed in problem.reference():
                    index = self.plain(index)
                    seen[index] = True
                    error = numpy.abs(plain[index] - numpy.asarray(wanted))
                    self.assertLess(error.max(), 1e-12, f"{name} on {space.name}")
                    self.assertTrue((numpy.asarray(allowed) > 0).all())
                self.assertTrue(seen.all(), f"{name} on {space.name}: every element has a reference")

    def test_chosen_rows_are_those_of_the_whole(self):
        for space in SPACES:
            for name in SMALL:
                problem = _problems.PROBLEMS[name](space, case_of(name))
                problem.fill(4)
                whole = numpy.empty(problem.shape)
                for index, wanted, _ in problem.reference():
                    whole[self.plain(index)] = numpy.asarray(wanted)
                rows = 0
                for index, wanted, _ in problem.reference(problem.pick(random.Random(1), 8)):
                    self.assertTrue(numpy.allclose(whole[self.plain(index)], numpy.asarray(wanted), rtol=1e-13, atol=0))
                    rows += wanted.shape[0]
                self.assertGreaterEqual(rows, 6 if name == "streaming_attention" else 3)

    @staticmethod
    def plain(index):
        if isinstance(index, tuple):
            return tuple(numpy.asarray(one) if hasattr(one, "shape") else one for one in index)
        return numpy.asarray(index) if hasattr(index, "shape") else index

    def test_exact_contents_are_exact_in_fp32(self):
        problem = _problems.PROBLEMS["fused_gemm"](SPACES[0], case_of("fused_gemm", "8x8x2048"))
        problem.fill_exact(1)
        a, b, bias = (one.astype(numpy.float32) for one in (problem.a, problem.b, problem.bias))
        for index, wanted, _ in problem.reference():
            self.assertTrue((numpy.maximum(a[index] @ b + bias, 0) == wanted).all())
            self.assertTrue((numpy.abs(wanted) < 2**24).all() and (wanted > 2048).any())


@unittest.skipIf(torch is None, "PyTorch is not here")
class Peers(unittest.TestCase):
    """Every peer computes the definition; kernels in Triton by its interpreter, where there is no GPU."""

    SHAPES = {
        "strided_softmax": ("70x33:transposed", "70x33:packed"),
        "softmax_backward": ("17x65:packed",),
        "fused_gemm": ("70x80x70", "33x17x65:padded"),
        "split_softmax": ("3x700",),
        "streaming_attention": ("70x16x2:causal=1", "70x32:causal=0"),
    }

    def judged(self, peers_of):
        space = _spaces.TorchSpace("cuda" if torch.cuda.is_available() else "cpu")
        count = 0
        for name, texts in self.SHAPES.items():
            for text in texts:
                problem = _problems.PROBLEMS[name](space, case_of(name, text))
                problem.fill(7)
                gate = _gate.Gate(problem, None)
                for peer in peers_of(problem):
                    result = peer.call()
                    found = gate.judge(result, peer.slack, peer.more)
                    self.assertTrue(found.right, f"{name} {text} {peer.name}: {found.reason}")
                    self.assertEqual(found.compared, math.prod(problem.shape))
                    result[(-1,) * len(problem.shape)] = float("nan")
                    found = gate.judge(result, peer.slack, peer.more)
                    self.assertIn("1 element is wrong", found.reason)
                    self.assertFalse(found.right)
                    count += 1
        return count

    def test_numpy(self):
        if not torch.cuda.is_available():
            self.assertEqual(self.judged(_numpy_peers.peers), 8)

    def test_torch(self):
        def eager(problem):  # compilers of torch.compile take seconds each: one is enough
            peers = _torch_peers.peers(problem)
            return [one for one in peers if one.name != "torch_compile" or problem.case.operator == "fused_gemm"]

        self.assertGreaterEqual(self.judged(eager), 15)

    @unittest.skipIf(triton is None, "Triton is not here")
    def test_triton(self):
        self.assertEqual(self.judged(_triton_peers.peers), 22)

    def test_what_ran_is_traced(self):
        if not torch.cuda.is_available():
            problem = _problems.PROBLEMS["streaming_attention"](SPACES[1], case_of("streaming_attention"))
            problem.fill(1)
            auto = next(one for one in _torch_peers.peers(problem) if one.name == "sdpa_auto")
            self.assertIn("scaled_dot_product", " ".join(_torch_peers.kernels_of(auto.call, False)))


@unittest.skipUnless(torch is not None and torch.cuda.is_available(), "a GPU")
class OnGpu(unittest.TestCase):
    def test_side_by_side_on_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            for mode in ("graph", "events"):
                path = os.path.join(folder, f"{mode}.json")
                words = ["--backend", "cuda", "--mode", mode, "--protocol", "seeds", "-o", path]
                with contextlib.redirect_stdout(io.StringIO()):
                    code = bench.main(["strided_softmax", "--shape", "256x257:transposed", *words])
                self.assertEqual(code, 0)
                (entry,) = json.loads(pathlib.Path(path).read_text())["cases"]
                timed = {one["name"] for one in entry["variants"] if one["samples"]}
                self.assertLessEqual({"cuda", "allocating", "torch_softmax", "triton_row_4w"}, timed)


if __name__ == "__main__":
    unittest.main()
