# SPDX-License-Identifier: MIT
"""The operators as a program in NumPy writes them: FP32 expressions, one pass an operation."""

from ._variants import HARNESS, ONCE, Variant

SOURCES = ("python/assay/bench/_numpy_peers.py", *HARNESS)


def _softmax(numpy, x):
    def call():
        w = x.astype(numpy.float32)
        w -= w.max(1, keepdims=True)
        numpy.exp(w, out=w)
        w /= w.sum(1, keepdims=True)
        return w.astype(x.dtype)

    return call, "w = x as FP32; w -= max(w); w = exp(w); w /= sum(w), cast"


def _softmax_backward(numpy, y, g):
    def call():
        wide, slope = y.astype(numpy.float32), g.astype(numpy.float32)
        return (wide * (slope - (wide * slope).sum(1, keepdims=True))).astype(y.dtype)

    return call, "y, g as FP32; y * (g - sum(y * g)), cast"


def _gemm(numpy, a, b, bias):
    def call():
        c = a.astype(numpy.float32) @ b.astype(numpy.float32)
        c += bias
        return numpy.maximum(c, 0, out=c).astype(a.dtype)

    return call, "c = a, b as FP32, multiplied by NumPy's BLAS; c += bias; max(c, 0), cast"


def _attention(numpy, q, k, v, causal):
    hidden = numpy.triu(numpy.ones((q.shape[-2],) * 2, dtype=bool), 1) if causal else None

    def call():
        w = q.astype(numpy.float32) @ numpy.swapaxes(k, -1, -2).astype(numpy.float32)
        w *= numpy.float32(q.shape[-1] ** -0.5)
        if causal:
            w[..., hidden] = -numpy.inf
        w -= w.max(-1, keepdims=True)
        numpy.exp(w, out=w)
        w /= w.sum(-1, keepdims=True)
        return (w @ v.astype(numpy.float32)).astype(q.dtype)

    return call, "w = softmax of stored scores in FP32; w @ v, cast"


def peers(problem):
    """Missing when NumPy cannot hold the operands."""
    import numpy

    view, operator = problem.space.numpy_view, problem.case.operator
    if operator in ("strided_softmax", "split_softmax"):
        call, expression = _softmax(numpy, view(problem.x))
    elif operator == "softmax_backward":
        call, expression = _softmax_backward(numpy, view(problem.y), view(problem.g))
    elif operator == "fused_gemm":
        call, expression = _gemm(numpy, view(problem.a), view(problem.b), view(problem.bias))
    else:
        call, expression = _attention(numpy, view(problem.q), view(problem.k), view(problem.v), problem.causal)
    return [Variant("numpy_fp32", "baseline", expression, ONCE, SOURCES, call)]
