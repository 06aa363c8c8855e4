"""The kinds of objects that a plugin may register, and their validation.

`GuardedHandler`: a plugin's media handler, whose failures name the plugin. The tools of a tool source.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from inspect import isfunction
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar, cast, get_args

from ..errors import MissingExtraError, PluginError
from ..ports import (
    Capability,
    CatalogueFile,
    Excerpt,
    Fallback,
    FitsMedia,
    Fitted,
    Guard,
    HasExcerpts,
    HasExtensions,
    MeasuresMedia,
    MediaHandler,
    ModelFile,
    ModelWeights,
    PackagedModel,
    Provider,
    ToolSource,
    TraceSubscriber,
    WireFormat,
)
from ..schema import (
    MEDIA_PART_BY_KIND,
    CallWarning,
    ContentPart,
    MediaFacts,
    MediaKind,
    MediaPart,
    SchemaError,
    TextPart,
    ToolSpec,
    Usage,
    media_kind_of,
)
from ..schema.base_error import shown
from ..schema.json_values import check_class, check_items, check_text
from .entry_points import failures_of

if TYPE_CHECKING:
    from ..ports import Conversion, Excerpt, Fitted, MediaContext, Recognised
    from ..ports.profiles import MediaLimit


def tools_of(source: ToolSource) -> tuple[ToolSpec, ...]:
    """Returns the tool specs of a source; raises `PluginError` for invalid ones, and for two tools with one name."""
    who = f"the tool source {source.name!r}"
    with failures_of(who):
        tools = tuple(source.tools())
    seen: set[str] = set()
    for tool in tools:
        if not isinstance(tool, ToolSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PluginError(f"{who} returns a {type(tool).__name__}: expected a ToolSpec.")
        if tool.name in seen:
            raise PluginError(f"{who} has two tools called {tool.name!r}.")
        seen.add(tool.name)
    return tools


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of object: its name, its hook, its port, and a further check.

    `fault` returns what is wrong with an object that has all members of the port, or None.
    """

    name: str
    hook: str
    port: type
    fault: Callable[[T], str | None]

    def check(self, item: object) -> None:
        """Raises `PluginError` unless `item` is a valid object of this kind."""
        if isinstance(item, type):
            raise PluginError(
                f"{self.hook} returns the class {item.__name__}: expected an instance, as in {item.__name__}()."
            )
        missing = [member for member in _members(self.port) if not _has(item, self.port, member)]
        if missing:
            raise PluginError(
                f"{self.hook} returns a {type(item).__name__}, not a {self.name}: it lacks {', '.join(missing)}."
            )
        given: Any = item
        if not _is_name(given.name):
            raise PluginError(f"{self.hook} returns a {self.name} with the name {given.name!r}: expected text.")
        fault = self.fault(given)
        if fault is not None:
            raise PluginError(f"the {self.name} {given.name!r} {fault}")


def _members(port: type) -> list[str]:
    return [name for name in vars(port) if name == "__call__" or not name.startswith("_")]


def _has(item: object, port: type, member: str) -> bool:
    """Returns whether `item` has a member, which must be callable if it is a method of the port."""
    return hasattr(item, member) and (not isfunction(vars(port)[member]) or callable(getattr(item, member)))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name != "" and name.isprintable() and name == name.strip()


def _provider_fault(provider: Provider) -> str | None:
    if "/" in provider.name:
        return "has a / in its name: the rest would be taken for a model."
    if not isinstance(provider.options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "has invalid options: expected a mapping of names to help texts."
    return None


def _catalogue_fault(catalogue: CatalogueFile) -> str | None:
    if not callable(getattr(catalogue.file, "open", None)):
        return (
            f"has a {type(catalogue.file).__name__} as `file`: expected a path, such as Path(__file__).with_name(...)."
        )
    return None


def _nothing_else(item: object) -> str | None:
    return None


def _media_handler_fault(handler: MediaHandler) -> str | None:
    fallbacks: object = handler.fallbacks
    if not isinstance(fallbacks, Sequence) or not all(isinstance(each, Fallback) for each in fallbacks):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "has invalid `fallbacks`: expected a list, for example [Fallback('text', {'text'})]."
    return next(filter(None, map(_fallback_fault, handler.fallbacks)), None)


def _fallback_fault(fallback: Fallback) -> str | None:
    outputs: object = fallback.outputs
    if not isinstance(outputs, Set):  # pyright: ignore[reportUnnecessaryIsInstance]
        found = type(outputs).__name__
        return f"has a {found} as `outputs` of a fallback: expected a set of media types, for example {{'text'}}."
    wrong = [each for each in outputs if each != "text" and "/" not in str(each)]
    if wrong:
        return f"has {wrong[0]!r} in `outputs` of a fallback: expected 'text', or media types such as 'image/png'."
    return None


def _capability_fault(capability: Capability) -> str | None:
    if not capability.name.isidentifier() or "_" in capability.name:
        return "has an invalid name: expected an identifier, since its options are called name_option."
    return None


def _model_fault(model: ModelWeights) -> str | None:
    if not isinstance(model, PackagedModel):
        return f"is a {type(model).__name__}: expected a PackagedModel."
    files: object = model.files
    if not isinstance(files, tuple) or not files or not all(isinstance(file, ModelFile) for file in model.files):  # pyright: ignore[reportUnnecessaryIsInstance]
        return "has invalid `files`: expected a tuple of ModelFile, for example (ModelFile.in_wheel(...),)."
    return None


def _tool_source_fault(source: ToolSource) -> str | None:
    tools_of(source)
    return None


def _trace_subscriber_fault(subscriber: TraceSubscriber) -> str | None:
    from ..schema.records import Capture

    return _not_one_of(subscriber.capture, "capture", get_args(Capture))


def _not_one_of(value: object, what: str, known: tuple[str, ...]) -> str | None:
    return None if value in known else f"has the {what} {value!r}: expected one of {', '.join(known)}."


PROVIDER = Kind("provider", "register_providers", Provider, _provider_fault)
CATALOGUE: Kind[CatalogueFile] = Kind("catalogue", "register_catalogues", CatalogueFile, _catalogue_fault)
WIRE_FORMAT: Kind[WireFormat] = Kind("wire format", "register_wire_formats", WireFormat, _nothing_else)
MEDIA_HANDLER = Kind("media handler", "register_media_handlers", MediaHandler, _media_handler_fault)
CAPABILITY = Kind("capability", "register_capabilities", Capability, _capability_fault)
MODEL = Kind("model", "register_models", ModelWeights, _model_fault)
TOOL_SOURCE = Kind("tool source", "register_tools", ToolSource, _tool_source_fault)
TRACE_SUBSCRIBER = Kind("trace subscriber", "register_trace_subscribers", TraceSubscriber, _trace_subscriber_fault)
GUARD: Kind[Guard] = Kind("guard", "register_guards", Guard, _nothing_else)
KINDS: tuple[Kind[Any], ...] = (
    PROVIDER,
    CATALOGUE,
    WIRE_FORMAT,
    MEDIA_HANDLER,
    CAPABILITY,
    MODEL,
    TOOL_SOURCE,
    TRACE_SUBSCRIBER,
    GUARD,
)


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
        assert isinstance(self.handler, HasExcerpts)
        with failures_of(str(self), expected=(OSError, SchemaError)):
            found = cast(object, self.handler.excerpt(part, context))
        if not isinstance(found, Excerpt):  # a plugin may return anything
            raise PluginError(f"{self} returns a {type(found).__name__}: expected an Excerpt.", hint=_FAULT)
        return found

    def fit(self, part: MediaPart, limits: Mapping[MediaLimit, int], accepted: Set[str] = frozenset()) -> Fitted:
        """As the handler does it; the file itself, if it does not."""
        if not isinstance(self.handler, FitsMedia):
            return Fitted((part,))
        with failures_of(str(self), expected=(OSError, SchemaError)):
            return self.handler.fit(part, limits, accepted)

    def measure(self, part: MediaPart, context: MediaContext | None = None) -> MediaFacts:
        """As the handler does it; nothing is known, if it does not."""
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
        return None if heard is None else self._check_conversion(heard, context)

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
        return self._check_conversion(conversion, context)

    def __str__(self) -> str:
        return f"the media handler {self.name!r} ({self.owner})"

    def _check_conversion(self, conversion: object, context: MediaContext) -> Conversion:
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
