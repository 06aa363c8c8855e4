"""The kinds of objects that a plugin may register, and their validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from inspect import isfunction
from typing import Any, Generic, TypeVar, get_args

from ..errors import PluginError
from ..ports import (
    Capability,
    CatalogueFile,
    Fallback,
    Guard,
    MediaHandler,
    ModelWeights,
    Provider,
    ToolSource,
    TraceSubscriber,
    WireFormat,
)
from .tool_sources import tools_of

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
    from ..ports import ModelFile, PackagedModel

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
    from ..schema import Capture

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
