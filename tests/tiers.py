"""The tiers of this suite, as a pytest plugin: which tests are fast, and what a fast one must not do.

A mark says why a test is not fast: it starts a `process`, it loads `weights`, or it is `exhaustive`. One of these is
also marked `smoke` if `make test` runs it nevertheless, so that it reaches every area of the project. All without such
a mark, or with `smoke`, have the mark `fast`, which is not written in a module.
"""

from __future__ import annotations

import itertools
import re
import resource
import sys
from collections.abc import Container, Generator, Iterable, Set
from pathlib import Path
from typing import Any

import pytest

TIERS = frozenset({"process", "weights", "exhaustive"})
FAST_SECONDS = 0.5
"""Processor time that a test without a mark may take, but for its fixtures, and not be named at the end of a run."""
MOST_SECONDS = 10.0
"""Processor time with which it fails: wide, since it depends on the machine, and a first test also imports."""

_WRITTEN = TIERS | {"smoke"}
_COST = "cpu_seconds"
_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"})
_NO_MATTER = ("abstractcore.concurrency.pool_worker", "warm/server.py", "uname")
"""Processes that no mark is for: those that tests share, and what `platform` starts for the user agent of a client."""
_MARK = re.compile(r"\bmark\.(\w+)")
_MARKS_OF_MODULE = re.compile(r"^pytestmark = (\[\n.*?^\]|[^\n]*$)", re.MULTILINE | re.DOTALL)


def is_cheap(marks: Set[str]) -> bool:
    """Whether a test with these marks is in none of the tiers."""
    return not marks & TIERS


def is_fast(marks: Set[str]) -> bool:
    """Whether `make test` runs a test with these marks."""
    return is_cheap(marks) or "smoke" in marks


def smoke(values: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """Returns parameters of a test, of which `make test` runs the chosen ones."""
    return [
        pytest.param(
            *value if isinstance(value, tuple) else (value,), marks=pytest.mark.smoke if value in chosen else ()
        )
        for value in values
    ]


def may_be_selected(module: str, expression: str) -> bool:
    """Whether a test of this source text may have marks that the expression of `-m` selects.

    A mark of a tier may also come from elsewhere, such as a parameter of a fixture; `smoke` is written in the module.
    """
    of_all = {*_MARK.findall("\n".join(_MARKS_OF_MODULE.findall(module)))} & _WRITTEN
    of_some = TIERS.union({"smoke"} if "smoke" in module else ()) - of_all
    selects = compile(expression, "-m", "eval")
    if not {*selects.co_names} <= _WRITTEN | {"fast"}:
        return True
    for size in range(len(of_some) + 1):
        for more in itertools.combinations(of_some, size):
            marks = of_all.union(more)
            values = {"fast": is_fast(marks), **{name: name in marks for name in _WRITTEN}}
            if eval(selects, {"__builtins__": {}}, values):
                return True
    return False


class Costs:
    """How many processes this one has started, and the processor time that they have used together."""

    def __init__(self) -> None:
        self.started = 0
        sys.addaudithook(self._count)

    def _count(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STARTS and not any(name in repr(arguments[1:2]) for name in _NO_MATTER):
            self.started += 1

    @staticmethod
    def seconds() -> float:
        """Processor time until now, with that of child processes that have been waited for."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)


_COSTS = pytest.StashKey[Costs]()
_STARTED_BEFORE = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fast: run by `make test`; derived from the other marks")
    config.stash[_COSTS] = Costs()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out a module without a selected test before it is imported."""
    expression = config.option.markexpr
    if not expression or collection_path.suffix != ".py":
        return None
    return None if may_be_selected(collection_path.read_text(encoding="utf-8"), expression) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_fast({mark.name for mark in item.iter_markers()}):
            item.add_marker("fast")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[_STARTED_BEFORE] = item.config.stash[_COSTS].started
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    before = Costs.seconds()
    try:
        return (yield)
    finally:
        item.user_properties.append((_COST, Costs.seconds() - before))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    started = item.config.stash[_COSTS].started  # the last teardown of a session ends servers that tests share
    result = yield
    if is_cheap({mark.name for mark in item.iter_markers()}):
        seconds = dict(item.user_properties).get(_COST, 0.0)
        if started > item.stash[_STARTED_BEFORE]:
            pytest.fail("This test starts a process: it needs the mark `process`.", pytrace=False)
        if seconds > MOST_SECONDS:
            pytest.fail(f"This test takes {seconds:.1f} s of processor time: it needs a mark.", pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the tests without a mark that cost more than fast ones should."""
    costly = [
        (cost, report.nodeid)
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown" and is_cheap({*report.keywords})
        for name, cost in report.user_properties
        if name == _COST and cost > FAST_SECONDS
    ]
    if costly:
        terminalreporter.section(f"over {FAST_SECONDS} s of processor time, and without a mark")
    for cost, name in sorted(costly, reverse=True):
        terminalreporter.write_line(f"{cost:5.1f} s  {name}")
