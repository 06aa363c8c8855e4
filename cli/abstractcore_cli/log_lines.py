"""Log lines of servers: warnings on stderr, without credentials."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from abstractcore.schema import one_line

if TYPE_CHECKING:
    from abstractcore.scrubbing import Secrets

_CREDENTIALS = {"APIKEY", "CREDENTIAL", "CREDENTIALS", "KEY", "PASSWD", "PASSWORD", "SECRET", "TOKEN"}
"""Words in the names of environment variables with credentials."""
_LONGEST_RECORD = 1000


class _OneLine(logging.Formatter):
    """Writes each record on one line, without credentials and tracebacks: clients cause most of them."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Returns the message, and the type and the message of its exception."""
        text = record.getMessage().strip()
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            text += f": {type(error).__name__}: {error}".rstrip(": ")
        return one_line(self._secrets.text(text), _LONGEST_RECORD)


@contextmanager
def logged(secrets: Secrets, *, quiet: bool) -> Generator[None]:
    """In its body, warnings of all libraries go to stderr, a line for each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.ERROR if quiet else logging.WARNING)
    handler.setFormatter(_OneLine(secrets))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def with_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that hold credentials by their names, and URLs. GIT_AUTHOR_NAME is none, nor is a path."""
    return {
        name: value
        for name, value in environment.items()
        if "://" in value or (_CREDENTIALS & {*name.upper().split("_")} and not os.path.isabs(value))
    }
