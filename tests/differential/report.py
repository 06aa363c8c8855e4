"""The report: differences between the results of two trees, counted by format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abstractcore.testing.changes import differences

KINDS = ("facts", "wording")
_SHOWN = 3
_LONGEST = 300


@dataclass
class Report:
    """`kept` is a file of the inputs that differ, one a line with both outcomes; it can be passed as `--inputs`."""

    kept: Path
    equal: Counter[str] = field(default_factory=Counter[str])
    differing: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    shown: list[str] = field(default_factory=list[str])
    shown_of: Counter[str] = field(default_factory=Counter[str])

    @property
    def inputs(self) -> int:
        return self.equal.total() + len(self.kept.read_text().splitlines())

    def differ(self, kind: str) -> int:
        """How many inputs differ in "facts" (bytes, values, types and paths of errors) or in "wording" only."""
        return sum(count for (_, what), count in self.differing.items() if what == kind)

    def __str__(self) -> str:
        lines = [f"{'format':20}{'inputs':>9}{'equal':>9}{'facts':>9}{'wording':>9}"]
        for name in sorted({*self.equal, *(name for name, _ in self.differing)}):
            counts = [self.equal[name], *(self.differing[name, kind] for kind in KINDS)]
            lines.append(f"{name:20}{sum(counts):9,}" + "".join(f"{count:9,}" for count in counts))
        if self.shown:
            lines += ["", "The first differences, old then new:", *self.shown]
            lines += ["", f"All of them, with their inputs: {self.kept}"]
            lines += [f"Run these again: python -m tests.differential REVISION --inputs {self.kept}"]
        return "\n".join(lines)


def compared(inputs: Path, old: Path, new: Path, kept: Path) -> Report:
    """A report of all inputs; those that differ are written to `kept`."""
    report = Report(kept)
    with inputs.open() as given, old.open() as before, new.open() as after, kept.open("w") as out:
        for input, left, right in zip(given, before, after, strict=True):
            read = json.loads(input)
            if left == right:
                report.equal[read["format"]] += 1
                continue
            out.write(json.dumps({**read, "old": json.loads(left), "new": json.loads(right)}) + "\n")
            _count(report, read, json.loads(left), json.loads(right))
    return report


def _count(report: Report, input: Any, old: Any, new: Any) -> None:
    format = input["format"]
    kind = "facts" if old["facts"] != new["facts"] else "wording"
    report.differing[format, kind] += 1
    what = f"{format} {input['operation']}, {kind}"
    report.shown_of[what] += 1
    if report.shown_of[what] <= _SHOWN:
        of = f" (of {input['provider']}, {input['model']})" if "model" in input else ""
        report.shown.append(f"- {what}{of}")
        report.shown += [f"    {line[:_LONGEST]}" for line in _lines(old[kind], new[kind])]


def _lines(old: Any, new: Any) -> Iterator[str]:
    """The differences; inside bytes that are JSON, by path."""
    yield from differences(_opened(old), _opened(new))[:_SHOWN] or [f"{old} became {new}"]


def _opened(value: Any) -> Any:
    if isinstance(value, list):
        return [_opened(item) for item in value]
    if isinstance(value, dict):
        return {key: _opened(item) for key, item in value.items()}
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
