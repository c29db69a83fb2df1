# SPDX-License-Identifier: MIT
"""`python -m assay.bench`: the command line, the processes of a run, and what is printed of it."""

import argparse
import importlib.util
import json
import multiprocessing
import os
import random
import re
import signal
import sys

from . import _suite
from ._clocks import CLOCKS
from ._report import Report, cache_bytes
from ._statistics import PROTOCOLS

OK, FAILED, UNAVAILABLE, USAGE, INTERRUPTED = 0, 1, 3, 64, 130

ABOUT = """Times assay's operators beside NumPy, PyTorch and Triton on the same arrays, in fresh processes, in
shuffled order. What is not right within the contract's error has no time. Ratios are time(peer) / time(variant). The
report is one of `assay bench`: assay verify, compare, record and plot take it."""


def stop(code, text):
    print(f"assay.bench: {text}", file=sys.stderr)
    sys.exit(code)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        stop(USAGE, message)


def parse(words):
    known = ", ".join(_suite.LAYOUTS)
    parser = Parser(prog="python -m assay.bench", description=ABOUT, allow_abbrev=False)
    option = parser.add_argument
    option("operators", nargs="*", metavar="OPERATOR", help=f"{known}; default: all")
    option("--backend", choices=("cpu", "cuda"), default="cpu", help="where kernels run; cpu is the default")
    option("--arrays", choices=("numpy", "torch"), help="whose arrays; default: PyTorch's where it is")
    option("--mode", choices=tuple(CLOCKS), help="which clock: wall for the CPU; events, graph for a GPU")
    option("--cache", choices=("warm", "cold"), default="warm", help="cold: one call a sample, caches emptied")
    protocols = "assay: 9 processes x 5 samples (the default); quick: 3 x 5; seeds: 1 x 7, which claims nothing"
    option("--protocol", choices=tuple(PROTOCOLS), help=protocols)
    option("--quick", action="store_true", help="the same as --protocol quick")
    shape = "sizes joined by x, with :LAYOUT, :TYPE and :OPTION=N behind them; several with commas; default: the suite"
    option("--shape", metavar="SIZES", help=shape)
    first = "only so many shapes of each operator, from the head of its suite"
    option("--first", type=int, metavar="N", help=first)
    threads = "threads a call may use on the CPU; default: the CPUs of this process"
    option("--threads", type=int, default=0, metavar="N", help=threads)
    option("--seed", type=int, metavar="N", help="of contents and order; default: a new one")
    option("--seconds", type=float, default=0, metavar="N", help="no case begins after so many seconds of a process")
    option("--prediction", metavar="FILE", help="a prediction that was declared before, to be kept in the report")
    option("-o", "--output", metavar="FILE", help="write the report here")
    args = parser.parse_args(words)
    if args.quick and args.protocol not in (None, "quick"):
        stop(USAGE, "--quick is a protocol of its own: leave out --protocol")
    args.protocol = "quick" if args.quick else args.protocol or "assay"
    args.mode = args.mode or ("graph" if args.backend == "cuda" else "wall")
    if (args.mode == "wall") != (args.backend == "cpu"):
        stop(USAGE, "--mode wall is for the CPU, events and graph are for --backend cuda")
    if not 0 <= args.threads <= 1024:
        stop(USAGE, f"--threads {args.threads}: it must be 1 to 1024, or 0 for the CPUs of this process")
    if args.first is not None and args.first < 1:
        stop(USAGE, f"--first {args.first}: it must be 1 or more")
    if args.first is not None and args.shape is not None:
        stop(USAGE, "--first counts shapes of a suite, and --shape names others: give one of the two")
    if args.seed is not None and not 0 <= args.seed < 1 << 53:
        stop(USAGE, f"--seed {args.seed}: it must be 0 to 2^53 - 1")
    return args


def choose_cases(args, operators):
    for name in args.operators:
        if name not in operators:
            stop(USAGE, f'there is no operator "{name}" to time from Python: {", ".join(operators)}')
    chosen = [operators[name] for name in dict.fromkeys(args.operators)] or list(operators.values())
    if args.shape is None:
        return [case for operator in chosen for case in operator.cases(args.backend)[: args.first]]
    if len(chosen) != 1:
        stop(USAGE, "--shape belongs to one operator: name one")
    try:
        return [case for text in args.shape.split(",") for case in chosen[0].parse(text, args.backend)]
    except _suite.Usage as why:
        stop(USAGE, str(why))


def read_prediction(path):
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as source:
            found = json.load(source)
        prediction = {name: found[name] for name in ("text", "hash", "created")}
        if not re.fullmatch("[0-9a-f]{64}", prediction["hash"]):
            raise ValueError("its hash is no SHA-256")
    except (OSError, ValueError, KeyError, TypeError) as why:
        stop(USAGE, f"--prediction {path}: it must be a file of `assay predict new`: {why}")
    return prediction


def make_plan(args, cases):
    threads = args.threads or len(os.sched_getaffinity(0))
    return {
        "backend": args.backend,
        "arrays": args.arrays or ("torch" if importlib.util.find_spec("torch") else "numpy"),
        "mode": args.mode,
        "cold": args.cache == "cold",
        "flush": 3 * max(cache_bytes(), 64 << 20 if args.backend == "cuda" else 0),
        "protocol": args.protocol,
        "threads": threads,
        "seed": args.seed if args.seed is not None else random.SystemRandom().getrandbits(53),
        "seconds": args.seconds,
        "cases": [vars(case) for case in cases],
    }


class Run:
    """The processes one after another, and the report that grows with them."""

    def __init__(self, plan, cases, report):
        self.plan, self.cases, self.report = plan, cases, report
        self.terminal = sys.stderr.isatty()
        self.missing, self.short, self.last = None, False, ""

    def progress(self, text):
        self.last = text
        if self.terminal:
            print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def take(self, message):
        kind, *rest = message
        if kind == "progress":
            self.progress(rest[0])
        elif kind == "missing":
            self.missing = rest[0]
        elif kind == "short":
            self.short = True
        elif kind == "surroundings":
            self.report.surroundings(*rest)
        elif kind in ("ceilings", "overheads"):
            self.report.found[kind] = rest[0]
        elif kind == "skipped":
            self.report.skip(rest[0], self.cases[rest[0]], rest[1])
        elif kind == "case":
            self.report.add(rest[0], self.cases[rest[0]], rest[1])
        elif kind == "traced":
            self.report.traced(*rest)
        return kind in ("done", "missing")

    def process(self, name, body, *arguments):
        """True when the process came to its end."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=body, args=(self.plan, *arguments, theirs), daemon=True)
        child.start()
        theirs.close()
        ended = False
        try:
            while not ended:
                ended = self.take(ours.recv())
        except EOFError:
            pass
        finally:
            if sys.exc_info()[0] is not None:
                child.terminate()
            child.join()
        if not ended:
            self.clear()
            how = f"signal {-child.exitcode}" if child.exitcode < 0 else f"exit code {child.exitcode}"
            print(f"assay.bench: {name} ended with {how} at {self.last}", file=sys.stderr)
        return ended

    def all(self):
        """True when every process came to its end."""
        from ._measure import run_process, run_trace

        for number in range(PROTOCOLS[self.plan["protocol"]][0]):
            if (
                not self.process(f"process {number}", run_process, number, self.report.calls)
                or self.missing is not None
            ):
                return False
            self.report.save()
        if self.plan["arrays"] == "torch" and any(case.operator == "streaming_attention" for case in self.cases):
            self.progress("which kernels run")
            self.process("the trace", run_trace)
        return not self.short


def microseconds(nanoseconds):
    return f"{nanoseconds / 1000:.4g}"


def ratio_text(entry, candidate, baseline):
    """ "1.64x: peer / variant [1.60, 1.70] faster"; empty where the two were not compared."""
    for one in entry["comparisons"]:
        if (one["candidate"], one["baseline"]) == (candidate, baseline):
            interval = "" if one["low"] is None else f" [{one['low']:.2f}, {one['high']:.2f}] {one['verdict']}"
            return f"{one['ratio']:.2f}x: {baseline} / {candidate}{interval}"
    return ""


def print_case(entry):
    """The fastest first, with the ratio to the fastest peer."""
    print(f"\n{entry['operator']} {entry['name']}")
    timed = [one for one in entry["variants"] if one["samples"]]
    timed.sort(key=lambda one: one["statistics"]["median_ns"])
    peers = [one["name"] for one in timed if one["kind"] == "baseline"]
    for one in timed:
        share = f"{one['gate']['max_error_share']:.2f} of the allowed error"
        ratio = ratio_text(entry, one["name"], peers[0]) if peers else ""
        print(f"  {one['name']:24} {microseconds(one['statistics']['median_ns']):>10} us  {share}  {ratio}".rstrip())
    for one in entry["variants"]:
        if one["gate"]["verdict"] != "PASS":
            print(f"  {one['name']:24} {one['gate']['verdict']}: {one['gate']['reason']}")
    for one in entry["skipped"]:
        print(f"  {one['name']:24} left out: {one['reason']}")


def print_report(found):
    for overhead in found["overheads"]:
        print(f"{microseconds(overhead['call_ns']):>8} us a call for one element: {overhead['name']}")
    for entry in found["cases"]:
        print_case(entry)


def main(words=None):
    words = sys.argv[1:] if words is None else words
    args = parse(words)
    operators = _suite.operators()
    cases = choose_cases(args, operators)
    folder = os.path.dirname(os.path.abspath(args.output)) if args.output else None
    if folder and not os.access(folder, os.W_OK):
        stop(USAGE, f"--output {args.output}: no file can be written there")
    prediction = read_prediction(args.prediction)
    plan = make_plan(args, cases)
    if args.backend == "cpu":  # read by BLAS libraries and OpenMP when a process starts
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(plan["threads"])
    report = Report(args.output, ["python3", "-m", "assay.bench", *words], plan, operators, prediction)
    run = Run(plan, cases, report)
    try:
        complete = run.all()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        run.clear()
        report.save()
        stop(INTERRUPTED, f"interrupted; {f'what was timed is in {args.output}' if args.output else 'nothing is kept'}")
    run.clear()
    if run.missing is not None:
        stop(UNAVAILABLE, run.missing)
    report.save(complete)
    print_report(report.found)
    if args.output:
        print(f"\nreport: {args.output}")
    if report.failed or not (complete or run.short):
        return FAILED
    timed = any(one["samples"] for entry in report.found["cases"] for one in entry["variants"])
    return OK if timed else UNAVAILABLE


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever read what is printed has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(OK)
