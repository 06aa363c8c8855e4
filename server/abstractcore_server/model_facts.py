"""`ModelFacts`: what is known about a model that is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from abstractcore.catalogue import FileCatalogue
from abstractcore.errors import ConfigurationError
from abstractcore.ports import ModelProfile

from .exchange import Exchange, State

_KINDS = ("image", "audio", "video", "document")
_METERS = {"input": "prompt", "output": "completion", "cache_read": "input_cache_read"}
"""Meters of the catalogue, each with the name that clients know."""
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model by the name that clients call it by. `prices` are in dollars a token, as exact numbers in text."""

    name: str
    provider: str
    model: str
    profile: ModelProfile
    prices: Mapping[str, str]

    @property
    def inputs(self) -> list[str]:
        """The kinds of content that it accepts: "text", "image" and others. Files of other kinds are converted."""
        accepted = [kind for kind in _KINDS if any(each.startswith(kind) for each in self.profile.accepts)]
        pdf = ["document"] if "application/pdf" in self.profile.accepts and "document" not in accepted else []
        return ["text", *accepted, *pdf]

    @property
    def outputs(self) -> list[str]:
        """The kinds of content that it produces."""
        return ["text", *sorted(self.profile.produces or ())]

    @property
    def levels(self) -> list[str]:
        """The levels of reasoning that it accepts, in rising order."""
        thinking = self.profile.thinking
        return [] if thinking is None else list(thinking.levels)

    @property
    def has_tools(self) -> bool:
        """Whether it can call tools, if only by the prompt."""
        return self.profile.tools != "never" or self.profile.tool_prompt is not None


def listed_facts(exchange: Exchange) -> list[ModelFacts]:
    """Returns the models that a client may call, except those that its key may not use."""
    state = exchange.state
    return [facts_of(state, name) for name in state.llms.listed() if exchange.grant.allows(name)]


def facts_of(state: State, name: str, vendors: tuple[str, ...] = ()) -> ModelFacts:
    """Returns the facts of a model; raises `ModelNotFoundError`."""
    llm = state.llms.given(name)
    if llm is not None:
        return ModelFacts(name, llm.provider, llm.model, llm.profile, {})
    provider, model = state.llms.known_target_of(name, vendors)
    catalogue = state.services.catalogue
    return ModelFacts(name, provider, model, catalogue.profile(provider, model), _prices(state, provider, model))


def _prices(state: State, provider: str, model: str) -> dict[str, str]:
    catalogue = state.services.catalogue
    if not isinstance(catalogue, FileCatalogue):
        return {}
    try:
        rows = catalogue.models(provider).price_rows(model)
    except ConfigurationError:
        return {}
    now = state.services.clock.time_of_day()
    current = next((row for row in rows if row.covers(now)), None)
    if current is None:
        return {}
    rates = ((theirs, current.rates.get(ours)) for ours, theirs in _METERS.items())
    return {name: f"{(rate / _MILLION).normalize():f}" for name, rate in rates if rate is not None}
