# SPDX-License-Identifier: MIT
"""The operators on arrays. Shapes, types and knobs are judged by the library, whose sentence the exception holds."""

import ctypes
import struct

from . import _library, _views

_one = struct.Struct("=q").pack
_two = struct.Struct("=qq").pack


def _same_device(first, other, name, of):
    if other[2] != first[2]:
        where = "the CPU" if other[2] == _views.DEVICE_CPU else f"CUDA device {other[2]}"
        raise _library.BadDevice(f"{name} is on {where}; it must be where {of} is")


def _run(name, variant, ins, outs, opt, array, kind, device, threads):
    queue = _views.queue_of(device, kind.stream(array, threads))
    status = _library.call(
        name,
        variant if variant is None else variant.encode(),
        _views.pack(ins),
        _views.pack(outs),
        opt,
        queue,
    )
    if status != _library.STATUS_OK:
        _library.fail(status)


def softmax(x, *, out=None, warps=0, variant=None, threads=0):
    """y[r,c] = exp(x[r,c] - max(x[r,:])) / sum(exp(x[r,:] - max(x[r,:]))) for x[R,N] of any nonnegative strides.

    x: float32, float16 or bfloat16, on the CPU or a CUDA device. out: contiguous, of the same shape and type; made
    when it is not given. warps: 4 or 8 on CUDA, 0 for the default. variant: one row of `assay list`'s table instead of
    the first that runs here. threads: on the CPU, 0 for the default. On CUDA the call is asynchronous, on the stream
    that is current for x. Returns out.
    """
    kind = _views.kind_of(x, "x")
    source = kind.view(x, "x")
    if out is None:
        out = kind.empty(x, x.shape)
    target = _views.kind_of(out, "out").view(out, "out", True)
    _same_device(source, target, "out", "x")
    _run(b"strided_softmax", variant, (source,), (target,), _one(warps), x, kind, source[2], threads)
    return out


def softmax_backward(y, grad_output, *, out=None, warps=0, variant=None, threads=0):
    """dx = y * (g - sum(y * g)) row by row, the vector-Jacobian product of the softmax whose result is y[R,N].

    y and grad_output: one type, the same shape, each with its own nonnegative strides. The rest as for softmax.
    """
    kind = _views.kind_of(y, "y")
    result = kind.view(y, "y")
    gradient = _views.kind_of(grad_output, "grad_output").view(grad_output, "grad_output")
    _same_device(result, gradient, "grad_output", "y")
    if out is None:
        out = kind.empty(y, y.shape)
    target = _views.kind_of(out, "out").view(out, "out", True)
    _same_device(result, target, "out", "y")
    _run(b"softmax_backward", variant, (result, gradient), (target,), _one(warps), y, kind, result[2], threads)
    return out


def matmul_bias_relu(a, b, bias, *, out=None, group=0, tile_m=0, variant=None, threads=0):
    """relu(a @ b + bias) for a[M,K], b[K,N], bias[N] of float16 or bfloat16: FP32 sums, one rounding at the end.

    a and b: inner stride 1, rows at any nonnegative stride; bias: contiguous. group: 1, 4 or 8 rows of tiles that are
    walked together; tile_m: 16, 32 or 64 rows of a tile; 0 for the default. The rest as for softmax.
    """
    kind = _views.kind_of(a, "a")
    left = kind.view(a, "a")
    right = _views.kind_of(b, "b").view(b, "b")
    shift = _views.kind_of(bias, "bias").view(bias, "bias")
    _same_device(left, right, "b", "a")
    _same_device(left, shift, "bias", "a")
    if out is None:
        if len(left[3]) != 2 or len(right[3]) != 2:
            raise _library.BadShape("a and b must have rank 2")
        out = kind.empty(a, (left[3][0], right[3][1]))
    target = _views.kind_of(out, "out").view(out, "out", True)
    _same_device(left, target, "out", "a")
    _run(b"fused_gemm", variant, (left, right, shift), (target,), _two(group, tile_m), a, kind, left[2], threads)
    return out


def split_softmax_workspace(rows, columns, *, chunk=0):
    """(bytes, alignment) of a workspace for split_softmax of rows x columns elements."""
    size, alignment = ctypes.c_size_t(), ctypes.c_size_t()
    _library.check(
        _library.workspace_size(rows, columns, chunk, ctypes.byref(size), ctypes.byref(alignment))
    )
    return size.value, alignment.value


def split_softmax(x, *, out=None, workspace=None, chunk=0, variant=None, threads=0):
    """The softmax of few wide rows x[R,N], contiguous, worked on in chunks of 256, 1024 or 4096 (0: the default).

    workspace: a contiguous float32 array of rank 1 with at least the bytes and the alignment that
    split_softmax_workspace names, used by this call alone until it has run; without it the library takes scratch of
    its own. The rest as for softmax.
    """
    kind = _views.kind_of(x, "x")
    source = kind.view(x, "x")
    if out is None:
        out = kind.empty(x, x.shape)
    target = _views.kind_of(out, "out").view(out, "out", True)
    _same_device(source, target, "out", "x")
    space = (0, _views.FP32, source[2], (0,), (1,))  # NULL: the library takes scratch
    if workspace is not None:
        space = _views.kind_of(workspace, "workspace").view(workspace, "workspace", True)
        _same_device(source, space, "workspace", "x")
    _run(b"split_softmax", variant, (source,), (target, space), _one(chunk), x, kind, source[2], threads)
    return out


def attention(q, k, v, *, causal=False, block_n=0, out=None, variant=None, threads=0):
    """softmax(q @ k.T / sqrt(D)) @ v without the N-by-N scores, for q, k, v of shape [N,D], [H,N,D] or [B,H,N,D].

    float16 or bfloat16, D 1 to 256, inner stride 1, the other strides nonnegative. causal: row i sees keys 0..i, and
    nothing of the others, not even NaN. block_n: 32 or 64 keys of a tile, 0 for the default. The rest as for softmax.
    """
    kind = _views.kind_of(q, "q")
    query = kind.view(q, "q")
    key = _views.kind_of(k, "k").view(k, "k")
    value = _views.kind_of(v, "v").view(v, "v")
    _same_device(query, key, "k", "q")
    _same_device(query, value, "v", "q")
    if out is None:
        out = kind.empty(q, q.shape)
    target = _views.kind_of(out, "out").view(out, "out", True)
    _same_device(query, target, "out", "q")
    opt = _two(1 if causal else 0, block_n)
    ins, outs = (query, key, value), (target,)
    if len(query[3]) == 3:
        ins, outs = tuple(map(_batched, ins)), tuple(map(_batched, outs))
    _run(b"streaming_attention", variant, ins, outs, opt, q, kind, query[2], threads)
    return out


def _batched(view):
    """A view of rank 3 as a batch of one; others are left for the library to judge."""
    data, dtype, device, shape, strides = view
    if len(shape) != 3:
        return view
    return data, dtype, device, (1, *shape), (shape[0] * strides[0], *strides)
