"""Measures all regular expressions of the packages: `python -m tests.expressions [PART OF A PATH]`.

Prints a line before and after each one, since one that takes forever cannot be interrupted.
"""

from __future__ import annotations

import sys

from tests.expressions.collecting import all_written, compiled, sources
from tests.expressions.measuring import complaint


def main(part: str) -> None:
    for module, written in all_written(sources()):
        if part in written.place:
            _say(f"begin {written.place}")
            problem = complaint(compiled(module, written), written.methods)
            _say("end" if problem is None else f"slow {written.place}: {written.argument}: {problem}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
