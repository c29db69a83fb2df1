# SPDX-License-Identifier: MIT
"""The operators on PyTorch tensors, CPU and CUDA, against FP64; streams, graphs, torch.compile, autograd, opcheck."""

import unittest

try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    import assay
    import assay.torch
    from assay.compat import fused_gemm, softmax_backward, split_softmax, streaming_attention, strided_softmax

    HALF_ULP = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
    SMALLEST = {torch.float32: 0.0, torch.float16: 2.0**-25, torch.bfloat16: 0.0}
    DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
U = 2.0**-24


def normal(shape, dtype, device, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype).to(device)


def softmax_bound(x):
    exact = torch.softmax(x.double(), 1)
    n = x.shape[1]
    spread = x.double().amax(1, keepdim=True) - x.double()
    return exact, (HALF_ULP[x.dtype] + (8 + min(n, 1024) + n / 32 + spread) * U) * exact + SMALLEST[x.dtype]


@unittest.skipIf(torch is None, "PyTorch is not here")
class Values(unittest.TestCase):
    def close(self, got, exact, allowed):
        self.assertEqual(got.shape, exact.shape)
        self.assertTrue(got.is_contiguous())
        wrong = ~((got.double() - exact).abs() <= allowed)
        self.assertFalse(
            bool(wrong.any()), f"{int(wrong.sum())} of {wrong.numel()} elements are off: {got.dtype} on {got.device}"
        )

    @staticmethod
    def cases(*dtypes):
        return [(device, dtype) for device in DEVICES for dtype in dtypes]

    def test_softmax(self):
        for device, dtype in self.cases(torch.float32, torch.float16, torch.bfloat16):
            x = normal((129, 257), dtype, device, 1)
            for view in (x, x.t(), x[::2, ::3], x[:1].expand(7, 257)):
                self.close(assay.softmax(view), *softmax_bound(view))

    def test_split_softmax(self):
        for device, dtype in self.cases(torch.float32, torch.float16, torch.bfloat16):
            x = normal((4, 32769), dtype, device, 2)
            for chunk in (0, 256, 4096):
                self.close(assay.split_softmax(x, chunk=chunk), *softmax_bound(x))

    def test_split_softmax_with_a_workspace(self):
        for device, dtype in self.cases(torch.float16):
            x = normal((4, 32769), dtype, device, 3)
            size, _ = assay.split_softmax_workspace(*x.shape)
            space = torch.empty(size // 4, dtype=torch.float32, device=device)
            self.close(assay.split_softmax(x, workspace=space), *softmax_bound(x))

    def test_softmax_backward_agrees_with_autograd(self):
        for device, dtype in self.cases(torch.float32, torch.float16, torch.bfloat16):
            y = torch.softmax(normal((67, 1025), dtype, device, 4), 1)
            g = normal((1025, 67), dtype, device, 5).t()
            y64, g64 = y.double(), g.double()
            x = y64.log().requires_grad_()
            # softmax(log y) is y over its own sum, which rounding moved: the formula is of the y that was given.
            dot = (y64 * g64).sum(1, keepdim=True)
            exact = y64 * (g64 - dot)
            n = y.shape[1]
            chain = (6 + 1024 + n / 32) * U * (y64 * g64).abs().sum(1, keepdim=True) + 2 * U * (g64 - dot).abs()
            allowed = y64.abs() * chain + HALF_ULP[dtype] * exact.abs() + SMALLEST[dtype]
            got = assay.softmax_backward(y, g)
            self.close(got, exact, allowed)
            total = y64.sum(1, keepdim=True)
            (gradient,) = torch.autograd.grad(torch.softmax(x, 1), x, g64)
            drift = (total - 1).abs().amax() * 8 * (y64 * g64.abs()).amax()
            self.assertTrue(bool(((gradient - got.double()).abs() <= allowed + drift).all()))

    def test_matmul_bias_relu(self):
        for device, dtype in self.cases(torch.float16, torch.bfloat16):
            for m, n, k in ((127, 65, 33), (256, 128, 512), (3, 5, 0)):
                a, b, bias = (normal(s, dtype, device, 6) for s in ((m, k), (k, n), (n,)))
                a64, b64, bias64 = a.double(), b.double(), bias.double()
                exact = torch.relu(a64 @ b64 + bias64)
                allowed = (k + 2) * 2 * U * (a64.abs() @ b64.abs() + bias64.abs()) + HALF_ULP[dtype] * exact
                self.close(assay.matmul_bias_relu(a, b, bias), exact, allowed + SMALLEST[dtype])

    def test_attention(self):
        for device, dtype in self.cases(torch.float16, torch.bfloat16):
            for shape in ((129, 32), (3, 65, 64), (2, 2, 100, 128)):
                q, k, v = (normal(shape, dtype, device, seed) for seed in (7, 8, 9))
                for causal in (False, True):
                    scores = q.double() @ k.double().transpose(-1, -2) / shape[-1] ** 0.5
                    if causal:
                        hidden = torch.ones(shape[-2], shape[-2], device=device).triu(1).bool()
                        scores = scores.masked_fill(hidden, float("-inf"))
                    weights = torch.softmax(scores, -1)
                    exact = weights @ v.double()
                    allowed = 4 * HALF_ULP[dtype] * (weights @ v.double().abs()) + SMALLEST[dtype]
                    self.close(assay.attention(q, k, v, causal=causal), exact, allowed)


@unittest.skipIf(torch is None, "PyTorch is not here")
class Promises(unittest.TestCase):
    def test_grad_is_rejected_outside_of_assay_torch(self):
        x = torch.randn(3, 5, requires_grad=True)
        with self.assertRaisesRegex(assay.RequiresGrad, "x requires grad"):
            assay.softmax(x)
        with torch.no_grad():
            self.assertEqual(assay.softmax(x).shape, (3, 5))

    def test_custom_operators(self):
        x = torch.randn(5, 33, dtype=torch.float32)
        half = normal((8, 16), torch.float16, "cpu", 10)
        torch.library.opcheck(assay.torch.softmax, (x.clone().requires_grad_(),), {"warps": 0})
        torch.library.opcheck(assay.torch.softmax_backward, (torch.softmax(x, 1), x))
        torch.library.opcheck(assay.torch.split_softmax, (x,))
        torch.library.opcheck(assay.torch.matmul_bias_relu, (half, half.t().contiguous(), half[0, :8].contiguous()))
        torch.library.opcheck(assay.torch.attention, (half, half, half), {"causal": True})

    def test_autograd(self):
        x = normal((5, 33), torch.float32, "cpu", 11).requires_grad_()
        g = normal((5, 33), torch.float32, "cpu", 12)
        assay.torch.softmax(x).backward(g)
        (exact,) = torch.autograd.grad(torch.softmax(x.double(), 1), x, g.double())
        self.assertTrue(bool(((x.grad - exact).abs() <= 64 * U * g.abs().sum()).all()))

    def test_compile(self):
        compiled = torch.compile(lambda x: assay.torch.softmax(x * 2) + 1, fullgraph=True)
        for device in DEVICES:
            x = normal((8, 64), torch.float32, device, 13)
            self.assertTrue(torch.allclose(compiled(x), torch.softmax(x * 2, 1) + 1, atol=1e-5))


@unittest.skipIf(torch is None or not torch.cuda.is_available(), "there is no CUDA device")
class Cuda(unittest.TestCase):
    def test_streams(self):
        x = normal((257, 1025), torch.float16, "cuda", 14)
        exact, allowed = softmax_bound(x)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)  # a result that did not go behind this is there too early, and wrong
            y = x * 0 + x
            got = assay.softmax(y)
        stream.synchronize()
        self.assertTrue(bool(((got.double() - exact).abs() <= allowed).all()))

    def test_graph_capture(self):
        x = normal((257, 1025), torch.float16, "cuda", 15)
        out = torch.empty_like(x)
        assay.softmax(x, out=out)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            assay.softmax(x, out=out)
        x.copy_(normal((257, 1025), torch.float16, "cuda", 16))
        graph.replay()
        torch.cuda.synchronize()
        exact, allowed = softmax_bound(x)
        self.assertTrue(bool(((out.double() - exact).abs() <= allowed).all()))

    def test_devices_must_agree(self):
        x = normal((3, 5), torch.float16, "cuda", 17)
        with self.assertRaisesRegex(assay.BadDevice, "out is on the CPU"):
            assay.softmax(x, out=torch.empty(3, 5, dtype=torch.float16))

    def test_compatible_functions(self):
        x = normal((64, 257), torch.float16, "cuda", 18)
        exact, allowed = softmax_bound(x)
        for got in (strided_softmax.softmax(x, num_warps=8), split_softmax.softmax(x, chunk_size=256)):
            self.assertTrue(bool(((got.double() - exact).abs() <= allowed).all()))
        self.assertEqual(softmax_backward.backward(x, x, num_warps=4).shape, x.shape)
        a, bias = normal((64, 64), torch.float16, "cuda", 19), normal((64,), torch.float16, "cuda", 20)
        self.assertEqual(fused_gemm.matmul_bias_relu(a, a, bias, group_m=4, tile_m=16).shape, (64, 64))
        self.assertEqual(streaming_attention.attention(a, a, a, causal=False, block_n=32).shape, (64, 64))

    def test_compatible_rejections(self):
        x = normal((4, 16), torch.float16, "cuda", 21)
        for error, call in (
            (ValueError, lambda: strided_softmax.softmax(x.cpu())),
            (ValueError, lambda: strided_softmax.softmax(x.float().requires_grad_())),
            (ValueError, lambda: strided_softmax.softmax(x, num_warps=5)),
            (TypeError, lambda: strided_softmax.softmax(x, num_warps=True)),
            (TypeError, lambda: strided_softmax.softmax(x.double())),
            (ValueError, lambda: strided_softmax.softmax(x.new_empty(1, 8193))),
            (ValueError, lambda: softmax_backward.backward(x, x[:2])),
            (TypeError, lambda: fused_gemm.matmul_bias_relu(x, x.t().float(), x[0])),
            (ValueError, lambda: fused_gemm.matmul_bias_relu(x, x.t(), x[0, :4])),
            (ValueError, lambda: split_softmax.softmax(x.t())),
            (ValueError, lambda: streaming_attention.attention(x, x, x[:2])),
            (TypeError, lambda: streaming_attention.attention(x, x, x, causal=1)),
        ):
            with self.assertRaises(error):
                call()


if __name__ == "__main__":
    unittest.main()
