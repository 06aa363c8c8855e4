"""Removes credentials from messages of the logger "abstractcore"."""

from __future__ import annotations

import logging
from weakref import WeakSet

from .secrets import Secrets

_filtered_secrets: WeakSet[Secrets] = WeakSet()


def scrub_logs(secrets: Secrets) -> None:
    """Scrubs `secrets` from log messages of this package, as long as `secrets` exists."""
    _filtered_secrets.add(secrets)


class _Scrubbing(logging.Filter):
    """Scrubs messages, their arguments and their exceptions, for every handler."""

    def filter(self, record: logging.LogRecord) -> bool:
        for secrets in {each.known: each for each in list(_filtered_secrets)}.values():  # many LLMs share a key
            _scrub(record, secrets)
        return True


def _scrub(record: logging.LogRecord, secrets: Secrets) -> None:
    message = record.getMessage()
    clean = secrets.text(message)
    if clean != message:
        record.msg, record.args = clean, None
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        kind, error, trace = record.exc_info
        clean_error = secrets.cleaned(error)
        record.exc_info = (kind, error, trace) if clean_error is error else (type(clean_error), clean_error, trace)


logging.getLogger("abstractcore").addFilter(_Scrubbing())
