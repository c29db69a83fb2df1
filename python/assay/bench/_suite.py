# SPDX-License-Identifier: MIT
"""Which shapes are timed: those of `assay bench`, or one of the user's, under the names that reports give them.

suite.json is what `assay list --suite` prints; the tests compare the two.
"""

import dataclasses
import json
import pathlib

from ._spaces import SIZE, TYPES

SUITE = pathlib.Path(__file__).with_name("suite.json")

# The online normaliser has no counterpart among the peers: its state is no tensor of theirs.
LAYOUTS = {
    "strided_softmax": ("packed", "transposed", "sliced"),
    "softmax_backward": ("packed", "transposed"),
    "fused_gemm": ("packed", "padded"),
    "split_softmax": ("no_workspace", "exact_workspace"),
    "streaming_attention": ("packed",),
}


class Usage(Exception):
    """A command line that asks for what there is not."""


@dataclasses.dataclass(frozen=True)
class Case:
    operator: str
    dims: dict
    layout: str
    options: dict
    dtype: str

    @property
    def name(self):
        sizes = list(self.dims.values())
        while len(sizes) > 1 and sizes[-1] == 0:
            sizes.pop()
        options = [f"{name}={value}" for name, value in self.options.items() if value]
        return " ".join(["x".join(map(str, sizes)), self.layout, *options, self.dtype])

    @property
    def work(self):
        """(bytes, operations) of a call at the least."""
        return _WORK[self.operator](self.dims, self.options, SIZE[self.dtype])

    @property
    def outputs(self):
        return _OUTPUTS[self.operator](self.dims)

    @property
    def sampled(self):
        """The gate looks at 64 rows: all would take far longer than the timing."""
        return self.work[1] > 2e9 or self.outputs > 16 << 20

    @property
    def sampled_rounds(self):
        """So do the checks of the samples behind the gate."""
        return self.work[1] > 1e8 or self.outputs > 1 << 20


def _rows_work(moved, operations):
    def work(dims, options, size):
        elements = float(dims["rows"]) * dims["columns"]
        return moved * elements * size, operations * elements

    return work


def _gemm_work(dims, options, size):
    m, n, k = (float(dims[name]) for name in ("m", "n", "k"))
    return 2 * (m * k + k * n + n + m * n), 2 * m * n * k


def _attention_work(dims, options, size):
    n, d = float(dims["n"]), float(dims["d"])
    heads = float(dims["heads"] or 1) * (dims["batch"] or 1)
    pairs = n * (n + 1) / 2 if options.get("causal") else n * n
    return 8 * n * d * heads, pairs * (4 * d + 4) * heads


_WORK = {
    "strided_softmax": _rows_work(2, 5),
    "softmax_backward": _rows_work(3, 4),
    "fused_gemm": _gemm_work,
    "split_softmax": _rows_work(2, 5),
    "streaming_attention": _attention_work,
}
_OUTPUTS = {
    "strided_softmax": lambda dims: dims["rows"] * dims["columns"],
    "softmax_backward": lambda dims: dims["rows"] * dims["columns"],
    "fused_gemm": lambda dims: dims["m"] * dims["n"],
    "split_softmax": lambda dims: dims["rows"] * dims["columns"],
    "streaming_attention": lambda dims: dims["n"] * dims["d"] * (dims["heads"] or 1) * (dims["batch"] or 1),
}


class Operator:
    """What suite.json says of an operator."""

    def __init__(self, entry):
        self.entry, self.name = entry, entry["name"]
        self.formula, self.tolerance = entry["formula"], entry["tolerance"]

    def variants(self, backend):
        """(name, sources) of the library's variants."""
        return [(one["name"], one["sources"]) for one in self.entry["variants"] if one["backend"] == backend]

    def cases(self, backend):
        return [self._case(one) for one in self.entry["cases"] if backend in one["backends"]]

    def _case(self, one):
        return Case(self.name, one["dims"], one["layout"], one["opt"], one["dtype"])

    def parse(self, text, backend):
        """The cases that one shape of --shape names: those of the suite with these sizes, or a case of its own."""
        sizes, *words = text.split(":")
        names = self.entry["dims"]
        numbers = sizes.split("x")
        if len(numbers) > len(names) or not all(number.isdigit() for number in numbers):
            raise Usage(f"--shape takes up to {len(names)} sizes of {self.name} joined by x ({', '.join(names)})")
        dims = dict.fromkeys(names, 0) | {name: int(number) for name, number in zip(names, numbers, strict=False)}
        known = [case for case in self.cases(backend) if case.dims == dims]
        if known and not words:
            return known
        first = self._case(self.entry["cases"][0])
        layout, dtype, options = first.layout, first.dtype, dict(first.options)
        for word in words:
            name, equals, value = word.partition("=")
            if equals and name in self.entry["options"] and value.isdigit():
                options[name] = int(value)
            elif word in LAYOUTS[self.name]:
                layout = word
            elif word in TYPES:
                dtype = word
            else:
                raise Usage(
                    f'--shape has "{word}": it must be a type ({", ".join(TYPES)}), an option '
                    f"({', '.join(self.entry['options'])}) with = or a layout that is timed from Python: "
                    f"{', '.join(LAYOUTS[self.name])}"
                )
        if any(dims[name] < 1 for name in names if name not in ("heads", "batch")):
            raise Usage(f'--shape "{text}": every size must be at least 1')
        if dims.get("heads") and not dims.get("batch"):
            dims["batch"] = 1
        return [Case(self.name, dims, layout, options, dtype)]


def operators():
    """By name, in the order of the workshops."""
    found = json.loads(SUITE.read_text(encoding="utf-8"))["operators"]
    return {entry["name"]: Operator(entry) for entry in found if entry["name"] in LAYOUTS}
