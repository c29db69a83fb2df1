# SPDX-License-Identifier: MIT
"""A report in the format of `assay bench` (schema/report-1.json), grown process by process and kept after each."""

import datetime
import hashlib
import json
import os
import pathlib
import platform
import subprocess

from ._statistics import PROTOCOLS, compare, statistics

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
HASHES = PACKAGE / "bench" / "sources.json"  # of an installed package: what it was built from


def tree():
    """Assay's source folder: the one around this package, or ASSAY_SOURCE_DIR; None where there is none."""
    for folder in (PACKAGE.parent.parent, os.environ.get("ASSAY_SOURCE_DIR")):
        if folder and (pathlib.Path(folder) / "include" / "assay" / "assay.h").exists():
            return pathlib.Path(folder)
    return None


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def first_line(command, folder=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True, cwd=folder)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip().split("\n")[0]


# ---- surroundings ----------------------------------------------------------------------------------------------


def _processor():
    found = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                name, _, value = line.partition(":")
                found.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    flags = found.get("flags", "").split()
    wanted = ("avx2", "avx512f", "amx_tile")
    return found.get("model name", platform.machine()), " ".join(flag for flag in wanted if flag in flags)


def _caches():
    names = {1: "SC_LEVEL1_DCACHE_SIZE", 2: "SC_LEVEL2_CACHE_SIZE", 3: "SC_LEVEL3_CACHE_SIZE"}
    known = {level: os.sysconf(name) for level, name in names.items() if name in os.sysconf_names}
    return [
        {"level": level, "type": "data" if level == 1 else "unified", "bytes": size}
        for level, size in known.items()
        if size > 0
    ]


def cache_bytes():
    return max([cache["bytes"] for cache in _caches()], default=32 << 20)


def libraries_of(space):
    """ "NumPy 2.1, PyTorch 2.11, CUDA 13.0": what computes beside assay."""
    found = []
    try:
        import numpy

        found.append(f"NumPy {numpy.__version__}")
    except ImportError:
        pass
    if space.name == "torch":
        found.append(f"PyTorch {space.xp.__version__}")
    if space.on_gpu:
        found += [f"CUDA {space.xp.version.cuda}", f"cuDNN {space.xp.backends.cudnn.version()}"]
    return ", ".join(found)


def gpu_of(space):
    if not space.on_gpu:
        return None
    properties = space.xp.cuda.get_device_properties(0)
    query = ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm", "--format=csv,noheader,nounits", "--id=0"]
    line = first_line(query).split(", ")
    try:
        import triton

        compiler = f"NVRTC for assay, Triton {triton.__version__}"
    except ImportError:
        compiler = "NVRTC for assay"
    found = {
        "name": properties.name,
        "architecture": f"{properties.major}.{properties.minor}",
        "driver": f"CUDA {space.xp.version.cuda}, driver {line[0] or 'unknown'}",
        "compiler": compiler,
    }
    if len(line) > 1 and line[1].isdigit() and int(line[1]) > 0:
        found["clock_mhz_most"] = int(line[1])
    return found


def environment(threads):
    """What can be said without the libraries; compiler and gpu follow from the first process."""
    cpu, features = _processor()
    return {
        "cpu": cpu,
        "features": features,
        "caches": _caches(),
        "threads": threads,
        "pinned": False,
        "pages": "base",
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "compiler": "",
        "built_by": f"Python {platform.python_version()}",
        "flags": "",
        "openmp": 0,
        "load_start": os.getloadavg()[0],
        "load_end": 0.0,
        "gpu": None,
    }


def _git():
    folder = tree()
    revision = first_line(["git", "rev-parse", "HEAD"], folder) if folder else ""
    changed = bool(revision) and first_line(["git", "status", "--porcelain"], folder) != ""
    return {"revision": revision or None, "dirty": changed}


class Sources:
    """SHA-256 of files by their path in the tree."""

    def __init__(self):
        self.folder = tree()
        self.known = json.loads(HASHES.read_text()) if self.folder is None and HASHES.exists() else {}

    def hashed(self, path):
        if path not in self.known and self.folder is not None and (self.folder / path).exists():
            self.known[path] = hashlib.sha256((self.folder / path).read_bytes()).hexdigest()
        return {"path": path, "sha256": self.known[path]} if path in self.known else None


# ---- the report ------------------------------------------------------------------------------------------------


class Report:
    def __init__(self, path, command, plan, operators, prediction):
        processes, rounds, calls, warmup = PROTOCOLS[plan["protocol"]]
        self.path, self.plan, self.operators, self.sources = path, plan, operators, Sources()
        self.entries = {}  # by the case's place in the plan
        self.calls = {}
        self.failed = False
        self.found = {
            "format": "assay-report-1",
            "created": now(),
            "command": command,
            "complete": False,
            "seed": plan["seed"],
            "protocol": {
                "name": plan["protocol"],
                "processes": processes,
                "rounds": rounds,
                "calls": calls,
                "warmup": warmup,
            },
            "mode": plan["mode"],
            "cache": "cold" if plan["cold"] else "warm",
            "environment": environment(plan["threads"]),
            "git": _git(),
            "ceilings": [],
            "overheads": [],
            "prediction": prediction,
            "label": "exploratory" if prediction is None else "predicted",
            "cases": [],
        }

    def surroundings(self, libraries, gpu):
        self.found["environment"].update(compiler=libraries, gpu=gpu)

    def _entry(self, index, case):
        if index in self.entries:
            return self.entries[index]
        operator = self.operators[case.operator]
        moved, operations = case.work
        self.entries[index] = {
            "operator": case.operator,
            "name": case.name,
            "dtype": case.dtype,
            "dims": case.dims,
            "layout": case.layout,
            "opt": case.options,
            "work": {"bytes": float(moved), "flops": float(operations)},
            "contract": operator.formula,
            "tolerance": operator.tolerance,
            "sampled_gate": case.sampled,
            "variants": [],
            "comparisons": [],
            "skipped": [],
        }
        return self.entries[index]

    def skip(self, index, case, reason):
        """The whole case; processes say the same again."""
        skipped = self._entry(index, case)["skipped"]
        if not skipped:
            skipped.append({"name": "all", "reason": reason})

    def add(self, index, case, found):
        """What a process found of a case, behind what those before it did."""
        entry = self._entry(index, case)
        self.calls.setdefault(index, found["calls"])
        for one in found["variants"]:
            self._merge(entry, one)
        for name, reason in found["left_out"].items():
            before = next((old for old in entry["variants"] if old["name"] == name), None)
            if before is not None:
                self._drop(before, "UNAVAILABLE", reason)
            elif all(one["name"] != name for one in entry["skipped"]):
                entry["skipped"].append({"name": name, "reason": reason})
        self._compare(entry)

    def _merge(self, entry, one):
        before = next((old for old in entry["variants"] if old["name"] == one["name"]), None)
        if before is None:
            before = {
                "name": one["name"],
                "kind": one["kind"],
                "knobs": {},
                "expression": one["expression"],
                "rounding": one["rounding"],
                "sources": [source for source in map(self.sources.hashed, one["sources"]) if source],
                "options": "",
                "gate": {"verdict": "PASS", "reason": "", "max_error_ulps": 0.0, "max_error_share": 0.0, "compared": 0},
                "peak_memory_bytes": 0,
                "context_switches": 0,
                "samples": [],
                "statistics": None,
            }
            entry["variants"].append(before)
        gate = before["gate"]
        gate["max_error_ulps"] = max(gate["max_error_ulps"], one["error_ulps"])
        gate["max_error_share"] = max(gate["max_error_share"], one["error_share"])
        gate["compared"] += one["compared"]
        before["peak_memory_bytes"] = max(before["peak_memory_bytes"], one["peak"])
        before["context_switches"] += one["switches"]
        if one["verdict"] != "PASS":
            self._drop(before, one["verdict"], one["reason"])
        elif gate["verdict"] == "PASS":
            before["samples"] += one["samples"]
            before["statistics"] = statistics(before["samples"])

    def _drop(self, variant, verdict, reason):
        """A kernel that was wrong once, or that no longer ran, has no times, only the reason. It keeps its place among
        the variants: it had one in the rounds."""
        self.failed = self.failed or verdict == "FAIL"
        if variant["gate"]["verdict"] == "PASS":
            variant["gate"].update(verdict=verdict, reason=reason)
        variant["samples"], variant["statistics"] = [], None

    def _compare(self, entry):
        timed = [one for one in entry["variants"] if one["samples"]]
        entry["comparisons"] = []
        for baseline in timed:
            for candidate in timed:
                if baseline["kind"] != "baseline" or candidate["kind"] == "baseline":
                    continue
                ratio = compare(self.plan["protocol"], candidate["samples"], baseline["samples"])
                if ratio is not None:
                    names = {"candidate": candidate["name"], "baseline": baseline["name"]}
                    entry["comparisons"].append(names | ratio)

    def traced(self, index, found):
        for one in self.entries.get(index, {"variants": []})["variants"]:
            if one["name"] in found:
                one["expression"] += f"; {found[one['name']]}"

    def save(self, complete=False):
        """Under a temporary name, then renamed: a file that is there is whole."""
        self.found["complete"] = complete
        self.found["environment"]["load_end"] = os.getloadavg()[0]
        self.found["cases"] = [self.entries[index] for index in sorted(self.entries)]
        if self.path is None:
            return
        new = f"{self.path}.new"
        with open(new, "w", encoding="utf-8") as out:
            json.dump(self.found, out, indent=2, allow_nan=False)
            out.write("\n")
        os.replace(new, self.path)
