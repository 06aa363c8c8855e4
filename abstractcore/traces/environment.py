"""Traces of every program: `ABSTRACTCORE_TRACES` is how much is kept, other variables say where, and for how long."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar, cast, get_args

from ..errors import AbstractCoreError, ConfigurationError
from ..schema import Capture
from ..schema.base_error import shown
from ..telemetry import Recorder
from .process_locks import ProcessLock
from .store import STORE_VARIABLE, TraceStore

CAPTURE_VARIABLE = "ABSTRACTCORE_TRACES"
DAYS_VARIABLE = "ABSTRACTCORE_TRACES_KEEP_DAYS"
BYTES_VARIABLE = "ABSTRACTCORE_TRACES_KEEP_BYTES"
_Number = TypeVar("_Number", int, float)
_log = logging.getLogger("abstractcore.traces")


class _StoreArguments(NamedTuple):
    """The arguments of a store."""

    place: str | None
    keep_days: float | None
    keep_bytes: int | None


_stores: dict[_StoreArguments, TraceStore] = {}
"""The recorders of a process share them."""
_opening = ProcessLock()


def keep_traces(environment: Mapping[str, str], recorder: Recorder) -> None:
    """Keeps the records of a recorder as the environment says, until the end of the program.

    Logs a warning if the store cannot be used: it fails no program. Raises `ConfigurationError` for another value of
    the variable than "off", "redacted" or "full", and for bounds that are not numbers above 0.
    """
    capture = environment.get(CAPTURE_VARIABLE, "").strip() or "off"
    if capture not in get_args(Capture):
        raise ConfigurationError(
            f"{CAPTURE_VARIABLE} is {shown(capture)}.", hint="Set it to 'off', 'redacted' or 'full'."
        )
    if capture == "off":
        return
    settings = _StoreArguments(
        environment.get(STORE_VARIABLE) or None,
        _bound(environment, DAYS_VARIABLE, float),
        _bound(environment, BYTES_VARIABLE, int),
    )
    try:
        _store(settings).keep_for(recorder, cast(Capture, capture))
    except AbstractCoreError as error:
        _log.warning("%s=%s has no effect: %s", CAPTURE_VARIABLE, capture, error)


def _store(settings: _StoreArguments) -> TraceStore:
    with _opening:
        if settings not in _stores:
            _stores[settings] = TraceStore(settings.place, keep_days=settings.keep_days, keep_bytes=settings.keep_bytes)
        return _stores[settings]


def _bound(environment: Mapping[str, str], variable: str, read: Callable[[str], _Number]) -> _Number | None:
    text = environment.get(variable, "").strip()
    if not text:
        return None
    try:
        number = read(text)
    except ValueError:
        number = read("0")
    if not number > 0:
        raise ConfigurationError(f"{variable} is {shown(text)}.", hint="Set it to a number above 0.")
    return number
