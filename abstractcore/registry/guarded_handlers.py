"""`GuardedHandler`: a plugin's media handler, whose failures name the plugin."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard, cast, get_args

from ..errors import MissingExtraError, PluginError
from ..ports import Fallback, HasExcerpts, HasExtensions, MediaHandler
from ..schema import (
    MEDIA_PART_BY_KIND,
    CallWarning,
    ContentPart,
    MediaFacts,
    MediaKind,
    MediaPart,
    SchemaError,
    TextPart,
    Usage,
    media_kind_of,
)
from ..schema.base_error import shown
from ..schema.json_values import check_class, check_items, check_text
from .failures import failures_of

if TYPE_CHECKING:
    from ..ports import Conversion, Excerpt, Fitted, MediaContext, Recognised
    from ..ports.profiles import MediaLimit


_FAULT = "This is a bug in the plugin."
_KINDS = get_args(MediaKind)
_log = logging.getLogger("abstractcore")


@dataclass(frozen=True, slots=True)
class GuardedHandler:
    """Wraps a handler. If it fails while recognising a file, the failure is logged and other handlers are tried,
    except where a package is missing.

    `check` and `convert` raise `PluginError`, which names the handler and its owner, for unexpected exceptions and
    invalid results.
    """

    handler: MediaHandler
    owner: str

    @property
    def name(self) -> str:
        """The handler's."""
        return self.handler.name

    @property
    def fallbacks(self) -> Sequence[Fallback]:
        """The handler's."""
        return self.handler.fallbacks

    @property
    def extensions(self) -> Sequence[str]:
        """The handler's file name extensions, if it lists them."""
        return self.handler.extensions if isinstance(self.handler, HasExtensions) else ()

    @property
    def excerpt_controls(self) -> Set[str]:
        """The controls that the handler follows by cutting files, if it does."""
        return self.handler.excerpt_controls if isinstance(self.handler, HasExcerpts) else frozenset()

    def excerpt(self, part: MediaPart, context: MediaContext) -> Excerpt:
        """As the handler does it."""
        from ..ports import Excerpt

        assert isinstance(self.handler, HasExcerpts)
        with failures_of(str(self), expected=(OSError, SchemaError)):
            found = cast(object, self.handler.excerpt(part, context))
        if not isinstance(found, Excerpt):  # a plugin may return anything
            raise PluginError(f"{self} returns a {type(found).__name__}: expected an Excerpt.", hint=_FAULT)
        return found

    def fit(self, part: MediaPart, limits: Mapping[MediaLimit, int]) -> Fitted:
        """As the handler does it; the file itself, if it does not."""
        from ..ports import FitsMedia, Fitted

        if not isinstance(self.handler, FitsMedia):
            return Fitted((part,))
        with failures_of(str(self), expected=(OSError, SchemaError)):
            return self.handler.fit(part, limits)

    def measure(self, part: MediaPart, context: MediaContext | None = None) -> MediaFacts:
        """As the handler does it; nothing is known, if it does not."""
        from ..ports import MeasuresMedia

        if not isinstance(self.handler, MeasuresMedia):
            return MediaFacts()
        with failures_of(str(self), expected=(OSError, SchemaError)):
            facts = cast(object, self.handler.measure(part, context))
        if not isinstance(facts, MediaFacts):  # a plugin may return anything
            raise PluginError(f"{self} returns a {type(facts).__name__}: expected MediaFacts.", hint=_FAULT)
        return facts

    def retranscribe(
        self, part: MediaPart, spans: Sequence[tuple[float, float]], context: MediaContext
    ) -> Conversion | None:
        """As the handler does it; None, if it does not."""
        from ..ports import Retranscribes

        if not isinstance(self.handler, Retranscribes):
            return None
        with failures_of(str(self), expected=(OSError, SchemaError)):
            heard: object = self.handler.retranscribe(part, spans, context)
        return None if heard is None else self._checked(heard, context)

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the result of the handler; None also for a failure and an invalid result, which are logged.

        Raises `MissingExtraError` as the handler does: the user can install what it names.
        """
        try:
            found: object = self.handler.recognise(head, name, declared)
        except MissingExtraError:
            raise
        except Exception:
            _log.warning("%s failed to recognise a file; other handlers are tried", self, exc_info=True)
            return None
        if found is None or _is_recognised(found):
            return found
        _log.warning("%s returned %.100r: expected a Recognised; other handlers are tried", self, found)
        return None

    def check(self, part: MediaPart) -> None:
        """As the handler does it."""
        with failures_of(str(self), expected=(OSError, SchemaError)):
            self.handler.check(part)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """As the handler does it."""
        with failures_of(str(self), expected=(OSError, SchemaError)):
            conversion: object = self.handler.convert(part, context)
        return self._checked(conversion, context)

    def __str__(self) -> str:
        return f"the media handler {self.name!r} ({self.owner})"

    def _checked(self, conversion: object, context: MediaContext) -> Conversion:
        from ..ports import Conversion
        from ..schema import DrawnText, MediaLoss, MediaText

        if not isinstance(conversion, Conversion):
            raise PluginError(f"{self} returns a {type(conversion).__name__}: expected a Conversion.", hint=_FAULT)
        try:
            check_text(conversion.label, "label")
            check_items(conversion.warnings, CallWarning, "warnings")
            check_items(conversion.lost, MediaLoss, "lost")
            if conversion.fallback is not None and conversion.fallback not in context.fallbacks:
                raise SchemaError(f"{shown(conversion.fallback)} is not in `context.fallbacks`", "fallback")
            if conversion.usage is not None:
                check_class(conversion.usage, Usage, "usage")
            if conversion.own_text is not None:
                check_class(conversion.own_text, MediaText, "own_text")
            if conversion.drawn is not None:
                check_class(conversion.drawn, DrawnText, "drawn")
            for index, made in enumerate(conversion.parts):
                self._check_part(made, context, f"parts[{index}]")
        except SchemaError as error:
            raise PluginError(f"{self} returns an invalid Conversion: {error}", hint=_FAULT) from None
        return conversion

    def _check_part(self, part: ContentPart, context: MediaContext, path: str) -> None:
        """Raises `SchemaError` for content that no fallback declares, that the model does not support, or that is not
        available.
        """
        if isinstance(part, TextPart):
            return
        media_type = part.blob.media_type
        if type(part) is not MEDIA_PART_BY_KIND[media_kind_of(media_type)]:
            raise SchemaError(f"a {type(part).__name__} cannot hold {media_type}", path)
        if not any(media_type in fallback.outputs for fallback in self.fallbacks):
            raise SchemaError(f"{media_type} is not in the `outputs` of a fallback", path)
        if media_type not in context.accepted_outputs:
            raise SchemaError(f"{media_type} is not in `context.accepted_outputs`: the model does not support it", path)
        if part.blob.form not in ("bytes", "file"):
            raise SchemaError(f"expected a blob of form 'bytes' or 'file', got {part.blob.form!r}", path)


def _is_recognised(found: object) -> TypeGuard[Recognised]:
    from ..ports import Recognised

    return (
        isinstance(found, Recognised)
        and found.kind in _KINDS
        and isinstance(found.media_type, str)  # pyright: ignore[reportUnnecessaryIsInstance]
        and "/" in found.media_type
    )
