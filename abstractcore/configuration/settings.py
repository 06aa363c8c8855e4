"""`Configuration`: what the user's `config.toml` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import ConfigurationError
from ..lazy_modules import LazyModule
from ..schema import EMPTY, MediaHistory, MediaKind

if TYPE_CHECKING:
    from .. import budgets, catalogue, limits, routing
else:
    budgets = LazyModule("abstractcore.budgets")
    catalogue = LazyModule("abstractcore.catalogue")
    limits = LazyModule("abstractcore.limits")
    routing = LazyModule("abstractcore.routing")

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
class ConfiguredLimits:
    """A table `limits`, of an LLM or of a provider: how many requests may begin and run. Without numbers, they are
    learned.
    """

    requests_per_minute: int | None = None
    """How many requests begin in any minute."""
    tokens_per_minute: int | None = None
    """How many tokens, of input and output together."""
    parallel: int | None = None
    """How many requests run at once."""
    store: str | None = None
    """The database that processes share, as in "sqlite:///limits.db"; without it, the limits are of this process."""


@dataclass(frozen=True, slots=True)
class ConfiguredRouting:
    """The table `[llm.NAME.routing]`: who of several models is asked, and when the next one is."""

    order: Literal["first", "cheapest", "fastest", "least_busy", "spread"] = "first"
    """Who is asked first."""
    fall_back_on: tuple[str, ...] = ()
    """After what else the next one is asked: "refusal", "invalid_input", "invalid_output"."""
    cooldown: float = 30.0
    """How many seconds a model that failed is left alone at first."""
    sticky: bool = True
    """Whether the calls of a session stay with the model that has answered."""
    member_timeout: float | None = None
    """After how many seconds without an answer a model is left."""
    hedge_after: float | Literal["p95"] | None = None
    """After how many seconds without an answer the next model is asked too."""


@dataclass(frozen=True, slots=True)
class ConfiguredLLM:
    """The table `[llm.NAME]`: an LLM that `create_llm("NAME")` creates."""

    model: str | None = None
    """The model, as in "openai/gpt-5.4"; "provider/model", or a name of another table."""
    models: tuple[str, ...] = ()
    """Several models instead, each written so: a group, which calls the next one if one fails."""
    provider: str | None = None
    """The provider, if the model is written without it."""
    options: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Options of `create_llm`, as in `options.temperature = 0.2`."""
    budget: budgets.Budget | None = None
    """A limit on what its calls cost: the calls of all LLMs of this name, unless they have a database."""
    limits: limits.Limits | None = None
    """Limits that its requests wait for, those of all LLMs of this name together."""
    routing: routing.Routing | None = None
    """Who of several models is asked, and when the next one is."""


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
    api_key_command: tuple[str, ...] = ()
    """The command that prints its key, where the environment has none; as one string, or a list of arguments."""
    options: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Options of `create_llm`, as in `options.max_retries = 3`."""
    limits: limits.Limits | None = None
    """Limits that the requests of all LLMs of the provider wait for together, unless they have their own."""


@dataclass(frozen=True, slots=True)
class ConfiguredAuto:
    """The table `[auto]`: what `create_llm("auto")` chooses before it looks for keys and servers."""

    models: tuple[str, ...] = ()
    """Models in order: "PROVIDER/MODEL", or names of other tables. The first whose key is there is taken."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `config.toml` holds: policies for kinds of files, how files of earlier turns are sent, named LLMs and how
    providers are reached. `document` is the file; None if there is none.
    """

    media_policy: Mapping[MediaKind, str] = cast("Mapping[MediaKind, str]", EMPTY)
    media_history: Mapping[MediaKind, MediaHistory] = cast("Mapping[MediaKind, MediaHistory]", EMPTY)
    llms: Mapping[str, ConfiguredLLM] = _NOTHING
    providers: Mapping[str, ConfiguredProvider] = _NOTHING
    auto: ConfiguredAuto = ConfiguredAuto()
    document: catalogue.Document | None = field(default=None, repr=False, compare=False)

    def error(self, problem: str, *path: str, hint: str | None = None) -> ConfigurationError:
        """Returns an error about the value at `path`, with its line and column in the file."""
        where = ".".join(path)
        if self.document is None:
            return ConfigurationError(f"{where}: {problem}", hint=hint)
        from .tables import place_of

        return self.document.error(f"{where}: {problem}", *place_of(self.document.text, path), hint)
