"""Kills each program at each point, and prints what became of its run.

`python -m benchmarks.durability [--repeat N] [--point POINT] [--write] [--markdown] [NAME ...]`; a name is that of a
row, or a part of it. `--write` keeps the outcomes in `results.json`, `--markdown` prints the table of what is there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .contenders import CONTENDERS, FOLDER, Contender
from .crashes import Outcome, crash
from .payment import KILL_POINTS

PAUSES = {"at once": 0.0, "after 0.5 s": 0.5}
"""How long a process lives at a point: what a library writes in the background is lost, or is not."""
RESULTS = FOLDER / "results.json"

Cells = dict[str, dict[str, list[Outcome]]]
"""The outcomes of each kill point, by pause."""


def main() -> None:
    """Measures the named rows, prints their table, and keeps them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="how often each crash is tried; after a pause, 3 at most")
    parser.add_argument("--point", choices=[*KILL_POINTS], help="kill at this point only")
    parser.add_argument("--write", action="store_true", help="keep the outcomes in results.json, each when it is known")
    parser.add_argument("--markdown", action="store_true", help="print the table of results.json, and measure nothing")
    parser.add_argument("name", nargs="*", help=f"rows whose name contains this: {', '.join(CONTENDERS)}")
    arguments = parser.parse_args()
    if arguments.markdown:
        print(markdown(kept()))
        return
    wanted = {name: row for name, row in CONTENDERS.items() if _is_named(name, arguments.name)}
    if not wanted:
        parser.error(f"no row has such a name; choose from {', '.join(CONTENDERS)}")
    points = [arguments.point] if arguments.point else [*KILL_POINTS]
    measured: dict[str, Cells] = {name: {} for name in wanted}
    for name, contender in wanted.items():
        baseline = crash(contender)
        if baseline.differences() != "ok":
            raise RuntimeError(f"{name} fails without a crash: {baseline}")
        for point in points:
            measured[name][point] = tries(contender, point, arguments.repeat)
            print(f"{name}: {KILL_POINTS[point]}: {cell(measured[name][point])}", file=sys.stderr)
            if arguments.write:
                keep(name, contender, {point: measured[name][point]})
    Console(width=None if sys.stdout.isatty() else 200).print(table(measured))


def _is_named(name: str, parts: list[str]) -> bool:
    """Whether a row is asked for: by its whole name, or by a part of it that is no other row's whole name."""
    return not parts or any(part == name or (part in name and part not in CONTENDERS) for part in parts)


def tries(contender: Contender, point: str, repeat: int) -> dict[str, list[Outcome]]:
    """Returns the outcomes of a program that is killed at a point, by pause."""
    return {
        label: [crash(contender, point, pause) for _ in range(min(repeat, 3) if pause else repeat)]
        for label, pause in PAUSES.items()
    }


def cell(by_pause: Mapping[str, Iterable[Outcome]]) -> str:
    """Returns a cell of the table: the differences from a run without a crash, of all tries."""
    texts = {label: _tries([outcome.differences() for outcome in outcomes]) for label, outcomes in by_pause.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{label}: {text}" for label, text in texts.items())


def _tries(texts: list[str]) -> str:
    counts = Counter(texts).most_common()
    if len(counts) == 1:
        return texts[0]
    return f"{', '.join(f'{text} in {count}' for text, count in counts)} of {len(texts)}"


def table(measured: Mapping[str, Cells]) -> Table:
    """Returns the kill points as rows, and the programs as columns."""
    drawn = Table("killed", *measured, box=SIMPLE_HEAD, caption="ok: as without a crash, with no more than a restart")
    for row in _rows(measured):
        drawn.add_row(*row)
    return drawn


def markdown(measured: Mapping[str, Cells]) -> str:
    """Returns the table for a page of the docs."""
    rows = [["killed", *measured], ["---"] * (len(measured) + 1), *_rows(measured)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rows(measured: Mapping[str, Cells]) -> list[list[str]]:
    """Returns the cells of the points at which each program was killed."""
    return [
        [description, *(cell(each[point]) for each in measured.values())]
        for point, description in KILL_POINTS.items()
        if all(point in each for each in measured.values())
    ]


def keep(name: str, contender: Contender, found: Cells) -> None:
    """Writes outcomes of a row into `results.json`, with the versions that they are of."""
    versions = contender.versions()
    rows: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    row = rows.get(name, {})
    known: dict[str, Any] = row["outcomes"] if row.get("versions") == versions else {}
    known |= {
        point: {label: [asdict(outcome) for outcome in outcomes] for label, outcomes in by_pause.items()}
        for point, by_pause in found.items()
    }
    rows[name] = {
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions,
        "outcomes": {point: known[point] for point in KILL_POINTS if point in known},
    }
    ordered = {each: rows[each] for each in CONTENDERS if each in rows}
    text = json.dumps(ordered, indent=1)
    RESULTS.write_text(re.sub(r"\{[^{}]*\}", lambda innermost: " ".join(innermost[0].split()), text) + "\n")


def kept() -> dict[str, Cells]:
    """Returns the outcomes of `results.json`."""
    return {
        name: {
            point: {label: [Outcome(**outcome) for outcome in outcomes] for label, outcomes in by_pause.items()}
            for point, by_pause in row["outcomes"].items()
        }
        for name, row in json.loads(RESULTS.read_text()).items()
    }


if __name__ == "__main__":
    main()
