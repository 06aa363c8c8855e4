"""Looking up a model: its row with what it shares, then its family, then what every unknown model gets."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ConfigurationError
from abstractcore.catalogue import FileCatalogue
from abstractcore.catalogue import rows as aliases
from abstractcore.catalogue.rows import ModelRow
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile, Thinking
from abstractcore.schema import Message, ModelCall, Sampling
from tests.catalogue_files import PROVIDER, catalogue_of, write_file


def profile(catalogue: FileCatalogue, model: str) -> ModelProfile:
    return catalogue.profile(PROVIDER, model)


def test_header_on_several_lines_is_that_on_one(tmp_path: Path):
    row = {"model": "one", "like": ["b"], "source": "two", "prices": [{"rates": {"input": "1"}, "when": "half"}]}
    header: dict[str, Any] = {
        "sources": {"page": "https://acme.example", "two": "https://acme.example/2"},
        "templates": {"a": {"context_tokens": 5}, "b": {"like": ["a"], "tools": "never"}},
        "prices": {
            "sets": {"half": [{"tier": ["batch"], "times": "0.5"}], "all": []},
            "tool_fees": {"web_search": "1"},
        },
        "names": {"tags": True},
    }
    (tmp_path / "lines").mkdir()
    parts = [
        *({"sources": {name: address}} for name, address in header["sources"].items()),
        *({"templates": {name: facts}} for name, facts in header["templates"].items()),
        *({"prices": {"sets": {name: conditions}}} for name, conditions in header["prices"]["sets"].items()),
        {"prices": {"tool_fees": header["prices"]["tool_fees"]}},
        {"names": header["names"]},
    ]
    whole, split = catalogue_of(tmp_path, row, **header), catalogue_of(tmp_path / "lines", *parts, row)
    assert split.models(PROVIDER).names == whole.models(PROVIDER).names == ["one"]
    assert split.entry(PROVIDER, "one:tag") == whole.entry(PROVIDER, "one:tag")
    assert split.models(PROVIDER).price_rows("one") == whole.models(PROVIDER).price_rows("one")


def test_row_says_every_field_of_a_profile(tmp_path: Path):
    row = {
        "model": "one",
        "accepts": ["image/png", "text"],
        "produces": ["image"],
        "context_tokens": 1000,
        "media_limits": {"images": 100},
        "sampling": {"temperature": 1, "stop": ["END"]},
        "thinking": {"levels": ["low", "max"], "budget": [1, 9], "words": {"max": "ultra"}, "on_by_default": True},
        "tools": "without_thinking",
        "refused_with_level": {"max": ["temperature"]},
        "refused_together": [["temperature", "top_p"]],
        "ranges": {"temperature": [0, 1.5]},
        "cache_times": ["5m", "1h"],
        "retires": "2026-12-11",
        "settings": {"off": "between_tools"},
        "checked": "2026-11-22",
        "source": "page",
    }
    catalogue = catalogue_of(tmp_path, row, sources={"page": "https://acme.example/models"})
    assert profile(catalogue, "one") == ModelProfile(
        accepts=frozenset({"image/png", "text"}),
        produces=frozenset({"image"}),
        context_tokens=1000,
        media_limits={"images": 100},
        sampling=Sampling(temperature=1, stop=("END",)),
        thinking=Thinking(("low", "max"), (1, 9), words={"max": "ultra"}, on_by_default=True),
        tools="without_thinking",
        refused_with_level={"max": frozenset({"temperature"})},
        refused_together=(("temperature", "top_p"),),
        ranges={"temperature": (0, 1.5)},
        cache_times=("5m", "1h"),
        retires="2026-12-11",
        settings={"off": "between_tools"},
        checked="2026-11-22",
        source="https://acme.example/models",
    )


def test_later_facts_win_whole_but_thinking_and_settings_by_key(tmp_path: Path):
    catalogue = catalogue_of(
        tmp_path,
        {"model": "one", "like": ["b"], "thinking": {"can_be_off": False}, "ranges": {"top_p": [0, 1]}},
        {"model": "two", "like": ["a", "b"], "accepts": []},
        {"model": "three", "like": ["b"], "thinking": None},
        every={"cache_points": 0, "context_tokens": 1, "ranges": {"temperature": [0, 2]}},
        templates={
            "a": {"accepts": ["image"], "context_tokens": 2, "settings": {"x": 1, "y": 1}},
            "b": {"like": ["a"], "context_tokens": 3, "settings": {"y": 2}, "thinking": {"levels": ["high"]}},
        },
    )
    one = profile(catalogue, "one")
    assert (one.cache_points, one.context_tokens, one.accepts) == (0, 3, frozenset({"image"}))
    assert one.settings == {"x": 1, "y": 2}
    assert one.thinking == Thinking(("high",), can_be_off=False)
    assert one.ranges == {"top_p": (0, 1)}
    assert profile(catalogue, "two").accepts == frozenset()
    assert profile(catalogue, "three").thinking is None


@pytest.mark.parametrize("name", ["one", "one-2026-10-07", "models/one", "latest", "newest", "models/newest"])
def test_name_variant_and_alias_find_the_same_entry(tmp_path: Path, name: str):
    catalogue = catalogue_of(
        tmp_path,
        {"model": "latest", "alias_of": "newest"},
        {"model": "newest", "alias_of": "one"},
        {"model": "one", "context_tokens": 5},
        names={"after": ["/"]},
    )
    assert profile(catalogue, name) == ModelProfile(context_tokens=5)
    assert catalogue.entry(PROVIDER, name) is catalogue.entry(PROVIDER, "one")


def test_row_of_a_dated_name_wins_over_the_row_without_a_date(tmp_path: Path):
    catalogue = catalogue_of(
        tmp_path, {"model": "one", "context_tokens": 1}, {"model": "one-2026-10-07", "context_tokens": 2}
    )
    assert profile(catalogue, "one-2026-10-07").context_tokens == 2
    assert profile(catalogue, "one-2026-10-08").context_tokens == 1


def test_nothing_that_refuses_is_taken_from_a_family(tmp_path: Path):
    family = {
        "family": "gpt-6",
        "accepts": ["image"],
        "accepts_prefill": False,
        "cache_points": 4,
        "context_tokens": 9,
        "forced_tools": "never",
        "max_output_tokens": 5,
        "media_limits": {"images": 1},
        "no_effect": ["top_k"],
        "output_with_tools": False,
        "parallel_tools": False,
        "ranges": {"temperature": [0, 1]},
        "ranges_with_thinking": {"temperature": [0, 1]},
        "refused": ["top_p"],
        "refused_together": [["temperature", "top_p"]],
        "refused_with_level": {"high": ["top_p"]},
        "refused_with_thinking": ["top_p"],
        "retires": "2026-01-01",
        "sampling": {"max_output_tokens": 5},
        "settings": {"off": "x"},
        "structured_output": "none",
        "thinking": {"levels": ["low"], "can_be_off": False},
        "tools": "never",
    }
    catalogue = catalogue_of(tmp_path, family, unknown={"assumed": ["audio"], "encodable": ["document"]})
    assert profile(catalogue, "gpt-6-nova") == ModelProfile(
        assumed=frozenset({"image"}),
        cache_points=4,
        context_tokens=9,
        encodable=frozenset({"document"}),
        family="gpt-6",
        known=False,
        sampling=Sampling(max_output_tokens=5),
        settings={"off": "x"},
    )
    assert catalogue.entry(PROVIDER, "gpt-6-nova").name == "gpt-6"
    (warning,) = lower(ModelCall("gpt-6-nova", (Message.user("hi"),)), profile(catalogue, "gpt-6-nova"), ()).warnings
    assert warning.message.startswith("the model 'gpt-6-nova' is unknown, but for its family 'gpt-6': it may not ")
    assert profile(catalogue, "gpt-6.2") == profile(catalogue, "else")


def test_model_without_a_row_gets_the_facts_of_unknown_ones(tmp_path: Path):
    catalogue = catalogue_of(tmp_path, unknown={"assumed": ["image"]}, every={"cache_points": 0})
    assert profile(catalogue, "any") == ModelProfile(assumed=frozenset({"image"}), known=False)
    assert catalogue.entry(PROVIDER, "any").match == "unknown"


def test_names_of_unknown_models_may_be_free(tmp_path: Path):
    assert profile(catalogue_of(tmp_path, unknown={"known": True}), "any").known


def test_family_of_free_names_says_nothing_of_being_unknown(tmp_path: Path):
    catalogue = catalogue_of(tmp_path, {"family": "acme-3", "tool_prompt": "hermes"}, unknown={"known": True})
    found = profile(catalogue, "Maker/Acme-3-8B")
    assert found == ModelProfile(family="acme-3", tool_prompt="hermes")
    assert lower(ModelCall("Maker/Acme-3-8B", (Message.user("hi"),)), found, ()).warnings == ()


def test_provider_without_a_file_knows_no_model(tmp_path: Path):
    assert FileCatalogue(dict, {}, updates=tmp_path).profile("none", "any") == ModelProfile(known=False)


def test_file_is_opened_at_the_first_look_up_of_its_provider(tmp_path: Path):
    catalogue = catalogue_of(tmp_path, {"model": "one"})
    (tmp_path / f"{PROVIDER}.jsonl").unlink()
    with pytest.raises(ConfigurationError, match=r"acme\.jsonl does not exist"):
        catalogue.profile(PROVIDER, "one")
    write_file(tmp_path / f"{PROVIDER}.jsonl", {"model": "one"})
    assert catalogue.profile(PROVIDER, "one").known


def test_resource_of_a_package_can_be_a_file(tmp_path: Path):
    from importlib.resources import files

    from abstractcore.ports import CatalogueFile

    written = write_file(tmp_path / "acme.jsonl", {"model": "one"})
    resource = files("tests").joinpath("../" * 40 + str(written))
    catalogue = FileCatalogue(lambda: {PROVIDER: CatalogueFile(PROVIDER, resource)}, {}, updates=tmp_path / "none")
    assert catalogue.profile(PROVIDER, "one").known


@pytest.mark.parametrize(("update", "tokens"), [("2026-11-23", 2), ("2026-11-22", 1), ("2026-10-01", 1), (None, 1)])
def test_later_file_of_the_folder_of_updates_replaces_that_of_the_plugin(
    tmp_path: Path, update: str | None, tokens: int
):
    (tmp_path / "updates").mkdir()
    header = {} if update is None else {"as_of": update}
    write_file(tmp_path / "updates" / "acme.jsonl", {"model": "one", "context_tokens": 2}, **header)
    catalogue = catalogue_of(tmp_path, {"model": "one", "context_tokens": 1}, as_of="2026-11-22")
    assert profile(catalogue, "one").context_tokens == tokens


def test_look_up_and_load_do_work_in_proportion_to_their_input(tmp_path: Path):
    """Wide bounds on processor time: 120 rows load in about 1 ms, and a look-up takes about 1 us."""
    facts = {
        "like": ["a"],
        "context_tokens": 1,
        "accepts": ["image/png"] * 20,
        "source": "page",
        "checked": "2026-11-22",
    }
    rows = [json.dumps({"model": f"model-{number}", **facts}) for number in range(120)]
    catalogue = catalogue_of(tmp_path, *rows, templates={"a": {}}, sources={"page": "https://acme.example"})
    catalogue.profile(PROVIDER, "warm-up")
    again = catalogue_of(tmp_path, *rows, templates={"a": {}}, sources={"page": "https://acme.example"})
    began = time.process_time()
    again.models(PROVIDER)
    assert time.process_time() - began < 0.1
    catalogue.profile(PROVIDER, "model-7")
    began = time.process_time()
    for _ in range(1000):
        catalogue.profile(PROVIDER, "model-7")
    assert time.process_time() - began < 0.1


def test_each_alias_of_a_chain_is_followed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    steps: list[ModelRow] = []
    chain = aliases._chain  # pyright: ignore[reportPrivateUsage]

    def counted(row: ModelRow, models: Mapping[str, ModelRow], sound: Set[str]) -> list[ModelRow]:
        found = chain(row, models, sound)
        steps.extend(found)
        return found

    rows = [{"model": f"m{n}", "alias_of": f"m{n + 1}"} for n in range(500)]
    models = catalogue_of(tmp_path, *rows, {"model": "m500", "context_tokens": 7}).models(PROVIDER)
    monkeypatch.setattr(aliases, "_chain", counted)
    models.check()
    assert {models.entry(name).profile.context_tokens for name in models.names} == {7}
    assert len(steps) < 10 * len(rows)
