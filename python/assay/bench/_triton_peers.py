# SPDX-License-Identifier: MIT
"""The operators in Triton: which of our own plain kernels compute a case, and into what."""

from ._variants import HARNESS, ONCE, Variant

SOURCES = ("python/assay/bench/_triton_kernels.py", "python/assay/bench/_triton_peers.py", *HARNESS)


def _peer(name, expression, call, out, rounding=ONCE):
    return Variant(name, "baseline", expression, rounding, SOURCES, call, out=out)


def _softmax(kernels, problem, out):
    x = problem.x

    def row(warps, copied=False):
        def call():
            kernels.softmax_row(x.contiguous() if copied else x, out, warps)
            return out

        return call

    def columns(own):
        def call():
            kernels.softmax_columns(x, out, own)
            return out

        return call

    peers = [_peer(f"triton_row_{w}w", f"one program of {w} warps a row", row(w), out) for w in (4, 8)]
    if problem.case.layout == "transposed":
        peers.append(
            _peer("triton_copy_then_row", "c = x.contiguous(); one program of 8 warps a row", row(8, True), out)
        )
        for own in (32, 64):
            words = f"a program owns {own} neighbouring rows and reads them twice"
            peers.append(_peer(f"triton_columns_{own}", words, columns(own), out))
    return peers


def _softmax_backward(kernels, problem, out):
    if problem.case.layout != "packed":
        return []

    def row(warps):
        def call():
            kernels.softmax_backward(problem.y, problem.g, out, warps)
            return out

        return call

    return [_peer(f"triton_row_{w}w", f"one program of {w} warps a row", row(w), out) for w in (4, 8)]


def _gemm(kernels, problem, out):
    def tiles(rows):
        def call():
            kernels.gemm(problem.a, problem.b, problem.bias, out, rows)
            return out

        return call

    return [_peer(f"triton_bm{rows}", f"tiles of {rows} rows, groups of 8", tiles(rows), out) for rows in (32, 64, 128)]


def _split_softmax(kernels, problem, out):
    rows, columns = problem.shape

    def split(chunk):
        chunks = (columns + chunk - 1) // chunk
        tops = problem.space.empty((rows, chunks), "fp32")
        totals = problem.space.empty((rows, chunks), "fp32")
        states = problem.space.empty((rows, 2), "fp32")

        def call():
            kernels.split_softmax(problem.x, out, tops, totals, states, chunk)
            return out

        return call

    words = "partials of {}, merge, normalise: three launches"
    return [_peer(f"triton_chunk{chunk}", words.format(chunk), split(chunk), out) for chunk in (256, 1024, 4096)]


def _attention(kernels, problem, out):
    q, k, v, o = (one if one.dim() == 4 else one[None, None] for one in (problem.q, problem.k, problem.v, out))

    def tiles(keys):
        def call():
            kernels.attention(q, k, v, o, problem.causal, keys)
            return out

        return call

    rounding = "weights before PV, and the output"
    words = "key tiles of {}, online softmax"
    return [_peer(f"triton_bn{keys}", words.format(keys), tiles(keys), out, rounding) for keys in (32, 64)]


_MAKERS = {
    "strided_softmax": _softmax,
    "softmax_backward": _softmax_backward,
    "fused_gemm": _gemm,
    "split_softmax": _split_softmax,
    "streaming_attention": _attention,
}


def peers(problem):
    """ImportError where there is no Triton."""
    from . import _triton_kernels

    out = problem.space.empty(problem.shape, problem.case.dtype)
    return _MAKERS[problem.case.operator](_triton_kernels, problem, out)
