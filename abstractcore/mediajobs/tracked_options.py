"""`TrackedOptions`: the options of a call, which notes those that a format reads."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..schema import CallWarning, JSONValue


class TrackedOptions:
    """The options of a call: the fields of a dataclass that are not None. Those that a format does not read become
    warnings.

    A field `extra` has fields of the vendor, which are sent as they are. `where` names the vendor in warnings.
    """

    def __init__(self, options: Any, where: str) -> None:
        self._options = options
        self._where = where
        self._given = {each.name for each in fields(options) if getattr(options, each.name) is not None}
        self._warnings: list[CallWarning] = []

    def get(self, name: str) -> Any:
        """Returns an option, or None, and notes that it is taken."""
        self._given.discard(name)
        return getattr(self._options, name)

    def extra(self) -> dict[str, Any]:
        """Returns the fields of the vendor, which are sent as they are."""
        return dict(self.get("extra") or {})

    def warn(self, name: str, message: str, sent: str | float | None = None) -> None:
        """Adds a warning for an option that is not sent as it was asked for."""
        self._warnings.append(CallWarning("changed_option", name, message, self._small(name), sent))

    def warnings(self) -> tuple[CallWarning, ...]:
        """Returns the warnings, with one for each option that was not read."""
        left = [
            CallWarning("unsupported_option", name, f"{self._where} does not take {name!r}", self._small(name))
            for name in sorted(self._given)
        ]
        return (*self._warnings, *left)

    def _small(self, name: str) -> JSONValue:
        value = getattr(self._options, name)
        return value if isinstance(value, str | int | float) else None
