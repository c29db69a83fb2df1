# SPDX-License-Identifier: MIT
"""The operators by their definitions: operands, contents, and FP64 results with the error that the gate allows.

No line here calls a kernel that is timed. The bounds are those of ops/*/README.md, written once more; u is 2^-24. A
reference comes in parts, (index, wanted, allowed), so that FP64 copies stay small.
"""

from ._spaces import rounding_error

U = 2.0**-24
BAND = 1 << 22  # elements of a part


def _steps(columns):
    return min(columns, 1024) + columns / 32


def _bands(rows, columns, chosen):
    """Index of each part: bands of all rows, or the chosen ones in one."""
    if chosen is not None:
        yield chosen
        return
    step = max(1, BAND // max(columns, 1))
    for first in range(0, rows, step):
        yield slice(first, min(first + step, rows))


class Problem:
    """Operands in a space. `exact` contents make every right result exact, where the operator has such."""

    has_exact = False

    def __init__(self, space, case):
        self.space, self.case, self.xp = space, case, space.xp

    def pick(self, order, count=64):
        """Rows for a gate that samples: one of each of `count` equal bands; `order` is a random.Random."""
        return self._one_a_band(order, self.shape[0], count)

    def _one_a_band(self, order, rows, count):
        count = min(count, rows)
        places = [order.randrange(rows * i // count, rows * (i + 1) // count) for i in range(count)]
        return self.space.indices(places)

    def rounding(self, values):
        return rounding_error(self.xp, values, self.case.dtype)


class StridedSoftmax(Problem):
    def __init__(self, space, case):
        super().__init__(space, case)
        rows, columns = case.dims["rows"], case.dims["columns"]
        strides = {"transposed": (1, rows), "sliced": (columns + 7, 1)}.get(case.layout, (columns, 1))
        self.shape = (rows, columns)
        self.x = space.strided(self.shape, strides, case.dtype)

    def fill(self, seed):
        self.space.fill(self.x, self.space.numbers(seed).normal(self.shape))

    def reference(self, chosen=None):
        xp, columns = self.xp, self.shape[1]
        for index in _bands(*self.shape, chosen):
            x = self.space.double(self.x[index])
            below = xp.amax(x, 1)[:, None] - x
            powers = xp.exp(-below)
            wanted = powers / powers.sum(1)[:, None]
            yield index, wanted, wanted * ((8 + _steps(columns) + below) * U) + self.rounding(wanted)


class SplitSoftmax(StridedSoftmax):
    def __init__(self, space, case):
        super().__init__(space, case)
        self.workspace = None
        if case.layout == "exact_workspace":
            from assay import split_softmax_workspace

            size, alignment = split_softmax_workspace(*self.shape, chunk=case.options.get("chunk", 0))
            self.workspace = space.aligned(size // 4, alignment)


class SoftmaxBackward(Problem):
    def __init__(self, space, case):
        super().__init__(space, case)
        rows, columns = case.dims["rows"], case.dims["columns"]
        strides = (1, rows) if case.layout == "transposed" else (columns, 1)
        self.shape = (rows, columns)
        self.y = space.strided(self.shape, strides, case.dtype)
        self.g = space.strided(self.shape, strides, case.dtype)

    def fill(self, seed):
        numbers = self.space.numbers(seed)
        powers = self.xp.exp(numbers.normal(self.shape))
        self.space.fill(self.y, powers / powers.sum(1)[:, None])
        self.space.fill(self.g, numbers.normal(self.shape))

    def reference(self, chosen=None):
        for index in _bands(*self.shape, chosen):
            y, g = self.space.double(self.y[index]), self.space.double(self.g[index])
            product = y * g
            away = g - product.sum(1)[:, None]
            wanted = y * away
            chain = (6 + _steps(self.shape[1])) * U * abs(product).sum(1)[:, None]
            yield index, wanted, abs(y) * (chain + 2 * U * abs(away)) + self.rounding(wanted)

    def rounded_products(self, index):
        """What it adds to the error that y * g is rounded to the operands' type, before the sum and in the result."""
        y, g = self.space.double(self.y[index]), self.space.double(self.g[index])
        lost = self.rounding(y * g)
        return (lost + abs(y) * lost.sum(1)[:, None]) * (1 + 2.0**-7)  # and is rounded with the result


class FusedGemm(Problem):
    has_exact = True

    def __init__(self, space, case):
        super().__init__(space, case)
        m, n, k = (case.dims[name] for name in ("m", "n", "k"))
        self.shape, self.k = (m, n), k
        padded = case.layout == "padded"
        self.a = space.strided((m, k), (2 * k + 3 if padded else k, 1), case.dtype)
        self.b = space.strided((k, n), (n + 11 if padded else n, 1), case.dtype)
        self.bias = space.strided((n,), (1,), case.dtype)

    def fill(self, seed):
        numbers = self.space.numbers(seed)
        for operand in (self.a, self.b, self.bias):
            self.space.fill(operand, numbers.normal(tuple(operand.shape)))

    def fill_exact(self, seed):
        """Odd numbers of eight bits times -1, 0 and 1: FP32 holds every sum in whatever order; 16 bits do not."""
        numbers = self.space.numbers(seed)
        for operand in (self.a, self.b, self.bias):
            shape = tuple(operand.shape)
            sign = numbers.integers(-1, 2, shape)
            odd = 1 if operand is self.b else 2 * numbers.integers(0, 128, shape) + 1
            self.space.fill(operand, sign * odd)

    def reference(self, chosen=None):
        # Tensor cores may truncate where FP32 arithmetic rounds.
        unit = 2 * U if self.space.on_gpu else U
        b, bias = self.space.double(self.b), self.space.double(self.bias)
        for index in _bands(self.shape[0], max(self.shape[1], self.k), chosen):
            a = self.space.double(self.a[index])
            wanted = self.xp.clip(a @ b + bias, 0, None)
            magnitude = abs(a) @ abs(b) + abs(bias)
            yield index, wanted, (self.k + 2) * unit * magnitude + self.k * 2.0**-149 + self.rounding(wanted)


class StreamingAttention(Problem):
    def __init__(self, space, case):
        super().__init__(space, case)
        n, d, heads, batch = (case.dims[name] for name in ("n", "d", "heads", "batch"))
        self.shape = (batch, heads, n, d) if heads else (n, d)
        self.n, self.d, self.causal = n, d, bool(case.options.get("causal"))
        strides = (heads * n * d, n * d, d, 1) if heads else (d, 1)
        self.q, self.k, self.v = (space.strided(self.shape, strides, case.dtype) for _ in range(3))

    def fill(self, seed):
        numbers = self.space.numbers(seed)
        for operand in (self.q, self.k, self.v):
            self.space.fill(operand, numbers.normal(self.shape))

    def _heads(self):
        if len(self.shape) == 2:
            return [()]
        return [(b, h) for b in range(self.shape[0]) for h in range(self.shape[1])]

    def pick(self, order, count=64):
        """As many rows in all, the heads in turn; at least one of each."""
        heads = len(self._heads())
        return [self._one_a_band(order, self.n, max(count // heads, 1)) for _ in range(heads)]

    def reference(self, chosen=None):
        for place, head in enumerate(self._heads()):
            k, v = self.space.double(self.k[head]), self.space.double(self.v[head])
            for rows in _bands(self.n, self.n, None if chosen is None else chosen[place]):
                if isinstance(rows, slice):
                    rows = self.space.indices(range(rows.start, rows.stop))
                yield (*head, rows), *self._rows(rows, self.space.double(self.q[head][rows]), k, v)

    def _rows(self, rows, q, k, v):
        xp, root = self.xp, self.d**0.5
        scores, spread = q @ k.T / root, abs(q) @ abs(k).T / root
        keys = self.space.indices(range(self.n))[None, :]
        seen = keys <= rows[:, None] if self.causal else keys >= 0
        visible = (rows[:, None] + 1) * 1.0 if self.causal else rows[:, None] * 0.0 + self.n
        tiles, chain = xp.floor((visible - 1) / 32), xp.clip(visible, None, 1024) + visible / 32
        top = xp.amax(xp.where(seen, scores, -float("inf")), 1)[:, None]
        below = xp.where(seen, top - scores, 0.0)
        p = xp.where(seen, xp.exp(-below), 0.0)
        delta = xp.expm1((self.d + 2) * U * spread) + (below + 2 + 3 * tiles) * U
        rounded = self.rounding(p)
        rounded = 2 * xp.where(p < rounded, p, rounded)  # what a weight of 16 bits loses: never more than itself
        total = p.sum(1)[:, None]
        wanted = p @ v / total
        off = (p * (delta + chain * U) + rounded) @ abs(v) / total
        mean = (p * delta).sum(1)[:, None] / total
        before = off + (mean + (chain + 3) * U) * abs(wanted) + (visible + tiles + 1) * 2.0**-149 / total
        return wanted, before + self.rounding(abs(wanted) + before)


PROBLEMS = {
    "strided_softmax": StridedSoftmax,
    "softmax_backward": SoftmaxBackward,
    "fused_gemm": FusedGemm,
    "split_softmax": SplitSoftmax,
    "streaming_attention": StreamingAttention,
}
