"""`Pins`: the digests of the tools of a server as they were trusted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from ..errors import ConfigurationError
from .definitions import Definition


class Pins:
    """The digests of trusted definitions by name. With a file they are kept; it has those of several servers.

    A tool that is seen for the first time is trusted. One whose description, schema, labels or flags have changed is
    not, until a call of it was allowed. Raises `ConfigurationError` for a file that cannot be read.
    """

    def __init__(self, server: str, path: str | os.PathLike[str] | None) -> None:
        self._server = server
        self._path = None if path is None else Path(path)
        self._digests: dict[str, str] = dict(_read(self._path).get(server, {})) if self._path is not None else {}

    def trusts(self, definition: Definition) -> bool:
        """Returns whether the definition is the trusted one; pins one that is new."""
        known = self._digests.get(definition.name)
        if known is None:
            self.pin(definition)
        return known in (None, definition.digest)

    def pin(self, definition: Definition) -> None:
        """Trusts a definition from now on."""
        if self._digests.get(definition.name) == definition.digest:
            return
        self._digests[definition.name] = definition.digest
        if self._path is not None:
            with _locked(self._path):
                pins = dict(_read(self._path))
                pins[self._server] = {**pins.get(self._server, {}), definition.name: definition.digest}
                _write(self._path, json.dumps(pins, indent=2, sort_keys=True) + "\n")


def _read(path: Path) -> Mapping[str, Mapping[str, str]]:
    try:
        pins: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from None
    if not isinstance(pins, dict) or not all(isinstance(each, dict) for each in cast("dict[str, Any]", pins).values()):
        raise _unreadable(path, "expected an object of objects")
    return cast("Mapping[str, Mapping[str, str]]", pins)


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Holds the lock of a file of pins, which is a file beside it: other threads and processes add pins too."""
    try:
        file = path.with_name(f"{path.name}.lock").open("ab")
    except OSError as error:
        raise _unwritable(path, error) from None
    with file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(path: Path, text: str) -> None:
    """Replaces a file at once: a reader sees the old one or the new one."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        scratch.write_text(text, "utf-8")
        os.replace(scratch, path)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"the pins of tools cannot be written to {path}: {error.strerror}.")


def _unreadable(path: Path, problem: str) -> ConfigurationError:
    return ConfigurationError(f"the pins of tools in {path} cannot be read: {problem}.", hint="Repair or delete it.")
