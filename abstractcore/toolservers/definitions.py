"""The definitions of a server's tools, with their digests, the labels of their data, and their prices.

`Pins`: the digests of the tools of a server as they were trusted. Names and descriptions of a server's tools without
characters that a person cannot see but a model reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import unicodedata
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..errors import ConfigurationError, InvalidInputError
from ..ports.pricing import as_price
from ..schema import CallWarning, SchemaError, ToolLabel, ToolSpec
from ..schema.base_error import shown
from ..schema.codec import written
from ..schema.tools import check_labels as check_each

UNTRUSTED_AND_SENDS: tuple[ToolLabel, ...] = ("untrusted", "sends")
"""The labels of tools that reach other parties: results are untrusted, and arguments leave."""
Labels = Sequence[ToolLabel] | Mapping[str, Sequence[ToolLabel]]
"""Labels of all tools of a server, or by pattern of their names."""
Amount: TypeAlias = Decimal | float | str
Prices: TypeAlias = Amount | Mapping[str, Amount]
"""What a run of each tool of a server costs in US dollars, or by pattern of their names."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool of a server: `name` is the server's for it, `spec` what the model is given, `digest` its SHA-256."""

    name: str
    spec: ToolSpec
    digest: str

    @classmethod
    def of(cls, name: str, spec: ToolSpec) -> Definition:
        """Returns a definition with its digest: of what the model reads, and of what the tool says it does."""
        return cls(name, spec, hashlib.sha256(written(spec, canonical=True)).hexdigest())


def labels_of(name: str, labels: Labels | None, *, default: tuple[ToolLabel, ...]) -> tuple[ToolLabel, ...]:
    """Returns the labels of a tool: those of the first pattern that matches its name, or `default`."""
    if isinstance(labels, Mapping):
        for pattern, given in labels.items():
            if fnmatchcase(name, pattern):
                return tuple(given)
    elif labels is not None:
        return tuple(labels)
    return default


def unused_patterns(names: Iterable[str], server: str, **options: object) -> list[CallWarning]:
    """Returns a warning for each pattern of `options`, such as labels, that matches none of the names."""
    patterns = [
        (option, pattern)
        for option, given in options.items()
        if isinstance(given, Mapping)
        for pattern in cast("Mapping[str, object]", given)
    ]
    known = list(names) if patterns else []
    unused = [each for each in patterns if not any(fnmatchcase(name, each[1]) for name in known)]
    message = "{}[{}] matches no tool of the server " + server
    return [
        CallWarning("no_tool_matches", f"tools.{server}", message.format(option, shown(pattern)))
        for option, pattern in unused
    ]


def checked_prices(prices: Prices | None) -> Decimal | Mapping[str, Decimal] | None:
    """Returns prices as exact numbers; raises `InvalidInputError` for those that are not numbers of at least 0."""
    if prices is None:
        return None
    if isinstance(prices, Mapping):
        return {pattern: as_price(price, f"price[{pattern!r}]") for pattern, price in prices.items()}
    return as_price(prices, "price")


def price_of(name: str, prices: Decimal | Mapping[str, Decimal] | None) -> Decimal | None:
    """Returns the price of a tool: that of the first pattern that matches its name; None if it has none."""
    if not isinstance(prices, Mapping):
        return prices
    return next((price for pattern, price in prices.items() if fnmatchcase(name, pattern)), None)


def check_labels(labels: Labels | None) -> None:
    """Raises `InvalidInputError` for labels that are not known."""
    if isinstance(labels, str):
        raise InvalidInputError(f"expected labels, got {shown(labels)}", path="labels")
    given = labels.values() if isinstance(labels, Mapping) else [] if labels is None else [labels]
    for each in given:
        try:
            check_each(tuple(each) if isinstance(each, list | tuple) else each)
        except SchemaError as error:
            raise InvalidInputError(str(error), path="labels") from None


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
            with _lock(self._path):
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
def _lock(path: Path) -> Generator[None]:
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


_VISIBLE = frozenset("\n\t\u200c\u200d")
"""Kept, though not printable: line breaks, tabs, and the joiners of Arabic, Indic scripts and emoji."""
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Unicode categories: control, format (direction marks, tag characters), private use, surrogates."""
_TEXTS_OF_SCHEMAS = frozenset({"description", "title"})


def cleaned(text: str) -> str:
    """Returns the text without invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character for character in text if character in _VISIBLE or unicodedata.category(character) not in _INVISIBLE
    )


def cleaned_name(name: str) -> str:
    """Returns a name on one line without invisible characters and outer blanks."""
    return "".join(character for character in cleaned(name) if character not in _VISIBLE).strip()


def cleaned_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON Schema whose titles and descriptions are without invisible characters."""
    return {key: _cleaned_value(key, value) for key, value in schema.items()}


def _cleaned_value(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return cleaned(value) if key in _TEXTS_OF_SCHEMAS else value
    if isinstance(value, Mapping):
        return cleaned_schema(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return [_cleaned_value("", item) for item in cast("list[Any]", value)]
    return value
