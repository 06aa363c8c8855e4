"""Traces of every program: `ABSTRACTCORE_TRACES` is how much is kept, `ABSTRACTCORE_TRACES_STORE` where."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import cast, get_args

from ..errors import AbstractCoreError, ConfigurationError
from ..schema import Capture
from ..schema.base_error import shown
from ..telemetry import Recorder
from .store import STORE_VARIABLE, TraceStore

CAPTURE_VARIABLE = "ABSTRACTCORE_TRACES"
_stores: dict[str, TraceStore] = {}
"""By place: the recorders of a process share them."""
_log = logging.getLogger("abstractcore.traces")


def keep_traces(environment: Mapping[str, str], recorder: Recorder) -> None:
    """Keeps the records of a recorder as the environment says, until the end of the program.

    Logs a warning if the store cannot be used: it fails no program. Raises `ConfigurationError` for another value of
    the variable than "off", "redacted" or "full".
    """
    capture = environment.get(CAPTURE_VARIABLE, "").strip() or "off"
    if capture not in get_args(Capture):
        raise ConfigurationError(
            f"{CAPTURE_VARIABLE} is {shown(capture)}.", hint="Set it to 'off', 'redacted' or 'full'."
        )
    if capture == "off":
        return
    try:
        place = environment.get(STORE_VARIABLE, "")
        store = _stores.get(place) or _stores.setdefault(place, TraceStore(place or None))
        store.keep_for(recorder, cast(Capture, capture))
    except AbstractCoreError as error:
        _log.warning("%s=%s has no effect: %s", CAPTURE_VARIABLE, capture, error)
