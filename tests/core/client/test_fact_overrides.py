"""`create_llm(facts={...})`: the user's facts about a model override those of the catalogue, for every provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from abstractcore import InvalidInputError, Services, create_llm
from abstractcore.catalogue.facts import OTHER_FIELDS, OTHER_NAMES, fact_readers
from abstractcore.ports import ModelProfile, Thinking
from abstractcore.registry import Registry
from abstractcore_providers.scripted import ScriptedProvider
from tests.catalogue_files import catalogue_of


class CatalogueProvider(ScriptedProvider):
    """A provider that asks the catalogue, and keeps the answer."""

    profiles: ClassVar[list[ModelProfile]] = []

    def connect(self, config: Any, services: Any) -> Any:
        self.profiles.append(services.catalogue.profile("acme", config.model))
        return super().connect(config, services)


@pytest.fixture
def services(tmp_path: Path) -> Services:
    registry = Registry()
    registry.add_provider(CatalogueProvider("acme"))
    registry.add_provider(ScriptedProvider())
    row = {"model": "one", "context_tokens": 1, "thinking": {"levels": ["low"]}, "accepts": ["image"]}
    return Services(registry=registry, catalogue=catalogue_of(tmp_path, row, unknown={"assumed": ["image"]}))


def profile(model: str, services: Services, **options: Any) -> ModelProfile:
    create_llm("acme", model, replies=["a"], services=services, **options)
    return CatalogueProvider.profiles[-1]


def test_provider_is_given_the_facts_of_the_user_over_those_of_the_catalogue(services: Services):
    facts = {"context_tokens": 9, "thinking": {"can_be_off": False}, "settings": {"off": "none"}}
    assert profile("one", services, facts=facts) == ModelProfile(
        accepts=frozenset({"image"}),
        context_tokens=9,
        thinking=Thinking(("low",), can_be_off=False),
        settings={"off": "none"},
    )
    assert profile("one", services) == ModelProfile(frozenset({"image"}), 1, thinking=Thinking(("low",)))
    assert profile("two", services, facts={"tools": "never"}) == ModelProfile(
        assumed=frozenset({"image"}), tools="never"
    )


def test_accepts_is_short_for_the_fact_of_that_name(services: Services):
    for options in ({"accepts": ["audio"]}, {"facts": {"accepts": ["audio"]}}):
        assert profile("two", services, **options) == ModelProfile(frozenset({"audio"}))


def test_provider_that_does_not_ask_the_catalogue_has_the_facts_too(services: Services):
    llm = create_llm("scripted", replies=["a"], services=services, facts={"known": False})
    assert [warning.code for warning in llm.plan("hi").warnings] == ["unknown_model"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"facts": ["x"]}, r"facts: expected a mapping, got list\. For example: facts="),
        ({"facts": {"contxt_tokens": 1}}, r"facts\.contxt_tokens: no such field\. Did you mean context_tokens\?"),
        ({"facts": {"context_tokens": "1"}}, r"facts\.context_tokens: expected an integer of at least 0, got '1'"),
        ({"facts": {"thinking": {"levels": ["huge"]}}}, r"facts\.thinking\.levels\[0\]: 'huge' is not one of "),
        ({"facts": {"refused": ["heat"]}}, r"facts\.refused: 'heat' is not an option: expected one of "),
        *(
            ({"facts": {name: 1}}, rf"facts\.{name}: is not a fact\. Pass it as create_llm\(\.\.\., price=Price\(")
            for name in ("prices", "price", "cost", "input_cost_per_token")
        ),
        ({"facts": {"model": "m"}}, r"facts\.model: is not a fact\. Pass it as create_llm\('PROVIDER/MODEL'\)\."),
        ({"facts": {"like": "one"}}, r"facts\.like: is not a fact\. Write it into models\.toml: \"Your own facts\""),
        ({"facts": {"supports_vision": True}}, r"facts\.supports_vision: no such field\. Did you mean accepts\?"),
        ({"facts": {"context_window": 1}}, r"facts\.context_window: no such field\. Did you mean context_tokens\?"),
        ({"facts": {"reasoning": True}}, r"facts\.reasoning: no such field\. Did you mean thinking\?"),
        ({"facts": {"temperature": 1}}, r"facts\.temperature: no such field\. Did you mean sampling\?"),
        (
            {"facts": {"cache_times": ["forever"]}},
            r"facts\.cache_times: 'forever' is not a time: expected such as '5m'",
        ),
        ({"facts": {3: 1}}, r"facts\.3: no such field"),
        ({"facts": {"accepts": ["image"]}, "accepts": ["image"]}, r"facts\.accepts: given twice, also as `accepts`"),
    ],
)
def test_invalid_fact_is_refused_with_its_path(services: Services, options: dict[str, Any], expected: str):
    with pytest.raises(InvalidInputError, match=expected):
        create_llm("scripted", replies=["a"], services=services, **options)


def test_other_names_lead_to_fields_and_hide_none():
    known = {*fact_readers(), *OTHER_FIELDS}
    assert set(OTHER_NAMES.values()) <= known
    assert known.isdisjoint(OTHER_NAMES)
