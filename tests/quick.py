"""Runs the cheap tests of what differs from a revision, and the import contracts: `python -m tests.quick [REVISION]`.

A folder of source is tested by the folder that mirrors it. What has no folder of its own, such as a helper of tests, is
named instead: `make test` covers it.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from tests.documents import PAGES, ROOT

_PLUGINS = [path.name for path in sorted((ROOT / "plugins").glob("abstract*"))]
_MIRRORS = {
    "server/abstractcore_server": "tests/server",
    "cli/abstractcore_cli": "tests/cli",
    "abstractcore": "tests/core",
    "providers/abstractcore_providers": "tests/providers",
    "media/abstractcore_media": "tests/media",
    "packages/abstractruntime/abstractruntime": "tests/runtime",
    "packages/abstractruntime": "tests/runtime",
    **{f"plugins/{name}/{name}": f"tests/plugins/{name.removeprefix('abstract')}" for name in _PLUGINS},
    **{f"plugins/{name}": f"tests/plugins/{name.removeprefix('abstract')}" for name in _PLUGINS},
    "catalogue": "tests/catalogue",
    "examples": "tests/examples",
    "release": "tests/release",
    "deployment": "tests/server/test_deployment.py",
}
"""Folders of source, the inner ones first, and where their tests are."""
_TESTS_OF_PAGES = ("tests/test_docs.py", "tests/test_readme.py")
_NO_TESTS_SELECTED = 5


def changed(revision: str) -> list[str]:
    """Returns the files of the working tree that differ from a revision, with those that git does not know."""
    differing = _git("diff", "--name-only", revision)
    untracked = _git("ls-files", "--others", "--exclude-standard")
    return sorted({*differing, *untracked})


def tests_of(path: str) -> list[str]:
    """Returns the folders and modules of tests for a changed file; none if there are none."""
    changed_path = PurePosixPath(path)
    if ROOT / path in PAGES:
        return list(_TESTS_OF_PAGES)
    if path.startswith("tests/"):
        return _existing_tests(changed_path)
    for source, tests in _MIRRORS.items():
        if changed_path.is_relative_to(source):
            return _mirrored(PurePosixPath(tests), changed_path.relative_to(source).parent)
    return []


def _existing_tests(path: PurePosixPath) -> list[str]:
    """The module itself; for data and helpers the tests beside it."""
    if path.name.startswith("test_"):
        return [str(path)] if (ROOT / path).exists() else []
    return [] if path.parent.name == "tests" else _modules(path.parent)


def _mirrored(tests: PurePosixPath, inside: PurePosixPath) -> list[str]:
    """The deepest folder there is; of the outermost one only what is directly in it."""
    while inside.parts:
        if (ROOT / tests / inside).is_dir():
            return [str(tests / inside)]
        inside = inside.parent
    return [str(tests)] if tests.suffix else _modules(tests)


def _modules(folder: PurePosixPath) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).glob("test_*.py"))]


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {shlex.join(arguments)} failed: {done.stderr.splitlines()[0]}")
    return done.stdout.splitlines()


def main(arguments: Iterable[str]) -> int:
    """Returns the status of the first command that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.quick", description=__doc__)
    parser.add_argument("revision", nargs="?", default="HEAD~1", help="what to compare the working tree with")
    revision = parser.parse_args(list(arguments)).revision
    found = {path: tests_of(path) for path in changed(revision)}
    for path in (path for path, tests in found.items() if not tests):
        sys.stdout.write(f"no tests of its own: {path}\n")
    selected = sorted({test for tests in found.values() for test in tests})
    commands = [[str(Path(sys.executable).parent / "lint-imports"), "--no-logo"]]
    if selected:
        sys.stdout.write("\n  ".join([f"Tests of what differs from {revision}:", *selected]) + "\n")
        sys.stdout.flush()
        commands.append([sys.executable, "-m", "pytest", "-n", "2", "-q", "-m", "fast", *selected])
    for command in commands:
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status not in (0, _NO_TESTS_SELECTED):
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
