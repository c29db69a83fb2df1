# SPDX-License-Identifier: MIT
"""The three clocks of a report. wall: around calls on a CPU; events: two CUDA events around calls launched one by one;
graph: the same around one CUDA graph that holds them. Times of different clocks are never compared."""

import ctypes
import time

from ._spaces import Missing

BURST_SECONDS, PATIENCE_SECONDS, LEAD_CYCLES, WARM_CALLS = 0.1, 0.5, 200000, 5


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
        self.ones = None
        self.start, self.end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.nvml = SmClock()

    def burst(self):
        """Matrix products until the clock is near its most: a GPU that has waited runs at a fraction of it. They are of
        ones, which take little power. Products of random numbers, as the gate's, take so much that the clock sinks, and
        stays low for a while: some of that is waited for."""
        if self.ones is None:
            self.ones = self.torch.ones((4096, 4096), device=self.space.device, dtype=self.torch.float16)
        begun = time.monotonic()
        while True:
            self.torch.mm(self.ones, self.ones)
            self.torch.cuda.synchronize()
            passed = time.monotonic() - begun
            if passed >= PATIENCE_SECONDS or (passed >= BURST_SECONDS and self.nvml.is_high()):
                return

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
        self.device, self.most = None, 0
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
            handle = ctypes.c_void_p()
            started = self.library.nvmlInit_v2() == 0
            if started and self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0:
                self.device, self.most = handle, self._ask("nvmlDeviceGetMaxClockInfo", handle)
        except (OSError, AttributeError):
            pass

    def read(self):
        return self._ask("nvmlDeviceGetClockInfo", self.device) if self.device else 0

    def is_high(self):
        return self.read() >= 0.97 * self.most

    def _ask(self, function, device):
        mhz = ctypes.c_uint(0)
        return mhz.value if getattr(self.library, function)(device, 1, ctypes.byref(mhz)) == 0 else 0


CLOCKS = {"wall": WallClock, "events": EventsClock, "graph": GraphClock}


def open_clock(mode, space):
    if CLOCKS[mode] is not WallClock and not space.on_gpu:
        raise Missing(f"mode {mode} times a GPU")
    return CLOCKS[mode](space)
