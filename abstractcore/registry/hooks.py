"""What a plugin may register. The entry-point group `abstractcore.plugins` names modules with these hooks."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from ..ports import Capability, MediaHandler, Provider, ToolSource, TraceSubscriber, WireFormat

GROUP = "abstractcore.plugins"
hookspec = pluggy.HookspecMarker("abstractcore")
hookimpl = pluggy.HookimplMarker("abstractcore")


@hookspec
def register_providers() -> Iterable[Provider]:  # pyright: ignore[reportReturnType]
    """Providers that `create_llm` can name."""


@hookspec
def register_wire_formats() -> Iterable[WireFormat]:  # pyright: ignore[reportReturnType]
    """Wire formats by name, for what reads or writes one apart from a provider."""


@hookspec
def register_media_handlers() -> Iterable[MediaHandler]:  # pyright: ignore[reportReturnType]
    """Handlers of kinds of files; the first that recognises a file has it. Those of later plugins are asked first."""


@hookspec
def register_capabilities() -> Iterable[Capability]:  # pyright: ignore[reportReturnType]
    """What `llm.capability` can name."""


@hookspec
def register_tools() -> Iterable[ToolSource]:  # pyright: ignore[reportReturnType]
    """Packs of tools that `generate(tools=[...])` can name."""


@hookspec
def register_trace_subscribers() -> Iterable[TraceSubscriber]:  # pyright: ignore[reportReturnType]
    """Who is told of every call."""
