# SPDX-License-Identifier: MIT
"""Every operator under torch.compile, on another stream and in a CUDA graph, by the gate of assay.bench: FP64, every
element, the contract's bound."""

import unittest

try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    import assay.torch
    from assay.bench import _gate, _problems, _spaces, _suite, _variants

SHAPES = {
    "strided_softmax": ("257x1025:transposed", "64x257:packed:bf16", "33x8193:sliced:fp32"),
    "softmax_backward": ("257x1025:packed", "64x257:transposed:bf16"),
    "fused_gemm": ("127x65x33", "256x128x520:padded:bf16"),
    "split_softmax": ("4x32769:no_workspace", "3x5000:exact_workspace:fp32"),
    "streaming_attention": ("129x32:causal=1", "200x64x3x2:causal=0:bf16", "300x128x2:causal=1"),
}


def problems(device):
    space = _spaces.TorchSpace(device)
    for name, texts in SHAPES.items():
        operator = _suite.operators()[name]
        for text in texts:
            (case,) = operator.parse(text, "cuda" if device == "cuda" else "cpu")
            problem = _problems.PROBLEMS[name](space, case)
            problem.fill(21)
            yield problem, operator


@unittest.skipIf(torch is None, "PyTorch is not here")
class Compiled(unittest.TestCase):
    """The custom operators in a compiled function, with work of the compiler's around them."""

    CALLS = {
        "strided_softmax": lambda p: (assay.torch.softmax, (p.x,), {}),
        "softmax_backward": lambda p: (assay.torch.softmax_backward, (p.y, p.g), {}),
        "fused_gemm": lambda p: (assay.torch.matmul_bias_relu, (p.a, p.b, p.bias), {}),
        "split_softmax": lambda p: (assay.torch.split_softmax, (p.x,), {}),
        "streaming_attention": lambda p: (assay.torch.attention, (p.q, p.k, p.v), {"causal": p.causal}),
    }

    def test_all(self):
        for device in ["cpu"] + (["cuda"] if torch.cuda.is_available() else []):
            for problem, operator in problems(device):
                torch.compiler.reset()  # a function is compiled for eight shapes at most
                function, inputs, options = self.CALLS[operator.name](problem)

                def doubled(*inputs, function=function, options=options):
                    return function(*inputs, **options) * 2

                result = torch.compile(doubled, fullgraph=True, dynamic=False)(*inputs)
                found = _gate.Gate(problem, None).judge(result / 2)  # both exact
                self.assertTrue(found.right, f"{operator.name} {problem.case.name} on {device}: {found.reason}")


@unittest.skipIf(torch is None or not torch.cuda.is_available(), "there is no CUDA device")
class Contexts(unittest.TestCase):
    def variants(self):
        for problem, operator in problems("cuda"):
            for variant in _variants.own(problem, operator, "cuda", 0):
                yield problem, variant

    def right(self, problem, variant, result, where):
        found = _gate.Gate(problem, None).judge(result)
        where = f"{problem.case.operator} {problem.case.name}, {variant.name}, {where}"
        self.assertTrue(found.right, f"{where}: {found.reason}")

    def test_default_stream(self):
        for problem, variant in self.variants():
            self.right(problem, variant, variant.call(), "on the default stream")

    def test_other_stream(self):
        """The inputs are there late: a call that does not wait for its stream reads what was there before."""
        for problem, variant in self.variants():
            stream = torch.cuda.Stream()
            torch.cuda.synchronize()
            problem.fill(22)
            kept = [value.clone() for value in self.inputs(problem)]
            for value in self.inputs(problem):
                value.zero_()
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(20_000_000)
                for value, old in zip(self.inputs(problem), kept, strict=True):
                    value.copy_(old)
                result = variant.call()
            stream.synchronize()
            self.right(problem, variant, result, "on another stream")

    def test_graph(self):
        for problem, variant in self.variants():
            variant.call()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = variant.call()
            problem.fill(23)
            result.fill_(float("nan"))
            graph.replay()
            torch.cuda.synchronize()
            self.right(problem, variant, result, "in a graph")

    @staticmethod
    def inputs(problem):
        names = ("x", "y", "g", "a", "b", "bias", "q", "k", "v")
        found = [getattr(problem, name) for name in names if name in vars(problem)]
        return [one for one in found if isinstance(one, torch.Tensor)]


if __name__ == "__main__":
    unittest.main()
