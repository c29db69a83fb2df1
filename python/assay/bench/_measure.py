# SPDX-License-Identifier: MIT
"""One process of a run: every case with all its variants side by side, each held to its gate before and after each
sample. What it finds goes to the parent as plain values."""

import gc
import os
import random
import resource
import signal
import time

from . import _suite
from ._clocks import open_clock
from ._gate import Gate, Verdict
from ._overheads import measure_ceilings, measure_overheads
from ._problems import PROBLEMS
from ._spaces import Missing, NumpySpace, TorchSpace
from ._statistics import PROTOCOLS, calls_of

GATE_ROUND, EXACT_ROUND = 1000, 1001
TRIAL_NS = 5e6
LIMIT_NS = {"assay": 120e9, "seeds": 120e9, "quick": 20e9}  # of a variant and shape


class Wrong(Exception):
    """A variant that was wrong once has no times."""


def open_space(arrays, backend):
    """Missing, with what to install, when the library or the GPU is not there."""
    if arrays == "numpy":
        if backend == "cuda":
            raise Missing("arrays of NumPy are on the CPU: --backend cuda needs --arrays torch")
        try:
            return NumpySpace()
        except ImportError as why:
            raise Missing(f"NumPy cannot be imported: {why}") from None
    try:
        import torch
    except ImportError as why:
        raise Missing(f"PyTorch cannot be imported ({why}): pip install torch, or --arrays numpy") from None
    if backend == "cuda" and not torch.cuda.is_available():
        raise Missing("PyTorch sees no GPU here: check nvidia-smi, and that this PyTorch was built for CUDA")
    return TorchSpace("cuda" if backend == "cuda" else "cpu")


def sentence(why):
    return f"{type(why).__name__}: {' '.join(str(why).split())[:200]}"


def make_variants(problem, operator, plan):
    """(variants, {name: why it is not there}). What cannot be made at all is left out with its reason."""
    from . import _numpy_peers, _variants

    variants = _variants.own(problem, operator, plan["backend"], plan["threads"])
    left_out = {}
    makers = {} if problem.space.on_gpu else {"numpy_fp32": _numpy_peers.peers}
    if problem.space.name == "torch":
        from . import _torch_peers

        makers["torch"] = _torch_peers.peers
        if problem.space.on_gpu:
            makers["triton"] = _triton
    for name, maker in makers.items():
        try:
            variants += maker(problem)
        except (Missing, ImportError) as why:
            left_out[name] = str(why)
    return variants, left_out


def _triton(problem):
    from . import _triton_peers

    return _triton_peers.peers(problem)


class CaseRun:
    """A case in this process. `calls` has the calls of a sample by variant, from the first process."""

    def __init__(self, space, clock, operator, case, plan, process, calls):
        self.space, self.clock, self.case, self.plan, self.process = space, clock, case, plan, process
        self.problem = PROBLEMS[case.operator](space, case)
        self.variants, self.left_out = make_variants(self.problem, operator, plan)
        self.calls = dict(calls)
        if process > 0:  # what the first process left out, or found wrong, need not be tried again
            self.variants = [one for one in self.variants if one.name in self.calls]
        self.order = random.Random(f"{plan['seed']} {process} {case.operator} {case.name}")
        self.verdicts = {variant.name: Verdict() for variant in self.variants}
        self.failed, self.samples, self.switches, self.placed = {}, {}, {}, set()

    def live(self):
        return [one for one in self.variants if one.name not in self.failed and one.name not in self.left_out]

    def fill(self, turn, exact=False):
        seed = self.order.getrandbits(48) ^ turn
        if exact:
            self.problem.fill_exact(seed)
        else:
            self.problem.fill(seed)

    def gate(self, sampled, exact=False):
        return Gate(self.problem, self.problem.pick(self.order) if sampled and not exact else None, exact)

    def judge(self, gate, variant, result):
        self.space.wait()
        found = gate.judge(result, variant.slack, variant.more)
        self.verdicts[variant.name].add(found)
        if not found.right:
            raise Wrong(found.reason)

    def guarded(self, action, variant, *more):
        """Runs it; what is wrong, or does not run here, is out."""
        try:
            action(variant, *more)
        except Wrong as why:
            self.failed[variant.name] = str(why)
            self.samples.pop(variant.name, None)
        except MemoryError:
            self.left_out[variant.name] = "not enough memory"
        except Exception as why:  # a backend that does not take this shape, a kernel that does not compile
            self.left_out[variant.name] = sentence(why)
            self.samples.pop(variant.name, None)

    def admit(self):
        """Nothing is timed that was not right before."""
        rounds = [(GATE_ROUND, False)]
        if self.case.sampled and self.problem.has_exact:
            rounds.append((EXACT_ROUND, True))
        for turn, exact in rounds:
            self.fill(turn, exact)
            gate = self.gate(self.case.sampled, exact)
            for variant in self.live():
                self.guarded(self._admit, variant, gate)

    def _admit(self, variant, gate):
        self._poison(variant.out)
        self.judge(gate, variant, variant.call())

    def _poison(self, out):
        """An element that a kernel leaves out is NaN then, and NaN passes nowhere."""
        if out is not None:
            self.space.fill(self.space.adopt(out), float("nan"))

    def find_calls(self):
        for variant in self.live():
            if variant.name not in self.calls:
                self.guarded(self._find_calls, variant)

    def _find_calls(self, variant):
        count = 1
        most = 1 if self.plan["protocol"] == "seeds" or self.plan["cold"] else 1024  # the number is known there
        while True:
            run = self.clock.prepare(variant, count)
            run()
            nanoseconds, _, _ = self.clock.sample(run)
            if nanoseconds >= TRIAL_NS or count >= most:
                break
            count *= 4
        protocol, call_ns = self.plan["protocol"], nanoseconds / count
        calls = calls_of(protocol, call_ns, self.plan["cold"])
        processes, rounds, _, warmup = PROTOCOLS[protocol]
        expected = processes * rounds * (calls + warmup) * call_ns
        if expected > LIMIT_NS[protocol]:
            words = "would take {:.0f} s; the limit for a variant and shape is {:.0f} s"
            self.left_out[variant.name] = words.format(expected * 1e-9, LIMIT_NS[protocol] * 1e-9)
            return
        self.calls[variant.name] = calls

    def time(self, tell):
        runs = {}
        for variant in self.live():
            self.guarded(self._prepare, variant, runs)
        for turn in range(PROTOCOLS[self.plan["protocol"]][1]):
            self.fill(turn)
            gate = self.gate(self.case.sampled or self.case.sampled_rounds)
            chosen = [one for one in self.live() if one.name in runs]
            self.order.shuffle(chosen)
            self.clock.burst()
            tell(f"{self.case.operator} {self.case.name}, sample {turn + 1}")
            self.placed.update(variant.name for variant in chosen)
            for position, variant in enumerate(chosen):
                self.guarded(self._sample, variant, gate, runs[variant.name], turn, position)

    def _prepare(self, variant, runs):
        runs[variant.name] = self.clock.prepare(variant, self.calls[variant.name])

    def _sample(self, variant, gate, run, turn, position):
        if not self.plan["cold"]:
            self._poison(self.clock.warm(variant, run, PROTOCOLS[self.plan["protocol"]][3]))
        self._poison(variant.out)
        if self.plan["cold"]:
            self.clock.flush(self.plan["flush"])
        before = resource.getrusage(resource.RUSAGE_SELF)
        nanoseconds, mhz, result = self.clock.sample(run)
        after = resource.getrusage(resource.RUSAGE_SELF)
        self.judge(gate, variant, result)
        switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw
        self.switches[variant.name] = self.switches.get(variant.name, 0) + switches
        sample = {
            "process": self.process,
            "round": turn,
            "position": position,
            "calls": self.calls[variant.name],
            "nanoseconds": nanoseconds,
        }
        if mhz > 0:  # a clock that NVML does not tell is no clock of 0 MHz
            sample["sm_mhz"] = mhz
        self.samples.setdefault(variant.name, []).append(sample)

    def found(self):
        """Plain values for the report."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        variants = []
        for one in self.variants:
            name, verdict = one.name, self.verdicts[one.name]
            if name in self.left_out and name not in self.placed:
                continue
            word = "FAIL" if name in self.failed else "UNAVAILABLE" if name in self.left_out else "PASS"
            variants.append(
                {
                    "name": name,
                    "kind": one.kind,
                    "expression": one.expression,
                    "rounding": one.rounding,
                    "sources": list(one.sources),
                    "verdict": word,
                    "reason": self.failed.get(name) or self.left_out.get(name, ""),
                    "error_ulps": verdict.ulps,
                    "error_share": verdict.share,
                    "compared": verdict.compared,
                    "peak": peak,
                    "switches": self.switches.get(name, 0),
                    "samples": self.samples.get(name, []),
                }
            )
        left_out = {name: why for name, why in self.left_out.items() if name not in self.placed}
        return {"variants": variants, "left_out": left_out, "calls": self.calls}


def run_process(plan, process, calls, connection):
    """The body of a process: sends ("kind", ...) tuples, the last is ("done",) or ("missing", why)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    begun = time.monotonic()
    operators = _suite.operators()
    cases = [_suite.Case(**one) for one in plan["cases"]]

    def tell(text):
        connection.send(("progress", text))

    try:
        space = open_space(plan["arrays"], plan["backend"])
        if space.name == "torch" and plan["threads"] > 0:
            space.xp.set_num_threads(plan["threads"])
        clock = open_clock(plan["mode"], space)
    except Missing as why:
        connection.send(("missing", str(why)))
        return
    if process == 0:
        connection.send(("surroundings", *surroundings_of(space)))
        tell("what this machine can do")
        clock.burst()
        connection.send(("ceilings", measure_ceilings(space)))
        connection.send(("overheads", measure_overheads(space, plan["threads"])))
    order = list(range(len(cases)))
    if process > 0:
        random.Random(f"{plan['seed']} {process}").shuffle(order)
    for index in order:
        if plan["seconds"] and time.monotonic() - begun > plan["seconds"]:
            connection.send(("short",))
            continue
        case = cases[index]
        tell(f"{case.operator} {case.name}, checking")
        try:
            one = CaseRun(space, clock, operators[case.operator], case, plan, process, calls.get(index, {}))
            one.admit()
            one.find_calls()
            one.time(tell)
        except (Missing, MemoryError) as why:
            connection.send(("skipped", index, str(why) or "not enough memory"))
            continue
        connection.send(("case", index, one.found()))
        del one
        gc.collect()
        if space.on_gpu:
            space.xp.cuda.empty_cache()
    connection.send(("done",))


def run_trace(plan, connection):
    """The body of the last process: which kernels ran. A profiler that was used once may slow down all that follows,
    so nothing is timed behind it. What it says of itself is nobody's concern."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        space = open_space(plan["arrays"], plan["backend"])
    except Missing as why:
        connection.send(("missing", str(why)))
        return
    for index, one in enumerate(plan["cases"]):
        case = _suite.Case(**one)
        if space.name != "torch" or case.operator != "streaming_attention":
            continue
        from . import _torch_peers

        problem = PROBLEMS[case.operator](space, case)
        problem.fill(1)
        connection.send(("traced", index, _torch_peers.traced(problem)))
        del problem
    connection.send(("done",))


def surroundings_of(space):
    from ._report import gpu_of, libraries_of

    return libraries_of(space), gpu_of(space)
