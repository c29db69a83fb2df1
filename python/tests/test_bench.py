# SPDX-License-Identifier: MIT
"""assay.bench: the gate, the statistics, the report and the command line, on NumPy."""

import contextlib
import io
import json
import pathlib
import tempfile
import types
import unittest
import unittest.mock

import numpy

from assay.bench import __main__ as bench
from assay.bench import _clocks, _gate, _measure, _problems, _report, _spaces, _statistics, _suite, _variants

SPACE = _spaces.NumpySpace()
SMALL = "17x33:sliced"


def case_of(name, text=SMALL):
    return _suite.operators()[name].parse(text, "cpu")[0]


def plan_for(*cases, **more):
    plan = {
        "backend": "cpu",
        "arrays": "numpy",
        "mode": "wall",
        "cold": False,
        "flush": 1 << 20,
        "protocol": "seeds",
        "threads": 1,
        "seed": 5,
        "seconds": 0,
        "cases": [vars(case) for case in cases],
    }
    return plan | more


def open_run(case, process=0, calls=(), **more):
    operator, clock = _suite.operators()[case.operator], _measure.open_clock("wall", SPACE)
    return _measure.CaseRun(SPACE, clock, operator, case, plan_for(case, **more), process, dict(calls))


class Gate(unittest.TestCase):
    """Every way to be wrong is found, and a variant that was wrong has no times."""

    def run_with(self, spoil, name="strided_softmax", text=SMALL, later=False):
        """A run of a kernel whose result `spoil` changes, from its first call or from its 30th on."""
        one = open_run(case_of(name, text))
        right = one.variants[0]
        calls = [0]

        def call():
            calls[0] += 1
            result = right.call()
            return spoil(result) if not later or calls[0] > 30 else result

        return self.run_variant(one, call, right.out)

    @staticmethod
    def run_variant(one, call, out):
        one.variants = [_variants.Variant("spoilt", "baseline", "", "", (), call, out=out)]
        one.verdicts["spoilt"] = _measure.Verdict()
        one.admit()
        one.find_calls()
        one.time(lambda text: None)
        return one

    @staticmethod
    def put(value, place=(3, 5)):
        def spoil(result):
            result[place] = value
            return result

        return spoil

    def test_a_right_one_has_its_samples(self):
        one = self.run_with(lambda result: result)
        self.assertEqual(one.failed, {})
        self.assertEqual(len(one.samples["spoilt"]), 7)
        self.assertGreater(one.verdicts["spoilt"].compared, 17 * 33)
        self.assertGreater(one.verdicts["spoilt"].share, 0)
        self.assertLessEqual(one.verdicts["spoilt"].share, 1)

    def test_wrong_elements(self):
        for value in (float("nan"), float("inf"), 0.0, 0.5):
            one = self.run_with(self.put(value))
            self.assertIn("1 element is wrong", one.failed.get("spoilt", ""), value)
            self.assertNotIn("spoilt", one.samples)

    def test_nan_everywhere(self):
        one = self.run_with(lambda result: numpy.full_like(result, numpy.nan))
        self.assertIn("561 elements are wrong", one.failed["spoilt"])

    def test_a_row_that_is_left_out(self):
        one = open_run(case_of("strided_softmax"))
        right, x = one.variants[0], one.problem.x

        def all_but_one_row():
            numpy.copyto(right.out[:-1], numpy.exp(x[:-1]) / numpy.exp(x[:-1].astype("f4")).sum(1)[:, None])
            return right.out

        right.call()  # what an earlier kernel left must not help
        self.assertIn("wrong", self.run_variant(one, all_but_one_row, right.out).failed["spoilt"])

    def test_rounded_products_are_allowed_where_it_is_said(self):
        problem = _problems.PROBLEMS["softmax_backward"](SPACE, case_of("softmax_backward", "40x700:packed"))
        problem.fill(3)
        gate = _gate.Gate(problem, None)

        def framework(lost):
            products = (problem.y * problem.g).astype("f8") * (1 + lost)
            return (products - problem.y.astype("f8") * products.sum(1)[:, None]).astype("f2")

        self.assertFalse(gate.judge(framework(0)).right)
        self.assertTrue(gate.judge(framework(0), more=problem.rounded_products).right)
        self.assertFalse(gate.judge(framework(2.0**-10), more=problem.rounded_products).right)

    def test_another_shape_or_type(self):
        self.assertIn("shape (33, 17)", self.run_with(lambda result: result.T).failed["spoilt"])
        self.assertIn("float32", self.run_with(lambda result: result.astype("f4")).failed["spoilt"])

    def test_two_roundings_are_one_too_many(self):
        one = self.run_with(lambda result: (result.astype("f4") * numpy.float32(1 + 2.0**-10)).astype("f2"))
        self.assertIn("wrong", one.failed["spoilt"])

    def test_wrong_only_while_it_is_timed(self):
        one = self.run_with(self.put(0.5), later=True)
        self.assertIn("1 element is wrong", one.failed["spoilt"])
        self.assertNotIn("spoilt", one.samples)

    def test_sampled_products_are_checked_on_exact_numbers_too(self):
        # One element of a million: 64 rows may miss it, exact numbers do not.
        one = self.run_with(self.put(7.0, (700, 3)), "fused_gemm", text="1024x1024x1024")
        self.assertIn("wrong", one.failed["spoilt"])

    def test_an_answer_from_memory_is_wrong(self):
        kept = []

        def remembered(result):
            if not kept:
                kept.append(result.copy())
            return kept[0]

        one = self.run_with(remembered)
        self.assertIn("wrong", one.failed["spoilt"])

    def test_one_that_fails_is_left_out_with_its_reason(self):
        def fails(result):
            raise RuntimeError("no such\n kernel")

        one = self.run_with(fails)
        self.assertEqual(one.left_out, {"spoilt": "RuntimeError: no such kernel"})

    def test_one_that_fails_later_keeps_its_place(self):
        def fails(result):
            raise RuntimeError("gone")

        found = self.run_with(fails, later=True).found()
        self.assertEqual(
            [(one["verdict"], one["reason"]) for one in found["variants"]], [("UNAVAILABLE", "RuntimeError: gone")]
        )
        self.assertEqual(found["left_out"], {})

    def test_one_that_would_take_too_long(self):
        before = _measure.LIMIT_NS["seeds"]
        try:
            _measure.LIMIT_NS["seeds"] = 100
            one = self.run_with(lambda result: result)
        finally:
            _measure.LIMIT_NS["seeds"] = before
        self.assertIn("the limit for a variant and shape is", one.left_out["spoilt"])
        self.assertNotIn("spoilt", one.calls)
        later = open_run(case_of("strided_softmax"), 1, {"plain": 20})
        self.assertEqual([variant.name for variant in later.variants], ["plain"])

    def test_slack_is_told(self):
        variant = _variants.Variant("v", "baseline", "", "twice", (), None, slack=4)
        self.assertEqual(variant.rounding, "twice; held to 4 times the allowed error")


class Burst(unittest.TestCase):
    """What is done before a GPU is timed, with a GPU that is none."""

    @staticmethod
    def burst_with(clocks):
        """Seconds of a burst whose clock reads as listed, the last for ever, and whose products take 10 ms each."""
        now = [100.0]

        def multiply(*_):
            now[0] += 0.01

        cuda = types.SimpleNamespace(synchronize=lambda: None)
        torch = types.SimpleNamespace(cuda=cuda, float16=None, ones=lambda *_, **__: 1, mm=multiply)
        clock = object.__new__(_clocks.GraphClock)
        clock.torch, clock.ones, clock.space = torch, None, types.SimpleNamespace(device="cuda")
        clock.nvml = object.__new__(_clocks.SmClock)
        clock.nvml.most = 1980
        readings = iter(clocks)
        clock.nvml.read = lambda: next(readings, clocks[-1])
        with unittest.mock.patch.object(_clocks.time, "monotonic", lambda: now[0]):
            clock.burst()
        return now[0] - 100

    def test_it_ends_when_the_clock_is_high(self):
        self.assertAlmostEqual(self.burst_with([1500, 1500, 1965]), _clocks.BURST_SECONDS + 0.02, delta=0.011)
        self.assertAlmostEqual(self.burst_with([1965]), _clocks.BURST_SECONDS, delta=0.011)

    def test_a_clock_that_stays_low_is_not_waited_for_long(self):
        self.assertAlmostEqual(self.burst_with([1500]), _clocks.PATIENCE_SECONDS, delta=0.011)

    def test_without_nvml_there_is_no_clock(self):
        clock = object.__new__(_clocks.SmClock)
        clock.device, clock.most = None, 0
        self.assertEqual(clock.read(), 0)
        self.assertTrue(clock.is_high())


class Statistics(unittest.TestCase):
    @staticmethod
    def samples(times, calls=20):
        """times[process][round] in ns a call."""
        return [
            {"process": p, "round": r, "position": 0, "calls": calls, "nanoseconds": round(calls * time)}
            for p, rounds in enumerate(times)
            for r, time in enumerate(rounds)
        ]

    def test_the_interval_is_that_of_order_statistics(self):
        low, high, coverage = _statistics.median_interval([float(i) for i in range(9)], 0.95)
        self.assertEqual((low, high), (1.0, 7.0))
        self.assertAlmostEqual(coverage, 1 - 2 * (1 + 9) / 512)
        self.assertIsNone(_statistics.median_interval([1.0, 2.0, 3.0, 4.0, 5.0], 0.95))

    def test_verdicts(self):
        slow, fast = self.samples([[2000] * 5] * 9), self.samples([[1000] * 5] * 9)
        self.assertEqual(_statistics.compare("assay", fast, slow)["verdict"], "faster")
        self.assertEqual(_statistics.compare("assay", slow, fast)["verdict"], "slower")
        self.assertEqual(_statistics.compare("assay", slow, slow)["verdict"], "same")
        unsure = self.samples([[1000 if p % 2 else 4000] * 5 for p in range(9)])
        self.assertEqual(_statistics.compare("assay", unsure, slow)["verdict"], "cannot tell")
        self.assertEqual(_statistics.compare("seeds", fast, slow)["ratio"], 2.0)
        self.assertEqual(_statistics.compare("seeds", fast, slow)["verdict"], "cannot tell")

    def test_calls(self):
        self.assertEqual(_statistics.calls_of("seeds", 1e9, False), 20)
        self.assertEqual(_statistics.calls_of("assay", 1e9, False), 1)
        self.assertEqual(_statistics.calls_of("assay", 1e5, False), 20)
        self.assertEqual(_statistics.calls_of("quick", 1e3, False), 1000)
        self.assertEqual(_statistics.calls_of("assay", 1e3, True), 1)


class Reports(unittest.TestCase):
    def report(self, **more):
        case = case_of("strided_softmax")
        plan = plan_for(case, **more)
        return _report.Report(None, ["x"], plan, _suite.operators(), None), case

    @staticmethod
    def found(reason="", name="v"):
        return {
            "name": name,
            "kind": "library",
            "expression": "e",
            "rounding": "r",
            "sources": ["python/assay/_views.py"],
            "verdict": "FAIL" if reason else "PASS",
            "reason": reason,
            "error_ulps": 0.5,
            "error_share": 0.9,
            "compared": 10,
            "peak": 1,
            "switches": 2,
            "samples": Statistics.samples([[1000] * 7]),
        }

    def test_wrong_once_is_wrong_for_good(self):
        report, case = self.report(protocol="quick")
        for reason in ("", "3 elements are wrong", ""):
            report.add(0, case, {"variants": [self.found(reason)], "left_out": {}, "calls": {}})
        (variant,) = report.entries[0]["variants"]
        self.assertEqual(variant["gate"]["verdict"], "FAIL")
        self.assertEqual((variant["samples"], variant["statistics"]), ([], None))
        self.assertEqual(variant["gate"]["compared"], 30)
        self.assertTrue(report.failed)

    def test_left_out_once_has_no_times_either(self):
        report, case = self.report(protocol="quick")
        report.add(0, case, {"variants": [self.found()], "left_out": {"w": "no such kernel"}, "calls": {}})
        report.add(
            0, case, {"variants": [], "left_out": {"v": "not enough memory", "w": "no such kernel"}, "calls": {}}
        )
        report.add(0, case, {"variants": [self.found()], "left_out": {}, "calls": {}})
        (variant,) = report.entries[0]["variants"]
        self.assertEqual((variant["gate"]["verdict"], variant["gate"]["reason"]), ("UNAVAILABLE", "not enough memory"))
        self.assertEqual((variant["samples"], variant["statistics"]), ([], None))
        self.assertEqual(report.entries[0]["skipped"], [{"name": "w", "reason": "no such kernel"}])
        self.assertFalse(report.failed)

    def test_a_case_is_skipped_once(self):
        report, case = self.report(protocol="quick")
        for _ in range(3):
            report.skip(0, case, "no bf16")
        self.assertEqual(report.entries[0]["skipped"], [{"name": "all", "reason": "no bf16"}])

    def test_what_is_there_is_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            path.write_text("before")
            report, case = self.report()
            report.path = str(path)
            report.add(0, case, {"variants": [self.found()], "left_out": {}, "calls": {}})
            report.entries[0]["variants"][0]["gate"]["max_error_share"] = float("nan")
            with self.assertRaises(ValueError):
                report.save(True)
            self.assertEqual(path.read_text(), "before")
            report.entries[0]["variants"][0]["gate"]["max_error_share"] = 0.5
            report.save(True)
            self.assertTrue(json.loads(path.read_text())["complete"])


class CommandLine(unittest.TestCase):
    def stops(self, *words):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as stopped:
            bench.main(list(words))
        self.assertEqual(errors.getvalue().count("\n"), 1)
        return stopped.exception.code, errors.getvalue()

    def test_the_first_shapes_of_each_operator(self):
        operators = _suite.operators()
        names = [case.name for case in bench.choose_cases(bench.parse(["--first", "2"]), operators)]
        self.assertEqual(len(names), 2 * len(operators))
        self.assertEqual(names[:3], ["256x257 transposed fp16", "1024x1024 transposed fp16", "256x1025 packed fp16"])

    def test_usage(self):
        for words, said in (
            (["nothing"], 'there is no operator "nothing"'),
            (["--shape", "5x6"], "--shape belongs to one operator"),
            (["strided_softmax", "--shape", "5y"], "--shape takes up to 2 sizes of strided_softmax"),
            (["--mode", "graph"], "--mode wall is for the CPU"),
            (["--quick", "--protocol", "seeds"], "--quick is a protocol of its own"),
            (["--threads", "-1"], "--threads -1: it must be"),
            (["--seed", "-1"], "--seed -1: it must be"),
            (["--first", "0"], "--first 0: it must be 1 or more"),
            (["strided_softmax", "--first", "1", "--shape", "5x6"], "--first counts shapes of a suite"),
            (["--protocol", "mine"], "invalid choice: 'mine'"),
            (["--prediction", "/nowhere.json"], "--prediction /nowhere.json: it must be a file of"),
            (["-o", "/nowhere/r.json"], "--output /nowhere/r.json: no file can be written there"),
        ):
            code, text = self.stops(*words)
            self.assertEqual(code, 64, words)
            self.assertIn(said, text)

    def test_what_is_missing(self):
        code, text = self.stops("strided_softmax", "--backend", "cuda", "--arrays", "numpy")
        self.assertEqual(code, 3)
        self.assertIn("--backend cuda needs --arrays torch", text)


if __name__ == "__main__":
    unittest.main()
