#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times PyTorch and Triton on the shapes of Assay's GPU suites, by the protocol of the seed documents.

    python3 scripts/peers.py -o graph.json [--events events.json] [--seconds N] [--seed N] [OPERATOR...]

The results are reports as `assay bench` writes them, one a clock: `assay verify`, `plot` and citations take them. A
case begins with matrix products for 200 ms. Every peer is compared with FP64 values first, within the error that
Assay's own gate allows; one that is wrong, or gives NaN, has no times. Then come 7 rounds; in each every peer has one
sample of 20 calls, in shuffled order. The first report is of mode `graph`: the 20 calls are captured into one CUDA
graph. The second, of the seed documents' shapes, is of mode `events`: they are made one by one. Times are between two
CUDA events. The clock of the multiprocessors is what NVML says when a sample has ended.

Exit code 0: all timed; 1: a peer was wrong; 3: PyTorch, Triton or a GPU is missing; 64: wrong usage.
"""
import argparse
import os
import random
import sys
import time
import warnings

import peers_cases
import peers_report

ROUNDS, CALLS, WARMUP, BURST_SECONDS, LEAD_CYCLES = 7, 20, 5, 0.2, 200000


def stop(code, text):
    print(f"peers.py: {text}", file=sys.stderr)
    sys.exit(code)


def load():
    """PyTorch with a GPU, and our kernels in Triton. Both must be there: a peer must not be missing unseen."""
    # Compilers of torch.compile that run beside the program would still be starting when the first case is timed.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    try:
        import torch
    except ImportError as why:
        stop(3, f"PyTorch is needed, and cannot be imported: {why}")
    if not torch.cuda.is_available():
        stop(3, "PyTorch sees no GPU here: check nvidia-smi, and that this PyTorch was built for CUDA")
    try:
        import peers_triton
    except ImportError as why:
        stop(3, f"Triton is needed, and cannot be imported: {why}")
    return torch, peers_triton


def sentence(why):
    return f"{type(why).__name__}: {' '.join(str(why).split())[:200]}"


class Timer:
    def __init__(self, torch, clock):
        self.torch, self.clock = torch, clock
        self.left = torch.randn((8192, 8192), device="cuda", dtype=torch.float16)
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def burst(self):
        until = time.monotonic() + BURST_SECONDS
        while time.monotonic() < until:
            self.torch.mm(self.left, self.left)
            self.torch.cuda.synchronize()

    def graph(self, call):
        """The graph of CALLS calls. They run outside of it first: what compiles or takes memory cannot be captured."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARMUP):
                call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(CALLS):
                call()
        graph.replay()
        torch.cuda.synchronize()
        return graph.replay

    def events(self, call):
        for _ in range(WARMUP):
            call()
        self.torch.cuda.synchronize()

        def run():
            for _ in range(CALLS):
                call()

        return run

    def sample(self, run, lead):
        self.torch.cuda.synchronize()
        if lead:
            # A graph reaches an idle GPU later than the event before it: the host would be in the time.
            self.torch.cuda._sleep(LEAD_CYCLES)
        self.start.record()
        run()
        self.end.record()
        self.torch.cuda.synchronize()
        return round(self.start.elapsed_time(self.end) * 1e6), self.clock.read()


def judge(peer, reference):
    """(right, the largest share of the allowed error, elements compared). NaN is never right."""
    result = peer.call()
    share, compared, right = 0.0, 0, True
    for rows, wanted, allowed in reference():
        got = result[rows].double()
        if got.shape != wanted.shape:
            return False, float("inf"), compared
        errors = (got - wanted).abs() / (peer.slack * allowed)
        compared += got.numel()
        # A comparison with NaN is false, so it is `not all` that finds it.
        right = right and bool((errors <= 1).all())
        share = max(share, float(errors.nan_to_num(nan=float("inf")).max()))
    return right, share, compared


def admit(torch, peers, reference):
    """What is known of each peer before anything is timed: (share, compared), or the reason that it is left out."""
    shares, left_out = {}, {}
    for peer in peers:
        try:
            right, share, compared = judge(peer, reference)
        except Exception as why:  # a backend that does not take this shape, or a kernel that does not compile
            left_out[peer.name] = sentence(why)
            torch.cuda.synchronize()
            continue
        if right and compared > 0:
            shares[peer.name] = (share, compared)
        else:
            left_out[peer.name] = f"wrong: the largest error is {share:.3g} times what is allowed"
    return shares, left_out


def time_all(timer, mode, peers, left_out, order):
    """Samples of every peer that is right."""
    prepare = timer.graph if mode == "graph" else timer.events
    runs, samples = {}, {}
    for peer in peers:
        if peer.name in left_out:
            continue
        try:
            runs[peer.name] = prepare(peer.call)
        except Exception as why:
            left_out[peer.name] = sentence(why)
            timer.torch.cuda.synchronize()
    timer.burst()
    for turn in range(ROUNDS):
        names = list(runs)
        order.shuffle(names)
        for position, name in enumerate(names):
            nanoseconds, mhz = timer.sample(runs[name], lead=mode == "graph")
            samples.setdefault(name, []).append(
                {"process": 0, "round": turn, "position": position, "calls": CALLS, "nanoseconds": nanoseconds, "sm_mhz": mhz}
            )
    return samples


def time_case(torch, kernels, timer, case, reports, order):
    generator = torch.Generator(device="cuda").manual_seed(order.getrandbits(32))

    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).half()

    peers, reference = case.make(torch, kernels, normal)
    timer.burst()
    shares, left_out = admit(torch, peers, reference)
    for mode, report in reports.items():
        # Where a call takes far longer than its start, the second clock would show the same again.
        if mode == "events" and case.group != peers_cases.SEEDS:
            continue
        missing = dict(left_out)
        samples = time_all(timer, mode, peers, missing, order)
        report.add(case, peers, shares, missing, samples)
        print("\n".join(report.lines()), file=sys.stderr, flush=True)
    return sum(reason.startswith("wrong") for reason in left_out.values())


def main():
    known = sorted({case.operator for case in peers_cases.CASES})
    parser = argparse.ArgumentParser(prog="peers.py", description="Times PyTorch and Triton on the shapes of Assay's GPU suites.")
    parser.error = lambda text: stop(64, text)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help=f"one of {', '.join(known)}; default: all")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the report of mode graph")
    parser.add_argument("--events", metavar="FILE", help="the report of mode events, of the seed documents' shapes")
    parser.add_argument("--seconds", type=float, default=170, help="no case begins after so many seconds")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(48), help="of contents and order")
    args = parser.parse_args()
    for name in args.operators:
        if name not in known:
            stop(64, f'there is no operator "{name}": {", ".join(known)}')
    torch, kernels = load()
    warnings.simplefilter("ignore")  # of compilers, about their own choices; what fails is an exception
    begun = time.monotonic()
    order = random.Random(args.seed)
    protocol = {"name": "seeds", "processes": 1, "rounds": ROUNDS, "calls": CALLS, "warmup": WARMUP}
    surroundings = peers_report.surroundings(torch)
    reports = {"graph": peers_report.Report(args.output, "graph", args.seed, protocol, surroundings)}
    if args.events:
        reports["events"] = peers_report.Report(args.events, "events", args.seed, protocol, surroundings)
    cases = [case for case in peers_cases.CASES if not args.operators or case.operator in args.operators]
    timer = Timer(torch, peers_report.Clock())
    done, wrong = 0, 0
    for case in cases:
        if time.monotonic() - begun > args.seconds:
            break
        wrong += time_case(torch, kernels, timer, case, reports, order)
        done += 1
        for report in reports.values():
            report.save(complete=done == len(cases))
        torch.cuda.empty_cache()
    print(f"{done} of {len(cases)} cases, {wrong} peers wrong, {time.monotonic() - begun:.0f} s", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
