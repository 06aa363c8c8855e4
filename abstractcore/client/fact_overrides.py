"""The facts about a model that a user passes to `create_llm`: they override those of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ..errors import ConfigurationError, InvalidInputError, SchemaError
from ..ports import ModelCatalogue, ModelProfile, ModelStore, Pricing, ProviderServices, ProviderSession
from ..schema.base_error import shown
from .option_values import MEDIA_KINDS


@dataclass(frozen=True, slots=True)
class FactOverrides:
    """The user's facts, by name."""

    facts: Mapping[str, Any]

    @classmethod
    def given(cls, facts: object, accepts: object) -> FactOverrides:
        """Returns the facts in the options `facts` and `accepts`, of which one may be None.

        Raises `InvalidInputError` or `ConfigurationError` for invalid ones.
        """
        if not isinstance(facts, Mapping | None):
            raise InvalidInputError(f"expected a mapping, got {type(facts).__name__}", path="facts", hint=_EXAMPLE)
        both: dict[str, Any] = dict(cast("Mapping[str, Any]", facts or {}))
        if accepts is not None:
            if "accepts" in both:
                raise InvalidInputError("given twice, also as `accepts`", path="facts.accepts", hint="Pass only one.")
            _check_accepts(accepts)
            both["accepts"] = accepts
        _check_names(both)
        found = cls(both)
        try:
            found.over(ModelProfile())
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.at("facts").path, hint=error.hint) from None
        return found

    def over(self, profile: ModelProfile) -> ModelProfile:
        """Returns a profile with these facts instead of its own."""
        from ..catalogue import overridden

        return overridden(profile, self.facts)

    def services(self, services: ProviderServices) -> ProviderServices:
        """Returns services whose catalogue has these facts about every model."""
        return _Services(services, _Catalogue(services.catalogue, self))

    def session(self, session: ProviderSession) -> ProviderSession:
        """Returns a session with these facts: not every provider asks the catalogue."""
        return replace(session, profile=self.over(session.profile))


_EXAMPLE = "For example: facts={'context_tokens': 65536}."


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """A catalogue with a user's facts."""

    catalogue: ModelCatalogue
    facts: FactOverrides

    def profile(self, provider: str, model: str) -> ModelProfile:
        return self.facts.over(self.catalogue.profile(provider, model))

    def pricing(self, provider: str, model: str) -> Pricing | None:
        return self.catalogue.pricing(provider, model)


@dataclass(frozen=True, slots=True)
class _Services:
    """The services of a provider, with another catalogue."""

    services: ProviderServices
    catalogue: ModelCatalogue

    @property
    def models(self) -> ModelStore:
        return self.services.models

    @property
    def environment(self) -> Mapping[str, str]:
        return self.services.environment

    @property
    def spare_cores(self) -> int:
        return self.services.spare_cores


def _check_names(facts: Mapping[str, Any]) -> None:
    """Raises `InvalidInputError` for a field of a row that is an option of `create_llm`, or of files alone."""
    from ..catalogue.facts import OTHER_FIELDS, OTHER_NAMES

    for name in facts:
        field = OTHER_NAMES.get(name, name)
        if field in OTHER_FIELDS:
            raise InvalidInputError("is not a fact", path=f"facts.{name}", hint=_OPTIONS.get(field, _IN_FILES))


_OPTIONS = {
    "prices": "Pass it as create_llm(..., price=Price(input=2, output=10)), in dollars per million tokens.",
    "model": "Pass it as create_llm('PROVIDER/MODEL').",
    "provider": "Pass it as create_llm('PROVIDER/MODEL').",
}
_IN_FILES = 'Write it into models.toml: "Your own facts" in docs/catalogue.md.'


def _check_accepts(accepts: object) -> None:
    if not isinstance(accepts, list | tuple | set | frozenset) or not all(
        isinstance(kind, str) for kind in cast("list[object]", accepts)
    ):
        raise ConfigurationError(
            "`accepts` must be a list of kinds or media types.", hint="For example: accepts=['image']."
        )
    for kind in cast("list[str]", accepts):
        if kind not in MEDIA_KINDS and "/" not in kind:
            raise ConfigurationError(
                f"`accepts` has {shown(kind)}, which is neither a kind of file nor a media type.",
                hint=f"Kinds are {', '.join(MEDIA_KINDS)}; a media type is, for example, 'application/pdf'.",
            )
