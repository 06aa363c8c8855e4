"""What a plugin may bring beside providers and media handlers: capabilities, tools, subscribers to call records."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from ..schema import CallRecord, Capture, ToolCall, ToolResult, ToolSpec
from .stores import ArtifactStore, ModelStore


class CapabilityServices(Protocol):
    """What a capability may use from above."""

    @property
    def models(self) -> ModelStore:
        """The weights on this machine."""
        ...

    @property
    def artifacts(self) -> ArtifactStore:
        """Where what it makes may be kept."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables, for keys and addresses."""
        ...

    @property
    def spare_cores(self) -> int:
        """Processor cores that a model on this machine may use, at least one. May read files."""
        ...


class Capability(Protocol):
    """Something an LLM gains beside generating: a voice, sight, music."""

    @property
    def name(self) -> str:
        """One word, as in `llm.capability(name)`; its options begin with it and `_`."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    def connect(self, options: Mapping[str, Any], services: CapabilityServices) -> Any:
        """The object users get, for `create_llm`'s options that begin with the capability's name and `_`. No I/O.

        Called once an LLM, when the capability is first asked for.
        """
        ...


class ToolSource(Protocol):
    """A pack of tools."""

    @property
    def name(self) -> str:
        """As in `generate(tools=[name])`."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    def tools(self) -> Sequence[ToolSpec]:
        """The tools as the model sees them, each with a name of its own. Asked at every call that has them. No I/O."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one of them; raises `ToolError`."""
        ...


class TraceSubscriber(Protocol):
    """Told of every call when it has ended, in a thread of its own."""

    @property
    def name(self) -> str:
        """For reports and logs."""
        ...

    @property
    def capture(self) -> Capture:
        """How much content its records hold."""
        ...

    def __call__(self, record: CallRecord) -> Awaitable[object] | object:
        """Take note of one call. What it raises is logged."""
        ...
