"""`python -m abstractcore.testing.plugin PACKAGE [ID ...]`: checks the backends of an installed package."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import cast

from ...ports import BackendRegistry
from ...registry import failure_text, found_plugins
from ...registry.entry_points import BACKENDS_GROUP
from .checks import backend_checks


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each check; returns 0 if none failed, 1 if one did, 2 if the package has no backends."""
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m abstractcore.testing.plugin PACKAGE [BACKEND_ID ...]\n")
        return 2
    package, *ids = arguments
    found = [each for each in found_plugins(BACKENDS_GROUP) if each.distribution.partition(" ")[0] == package]
    if not found:
        sys.stderr.write(f"{package} has no entry points in the group {BACKENDS_GROUP}: is it installed?\n")
        return 2
    counts: Counter[str] = Counter()
    for plugin in found:
        try:
            register = cast("Callable[[BackendRegistry], object]", plugin.load())
        except BaseException as error:
            sys.stdout.write(f"failed  {plugin.name}: {failure_text(error)}\n")
            counts["failed"] += 1
            continue
        for check in backend_checks(register, backends=ids or None):
            counts[check.outcome] += 1
            sys.stdout.write(f"{check}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counts['ok']} ok, {counts['failed']} failed, {counts['skipped']} skipped\n")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
