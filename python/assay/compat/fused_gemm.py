# SPDX-License-Identifier: MIT
"""matmul_bias_relu(a, b, bias, group_m=, tile_m=): relu(a @ b + bias) with one rounding."""

from .. import _operators
from . import _rules


def matmul_bias_relu(a, b, bias, group_m=8, tile_m=32):
    _rules.tensor(a, "a", 2, _rules.HALVES)
    _rules.tensor(b, "b", 2, _rules.HALVES)
    _rules.tensor(bias, "bias", 1, _rules.HALVES)
    _rules.alike(b, "b", a, "a")
    _rules.alike(bias, "bias", a, "a")
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a has {a.shape[1]} columns and b {b.shape[0]} rows; they must be as many")
    if bias.shape[0] != b.shape[1]:
        raise ValueError(f"bias has {bias.shape[0]} elements and b {b.shape[1]} columns; they must be as many")
    for name, value in (("a", a), ("b", b), ("bias", bias)):
        if value.shape[-1] > 1 and value.stride(-1) != 1:
            raise ValueError(f"{name} has inner stride {value.stride(-1)}; it must be 1")
    _rules.choice(group_m, "group_m", (1, 4, 8))
    _rules.choice(tile_m, "tile_m", (16, 32, 64))
    return _operators.matmul_bias_relu(a, b, bias, group=group_m, tile_m=tile_m)
