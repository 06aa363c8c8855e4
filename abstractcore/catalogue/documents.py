"""`Document`: a file of the catalogue as text, and its errors, which name the file, the line and the column.

Reads TOML; what is not TOML is an error with its line and column.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..errors import ConfigurationError, SchemaError
from ..ports import Openable
from ..registry.suggestions import missing_path_hint

MAX_BYTES = 16 * 1024 * 1024
"""Far more than any catalogue; a larger file is another one."""


class Document(NamedTuple):
    """The text of a file. `origin` is its path; `advice` is a hint for every error in it."""

    origin: str
    text: str
    advice: str | None = None

    def error(self, problem: str, line: int, column: int = 1, hint: str | None = None) -> ConfigurationError:
        """Returns the error of the line and column, both from 1."""
        hints = " ".join(each for each in (hint, self.advice) if each) or None
        error = ConfigurationError(f"{self.origin}:{line}:{column}: {problem}", hint=hints)
        error.file = self.origin
        return error

    def value_error(self, error: SchemaError, where: str, line: int, column: int) -> ConfigurationError:
        """Returns the error of an invalid value; `where` names the row that it is in."""
        what = f"{where}: {error.path}" if error.path else where
        return self.error(f"{what}: {error.message}", line, column, error.hint)


def read_document(file: Openable, origin: str | None = None) -> Document:
    """Returns the text of a file; raises `ConfigurationError` if it cannot be read, is too large or not UTF-8. `origin`
    is its name in errors, by default its path.
    """
    origin = origin or str(file)
    try:
        with file.open("rb") as opened:
            data: bytes = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigurationError(f"{origin} does not exist.", hint=missing_path_hint(str(file))) from None
    except OSError as error:
        raise ConfigurationError(f"{origin} cannot be read: {error.strerror or type(error).__name__}.") from None
    except ValueError as error:  # a path with a NUL or a lone surrogate
        raise ConfigurationError(f"{origin!r} is not a path: {error}.") from None
    return document(data, origin)


def document(data: bytes, origin: str) -> Document:
    """Returns the text of `data`; raises `ConfigurationError` if it is too large or not UTF-8."""
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{origin} is larger than {MAX_BYTES >> 20} MiB: it is not a catalogue.")
    try:
        return Document(origin, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - before.rfind(b"\n")
        raise Document(origin, "").error("not UTF-8", line, column, "Save the file as UTF-8.") from None


_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def read_toml(document: Document) -> dict[str, Any]:
    """Returns the tables of a document; raises `ConfigurationError` with the place of what is not TOML."""
    import tomllib  # few programs have files in TOML

    try:
        return tomllib.loads(document.text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(document, str(error)) from None
    except RecursionError:
        raise document.error("nested too deeply", 1) from None
    except ValueError as error:  # an integer of thousands of digits
        raise document.error(f"not TOML: {error}", 1) from None


def key_position(text: str, key: str) -> tuple[int, int]:
    """Returns the line and column, from 1, of the first line that begins with a key or its table; 1 and 1 without."""
    found = re.search(rf"^[ \t]*+(?:\[++[ \t]*+)?[\"']?{re.escape(key)}", text, re.MULTILINE)
    return (text.count("\n", 0, found.start()) + 1, 1) if found else (1, 1)


def _syntax_error(document: Document, message: str) -> ConfigurationError:
    """Returns the error of a text that is not TOML; `message` is tomllib's, with the place at its end."""
    place = _PLACE.search(message)
    if place is None:
        lines = document.text.removesuffix("\n").split("\n")
        return document.error(
            f"not TOML: {message.removesuffix(' (at end of document)')}", len(lines), len(lines[-1]) + 1
        )
    return document.error(f"not TOML: {message[: place.start()]}", int(place[1]), int(place[2]))
