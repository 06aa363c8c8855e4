"""Credentials kept out of the logger "abstractcore"."""

from __future__ import annotations

import logging
from weakref import WeakSet

from .secrets import Secrets

_kept_out: WeakSet[Secrets] = WeakSet()


def keep_out_of_logs(secrets: Secrets) -> None:
    """Have what is logged here scrubbed of `secrets`, as long as there are any."""
    _kept_out.add(secrets)


class _Scrubbing(logging.Filter):
    """Scrubs messages, their arguments, and the exceptions that come with them, for every handler."""

    def filter(self, record: logging.LogRecord) -> bool:
        for secrets in list(_kept_out):
            _scrub(record, secrets)
        return True


def _scrub(record: logging.LogRecord, secrets: Secrets) -> None:
    said = record.getMessage()
    clean = secrets.text(said)
    if clean != said:
        record.msg, record.args = clean, None
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        kind, error, trace = record.exc_info
        clean_error = secrets.cleaned(error)
        record.exc_info = (kind, error, trace) if clean_error is error else (type(clean_error), clean_error, trace)


logging.getLogger("abstractcore").addFilter(_Scrubbing())
