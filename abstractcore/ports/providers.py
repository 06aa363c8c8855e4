"""Who answers: a provider, and a session with one of its models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ..schema import EMPTY, Lowered, ModelCall
from .profiles import ModelProfile
from .stores import ModelStore
from .transpilers import Transpiler
from .transports import Endpoint


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """What the user said of a provider: model, address, key and options of the provider's own.

    `header_names` are those of the headers that every request has from the user, in lower case.
    """

    provider: str
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = EMPTY
    header_names: frozenset[str] = frozenset()


class ProviderServices(Protocol):
    """What a provider may use from above."""

    @property
    def models(self) -> ModelStore:
        """The weights on this machine."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables, for keys and addresses."""
        ...

    @property
    def spare_cores(self) -> int:
        """Processor cores that a model on this machine may use, at least one. May read files."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """A provider made ready for one model. Making it does no I/O."""

    model: str
    transpiler: Transpiler
    endpoint: Endpoint
    profile: ModelProfile
    lower: Callable[[ModelCall], Lowered] = Lowered
    """Applies what `profile` has no field for: options that this model refuses, alone or together. It gets a call in
    which the choices of `profile` are made, and returns what can be sent, with a warning for each change. Pure; raises
    `UnsupportedContentError` for content that cannot be left out. The default changes nothing."""
    calls: Sequence[ModelCall] | None = None
    """The calls made so far, for providers that keep them: scripted models."""
    own_process: bool = False
    """Whether a process of this program answers: requests to it go through no proxy of the environment."""
    close: Callable[[], object] | None = None
    """Called once when the LLM is closed, to end what the session holds on this machine. Calls may still be running,
    and an LLM may be dropped without it."""


@runtime_checkable
class NamesModels(Protocol):
    """A provider whose models can be told by their names: a provider may be one too."""

    @property
    def model_examples(self) -> Mapping[str, str]:
        """Beginnings of its models' names in lower case, as "gpt", each with the whole name of such a model."""
        ...


class Provider(Protocol):
    """A provider: its name, what it may be called with, and how a session with it is made."""

    @property
    def name(self) -> str:
        """As in `create_llm(name)`."""
        ...

    @property
    def summary(self) -> str:
        """One line for people."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Options of its own for `create_llm`, each with a line of help."""
        ...

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session for `config.model`; raises `ConfigurationError` for what cannot work. No I/O."""
        ...
