# SPDX-License-Identifier: MIT
"""attention(q, k, v, causal=, block_n=): one head, at most 2048 keys of 16, 32 or 64 elements."""

from .. import _operators
from . import _rules


def attention(q, k, v, causal=True, block_n=64):
    _rules.tensor(q, "q", 2, _rules.HALVES)
    for name, value in (("k", k), ("v", v)):
        _rules.tensor(value, name, 2, _rules.HALVES)
        _rules.alike(value, name, q, "q")
        if value.shape != q.shape:
            raise ValueError(f"{name} is {tuple(value.shape)} and q {tuple(q.shape)}; they must be the same")
    _rules.choice(q.shape[1], "the width of a head", (16, 32, 64))
    if q.shape[0] > 2048:
        raise ValueError(f"q has {q.shape[0]} rows; it must have at most 2048")
    for name, value in (("q", q), ("k", k), ("v", v)):
        if value.stride(1) != 1:
            raise ValueError(f"{name} has inner stride {value.stride(1)}; it must be 1")
    if not isinstance(causal, bool):
        raise TypeError(f"causal is a {type(causal).__name__}; it must be a bool")
    _rules.choice(block_n, "block_n", (32, 64))
    return _operators.attention(q, k, v, causal=causal, block_n=block_n)
