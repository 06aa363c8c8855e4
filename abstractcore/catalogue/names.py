"""The names of models: variants of a name, and the families that a name belongs to. Knows no model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import SchemaError

_DATE = re.compile(r"(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|-(?:0[1-9]|1[0-2])-20\d\d)$")
_SHORT_DATE = re.compile(r"-\d{4}$")
_BOUNDARY = re.compile(r"[-:@]|$")
_VERSION = re.compile(r"-\d{1,2}(?![0-9A-Za-z]|\.\d{1,2}[A-Za-z])")
_VERSION_LENGTH = 7
"""Characters that `_VERSION` looks at, at most."""


@dataclass(frozen=True, slots=True)
class NameRules:
    """How a provider's names of models vary, besides dates such as `-2026-10-07`, `-20261007` and `-10-2026`.

    Of a path, the part after the last of `after` is the name ("/"). `prefixes` ("us.") and `suffixes" (":0") may be
    left out. `short_dates` allows four digits ("-2512"), `tags` any ":tag" at the end. Raises `SchemaError` for an
    empty text.
    """

    after: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    short_dates: bool = False
    tags: bool = False

    def __post_init__(self) -> None:
        for field in ("after", "prefixes", "suffixes"):
            if "" in getattr(self, field):
                raise SchemaError("expected text, got ''", field)

    def variants(self, name: str) -> Iterator[str]:
        """Yields the names that may mean the same model as `name`, the most similar first; not `name` itself."""
        found = [name]
        for shorter in (self._after_path, self._without_prefix, self._without_suffix, self._without_date):
            for each in tuple(found):
                short = shorter(each)
                if short and short not in found:
                    found.append(short)
        yield from found[1:]

    def has_date(self, name: str) -> bool:
        """Returns whether a variant of `name` is without a date that it has."""
        return any(self._without_date(each) != each for each in (name, *self.variants(name)))

    def _after_path(self, name: str) -> str:
        for separator in self.after:
            name = name.rpartition(separator)[2]
        return name

    def _without_prefix(self, name: str) -> str:
        found = (name.removeprefix(prefix) for prefix in self.prefixes if name.startswith(prefix))
        return next(found, "")

    def _without_suffix(self, name: str) -> str:
        found = (name.removesuffix(suffix) for suffix in self.suffixes if name.endswith(suffix))
        return next(found, name.rpartition(":")[0] if self.tags else "")

    def _without_date(self, name: str) -> str:
        short = _DATE.sub("", name)
        return _SHORT_DATE.sub("", name) if self.short_dates and short == name else short


class Families:
    """The names of a provider's families."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = frozenset(names)
        self._longest = max(map(len, self._known), default=0) + _VERSION_LENGTH

    def of(self, names: Iterable[str]) -> str | None:
        """Returns the longest family that one of the `names` belongs to.

        A name belongs to a family that it equals or continues after a "-", ":" or "@". A number of one or two digits
        after a "-", or one after a ".", is the version of another family; one with a letter behind it is a size
        ("-1.7b"). The last part of a path belongs to its family too, and so does a name in capitals.
        """
        variants = dict.fromkeys(each for name in names for each in (name, name.rpartition("/")[2].lower()))
        found = (
            name[: boundary.start()]
            for name in (each[: self._longest] for each in variants)  # a name may be a server's, of any length
            for boundary in _BOUNDARY.finditer(name)
            if name[: boundary.start()] in self._known and not _VERSION.match(name, boundary.start())
        )
        return max(found, key=len, default=None)
