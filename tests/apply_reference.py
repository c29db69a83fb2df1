# SPDX-License-Identifier: MIT
"""The operators in FP64 (long double for FP64 states), and the errors that their READMEs allow: what apply_numpy.py
compares with. The bounds are written here once more."""
import numpy as np

UNIT = {"fp32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8, "fp64": 2.0**-53}
SMALLEST_NORMAL = {"fp32": 2.0**-126, "fp16": 2.0**-14, "bf16": 2.0**-126, "fp64": 2.0**-1022}
HALF_STEP = {"fp32": 2.0**-150, "fp16": 2.0**-25, "bf16": 2.0**-134, "fp64": 2.0**-1074}
NUMPY_TYPE = {"fp32": "<f4", "fp16": "<f2", "bf16": "<u2", "fp64": "<f8"}
U = 2.0**-24
STEP32 = 2.0**-149
WIDE = np.longdouble

np.seterr(all="ignore")


# ---- numbers ---------------------------------------------------------------------------------------------------


def round_to(dtype, x):
    """FP64 (or wider) rounded once to the type, as FP64."""
    if dtype == "fp64":
        return np.asarray(x, dtype="f8")
    x = np.asarray(x, dtype="f8")
    if dtype == "fp32":
        return x.astype("f4").astype("f8")
    if dtype == "fp16":
        return x.astype("f2").astype("f8")
    finite = np.isfinite(x)
    safe = np.where(finite, x, 0)
    exponent = np.maximum(np.frexp(safe)[1] - 1, -126)
    step = np.ldexp(1.0, exponent - 7)
    rounded = np.rint(safe / step) * step
    rounded = np.where(np.abs(rounded) >= 2.0**128, np.copysign(np.inf, safe), rounded)
    return np.where(finite, rounded, x)


def encode(dtype, x):
    """The array as a file holds it."""
    if dtype == "bf16":
        return (round_to(dtype, x).astype("<f4").view("<u4") >> 16).astype("<u2")
    return np.asarray(x).astype(NUMPY_TYPE[dtype])


def decode(dtype, stored):
    if dtype == "bf16":
        return (stored.astype("<u4") << 16).view("<f4").astype("f8")
    return stored.astype("f8")


def rounding_error(dtype, x):
    x = np.abs(np.asarray(x, dtype="f8"))
    return np.where(x < SMALLEST_NORMAL[dtype], HALF_STEP[dtype], x * UNIT[dtype])


def wrong(dtype, got, want, allowed):
    """A mask of the elements that differ by more than is allowed, or in class; NaN never passes for a number."""
    rounded = round_to(dtype, want)
    right = np.abs(got - want) <= allowed
    right &= np.isfinite(got)
    if dtype in ("fp32", "bf16"):
        right |= (got == 0) & (np.abs(rounded) < SMALLEST_NORMAL[dtype])
    right = np.where(np.isinf(rounded), got == rounded, right)
    right = np.where(np.isnan(rounded), np.isnan(got), right)
    return ~right


# ---- the operators, and the errors that their READMEs allow ----------------------------------------------------


def chain(n):
    return min(n, 1024) + n / 32


def softmax(dtype, inputs, _):
    (x,) = inputs
    n = x.shape[1]
    m = np.max(x, axis=1, keepdims=True) if x.size else np.zeros((x.shape[0], 1))
    t = np.exp(x - m)
    y = t / np.sum(t, axis=1, keepdims=True)
    below = np.where(x == -np.inf, 0, m - x)
    allowed = y * (8 + chain(n) + below) * U + rounding_error(dtype, y) + np.where(y < 2.0**-125, STEP32, 0)
    return y, np.where(x == -np.inf, 0, allowed)


def softmax_backward(dtype, inputs, _):
    y, g = inputs
    n = y.shape[1]
    products = y * g
    dot = np.sum(products, axis=1, keepdims=True)
    total = np.sum(np.abs(products), axis=1, keepdims=True)
    tiny = np.sum((products != 0) & (np.abs(products) < 2.0**-126), axis=1, keepdims=True)
    dx = y * (g - dot)
    inner = (6 + chain(n)) * U * total + 2 * U * np.abs(g - dot) + tiny * STEP32
    subnormal = np.where((dx != 0) & (np.abs(dx) < 2.0**-125), STEP32, 0)
    return dx, np.abs(y) * inner + rounding_error(dtype, dx) + subnormal


def fused_gemm(dtype, inputs, _):
    a, b, bias = inputs
    k = a.shape[1]
    # Without BLAS, whose order with infinities is its own affair.
    z = np.einsum("ik,kj->ij", a, b, optimize=False) + bias
    magnitude = np.einsum("ik,kj->ij", np.abs(a), np.abs(b), optimize=False) + np.abs(bias)
    want = np.where(z < 0, 0, z)
    return want, (k + 2) * U * magnitude + k * STEP32 + rounding_error(dtype, want)


def state_of(m, s, relative):
    s = WIDE(s)
    allowed = float(abs(s) * relative) + rounding_error("fp64", float(s))
    return np.array([m, float(s)]), np.array([0.0, allowed if s != 0 else 0.0])


def summarise(dtype, inputs, _):
    (x,) = inputs
    n = x.size
    numbers = x[~np.isnan(x)]
    m = np.max(numbers) if numbers.size else -np.inf
    terms = np.exp(x[x != -np.inf].astype(WIDE) - WIDE(m))
    s = np.sum(terms, dtype=WIDE) if terms.size else WIDE(0)
    if dtype == "fp64":
        relative = (4 + n + n - 1) * 2.0**-53
    else:
        most = min(n, 1024)
        relative = (4 + most + most - 1 + np.ceil(n / 1024) - 1) * U
    return state_of(m, s, relative)


def merge(_, inputs, __):
    left, right = inputs
    m = max(left[0], right[0])
    parts = [WIDE(s) if top == m else WIDE(s) * np.exp(WIDE(top) - WIDE(m)) for top, s in (left, right)]
    s = parts[0] + parts[1]
    distance = 0.0
    for part, (top, _s) in zip(parts, (left, right)):
        if part > 0 and np.isfinite(m - top):
            distance += float((m - top) * part / s)
    return state_of(m, s, (4 + 2 + 1 + distance) * 2.0**-53)


def finish(dtype, inputs, _):
    state, x = inputs
    u = 2.0**-53 if dtype == "fp64" else U
    tiny, step = (2.0**-1020, 2.0**-1074) if dtype == "fp64" else (2.0**-125, STEP32)
    d = x.astype(WIDE) - WIDE(state[0])
    want = (np.exp(d) / WIDE(state[1])).astype("f8")
    distance = np.minimum(np.abs(d), 1e6).astype("f8")
    allowed = want * (4 + distance) * u + rounding_error(dtype, want) + np.where(want < tiny, step, 0)
    return want, np.where(x == -np.inf, 0, allowed)


def attend_row(dtype, q, k, v):
    """One query, and the keys and values that it sees."""
    d, n = q.size, k.shape[0]
    later = (n - 1) // 32
    x = k @ q / np.sqrt(d)
    spread = np.abs(k) @ np.abs(q) / np.sqrt(d)
    m = np.max(x)
    p = np.exp(x - m)
    s = np.sum(p)
    o = np.where(p[:, None] == 0, 0, p[:, None] * v).sum(axis=0) / s if np.isfinite(v).all() else p @ v / s
    delta = np.expm1((d + 2) * U * spread) + (m - x + 2 + 3 * later) * U
    delta = np.where(p > 0, delta, 0)
    rho = np.minimum(p, rounding_error(dtype, p))
    lost = np.where((p > 0) & (p < 2.0**-125), (2 + later) * STEP32, 0)
    off = (p * (delta + chain(n) * U) + 2 * rho + lost) @ np.abs(v) / s
    size = np.abs(o)
    before = off + (np.sum(p * delta) / s + chain(n) * U + 3 * U) * size + (n + later + 1) * STEP32 / s
    return o, before + rounding_error(dtype, size + before)


def streaming_attention(dtype, inputs, knobs):
    q, k, v = inputs
    want = np.zeros(q.shape)
    allowed = np.zeros(q.shape)
    for head in np.ndindex(q.shape[:-2]):
        for i in range(q.shape[-2]):
            seen = i + 1 if knobs.get("causal") else q.shape[-2]
            want[head][i], allowed[head][i] = attend_row(dtype, q[head][i], k[head][:seen], v[head][:seen])
    return want, allowed
