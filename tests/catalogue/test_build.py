"""The script that builds the catalogue from its sources."""

import json
import shutil
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "catalogue"))
import build
from checks import check_settings
from model_facts import facts
from rows import CatalogueError, ProviderRows, hand_rows, merged, resolved, with_types

from abstractcore import Services, Usage
from abstractcore.ports import BilledResponse, ModelCatalogue
from tests.providers.catalogue_rows import PROVIDERS, lines
from tests.providers.catalogue_rows import rows as rows_of_files


def rows_of(tmp_path: Path, *lines: object) -> Path:
    (tmp_path / "maker.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return tmp_path


def test_a_line_becomes_a_row_at_each_provider(tmp_path: Path):
    line = {"model": "m", "tools": "always", "at": {"a": {}, "b": {"model": "maker/m", "tools": "never"}}}
    found = hand_rows(rows_of(tmp_path, line))
    assert found["a"].models == {"m": {"tools": "always"}}
    assert found["b"].models == {"maker/m": {"tools": "never"}}


def test_thinking_and_settings_are_merged_field_by_field():
    row = {"thinking": {"levels": ["low"], "can_be_off": True}, "refused": ["a"]}
    assert merged(row, {"thinking": {"can_be_off": False}, "refused": ["b"]}) == {
        "thinking": {"levels": ["low"], "can_be_off": False},
        "refused": ["b"],
    }


def test_a_kind_becomes_the_media_types_of_the_provider():
    row = with_types({"accepts": ["image", "application/pdf"]}, {"image": ["image/png", "image/gif"]})
    assert row["accepts"] == ["application/pdf", "image/gif", "image/png"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ({"model": "m", "at": {"a": {}}}, {"model": "m", "at": {"a": {}}}),
            "maker.jsonl:2: a has the model 'm' already",
        ),
        (({"at": {"a": {}}},), "maker.jsonl:1: expected one of model, family, template"),
        (({"model": "m"},), "maker.jsonl:1: expected"),
        (({"model": "m", "at": {"a": 1}},), "maker.jsonl:1: at.a: expected an object"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, lines: tuple[object, ...], message: str):
    with pytest.raises(CatalogueError, match=message):
        hand_rows(rows_of(tmp_path, *lines))


def test_a_line_that_is_not_json_is_reported_with_its_column(tmp_path: Path):
    (tmp_path / "maker.jsonl").write_text('{"model": }', encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"maker.jsonl:1:11: "):
        hand_rows(tmp_path)


def test_a_member_of_a_family_is_one_short_line():
    lines = (build.HERE / "rows" / "openai.jsonl").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if '"model": "gpt-6.1-terra"' in line)
    assert len(line) < 200


def test_the_built_files_are_up_to_date():
    assert build.out_of_date() == []


@pytest.mark.parametrize("path", sorted(build.OUTPUT.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_template_a_source_and_a_set_of_prices_have_a_line_each(path: Path):
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if "model" not in line and "family" not in line and "provider" not in line:
            ((name, value),) = line.items()
            assert name in ("names", "unknown", "every") or len(value) == 1
            assert len(value.get("sets", "1")) == 1


def test_the_tables_are_small():
    assert sum(path.stat().st_size for path in build.OUTPUT.glob("*.jsonl")) < 450_000


def test_the_page_has_a_line_for_each_provider_with_models():
    page = build.PAGE.read_text(encoding="utf-8")
    for path in build.OUTPUT.glob("*.jsonl"):
        has_models = '{"model"' in path.read_text(encoding="utf-8")
        assert (f"\n| `{path.stem}` | " in page) == has_models


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources of the catalogue, which the script reads."""
    copy = Path(shutil.copytree(build.HERE, tmp_path / "catalogue"))
    monkeypatch.setattr(build, "HERE", copy)
    return copy


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"contxt_tokens": 5}, r"acme.jsonl:1: model 'm': contxt_tokens: no such field.* context_tokens"),
        ({"context_tokens": "500k"}, r"acme.jsonl:1: model 'm': context_tokens: .*500k"),
        ({"retires": "soon"}, r"acme.jsonl:1: model 'm': retires: .*soon"),
        ({"accepts": 5}, r"acme.jsonl:1: model 'm': accepts: "),
        ({"thinking": {"level": []}}, r"acme.jsonl:1: model 'm': thinking.level: no such field"),
        ({"like": 5}, r"acme.jsonl:1: model 'm': like: expected a name"),
        ({"like": ["acme-3"]}, r"acme.jsonl:1: model 'm': xai has no template 'acme-3'"),
        ({"source": "acme.models"}, r"acme.jsonl:1: model 'm': sources.json does not name 'acme.models'"),
        ({"alias_of": "acme-9"}, r"acme.jsonl:1: xai: alias 'm': .*acme-9"),
        ({"alias_of": "m"}, r"acme.jsonl:1: xai: alias 'm': "),
        ({"at": {"xia": {}}}, r"acme.jsonl:1: there is no provider 'xia'"),
        ({"template": "t", "model": None, "contxt_tokens": 5}, r"acme.jsonl:1: template 't': contxt_tokens: no such"),
    ],
)
def test_a_wrong_fact_is_reported_with_the_line_of_its_row(sources: Path, row: dict[str, object], message: str):
    given: dict[str, object] = {"model": "m", "at": {"xai": {}}, **row}
    line = {name: value for name, value in given.items() if value is not None}
    (sources / "rows" / "acme.jsonl").write_text(json.dumps(line), encoding="utf-8")
    with pytest.raises(CatalogueError, match=message):
        build.out_of_date()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"rates": {"inptu": "1"}}, "inptu"),
        ({"rates": {"input": "cheap", "output": "1"}}, "cheap"),
        ({"source": "page"}, "prices.rates: missing"),
        ({"rates": {"input": "1", "output": "2"}, "from": "soon"}, "prices.from: .*soon"),
        ({"rates": {"input": "1", "output": "2"}, "whn": []}, "'whn' is not a field"),
    ],
)
def test_a_wrong_price_is_reported_with_its_line(sources: Path, row: dict[str, object], message: str):
    path = sources / "prices" / "mistral.jsonl"
    number = len(path.read_text(encoding="utf-8").splitlines()) + 1
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"model": "m", **row}) + "\n")
    with pytest.raises(CatalogueError, match=rf"mistral.jsonl:{number}: model 'm': .*{message}"):
        build.out_of_date()


@pytest.mark.exhaustive
def test_two_prices_of_a_model_for_one_day_are_reported(sources: Path):
    with (sources / "prices" / "mistral.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(
            f'{{"model": "mistral-large-2512", "rates": {{"input": "{rate}", "output": "1"}}}}\n' for rate in "12"
        )
    with pytest.raises(CatalogueError, match=r"prices/mistral.jsonl: mistral: model 'mistral-large-2512': prices"):
        build.out_of_date()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["sources.json", "providers/xai.json"])
def test_a_source_that_is_not_json_is_reported_with_its_place(sources: Path, name: str):
    (sources / name).write_text("{\n  x", encoding="utf-8")
    with pytest.raises(CatalogueError, match=rf"^{Path(name).name}:2:3: "):
        build.out_of_date()


@pytest.fixture(scope="module")
def catalogue() -> ModelCatalogue:
    return Services(environment={"ABSTRACTCORE_MODELS": ""}).catalogue


def test_every_context_and_date_that_the_other_source_has_is_in_the_rows(catalogue: ModelCatalogue):
    listed = facts(build.HERE / "sources" / "model_facts.jsonl")
    rows = hand_rows(build.HERE / "rows")
    for provider, by_model in listed.items():
        for model in set(by_model) & set(rows[provider].models):
            for name in ("context_tokens", "retires"):
                if name in by_model[model] and "alias_of" not in rows[provider].models[model]:
                    stated = resolved(rows[provider].models[model], rows[provider].templates)
                    found = catalogue.entry(provider, model).facts
                    assert found.get(name) == stated.get(name, by_model[model][name]), (provider, model, name)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_output_is_limited_only_where_a_vendor_s_page_says_so(provider: str):
    """A row of a dated name that only another source has may have the limit of the name without the date."""
    header = build.json_of(build.HERE / "providers" / f"{provider}.json")
    of = header.get("models_of", {}).get("provider", provider)
    kept = hand_rows(build.HERE / "rows").get(of, ProviderRows())
    pages = {row.get("max_output_tokens") for row in (*kept.models.values(), *kept.templates.values())}
    assert {row["max_output_tokens"] for row in lines(provider) if "max_output_tokens" in row} <= pages


@pytest.mark.parametrize("provider", ["bedrock-anthropic", "vertex-anthropic"])
def test_models_of_another_provider_have_its_facts_but_those_of_the_provider(catalogue: ModelCatalogue, provider: str):
    for model in rows_of_files("anthropic"):
        profile, other = catalogue.profile(provider, model), catalogue.profile("anthropic", model)
        assert (profile.thinking, profile.settings, profile.refused) == (other.thinking, other.settings, other.refused)
        assert (profile.retires, profile.file_ids, profile.urls) == (None, frozenset(), {})


@pytest.mark.parametrize(
    ("provider", "model", "most"),
    [
        ("bedrock", "deepseek.v3.2", None),
        ("bedrock", "qwen.qwen3-vl-235b-a22b", None),
        ("bedrock", "google.gemma-3-27b-it", None),
        ("xai", "grok-4.5", None),
        ("openai", "gpt-4", 8192),
        ("openai", "o1-mini", 65_536),
    ],
)
def test_limit_of_an_output(catalogue: ModelCatalogue, provider: str, model: str, most: int | None):
    assert catalogue.profile(provider, model).max_output_tokens == most


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o", "schema"),
        ("gpt-4o-2024-11-20", "schema"),
        ("gpt-4o-2024-05-13", "none"),
        ("gpt-4-turbo", "none"),
        ("gpt-3.5-turbo-1106", "none"),
    ],
)
def test_schemas_are_sent_to_models_that_support_them(catalogue: ModelCatalogue, model: str, expected: str):
    assert catalogue.profile("openai", model).structured_output == expected


@pytest.mark.parametrize(
    ("provider", "model", "context"),
    [
        ("xai", "grok-4.6", 500_000),
        ("xai", "grok-4.5", 500_000),
        ("xai", "grok-4.5-latest", 500_000),
        ("mistral", "mistral-medium-latest", 262_144),
        ("mistral", "mistral-medium-3.5", 262_144),
        ("mistral", "mistral-medium-3-5", 262_144),
        ("mistral", "mistral-large-3", 262_144),
        ("mistral", "ministral-3b-latest", 131_072),
    ],
)
def test_models_of_mistral_and_xai_have_their_context(
    catalogue: ModelCatalogue, provider: str, model: str, context: int
):
    assert catalogue.profile(provider, model).context_tokens == context


@pytest.mark.parametrize(
    ("provider", "one", "other"),
    [
        ("xai", "grok-4.5-latest", "grok-4.5"),
        ("mistral", "mistral-medium-3.5", "mistral-medium-3-5"),
        ("mistral", "mistral-large-3", "mistral-large-2512"),
        ("mistral", "ministral-3-8b-2512", "ministral-8b-latest"),
        ("mistral", "codestral-latest", "codestral-2508"),
        ("anthropic", "claude-opus-4-20250514", "claude-opus-4-0"),
        ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4-0"),
    ],
)
def test_two_names_of_a_model_have_one_row(catalogue: ModelCatalogue, provider: str, one: str, other: str):
    assert catalogue.entry(provider, one) == catalogue.entry(provider, other)
    assert catalogue.entry(provider, one).match == "model"


def test_claude_opus_4_has_its_own_limits(catalogue: ModelCatalogue):
    profile = catalogue.profile("anthropic", "claude-opus-4-20250514")
    assert (profile.max_output_tokens, profile.retires) == (32_000, "2026-06-15")
    assert profile.thinking is not None
    assert profile.thinking.budget == (1024, 31_999)


@pytest.mark.parametrize("model", ["voxtral-small-2507", "voxtral-small-latest"])
def test_a_model_of_mistral_that_hears_does_not_see(catalogue: ModelCatalogue, model: str):
    profile = catalogue.profile("mistral", model)
    assert profile.accepts == {"audio/mpeg", "audio/wav"}
    assert not profile.assumed


@pytest.mark.parametrize(
    ("provider", "model", "day"),
    [("openai-responses", "gpt-5.1-codex", "2026-07-23"), ("vertex", "gemini-2.5-pro", "2026-10-20")],
)
def test_a_date_that_the_row_does_not_state_is_taken(catalogue: ModelCatalogue, provider: str, model: str, day: str):
    assert catalogue.profile(provider, model).retires == day


@pytest.mark.exhaustive
def test_facts_that_are_taken_are_listed_and_null_is_a_difference(sources: Path):
    path = sources / "rows" / "xai.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"grok-4.6", ', '"grok-4.6", "context_tokens": null, ', 1), encoding="utf-8")
    page = dict(build.built_files())[sources / "differences.md"]
    assert "| xai | grok-4.6 | context_tokens | None | 500000 | xai.reasoning |\n" in page
    assert "| xai | grok-4.6 | context_tokens" not in page.partition("## Facts that")[2]
    assert "| xai | grok-4.5 | context_tokens 500000 |\n" in page


def test_every_source_is_an_address_or_a_page_of_the_package():
    sources = json.loads((build.HERE / "sources.json").read_text(encoding="utf-8"))
    assert not [name for name, page in sources.items() if not page.startswith(("https://", "docs/"))]


WITHOUT_PRICE = {
    "cerebras": {
        "gemma-4-31b": "not on shared servers any more: prices of dedicated ones are by contract",
        "kimi-k3": "on dedicated servers only",
        "llama3.1-70b": "ended, in no price table",
        "zai-glm-4.7": "ended on shared servers",
        "zai-glm-5.3": "on dedicated servers only",
    },
    "fireworks": {
        "accounts/fireworks/models/glm-4p5": "not on shared servers any more",
        "accounts/fireworks/models/glm-4p6": "not on shared servers any more",
        "accounts/fireworks/models/kimi-k2": "not on shared servers any more",
        "accounts/fireworks/models/kimi-k2-thinking": "not on shared servers any more",
        "accounts/fireworks/models/minimax-m2": "not on shared servers any more",
        "fireworks/qwen3-embedding-8b": "embeds; no page with its price was found",
    },
    "together": {},
}
"""Living models without a price, and why: no page with one was found."""


@pytest.mark.parametrize("provider", WITHOUT_PRICE)
def test_living_models_of_resellers_have_prices(catalogue: ModelCatalogue, provider: str):
    rows = [json.loads(line) for line in (build.OUTPUT / f"{provider}.jsonl").read_text(encoding="utf-8").splitlines()]
    chat = [row for row in rows if "model" in row and "alias_of" not in row]
    living = [row for row in chat if (row.get("retires") or "9") > "2026-11-22"]
    assert {row["model"] for row in living if "prices" not in row} == set(WITHOUT_PRICE[provider])


@pytest.mark.parametrize(
    ("provider", "model", "dollars", "source"),
    [
        ("together", "moonshotai/Kimi-K3", "18", "computed"),
        ("together", "zai-org/GLM-5.3-Flash", "0.65", "computed"),
        ("together", "deepseek-ai/DeepSeek-V4-Pro", "5.28", "estimate"),
        ("together", "MiniMaxAI/MiniMax-M2.7", "1.5", "estimate"),
        ("fireworks", "accounts/fireworks/models/deepseek-v4-pro", "5.22", "computed"),
        ("fireworks", "accounts/fireworks/models/glm-5", "4.2", "computed"),
        ("fireworks", "accounts/fireworks/routers/kimi-k3-fast", "27", "computed"),
        ("cerebras", "gpt-oss-120b", "1.1", "computed"),
    ],
)
def test_prices_of_resellers(catalogue: ModelCatalogue, provider: str, model: str, dollars: str, source: str):
    """docs.fireworks.ai/serverless/pricing; two price tables that agree, or one, as an estimate."""
    charge = catalogue.pricing(provider, model).charge(
        BilledResponse(Usage(1_000_000, 1_000_000), requested_at=1_795_300_000)
    )
    assert (charge.dollars, charge.source) == (Decimal(dollars), source)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ({"provider": "a", "unknown": {"settings": {"signed_call": True}}}, "providers/a.json: a: unknown.settings"),
        ({"model": "m", "settings": {"signed_call": True}}, "maker.jsonl:1: a: settings"),
        (
            {"provider": "a", "templates": {"t": {"settings": {"signed_call": True}}}},
            "maker.jsonl:2: a: templates.t.sett",
        ),
    ],
)
def test_setting_that_the_format_does_not_know_is_an_error_at_its_line(tmp_path: Path, line: Any, place: str):
    rows = hand_rows(rows_of(tmp_path, {"model": "m", "at": {"a": {}}}, {"template": "t", "at": {"a": {}}}))["a"]
    known = frozenset({"signed_calls"})
    with pytest.raises(CatalogueError, match=f"{place}.*no such setting.*Did you mean 'signed_calls'"):
        check_settings("a", json.dumps(line), rows, known)
    check_settings("a", json.dumps(line).replace("signed_call", "signed_calls"), rows, known)
