"""`Provider`, and `ProviderSession`, its session with one model.

`CatalogueFile`: a plugin's facts about the models of a provider.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Protocol, runtime_checkable

from .. import schema
from ..schema import EMPTY, ModelCall
from .pricing import NO_TERMS, Price, Terms
from .profiles import ModelCatalogue, ModelProfile
from .stores import MachineServices
from .transpilers import Transpiler
from .transports import Endpoint


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """The user's settings of a provider: model, URL, key and options of that provider.

    `header_names` are the lower-case names of the user's headers for every request. `default_url` is the base URL of
    the user's configuration: where neither `base_url` nor the environment has one.
    """

    provider: str
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = EMPTY
    header_names: frozenset[str] = frozenset()
    default_url: str | None = None


class ProviderServices(MachineServices, Protocol):
    """The services that a provider may use."""

    @property
    def catalogue(self) -> ModelCatalogue:
        """What is known about models."""
        ...


def _usual_terms(given: object) -> Terms:
    return NO_TERMS


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """A provider connected to one model. Creating it does no I/O."""

    model: str
    transpiler: Transpiler
    endpoint: Endpoint
    profile: ModelProfile
    terms: Callable[[ModelCall | schema.OperationInput], Terms] = _usual_terms
    """Returns the terms that a call, or an input without one, asks for: the tier, the region. Pure."""
    price: Price | None = None
    """A price that only the provider knows, such as 0 for a model on this machine; None for those of the catalogue."""
    calls: Sequence[ModelCall] | None = None
    """The calls so far, for providers that record them: scripted models."""
    embedding_model: str | None = None
    """The model of the provider that embeds where the user has named none; None if the session's own does."""
    models_hint: str = ""
    """How to list the models of a server that is not the vendor's: the hint for a model that it does not have."""
    own_process: bool = False
    """Whether a child process of this program answers: proxies of the environment are not used for it."""
    close: Callable[[], object] | None = None
    """Called once when the LLM is closed, to release resources of the session. Calls may still be running, and an LLM
    may be dropped without being closed."""


@runtime_checkable
class HasModelExamples(Protocol):
    """A provider whose models can be recognised by their names. Providers may implement it."""

    @property
    def model_examples(self) -> Mapping[str, str]:
        """Lower-case prefixes of its models' names, as "gpt", each with the full name of a model."""
        ...


class Provider(Protocol):
    """A provider: its name, its options, and the creation of sessions."""

    @property
    def name(self) -> str:
        """The name in `create_llm(name)`."""
        ...

    @property
    def summary(self) -> str:
        """One line of help."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Its own options of `create_llm`, each with a line of help."""
        ...

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """Returns a session for `config.model`; raises `ConfigurationError` for invalid settings. No I/O."""
        ...


class Openable(Protocol):
    """A file that can be opened: a path, or a resource of a package."""

    def open(self, mode: Any = "r", /) -> IO[Any]:
        """Opens the file; with "rb" for reading bytes."""
        ...


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """The catalogue of the provider called `name`: JSON lines as docs/catalogue.md describes them.

    `file` is a path or a resource of a package. It is opened when the first model of the provider is looked up.
    """

    name: str
    file: Openable
