# SPDX-License-Identifier: MIT
"""The operators as torch.library custom operators: for autograd, torch.compile and torch.export.

    import assay.torch
    y = assay.torch.softmax(x)            # records its backward, which is the library's own kernel
    torch.ops.assay.softmax(x, 0)         # the same, by its registered name

Only softmax has a backward; the other operators refuse to record one, with PyTorch's own message.
"""

import torch
from torch import Tensor

from . import _operators

__all__ = ["attention", "matmul_bias_relu", "softmax", "softmax_backward", "split_softmax"]


def _fresh(like, shape=None):
    """What every operator returns: a contiguous tensor of its own."""
    return like.new_empty(like.shape if shape is None else shape)


@torch.library.custom_op("assay::softmax", mutates_args=())
def softmax(x: Tensor, warps: int = 0) -> Tensor:
    with torch.no_grad():
        return _operators.softmax(x, warps=warps)


@softmax.register_fake
def _(x, warps=0):
    torch._check(x.dim() == 2, lambda: f"x has rank {x.dim()}; it must be 2")
    return _fresh(x)


@torch.library.custom_op("assay::softmax_backward", mutates_args=())
def softmax_backward(y: Tensor, grad_output: Tensor, warps: int = 0) -> Tensor:
    with torch.no_grad():
        return _operators.softmax_backward(y, grad_output, warps=warps)


@softmax_backward.register_fake
def _(y, grad_output, warps=0):
    torch._check(y.dim() == 2, lambda: f"y has rank {y.dim()}; it must be 2")
    return _fresh(y)


def _keep_result(ctx, inputs, output):  # PyTorch passes these by name
    ctx.save_for_backward(output)
    ctx.warps = inputs[1]


def _softmax_gradient(ctx, grad_output):
    (y,) = ctx.saved_tensors
    return softmax_backward(y, grad_output, ctx.warps), None


softmax.register_autograd(_softmax_gradient, setup_context=_keep_result)


@torch.library.custom_op("assay::matmul_bias_relu", mutates_args=())
def matmul_bias_relu(a: Tensor, b: Tensor, bias: Tensor, group: int = 0, tile_m: int = 0) -> Tensor:
    with torch.no_grad():
        return _operators.matmul_bias_relu(a, b, bias, group=group, tile_m=tile_m)


@matmul_bias_relu.register_fake
def _(a, b, bias, group=0, tile_m=0):
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: "a and b must have rank 2")
    return _fresh(a, (a.shape[0], b.shape[1]))


@torch.library.custom_op("assay::split_softmax", mutates_args=())
def split_softmax(x: Tensor, chunk: int = 0) -> Tensor:
    with torch.no_grad():
        return _operators.split_softmax(x, chunk=chunk)


@split_softmax.register_fake
def _(x, chunk=0):
    torch._check(x.dim() == 2, lambda: f"x has rank {x.dim()}; it must be 2")
    return _fresh(x)


@torch.library.custom_op("assay::attention", mutates_args=())
def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, block_n: int = 0) -> Tensor:
    with torch.no_grad():
        return _operators.attention(q, k, v, causal=causal, block_n=block_n)


@attention.register_fake
def _(q, k, v, causal=False, block_n=0):
    torch._check(2 <= q.dim() <= 4, lambda: f"q has rank {q.dim()}; it must be 2, 3 or 4")
    return _fresh(q)
