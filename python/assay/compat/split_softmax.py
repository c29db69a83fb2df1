# SPDX-License-Identifier: MIT
"""softmax(x, chunk_size=): contiguous rows of 1 to 131072 elements, in chunks."""

from .. import _operators
from . import _rules


def softmax(x, chunk_size=1024):
    _rules.tensor(x, "x", 2, _rules.FLOATS)
    if not x.is_contiguous():
        raise ValueError(f"x has strides {x.stride()}; it must be contiguous")
    _rules.choice(chunk_size, "chunk_size", (256, 1024, 4096))
    _rules.width(x.shape[1], 131072)
    return _operators.split_softmax(x, chunk=chunk_size)
