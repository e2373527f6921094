# SPDX-License-Identifier: Apache-2.0
"""Metrics: what `perf stat -M` computes of several counts. A formula has names of events, numbers,
+ - * / and parentheses. Names may hold minus signs, so the operator stands between spaces."""
import ast
import dataclasses
import re

from .expressions import ExpressionError

NAME = r"[A-Za-z][\w.]*(?:-[\w.]+)*"
TOKEN = re.compile(rf"\s*(?:({NAME})|(\d+(?:\.\d+)?)|([-+*/()]))\s*", re.A)
# These are functions and operators to perf.
WORDS = ("if", "else", "min", "max", "d_ratio", "source_count", "has_event", "strcmp_cpuid_str")
PARTS = (ast.Expression, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Name, ast.Constant,
         ast.Load)


@dataclasses.dataclass(frozen=True)
class Metric:
    """What perf computes of several counts."""
    name: str
    formula: str
    text: str

    def for_perf(self):
        """The formula as perf's JSON has it."""
        return "".join(name.replace("-", r"\-") or number or (sign if sign in "()" else f" {sign} ")
                       for name, number, sign in tokens(self.formula))


def tokens(formula):
    """[(name, number, sign)] of a formula, two of them empty in each; ExpressionError."""
    found, at = [], 0
    while at < len(formula):
        token = TOKEN.match(formula, at)
        if not token:
            raise ExpressionError(f"'{formula[at:].strip()[0]}' belongs to no formula, which has "
                                  "names, numbers, + - * / and ( )")
        found.append(tuple(part or "" for part in token.groups()))
        at = token.end()
    return found


def check(formula):
    """Names in a formula, or ExpressionError where perf could not read it."""
    found = tokens(formula)
    for name, _, _ in found:
        if name in WORDS:
            raise ExpressionError(f"{name} is a word of perf's own and no event in a formula")
    try:
        tree = ast.parse(" ".join("x" if name else number or sign for name, number, sign in found),
                         mode="eval")
    except SyntaxError:
        tree = None
    if tree is None or not all(isinstance(part, PARTS) for part in ast.walk(tree)):
        raise ExpressionError("is not complete, or has two events without an operator between")
    names = [name for name, _, _ in found if name]
    if not names:
        raise ExpressionError("names no event")
    return names
