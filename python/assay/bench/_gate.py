# SPDX-License-Identifier: MIT
"""Whether a result is right: every element, or those of some rows, within the error that the contract allows."""

from ._spaces import unit_in_last_place


class Verdict:
    """The worst of several comparisons."""

    def __init__(self, right=True, reason=""):
        self.right, self.share, self.ulps, self.compared, self.reason = right, 0.0, 0.0, 0, reason

    def add(self, other):
        self.right = self.right and other.right
        self.share, self.ulps = max(self.share, other.share), max(self.ulps, other.ulps)
        self.compared += other.compared
        self.reason = self.reason or other.reason


class Gate:
    """What the operands' present contents should give. The parts are kept: every variant is held against them."""

    def __init__(self, problem, chosen, exact=False):
        self.problem, self.space, self.exact = problem, problem.space, exact
        with self.space.quiet():
            self.parts = list(problem.reference(chosen))
            if exact:
                dtype = problem.case.dtype
                self.parts = [(index, self.space.round(wanted, dtype), None) for index, wanted, _ in self.parts]

    def judge(self, result, slack=1, more=None):
        result = self.space.adopt(result)
        if tuple(result.shape) != tuple(self.problem.shape) or result.dtype != self.space.dtype(
            self.problem.case.dtype
        ):
            return Verdict(False, f"the result is {result.dtype} of shape {tuple(result.shape)}")
        found = Verdict()
        with self.space.quiet():
            for index, wanted, allowed in self.parts:
                if not self.exact:
                    allowed = slack * allowed + (more(index) if more else 0.0)
                found.add(self._part(self.space.double(result[index]), wanted, allowed))
        return found

    def _part(self, got, wanted, allowed):
        errors = abs(got - wanted)
        limit = errors * 0.0 if self.exact else allowed
        # A comparison with NaN is false, so it is `all` that finds it: nothing else may be asked first.
        within = errors <= limit
        found = Verdict(bool(within.all()))
        found.compared = self.space.count(errors)
        if not found.right:
            found.reason = self._first_wrong(got, wanted, within)
        elif found.compared:
            found.share = 0.0 if self.exact else float((errors / limit).max())
            units = unit_in_last_place(self.problem.xp, wanted, self.problem.case.dtype)
            found.ulps = float((errors / units).max())
        return found

    def _first_wrong(self, got, wanted, within):
        ravel = self.problem.xp.ravel
        right = ravel(within)
        place = int(self.problem.xp.argmin(right * 1))
        wrong = self.space.count(right) - int(right.sum())
        elements = "1 element is" if wrong == 1 else f"{wrong} elements are"
        return f"{elements} wrong, the first is {float(ravel(got)[place]):.6g}, not {float(ravel(wanted)[place]):.6g}"
