"""`Caller`: what the capabilities of one LLM need of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..ports import ArtifactStore, Clock, Isolation, ModelStore, Pricing, Runtime
from ..registry import Registry
from ..schema import GenerateResponse, MediaPart

if TYPE_CHECKING:
    from ..engine import Pipeline
    from ..ports import Transcriber


class CallerServices(Protocol):
    """The services that backends may use."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    @property
    def models(self) -> ModelStore: ...

    @property
    def artifacts(self) -> ArtifactStore: ...

    @property
    def isolation(self) -> Isolation: ...

    @property
    def spare_cores(self) -> int: ...

    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """What the capabilities of one LLM need of it.

    `options` are those of `create_llm` for backends, `defaults` returns those for every call. `load` returns the part
    of a file, and `download` its content if it is at a URL; both block. `pricing` returns the prices of a model, as
    "provider/model", `transcriber` what transcribes by a model of a provider, None for weights on this machine.
    `scrub` removes the LLM's credentials from an error. `check_open` raises `ConfigurationError` if the LLM is closed.
    """

    registry: Registry
    services: CallerServices
    sync: Callable[[], Pipeline]
    asynchronous: Callable[[], Pipeline]
    options: Mapping[str, Any]
    defaults: Callable[[], Mapping[str, Any]]
    load: Callable[[Any, str], MediaPart]
    download: Callable[[str], bytes]
    pricing: Callable[[str], Pricing | None]
    transcriber: Callable[[object], Transcriber | None]
    llm: Callable[[], Any]
    generate: Callable[[Runtime, str, str | None, Mapping[str, Any]], Awaitable[GenerateResponse[Any]]]
    scrub: Callable[[BaseException], object]
    check_open: Callable[[], None]
    max_retries: int
    random: Callable[[], float]
