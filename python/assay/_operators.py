# SPDX-License-Identifier: MIT
"""The operators on arrays. Shapes, types and knobs are judged by the library, whose sentence the exception holds."""

import ctypes
import struct

from . import _library, _views

_one = struct.Struct("=q").pack
_two = struct.Struct("=qq").pack


def _same_device(device, other, name, of):
    if other != device:
        where = "the CPU" if other == _views.DEVICE_CPU else f"CUDA device {other}"
        raise _library.BadDevice(f"{name} is on {where}; it must be where {of} is")


def _run(name, variant, ins, outs, opt, queue):
    status = _library.call(name, variant if variant is None else variant.encode(), ins, outs, opt, queue)
    if status != _library.STATUS_OK:
        _library.fail(status)


def _result(out, kind, like, shape, device, of):
    """out, or a new one, and its bytes."""
    if out is None:
        out = kind.empty(like, shape)
        return out, kind.view(out, "out", True)[0]
    tensor, where, _, _ = _views.kind_of(out, "out").view(out, "out", True)
    if where != device:
        _same_device(device, where, "out", of)
    return out, tensor


def softmax(x, *, out=None, warps=0, variant=None, threads=0):
    """y[r,c] = exp(x[r,c] - max(x[r,:])) / sum(exp(x[r,:] - max(x[r,:]))) for x[R,N] of any nonnegative strides.

    x: float32, float16 or bfloat16, on the CPU or a CUDA device. out: contiguous, of the same shape and type; made
    when it is not given. warps: 4 or 8 on CUDA, 0 for the default. variant: one row of `assay list`'s table instead of
    the first that runs here. threads: on the CPU, 0 for the default. On CUDA the call is asynchronous, on the stream
    that is current for x. Returns out.
    """
    kind = _views.kind_of(x, "x")
    source, device, shape, _ = kind.view(x, "x")
    out, target = _result(out, kind, x, shape, device, "x")
    queue = _views.queue_of(device, kind.stream(x, device, threads))
    _run(b"strided_softmax", variant, source, target, _one(warps), queue)
    return out


def softmax_backward(y, grad_output, *, out=None, warps=0, variant=None, threads=0):
    """dx = y * (g - sum(y * g)) row by row, the vector-Jacobian product of the softmax whose result is y[R,N].

    y and grad_output: one type, the same shape, each with its own nonnegative strides. The rest as for softmax.
    """
    kind = _views.kind_of(y, "y")
    result, device, shape, _ = kind.view(y, "y")
    gradient, where, _, _ = _views.kind_of(grad_output, "grad_output").view(grad_output, "grad_output")
    _same_device(device, where, "grad_output", "y")
    out, target = _result(out, kind, y, shape, device, "y")
    queue = _views.queue_of(device, kind.stream(y, device, threads))
    _run(b"softmax_backward", variant, result + gradient, target, _one(warps), queue)
    return out


def matmul_bias_relu(a, b, bias, *, out=None, group=0, tile_m=0, variant=None, threads=0):
    """relu(a @ b + bias) for a[M,K], b[K,N], bias[N] of float16 or bfloat16: FP32 sums, one rounding at the end.

    a and b: inner stride 1, rows at any nonnegative stride; bias: contiguous. group: 1, 4 or 8 rows of tiles that are
    walked together; tile_m: 16, 32 or 64 rows of a tile; 0 for the default. The rest as for softmax.
    """
    kind = _views.kind_of(a, "a")
    left, device, rows, _ = kind.view(a, "a")
    right, where, columns, _ = _views.kind_of(b, "b").view(b, "b")
    _same_device(device, where, "b", "a")
    shift, where, _, _ = _views.kind_of(bias, "bias").view(bias, "bias")
    _same_device(device, where, "bias", "a")
    if len(rows) != 2 or len(columns) != 2:
        raise _library.BadShape(f"a has rank {len(rows)} and b {len(columns)}; they must be 2")
    out, target = _result(out, kind, a, (rows[0], columns[1]), device, "a")
    queue = _views.queue_of(device, kind.stream(a, device, threads))
    _run(b"fused_gemm", variant, left + right + shift, target, _two(group, tile_m), queue)
    return out


def split_softmax_workspace(rows, columns, *, chunk=0):
    """(bytes, alignment) of a workspace for split_softmax of rows x columns elements."""
    size, alignment = ctypes.c_size_t(), ctypes.c_size_t()
    _library.check(_library.workspace_size(rows, columns, chunk, ctypes.byref(size), ctypes.byref(alignment)))
    return size.value, alignment.value


def split_softmax(x, *, out=None, workspace=None, chunk=0, variant=None, threads=0):
    """The softmax of few wide rows x[R,N], contiguous, worked on in chunks of 256, 1024 or 4096 (0: the default).

    workspace: a contiguous float32 array of rank 1 with at least the bytes and the alignment that
    split_softmax_workspace names, used by this call alone until it has run; without it the library takes scratch of
    its own. The rest as for softmax.
    """
    kind = _views.kind_of(x, "x")
    source, device, shape, _ = kind.view(x, "x")
    out, target = _result(out, kind, x, shape, device, "x")
    if workspace is None:
        space = _views.pack(0, _views.FP32, device, (0,), (1,))  # NULL: the library takes scratch
    else:
        space, where, _, _ = _views.kind_of(workspace, "workspace").view(workspace, "workspace", True)
        _same_device(device, where, "workspace", "x")
    queue = _views.queue_of(device, kind.stream(x, device, threads))
    _run(b"split_softmax", variant, source, target + space, _one(chunk), queue)
    return out


def attention(q, k, v, *, causal=False, block_n=0, out=None, variant=None, threads=0):
    """softmax(q @ k.T / sqrt(D)) @ v without the N-by-N scores, for q, k, v of shape [N,D], [H,N,D] or [B,H,N,D].

    float16 or bfloat16, D 1 to 256, inner stride 1, the other strides nonnegative. causal: row i sees keys 0..i, and
    nothing of the others, not even NaN. block_n: 32 or 64 keys of a tile, 0 for the default. The rest as for softmax.
    """
    kind = _views.kind_of(q, "q")
    query = kind.view(q, "q")
    device, shape = query[1], query[2]
    key = _views.kind_of(k, "k").view(k, "k")
    value = _views.kind_of(v, "v").view(v, "v")
    _same_device(device, key[1], "k", "q")
    _same_device(device, value[1], "v", "q")
    out, target = _result(out, kind, q, shape, device, "q")
    ins = query[0] + key[0] + value[0]
    if len(shape) == 3:
        ins = b"".join(map(_as_batch, (query, key, value)))
        target = _as_batch(_views.kind_of(out, "out").view(out, "out", True))
    queue = _views.queue_of(device, kind.stream(q, device, threads))
    _run(b"streaming_attention", variant, ins, target, _two(1 if causal else 0, block_n), queue)
    return out


def _as_batch(view):
    """The bytes of a view of rank 3 as a batch of one; others are left for the library to judge."""
    tensor, device, shape, strides = view
    if len(shape) != 3:
        return tensor
    data, dtype = struct.unpack_from("=Qi", tensor)
    return _views.pack(data, dtype, device, (1, *shape), (shape[0] * strides[0], *strides))
