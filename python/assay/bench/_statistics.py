# SPDX-License-Identifier: MIT
"""What samples say: the statistics of a variant, and the ratio of two. `assay verify` works all of it out again.

Pairs have the same process and round; a process's number is the median of the logarithms of its pairs, and the interval
of their median is exact (order statistics, binomial).
"""

import math

TOLERANCE, QUICK_TOLERANCE, CONFIDENCE = 1.01, 1.05, 0.95
PROTOCOLS = {  # processes, rounds, calls, warmup
    "assay": (9, 5, 20, 1),
    "seeds": (1, 7, 20, 5),
    "quick": (3, 5, 20, 1),
}
LONGEST_NS, SHORTEST_NS, MOST_CALLS = 100e6, 1e6, 1 << 20


def median(values):
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])


def statistics(samples):
    """Nanoseconds of one call; None without samples."""
    if not samples:
        return None
    times = [_call_ns(one) for one in samples]
    middle = median(times)
    return {
        "median_ns": middle,
        "min_ns": min(times),
        "max_ns": max(times),
        "mad_ns": median([abs(one - middle) for one in times]),
    }


def calls_of(protocol, call_ns, cold):
    """Calls of a sample: as the protocol has it, more of very short ones, fewer of very long ones."""
    calls = PROTOCOLS[protocol][2]
    if cold:
        return 1
    if protocol == "seeds":
        return calls
    usual = calls * call_ns
    if usual > LONGEST_NS:
        return max(1, int(LONGEST_NS / call_ns))
    return calls if usual >= SHORTEST_NS else min(math.ceil(SHORTEST_NS / call_ns), MOST_CALLS)


def _call_ns(sample):
    return sample["nanoseconds"] / sample["calls"]


def _process_ratios(candidate, baseline):
    others = {(one["process"], one["round"]): one for one in baseline}
    logs = {}
    for one in candidate:
        pair = others.get((one["process"], one["round"]))
        if pair is not None:
            logs.setdefault(one["process"], []).append(math.log(_call_ns(pair) / _call_ns(one)))
    return [median(logs[process]) for process in sorted(logs)]


def median_interval(values, confidence):
    """(low, high, coverage) of the median: the k-th smallest and the k-th largest; None for too few values."""
    count = len(values)
    terms = [math.comb(count, j) / 2.0**count for j in range(count + 1)]
    for k in range(count // 2, 0, -1):
        coverage = sum(terms[k : count - k + 1])
        if coverage >= confidence:
            ordered = sorted(values)
            return ordered[k - 1], ordered[count - k], coverage
    return None


def _verdict(low, high, around):
    if low > around:
        return "faster"
    if high < 1 / around:
        return "slower"
    return "same" if low >= 1 / around and high <= around else "cannot tell"


def compare(protocol, candidate, baseline):
    """The fields of a comparison behind the two names: time(baseline) / time(candidate); None without a pair."""
    nothing = {"low": None, "high": None, "confidence": 0.0, "verdict": "cannot tell"}
    if protocol == "seeds":
        return {"ratio": statistics(baseline)["median_ns"] / statistics(candidate)["median_ns"], **nothing}
    ratios = _process_ratios(candidate, baseline)
    if not ratios:
        return None
    found = {"ratio": math.exp(median(ratios)), **nothing}
    if protocol == "quick":
        if len(ratios) >= PROTOCOLS["quick"][0]:
            low, high = math.exp(min(ratios)), math.exp(max(ratios))
            verdict = _verdict(low, high, QUICK_TOLERANCE)
            found.update(low=low, high=high, confidence=1 - 0.5 ** (len(ratios) - 1))
            if verdict != "same":  # three processes cannot show that
                found["verdict"] = verdict
        return found
    interval = median_interval(ratios, CONFIDENCE)
    if interval is not None:
        low, high = math.exp(interval[0]), math.exp(interval[1])
        found.update(low=low, high=high, confidence=interval[2], verdict=_verdict(low, high, TOLERANCE))
    return found
