# SPDX-License-Identifier: MIT
"""What this machine can do at most, and what a call costs from Python before any kernel works."""

import time

import assay
from assay import _library, _views

from ._statistics import median

SAMPLES, CALLS = 7, 200
COPY_BYTES = {False: 1 << 28, True: 1 << 31}
PRODUCT = {False: 1024, True: 8192}


def _timed(space, action):
    """Nanoseconds of SAMPLES runs; one before them does not count."""
    taken = []
    for _ in range(SAMPLES + 1):
        space.wait()
        start = time.perf_counter_ns()
        action()
        space.wait()
        taken.append(max(time.perf_counter_ns() - start, 1))
    return taken[1:]


def _ceiling(name, unit, work, samples):
    return {
        "name": name,
        "unit": unit,
        "work": float(work),
        "samples": samples,
        "rate": work / (median(samples) * 1e-9),
    }


def measure_ceilings(space):
    """A copy and a matrix product by the arrays' own library."""
    size, edge = COPY_BYTES[space.on_gpu], PRODUCT[space.on_gpu]
    numbers = space.numbers(1)
    here, there = (space.empty((size // 4,), "fp32") for _ in range(2))
    space.fill(here, 1.0)
    space.fill(there, 0.0)
    copies = _timed(space, lambda: space.fill(there, here))
    left = space.empty((edge, edge), "fp16" if space.on_gpu else "fp32")
    space.fill(left, numbers.normal((edge, edge)))
    products = _timed(space, lambda: space.xp.matmul(left, left))
    return [
        _ceiling("copy by " + space.name, "bytes", 2 * size, copies),
        _ceiling("matmul by " + space.name, "flops", 2 * edge**3, products),
    ]


def _per_call(space, name, call):
    """Host time: on a GPU the calls are only queued, on a CPU the operand is one element."""
    samples = []
    for turn in range(SAMPLES + 1):
        space.wait()
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        taken = time.perf_counter_ns() - start
        if turn > 0:  # the first takes memory and fills caches
            samples.append(max(taken, 1))
    space.wait()
    return {"name": name, "calls": CALLS, "samples": samples, "call_ns": median(samples) / CALLS}


def measure_overheads(space, threads):
    """The same softmax of one row by the bare C call, into a given output, and into a new one."""
    x, y = (space.empty((1, 1), "fp32") for _ in range(2))
    space.fill(x, 1.0)
    kind = _views.kind_of(x, "x")
    source, device, _, _ = kind.view(x, "x")
    target = kind.view(y, "y")[0]
    queue = _views.queue_of(device, kind.stream(x, device, threads))
    option = bytes(8)

    def bare():
        _library.call(b"strided_softmax", None, source, target, option, queue)

    return [
        _per_call(space, "assay_call by ctypes, arguments packed before", bare),
        _per_call(space, "assay.softmax(x, out=y)", lambda: assay.softmax(x, out=y, threads=threads)),
        _per_call(space, "assay.softmax(x)", lambda: assay.softmax(x, threads=threads)),
    ]
