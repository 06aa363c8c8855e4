"""A plugin's media handler, held so that its faults stay its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import PluginError
from ..ports import Conversion, ListsEndings, MediaContext, MediaHandler
from ..schema import CallWarning, MediaKind, MediaPart, SchemaError, Usage
from ..schema.json_values import check_class, check_items, check_text
from .failures import failures_of

_FAULT = "This is a fault of the plugin."
_log = logging.getLogger("abstractcore")


@dataclass(frozen=True, slots=True)
class GuardedHandler:
    """The handler, asked about every file. Where it fails to recognise one, the others are asked.

    `check` and `convert` raise a `PluginError` that names the handler and its owner for what a handler may not raise.
    """

    handler: MediaHandler
    owner: str

    @property
    def name(self) -> str:
        """The handler's."""
        return self.handler.name

    @property
    def kind(self) -> MediaKind:
        """The handler's."""
        return self.handler.kind

    @property
    def converts(self) -> bool:
        """The handler's."""
        return self.handler.converts

    @property
    def endings(self) -> Sequence[str]:
        """The handler's, if it lists them."""
        return self.handler.endings if isinstance(self.handler, ListsEndings) else ()

    def recognise(self, head: bytes, name: str) -> str | None:
        """The media type; None also for a failure, which is logged, and for what is no media type."""
        try:
            media_type: object = self.handler.recognise(head, name)
        except Exception:
            self._log_failure()
            return None
        return media_type if isinstance(media_type, str) and "/" in media_type else None

    def handles(self, part: MediaPart) -> bool:
        """Whether the file is the handler's; False also for a failure, which is logged."""
        try:
            return bool(self.handler.handles(part))
        except Exception:
            self._log_failure()
            return False

    def check(self, part: MediaPart) -> None:
        """As the handler does it."""
        with failures_of(str(self), expected=(OSError, SchemaError)):
            self.handler.check(part)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """As the handler does it."""
        with failures_of(str(self), expected=(OSError, SchemaError)):
            conversion: object = self.handler.convert(part, context)
        if not isinstance(conversion, Conversion):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PluginError(f"{self} gives a {type(conversion).__name__}, which is no Conversion.", hint=_FAULT)
        try:
            check_text(conversion.text, "text")
            check_text(conversion.label, "label")
            check_items(conversion.warnings, CallWarning, "warnings")
            if conversion.usage is not None:
                check_class(conversion.usage, Usage, "usage")
        except SchemaError as error:
            raise PluginError(f"{self} gives a wrong Conversion: {error}", hint=_FAULT) from None
        return conversion

    def __str__(self) -> str:
        return f"the media handler {self.name!r} ({self.owner})"

    def _log_failure(self) -> None:
        _log.warning("%s failed to look at a file, which goes to other handlers", self, exc_info=True)
