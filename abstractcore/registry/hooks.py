"""The hooks of plugins: modules that the entry-point group `abstractcore.plugins` names implement them."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from ..ports import (
    Capability,
    CatalogueFile,
    Guard,
    MediaHandler,
    ModelWeights,
    Provider,
    ToolSource,
    TraceSubscriber,
    WireFormat,
)

GROUP = "abstractcore.plugins"
hookspec = pluggy.HookspecMarker("abstractcore")
hookimpl = pluggy.HookimplMarker("abstractcore")


@hookspec
def register_providers() -> Iterable[Provider]:  # pyright: ignore[reportReturnType]
    """Returns providers, which `create_llm` finds by name."""


@hookspec
def register_catalogues() -> Iterable[CatalogueFile]:  # pyright: ignore[reportReturnType]
    """Returns files with facts about models, one a provider; `name` is that of the provider."""


@hookspec
def register_wire_formats() -> Iterable[WireFormat]:  # pyright: ignore[reportReturnType]
    """Returns wire formats, for code that reads or writes one without a provider."""


@hookspec
def register_media_handlers() -> Iterable[MediaHandler]:  # pyright: ignore[reportReturnType]
    """Returns media handlers. The first to recognise a file handles it; those of later plugins are tried first."""


@hookspec
def register_capabilities() -> Iterable[Capability]:  # pyright: ignore[reportReturnType]
    """Returns capabilities, which `llm.capability` finds by name."""


@hookspec
def register_models() -> Iterable[ModelWeights]:  # pyright: ignore[reportReturnType]
    """Returns rows of weights, `PackagedModel`, which the model store downloads by name."""


@hookspec
def register_tools() -> Iterable[ToolSource]:  # pyright: ignore[reportReturnType]
    """Returns tool sources, which `generate(tools=[...])` finds by name."""


@hookspec
def register_trace_subscribers() -> Iterable[TraceSubscriber]:  # pyright: ignore[reportReturnType]
    """Returns trace subscribers, which are notified of every call."""


@hookspec
def register_guards() -> Iterable[Guard]:  # pyright: ignore[reportReturnType]
    """Returns guards, which `[guards.NAME]` of a server's configuration finds by name."""
