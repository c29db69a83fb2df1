# SPDX-License-Identifier: MIT
"""backward(y, grad_output, num_warps=): the softmax's vector-Jacobian product from its result."""

from .. import _operators
from . import _rules


def backward(y, grad_output, num_warps=4):
    _rules.tensor(y, "y", 2, _rules.FLOATS)
    _rules.tensor(grad_output, "grad_output", 2, _rules.FLOATS)
    _rules.alike(grad_output, "grad_output", y, "y")
    if grad_output.shape != y.shape:
        raise ValueError(f"grad_output is {tuple(grad_output.shape)} and y {tuple(y.shape)}; they must be the same")
    _rules.choice(num_warps, "num_warps", (4, 8))
    _rules.width(y.shape[1], 8192)
    return _operators.softmax_backward(y, grad_output, warps=num_warps)
