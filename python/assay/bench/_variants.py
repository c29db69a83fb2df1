# SPDX-License-Identifier: MIT
"""What is timed: assay's variants as candidates, and the way a peer is described."""

import dataclasses
from collections.abc import Callable

import assay

ONCE = "once, of the output; everything before is FP32"
OWN_ROUNDING = "once, to the output's type; sums are FP32 or better"
LIBRARY = "as the library does it"
BRIDGE = ("python/assay/_operators.py", "python/assay/_views.py", "python/assay/_library.py")
HARNESS = ("python/assay/bench/_problems.py", "python/assay/bench/_variants.py")


@dataclasses.dataclass
class Variant:
    """A way to compute the case. `call` takes nothing and returns the output. One that rounds more often than the
    contract allows is held to `slack` times the allowed error, which its report says, or to `more(index)` beside it, if
    what it loses is known: then `rounding` says what. `start` runs once, before the
    gate: what compiles, or is missing here, shows there."""

    name: str
    kind: str  # "library" or "baseline"
    expression: str
    rounding: str
    sources: tuple
    call: Callable
    slack: float = 1
    more: Callable | None = None
    out: object = None  # the array that every call writes; None: each call makes its own
    trace: bool = False  # whether the report should say which kernels ran

    def __post_init__(self):
        if self.slack != 1:
            self.rounding = f"{self.rounding}; held to {self.slack:g} times the allowed error"


_CALLS = {
    "strided_softmax": (assay.softmax, "softmax(x", lambda p: (p.x,), lambda p: {}),
    "softmax_backward": (assay.softmax_backward, "softmax_backward(y, g", lambda p: (p.y, p.g), lambda p: {}),
    "fused_gemm": (assay.matmul_bias_relu, "matmul_bias_relu(a, b, bias", lambda p: (p.a, p.b, p.bias), lambda p: {}),
    "split_softmax": (assay.split_softmax, "split_softmax(x", lambda p: (p.x,), lambda p: {"workspace": p.workspace}),
    "streaming_attention": (
        assay.attention,
        "attention(q, k, v",
        lambda p: (p.q, p.k, p.v),
        lambda p: {"causal": p.causal},
    ),
}


def _options(case):
    return {name: value for name, value in case.options.items() if value and name != "causal"}


def own(problem, operator, backend, threads):
    """The library's variants into one output, and its choice with an output of its own a call."""
    function, words, operands, keywords = _CALLS[operator.name]
    case, out = problem.case, problem.space.empty(problem.shape, problem.case.dtype)
    arguments, given = operands(problem), keywords(problem) | _options(case)
    if backend == "cpu":
        given["threads"] = threads
    variants = []
    for name, sources in operator.variants(backend):

        def call(name=name):
            return function(*arguments, out=out, variant=name, **given)

        expression = f"assay.{words}, out=out, variant={name!r})"
        variants.append(
            Variant(name, "library", expression, OWN_ROUNDING, (*sources, *BRIDGE, *HARNESS), call, out=out)
        )
    every = tuple(dict.fromkeys(source for _, sources in operator.variants(backend) for source in sources))
    variants.append(
        Variant(
            "allocating",
            "library",
            f"assay.{words}): the library's choice, a new output every call",
            OWN_ROUNDING,
            (*every, *BRIDGE, *HARNESS),
            lambda: function(*arguments, **given),
        )
    )
    return variants
