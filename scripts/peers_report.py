# SPDX-License-Identifier: MIT
# peers_report.py - a report of peers in the format of `assay bench` (schema/report-1.json), and what it says about the
# machine.
import ctypes
import datetime
import hashlib
import json
import os
import platform
import subprocess
import sys

import peers_cases

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = {"torch": ("scripts/peers_cases.py", "scripts/peers.py"),
           "triton": ("scripts/peers_triton.py", "scripts/peers_cases.py", "scripts/peers.py")}


class Clock:
    """The clock of the multiprocessors in MHz by NVML; 0 where that does not tell."""

    def __init__(self):
        self.device = None
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
            handle = ctypes.c_void_p()
            if self.library.nvmlInit_v2() == 0 and self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0:
                self.device = handle
        except (OSError, AttributeError):
            pass

    def read(self):
        mhz = ctypes.c_uint(0)
        if self.device is None or self.library.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(mhz)) != 0:
            return 0
        return mhz.value


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True, cwd=TREE).stdout.strip().split("\n")[0]
    except (OSError, subprocess.SubprocessError):
        return ""


def processor():
    found = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                name, _, value = line.partition(":")
                found.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    flags = found.get("flags", "").split()
    return found.get("model name", platform.machine()), " ".join(flag for flag in ("avx2", "avx512f", "amx_tile") if flag in flags)


def gpu(torch, triton):
    properties = torch.cuda.get_device_properties(0)
    line = first_line(["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm", "--format=csv,noheader,nounits", "--id=0"]).split(", ")
    found = {"name": properties.name, "architecture": f"{properties.major}.{properties.minor}",
             "driver": f"CUDA {torch.version.cuda}, driver {line[0] or 'unknown'}", "compiler": f"Triton {triton.__version__}"}
    if len(line) > 1 and line[1].isdigit() and int(line[1]) > 0:
        found["clock_mhz_most"] = int(line[1])
    return found


def surroundings(torch):
    """(environment, git) of a report; load_end is filled in when it is saved."""
    import triton

    cpu, features = processor()
    libraries = f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, Triton {triton.__version__}"
    environment = {"cpu": cpu, "features": features, "caches": [], "threads": max(1, torch.get_num_threads()), "pinned": False,
                   "pages": "base", "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
                   "system": f"{platform.system()} {platform.release()} {platform.machine()}", "compiler": libraries,
                   "built_by": f"Python {platform.python_version()}", "flags": "", "openmp": 0, "load_start": os.getloadavg()[0],
                   "load_end": 0.0, "gpu": gpu(torch, triton)}
    revision = first_line(["git", "rev-parse", "HEAD"])
    return environment, {"revision": revision or None, "dirty": bool(revision and first_line(["git", "status", "--porcelain"]))}


def hashed(path):
    with open(os.path.join(TREE, path), "rb") as source:
        return {"path": path, "sha256": hashlib.sha256(source.read()).hexdigest()}


def median(values):
    values, middle = sorted(values), len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def statistics(samples):
    times = [one["nanoseconds"] / one["calls"] for one in samples]
    middle = median(times)
    return {"median_ns": middle, "min_ns": min(times), "max_ns": max(times), "mad_ns": median([abs(one - middle) for one in times])}


class Report:
    def __init__(self, path, mode, seed, protocol, surroundings):
        environment, git = surroundings
        self.path = path
        self.found = {"format": "assay-report-1", "created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                      "command": ["scripts/peers.py"] + sys.argv[1:], "complete": False, "seed": seed, "protocol": protocol, "mode": mode,
                      "cache": "warm", "environment": environment, "git": git, "ceilings": [], "prediction": None,
                      "label": "exploratory", "cases": []}

    def add(self, case, peers, shares, left_out, samples):
        contract, tolerance = peers_cases.CONTRACTS[case.operator]
        variants = []
        for peer in peers:
            if peer.name not in samples:
                continue
            share, compared = shares[peer.name]
            # A clock that NVML does not tell is no clock of 0 MHz.
            kept = [{name: value for name, value in one.items() if name != "sm_mhz" or value > 0} for one in samples[peer.name]]
            variants.append({"name": peer.name, "kind": "baseline", "knobs": {}, "expression": peer.expression, "rounding": peer.rounding,
                             "sources": [hashed(path) for path in SOURCES[peer.kind]], "options": "",
                             "gate": {"verdict": "PASS", "reason": "", "max_error_ulps": 0.0, "max_error_share": share, "compared": compared},
                             "peak_memory_bytes": 0, "context_switches": 0, "samples": kept, "statistics": statistics(kept)})
        self.found["cases"].append({
            "operator": case.operator, "name": case.name, "dtype": "fp16", "dims": case.dims, "layout": case.layout, "opt": case.options,
            "work": {"bytes": float(case.work[0]), "flops": float(case.work[1])}, "contract": contract, "tolerance": tolerance,
            "sampled_gate": case.operator == "streaming_attention" and case.dims["n"] > 2048, "variants": variants, "comparisons": [],
            "skipped": [{"name": name, "reason": reason} for name, reason in left_out.items()]})

    def lines(self):
        case = self.found["cases"][-1]
        head = f"{self.found['mode']} {case['operator']} {case['name']}"
        timed = [f"{one['name']} {one['statistics']['median_ns'] / 1000:.2f}" for one in case["variants"]]
        return [f"{head}: {', '.join(timed)} us"] + [f"  left out: {one['name']}: {one['reason']}" for one in case["skipped"]]

    def save(self, complete):
        self.found["complete"] = complete
        self.found["environment"]["load_end"] = os.getloadavg()[0]
        with open(f"{self.path}.new", "w", encoding="utf-8") as out:
            json.dump(self.found, out, indent=2)
            out.write("\n")
        os.replace(f"{self.path}.new", self.path)
