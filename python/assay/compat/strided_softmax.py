# SPDX-License-Identifier: MIT
"""softmax(x, num_warps=): rows of 1 to 8192 elements at any strides."""

from .. import _operators
from . import _rules


def softmax(x, num_warps=4):
    _rules.tensor(x, "x", 2, _rules.FLOATS)
    _rules.choice(num_warps, "num_warps", (4, 8))
    _rules.width(x.shape[1], 8192)
    return _operators.softmax(x, warps=num_warps)
