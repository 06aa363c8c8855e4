"""Calls users' functions, sync or async, with a timeout.

The number of processor cores for a model on this machine.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Set
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn, TypeVar

from .workers import name_of

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def is_async(function: Callable[..., object]) -> bool:
    """Returns whether the function is a coroutine function, which does not block when called."""
    while isinstance(function, partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    return not isinstance(function, FunctionType) and inspect.iscoroutinefunction(type(function).__call__)


def function_timeout(function: Callable[..., object], timeout: float | None) -> TimeoutError:
    """Returns the error for a function that did not finish in `timeout` seconds."""
    return TimeoutError(f"{name_of(function)} did not finish in {timeout or 0.0:g} s")


async def with_timeout(function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None) -> T:
    """Awaits `make()` in this task; raises `TimeoutError`, which names `function`, after `timeout` seconds."""
    import asyncio

    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await make()
    except TimeoutError:
        if limit.expired():
            raise function_timeout(function, timeout) from None
        raise


async def in_this_task(function: Callable[..., object], make: Callable[[], Awaitable[T]]) -> T:
    """Awaits `make()`; raises `RuntimeError` if it raises `CancelledError` though this task was not cancelled."""
    import asyncio

    try:
        return await make()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise cancelled_error(function) from None


async def captured_outcome(make: Callable[[], Awaitable[T]]) -> Callable[[], T]:
    """Awaits `make()`; returns a function that returns its result or raises its exception: a `SystemExit` in a task
    would end the event loop."""
    import asyncio

    try:
        value = await make()
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return partial(_raise, error)
    return lambda: value


def result_of(function: Callable[..., object], task: asyncio.Task[Callable[[], T]]) -> T:
    """Returns the result of a task of `captured_outcome` that has ended, and that nobody has cancelled."""
    if task.cancelled():
        raise cancelled_error(function)
    return task.result()()


def cancelled_error(function: Callable[..., object]) -> RuntimeError:
    """Returns the error for a function that raised `CancelledError` though it was not cancelled."""
    return RuntimeError(f"{name_of(function)} raised CancelledError, but was not cancelled")


def _raise(error: BaseException) -> NoReturn:
    raise error


_CPUINFO = Path("/proc/cpuinfo")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def spare_cores() -> int:
    """Returns the physical cores this process may use, minus one for everything else; at least 1."""
    return max(1, min(_physical_cores(), _quota()) - 1)


def _physical_cores() -> int:
    if not hasattr(os, "sched_getaffinity"):
        return (os.cpu_count() or 2) // 2
    allowed = frozenset(os.sched_getaffinity(0))
    return _cores_among(allowed) or len(allowed)


@cache
def _cores_among(allowed: frozenset[int]) -> int:
    return _cores(_read(_CPUINFO), allowed)


def _cores(cpuinfo: str, allowed: Set[int]) -> int:
    """Returns the distinct cores in the text of /proc/cpuinfo; 0 if it lists none, as on ARM."""
    cores: set[tuple[str, str]] = set()
    for block in cpuinfo.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {name.strip(): value.strip() for name, _, value in pairs}
        if "core id" in fields and int(fields["processor"]) in allowed:
            cores.add((fields.get("physical id", "0"), fields["core id"]))
    return len(cores)


def _quota() -> int:
    """Returns the whole cores of a container's limit; a very large number without a limit."""
    limit, _, period = _read(_QUOTA).strip().partition(" ")
    return max(1, int(limit) // int(period)) if limit.isdigit() and period.isdigit() else 1 << 16


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
