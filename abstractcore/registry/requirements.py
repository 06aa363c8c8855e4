"""Checks version requirements of a distribution: the part of PEP 440 that they usually use.

Only release numbers are compared: 0.2rc1 counts as 0.2.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

_ROW = re.compile(r"\s*(?P<name>[\w.-]+)\s*(\[[^]]*])?\s*\(?(?P<clauses>[^;)]*)\)?\s*(?P<marker>;.*)?")
_CLAUSE = re.compile(r"\s*(?P<operator>~=|==|!=|<=|>=|<|>)\s*v?(?P<release>\d+(\.\d+)*)(?P<any>\.\*)?")
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def unmet(rows: Iterable[str], name: str, version: str) -> str | None:
    """Returns the requirement in `rows` (`Requires-Dist`) for `name` that `version` does not meet, or None.

    Rows with a marker, and those that cannot be parsed, are ignored.
    """
    for row in rows:
        read = _ROW.fullmatch(row)
        if read is None or read["marker"] or _normal(read["name"]) != _normal(name):
            continue
        clauses = read["clauses"].strip()
        if not all(_met(clause, _release(version)) for clause in clauses.split(",")):
            return clauses
    return None


def _met(clause: str, have: list[int]) -> bool:
    read = _CLAUSE.match(clause)
    if read is None:
        return True
    asked, sign = _numbers(read["release"]), read["operator"]
    if sign == "~=":
        return _compare(">=", have, asked) and _compare("==", have[: len(asked) - 1], asked[:-1])
    return _compare(sign, have[: len(asked)] if read["any"] else have, asked)


def _compare(sign: str, have: list[int], asked: list[int]) -> bool:
    """Compares with zeros appended to the shorter one: 1.0 equals 1."""
    length = max(len(have), len(asked))
    padded = [[*numbers, *[0] * (length - len(numbers))] for numbers in (have, asked)]
    return _COMPARISONS[sign](*padded)


def _release(version: str) -> list[int]:
    read = _RELEASE.match(version)
    return _numbers(read[1]) if read else []


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
