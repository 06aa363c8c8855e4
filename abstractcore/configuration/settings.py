"""`Configuration`: what the user's `config.toml` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import ConfigurationError
from ..lazy_modules import LazyModule
from ..schema import EMPTY, MediaHistory, MediaKind

if TYPE_CHECKING:
    from .. import budgets, catalogue
else:
    budgets = LazyModule("abstractcore.budgets")
    catalogue = LazyModule("abstractcore.catalogue")

_NOTHING: Any = EMPTY


@dataclass(frozen=True, slots=True)
class ConfiguredBudget:
    """The table `[llm.NAME.budget]`: a limit in US dollars on what the calls of this LLM cost."""

    usd: float
    """The limit."""
    per: Literal["hour", "day", "week", "month", "call"] | None = None
    """The window of time in UTC; without it, the limit is for all time."""
    by: str | None = None
    """What has a budget of its own: each "model" or "provider", or each value of a tag, as in "tag:team"."""
    unpriced: float | Literal["refuse", "allow"] = "refuse"
    """The dollars that a call counts whose price is unknown; "refuse" refuses it, "allow" does not count it."""
    warn_at: float | None = None
    """The share of the limit at which a warning is logged, as in 0.8."""
    on_exceeded: str | None = None
    """The model that makes the calls which do not fit; without it, they are refused."""
    ledger: str | None = None
    """The database that processes share, as in "sqlite:///budgets.db"; without it, the sums are in this process."""


@dataclass(frozen=True, slots=True)
class ConfiguredLLM:
    """The table `[llm.NAME]`: an LLM that `create_llm("NAME")` creates."""

    model: str | None = None
    """The model, as in "openai/gpt-5.4"; "provider/model", or a name of another table."""
    provider: str | None = None
    """The provider, if the model is written without it."""
    options: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Options of `create_llm`, as in `options.temperature = 0.2`."""
    budget: budgets.Budget | None = None
    """A limit on what its calls cost: the calls of all LLMs of this name, unless they have a database."""


@dataclass(frozen=True, slots=True)
class ConfiguredProvider:
    """The table `[providers.NAME]`: how a provider is reached by all LLMs of it, unless the environment or the program
    says something else.
    """

    base_url: str | None = None
    """The address of its API, if not the default."""
    headers: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """HTTP headers of every request."""
    api_key_env: str | None = None
    """The environment variable with its key, if not the usual one."""
    options: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Options of `create_llm`, as in `options.max_retries = 3`."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `config.toml` holds: policies for kinds of files, how files of earlier turns are sent, named LLMs and how
    providers are reached. `document` is the file; None if there is none.
    """

    media_policy: Mapping[MediaKind, str] = cast("Mapping[MediaKind, str]", EMPTY)
    media_history: Mapping[MediaKind, MediaHistory] = cast("Mapping[MediaKind, MediaHistory]", EMPTY)
    llms: Mapping[str, ConfiguredLLM] = _NOTHING
    providers: Mapping[str, ConfiguredProvider] = _NOTHING
    document: catalogue.Document | None = field(default=None, repr=False, compare=False)

    def error(self, problem: str, *path: str, hint: str | None = None) -> ConfigurationError:
        """Returns an error about the value at `path`, with its line and column in the file."""
        where = ".".join(path)
        if self.document is None:
            return ConfigurationError(f"{where}: {problem}", hint=hint)
        from .tables import place_of

        return self.document.error(f"{where}: {problem}", *place_of(self.document.text, path), hint)
