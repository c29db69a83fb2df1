# SPDX-License-Identifier: MIT
"""The three clocks of a report. wall: around calls on a CPU; events: two CUDA events around calls launched one by one;
graph: the same around one CUDA graph that holds them. Times of different clocks are never compared."""

import ctypes
import time

from ._spaces import Missing

BURST_SECONDS, LEAD_CYCLES, WARM_CALLS = 0.1, 200000, 5


class WallClock:
    def __init__(self, space):
        self.space = space
        self.flushed = None

    def prepare(self, variant, calls):
        def run():
            for _ in range(calls):
                result = variant.call()
            return result

        return run

    def warm(self, variant, run, count):
        """Calls that are not timed; returns what the last of them wrote."""
        result = None
        for _ in range(count):
            result = variant.call()
        return result

    def burst(self):
        pass

    def flush(self, size):
        """Rewrites `size` bytes, so that no operand is left in a cache."""
        if self.flushed is None:
            self.flushed = self.space.empty((size // 4,), "fp32")
        self.space.fill(self.flushed, 1.0)
        self.space.wait()

    def sample(self, run):
        """(nanoseconds, MHz or 0, what the last call returned)."""
        start = time.perf_counter_ns()
        result = run()
        return max(time.perf_counter_ns() - start, 1), 0, result


class _GpuClock(WallClock):
    def __init__(self, space):
        super().__init__(space)
        self.torch = space.xp
        self.left = None
        self.start, self.end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.nvml = SmClock()

    def burst(self):
        """Matrix products: a GPU that has waited runs at a fraction of its clock."""
        if self.left is None:
            self.left = self.torch.randn((8192, 8192), device=self.space.device, dtype=self.torch.float16)
        until = time.monotonic() + BURST_SECONDS
        while time.monotonic() < until:
            self.torch.mm(self.left, self.left)
            self.torch.cuda.synchronize()

    def sample(self, run):
        self.torch.cuda.synchronize()
        self.lead()
        self.start.record()
        result = run()
        self.end.record()
        self.torch.cuda.synchronize()
        return max(round(self.start.elapsed_time(self.end) * 1e6), 1), self.nvml.read(), result

    def lead(self):
        pass


class EventsClock(_GpuClock):
    pass


class GraphClock(_GpuClock):
    def lead(self):
        """A graph reaches an idle GPU later than the event before it: the host would be in the time."""
        self.torch.cuda._sleep(LEAD_CYCLES)

    def warm(self, variant, run, count):
        return run()

    def prepare(self, variant, calls):
        """The graph of the calls. They run outside of it first: what compiles or takes memory cannot be captured."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_CALLS):
                variant.call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                result = variant.call()

        def run():
            graph.replay()
            return result

        return run


class SmClock:
    """The clock of the multiprocessors in MHz by NVML; 0 where that does not tell."""

    def __init__(self):
        self.device = None
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
            handle = ctypes.c_void_p()
            started = self.library.nvmlInit_v2() == 0
            if started and self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0:
                self.device = handle
        except (OSError, AttributeError):
            pass

    def read(self):
        mhz = ctypes.c_uint(0)
        if self.device is None or self.library.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(mhz)) != 0:
            return 0
        return mhz.value


CLOCKS = {"wall": WallClock, "events": EventsClock, "graph": GraphClock}


def open_clock(mode, space):
    if CLOCKS[mode] is not WallClock and not space.on_gpu:
        raise Missing(f"mode {mode} times a GPU")
    return CLOCKS[mode](space)
