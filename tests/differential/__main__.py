"""Compares the wire formats of this tree with those of another revision: `python -m tests.differential REVISION`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from abstractcore_providers.plugin import register_wire_formats
from tests.differential.report import Report, compared
from tests.differential.trees import ROOT, checked_out, run

DIFFERENCES = ROOT / ".cache" / "differences.jsonl"


def compare(
    old: Path,
    new: Path = ROOT,
    *,
    formats: Sequence[str] = (),
    examples: int = 50,
    given: Path | None = None,
    kept: Path = DIFFERENCES,
) -> Report:
    """Runs the formats of two trees on the same inputs: those in the file `given`, or generated ones."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        inputs, before, after = (Path(folder) / name for name in ("inputs", "old", "new"))
        if given is None:
            write_inputs(inputs, formats, examples, old, new)
        else:
            shutil.copy(given, inputs)
        run([old, new], inputs, [before, after])
        return compared(inputs, before, after, kept)


def write_inputs(file: Path, formats: Sequence[str], examples: int, *trees: Path) -> None:
    """Generates inputs with the formats of this tree, whichever trees are compared."""
    # Imported here because it reads the published examples when imported; given inputs do not need them.
    from tests.differential.generated import words_in
    from tests.differential.inputs import inputs

    with file.open("w") as out:
        out.writelines(json.dumps(each) + "\n" for each in inputs(formats, examples, words_in(*trees)))


def main() -> int:
    names = [format.name for format in register_wire_formats()]
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("revision", help="a git revision, or the folder of another tree")
    parser.add_argument("formats", nargs="*", metavar="format", help=f"of {', '.join(names)}; default: all")
    parser.add_argument(
        "--examples", type=int, default=50, help="generated calls and replies of each kind (default: 50)"
    )
    parser.add_argument("--inputs", type=Path, metavar="FILE", help="a file of inputs instead of generated ones")
    asked = parser.parse_args()
    if unknown := set(asked.formats) - set(names):
        parser.error(f"no format {', '.join(sorted(unknown))}")
    with checked_out(asked.revision) as old:
        report = compare(old, formats=asked.formats, examples=asked.examples, given=asked.inputs)
    sys.stdout.write(f"{report}\n")
    return 1 if report.differ("facts") else 0


if __name__ == "__main__":
    raise SystemExit(main())
