"""What a plugin may register besides providers and media handlers: capabilities, tools, weights, trace subscribers,
guards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal, Protocol

from .. import schema
from ..schema import GenerateResponse, ToolCall, ToolResult, ToolSpec
from .stores import ArtifactStore, MachineServices, ModelFile

CapabilityName = Literal["voice", "audio", "vision", "music"]
CAPABILITIES: tuple[CapabilityName, ...] = ("voice", "audio", "vision", "music")
"""The capabilities with a contract for backends: see `ports/capabilities.py`."""


class CapabilityServices(MachineServices, Protocol):
    """The services that a capability may use, and the LLM that it belongs to."""

    @property
    def llm(self) -> Any:
        """The LLM."""
        ...

    def generate(self, prompt: str | None = None, *, model: str | None = None, **request: Any) -> GenerateResponse[Any]:
        """Asks the model of the LLM, or another one by its name, as in "openai/gpt-5.4-mini": as `LLM.generate`."""
        ...

    async def agenerate(
        self, prompt: str | None = None, *, model: str | None = None, **request: Any
    ) -> GenerateResponse[Any]:
        """The async version of `generate`."""
        ...

    @property
    def artifacts(self) -> ArtifactStore:
        """The store of artifacts."""
        ...


class Capability(Protocol):
    """A feature of an LLM besides generating text: speech, vision, music."""

    @property
    def name(self) -> str:
        """The name in `llm.capability(name)`, without `_`; names of its options begin with it and `_`."""
        ...

    @property
    def summary(self) -> str:
        """One line of help."""
        ...

    def connect(self, options: Mapping[str, Any], services: CapabilityServices) -> Any:
        """Returns the object that users get, for `create_llm`'s options that begin with the name and `_`. No I/O.

        Called once per LLM, when the capability is first used.
        """
        ...


class ToolSource(Protocol):
    """A pack of tools."""

    @property
    def name(self) -> str:
        """The name in `generate(tools=[name])`."""
        ...

    @property
    def summary(self) -> str:
        """One line of help."""
        ...

    def tools(self) -> Sequence[ToolSpec]:
        """Returns the tool specs, with distinct names. Called at every call that uses them. No I/O."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Runs a tool; raises `ToolError`."""
        ...


class ModelWeights(Protocol):
    """A model whose weights are in packages of public indexes: a `PackagedModel`."""

    @property
    def name(self) -> str:
        """The name in `abstractcore models pull NAME` and `services.models.path(name)`."""
        ...

    @property
    def files(self) -> Sequence[ModelFile]:
        """The files of weights, at least one."""
        ...

    @property
    def licence(self) -> str:
        """The licence of the weights."""
        ...

    @property
    def summary(self) -> str:
        """One line of help."""
        ...

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        ...


class TraceSubscriber(Protocol):
    """Notified of every finished call, in a thread of its own; with an attribute `records = "all"` also of interactions
    and tool runs.
    """

    @property
    def name(self) -> str:
        """The name in reports and logs."""
        ...

    @property
    def capture(self) -> schema.Capture:
        """How much content its records contain."""
        ...

    def __call__(self, record: schema.CallRecord) -> Awaitable[object] | object:
        """Handles the record of a call. Exceptions are logged."""
        ...


class GuardServices(Protocol):
    """What a server gives to its guards."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables, for keys and addresses."""
        ...

    def llm(self, name: str) -> Any:
        """Returns the `LLM` that clients of the server reach under a name; raises `ModelNotFoundError`."""
        ...


class Guard(Protocol):
    """Makes the guards of a server: one for each table `[guards.NAME]` of its configuration that names it."""

    @property
    def name(self) -> str:
        """The name in the configuration."""
        ...

    @property
    def summary(self) -> str:
        """One line of help."""
        ...

    def connect(self, options: Mapping[str, Any], services: GuardServices) -> Any:
        """Returns an object with `check_call`, `check_reply` or `check_text`, or several of them, sync or `async def`.
        Sync ones are called in threads. No I/O; raises `InvalidInputError` for invalid options.

        An object with a true attribute `read_only` changes nothing: the bytes of a stream then go through untouched.
        One with `aclose()` or `close()` is closed when the configuration is read again and the last request that it
        checks has ended, and when the server ends; each call of `connect` then returns an object of its own.
        """
        ...
