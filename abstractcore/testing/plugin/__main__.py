"""`python -m abstractcore.testing.plugin PACKAGE [ID ...]`: checks the backends of an installed package."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import cast

from ...ports import BackendRegistry
from ...registry import failure_text, found_plugins
from ...registry.entry_points import BACKENDS_GROUP, GROUP, FoundPlugin
from .checks import backend_checks


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each check; returns 0 if none failed, 1 if one did, 2 if the package has no backends."""
    if not arguments or not arguments[0] or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m abstractcore.testing.plugin PACKAGE [BACKEND_ID ...]\n")
        return 2
    package, *ids = arguments
    found = _plugins_of(package, BACKENDS_GROUP)
    if not found:
        sys.stderr.write(f"{_why_none(package)}\n")
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


def _plugins_of(package: str, group: str) -> list[FoundPlugin]:
    return [each for each in found_plugins(group) if each.distribution.partition(" ")[0] == package]


def _why_none(package: str) -> str:
    """Returns why a package has no backends to check, and what to type."""
    try:
        name = metadata.metadata(package)["Name"]
    except (metadata.PackageNotFoundError, ValueError):
        return f"{package} is not installed here: {sys.executable} -m pip list shows what is."
    if name != package:  # metadata are found by other spellings too
        return f"The package is called {name}: python -m abstractcore.testing.plugin {name}"
    if _plugins_of(package, GROUP):
        return f"{package} is installed, but has no backends. Its hooks are checked by `abstractcore plugins`."
    return f"{package} is installed, but has no entry points in the groups {BACKENDS_GROUP} and {GROUP}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
