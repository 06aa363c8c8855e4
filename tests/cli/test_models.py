"""`abstractcore models info`, `search` and `list --provider`: facts of the catalogue, and what a provider lists."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.catalogue import PriceHeader, read_price_rows
from abstractcore.ports import CatalogueFile
from abstractcore.registry import Registry
from abstractcore_cli import catalogues, model_lists
from abstractcore_cli.app import app
from abstractcore_cli.model_search import price_lines
from abstractcore_providers.vendors.anthropic import AnthropicProvider
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.catalogue_files import write_file
from tests.chaos_server import answer, failure

OPENAI = next(vendor for vendor in VENDORS if vendor.name == "openai")
HEADER = {
    "sources": {"page": "https://acme.example/models"},
    "unknown": {"assumed": ["image"]},
    "as_of": "2026-11-22",
}
ROWS = (
    {
        "model": "acme-5.5",
        "accepts": ["image/png", "application/pdf"],
        "context_tokens": 400_000,
        "thinking": {"levels": ["low", "high"], "can_be_off": False},
        "tools": "always",
        "source": "page",
        "checked": "2026-11-22",
        "prices": [
            {
                "rates": {"input": "2.50", "cache_read": "0.25", "output": "10", "web_search": "14"},
                "when": [{"input_over": 200000, "times": {"in": "2"}}, {"tier": ["batch"], "times": "0.5"}],
                "until": "2099-01-01",
                "source": "page",
                "checked": "2026-11-20",
            },
            {"rates": {"input": "5", "output": "20"}, "from": "2099-01-01"},
        ],
    },
    {"model": "acme-5.5-fast", "accepts": ["audio"], "context_tokens": 128_000, "tools": "never"},
    {"model": "acme-latest", "alias_of": "acme-5.5"},
    {"model": "acme-old", "accepts": ["image"], "context_tokens": 900_000, "retires": "2026-01-01"},
    {"family": "acme-6", "accepts": ["image"]},
)


@pytest.fixture(autouse=True)
def _catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two providers, of which one has the same model under another name."""
    registry = Registry()
    registry.add_provider(OPENAI)
    registry.add_provider(AnthropicProvider())
    registry.add_catalogue(
        CatalogueFile("openai", write_file(tmp_path / "o.jsonl", *ROWS, provider="openai", **HEADER))
    )
    other = {"model": "acme.acme-5-5", "context_tokens": 200_000, "accepts": ["video"]}
    registry.add_catalogue(CatalogueFile("cloud", write_file(tmp_path / "c.jsonl", other, provider="cloud")))
    monkeypatch.setattr(catalogues, "registry", lambda: registry)
    monkeypatch.setattr(model_lists, "registry", lambda: registry)
    user = tmp_path / "models.toml"
    user.write_text('[[models]]\nprovider = "openai"\nmodel = "acme-5.5-fast"\ncontext_tokens = 1000000\n')
    monkeypatch.setenv("ABSTRACTCORE_MODELS", str(user))


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["models", *arguments])


def lines(*arguments: str) -> list[list[str]]:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return [line.split("\t") for line in result.stdout.splitlines()]


def test_info_shows_the_facts_by_provider_with_prices_and_source():
    found = lines("info", "acme-5.5")
    assert found == [
        ["cloud/acme.acme-5-5", "accepts", "video"],
        ["cloud/acme.acme-5-5", "context_tokens", "200,000"],
        ["openai/acme-5.5", "accepts", "image/png, application/pdf"],
        ["openai/acme-5.5", "context_tokens", "400,000"],
        ["openai/acme-5.5", "thinking", "levels low, high; cannot be off; off by default"],
        ["openai/acme-5.5", "tools", "always"],
        [
            "openai/acme-5.5",
            "price",
            "until 2099-01-01: input $2.5, cache_read $0.25, output $10 per million; web_search $14 per 1,000",
        ],
        ["openai/acme-5.5", "price", "input over 200,000: input x2"],
        ["openai/acme-5.5", "price", "tier batch: x0.5"],
        ["openai/acme-5.5", "price", "from 2099-01-01: input $5, output $20 per million"],
        ["openai/acme-5.5", "price source", "https://acme.example/models, read on 2026-11-20"],
        ["openai/acme-5.5", "source", "https://acme.example/models, read on 2026-11-22"],
    ]


@pytest.mark.parametrize("arguments", [["openai/acme-latest"], ["acme-latest", "-p", "openai"], ["acme-latest"]])
def test_info_takes_an_alias_and_a_provider(arguments: list[str]):
    assert {line[0] for line in lines("info", *arguments)} == {"openai/acme-5.5"}


def test_info_names_the_facts_that_are_the_users(tmp_path: Path):
    result = invoke("info", "acme-5.5-fast")
    assert "openai/acme-5.5-fast\tcontext_tokens\t1,000,000 (yours)\n" in result.stdout
    assert f"openai: context_tokens from {tmp_path}/models.toml\n" in result.stderr


def test_info_explains_estimates_and_factors(tmp_path: Path):
    user = tmp_path / "models.toml"
    assert "cost_source" not in invoke("info", "openai/acme-5.5").stderr
    assert "a factor, such as x0.5, applies to all of them but fees" in invoke("info", "openai/acme-5.5").stderr
    user.write_text(
        '[[models]]\nprovider = "openai"\nmodel = "acme-5.5"\n'
        'prices = [{rates = {input = "3", output = "4"}, sure = false}]\n'
    )
    result = invoke("info", "openai/acme-5.5")
    assert "\tprice\tan estimate: input $3, output $4 per million (yours)\n" in result.stdout
    assert "costs computed with it have cost_source 'estimate'" in result.stderr


def test_info_of_an_unknown_model_names_similar_ones():
    result = invoke("info", "openai/acme-5.4")
    assert (
        "Calls of acme-5.4 have a warning, and options are sent as they are given. Did you mean acme-5.5"
        in result.stderr
    )


def test_info_marks_prices_that_are_the_users(tmp_path: Path):
    when = '{tier = ["batch"], rates = {cache_read = "0.5"}}'
    (tmp_path / "models.toml").write_text(
        '[[models]]\nprovider = "openai"\nmodel = "acme-5.5"\n'
        f'prices = [{{rates = {{input = "3", cache_read = "1", output = "4"}}, when = [{when}]}}]\n'
    )
    result = invoke("info", "openai/acme-5.5")
    assert "openai/acme-5.5\tprice\tinput $3, cache_read $1, output $4 per million (yours)\n" in result.stdout
    assert "openai/acme-5.5\tprice\ttier batch: cache_read $0.5 (yours)\n" in result.stdout
    assert f"openai: prices from {tmp_path}/models.toml\n" in result.stderr


def test_a_price_that_is_not_known_is_said_to_be_unknown():
    row = {
        "rates": {"input": "3", "cache_read": None, "output": "4"},
        "when": [{"tier": ["batch"], "rates": {"cache_read": None, "output": "2"}}],
    }
    assert list(price_lines(read_price_rows([row], PriceHeader()), 0.0)) == [
        "input $3, cache_read unknown, output $4 per million",
        "  tier batch: cache_read unknown, output $2",
    ]


def test_rows_of_the_user_for_a_misspelt_provider_have_a_note(tmp_path: Path):
    (tmp_path / "models.toml").write_text('[[models]]\nprovider = "opnai"\nmodel = "x"\n')
    result = invoke("search", "--vision")
    assert result.exit_code == 0
    assert f"{tmp_path}/models.toml: no provider is called 'opnai'. Did you mean openai?" in result.stderr


def test_error_in_a_file_names_the_fields_of_the_file(tmp_path: Path):
    (tmp_path / "models.toml").write_text(
        '[[models]]\nprovider = "openai"\nmodel = "x"\nrefused = ["max_output_token"]\n'
    )
    expected = "refused: 'max_output_token' is not an option. Did you mean max_output_tokens?"
    result = invoke("search", "--vision", "-p", "openai")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {tmp_path}/models.toml:4:1: model 'x': {expected}")
    assert expected in json.loads(invoke("search", "-p", "openai", "--json").stdout)["error"]["message"]


def test_search_goes_on_without_the_provider_of_a_bad_table(tmp_path: Path):
    (tmp_path / "models.toml").write_text('[[models]]\nprovider = "openai"\nmodel = "x"\ntols = "never"\n')
    result = invoke("search")
    assert (result.exit_code, result.stdout.split("\t")[:2]) == (0, ["cloud", "acme.acme-5-5"])
    problem = f"openai is left out: {tmp_path}/models.toml:4:1: model 'x': tols: no such field. Did you mean tools?"
    assert result.stderr.splitlines()[0] == problem
    assert list(json.loads(invoke("search", "--json").stdout)["left_out"]) == ["openai"]
    assert invoke("info", "cloud/acme.acme-5-5").stderr == ""
    assert invoke("info", "openai/acme-5.5").exit_code == 2


@pytest.mark.parametrize(
    ("model", "note"),
    [
        ("acme-6-pro", "openai has no row for acme-6-pro: it is known by its family acme-6 only."),
        ("other", "openai has no row for other: this is what it does for unknown models."),
    ],
)
def test_info_of_a_model_without_a_row_says_so(model: str, note: str):
    result = invoke("info", f"openai/{model}")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"openai/{model}\t")
    assert note in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "acme-5.4"], "error: the catalogue has no model 'acme-5.4'.\nDid you mean acme-5.5?"),
        (["info", "x", "-p", "opnai"], "error: the catalogue knows no models of 'opnai'.\nDid you mean openai?"),
        (["info", "opanai/acme-5.5"], "error: no provider is called 'opanai'.\nDid you mean openai/acme-5.5?"),
        (["search", "-p", "nobody"], "error: the catalogue knows no models of 'nobody'.\nIt knows models of cloud, o"),
        (["search", "--context", "many"], "error: 'many' is not a number of tokens.\nFor example: --context 200k."),
        (["search", "--max-price", "-1"], "error: '-1' is not a price in dollars per million tokens of input.\nFor e"),
        (["search", "--max-price", "nan"], "error: 'nan' is not a price"),
        (["list", "-p", "opnai"], "error: no provider is called 'opnai'.\nDid you mean openai?"),
    ],
)
def test_error_teaches(arguments: list[str], message: str):
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    as_json = json.loads(invoke(*arguments, "--json").stdout)
    assert as_json["exit_code"] == 2
    assert as_json["error"]["hint"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["acme.acme-5-5", "acme-5.5", "acme-5.5-fast"]),
        (["--vision"], ["acme-5.5"]),
        (["--pdf", "--tools", "--thinking", "--structured"], ["acme-5.5"]),
        (["--audio"], ["acme-5.5-fast"]),
        (["--audio", "--tools"], []),
        (["--video"], ["acme.acme-5-5"]),
        (["--context", "0.4M"], ["acme-5.5", "acme-5.5-fast"]),
        (["--context", "400,001"], ["acme-5.5-fast"]),
        (["--context", "200k", "-p", "cloud"], ["acme.acme-5-5"]),
        (["--context", "9" * 400], []),
        (["--max-price", "2.5"], ["acme-5.5"]),
        (["--max-price", "$2.49"], []),
    ],
)
def test_search_finds_models_that_are_not_retired(arguments: list[str], expected: list[str]):
    assert [line[1] for line in lines("search", *arguments)] == expected


def test_search_takes_a_part_of_the_name():
    assert [line[1] for line in lines("search", "5.5-F")] == ["acme-5.5-fast"]
    assert lines("search", "none") == []


def test_search_marks_unknown_tools_and_schemas_and_counts_them(tmp_path: Path):
    (tmp_path / "models.toml").write_text('[[models]]\nprovider = "openai"\nmodel = "mine"\naccepts = ["image"]\n')
    result = invoke("search", "--vision", "--tools", "--structured")
    assert [line.split("\t")[1::6] for line in result.stdout.splitlines()] == [
        ["acme-5.5", "always"],
        ["mine", "?"],
    ]
    assert result.stderr.splitlines()[1:] == [
        "1 of them are not known to call tools: see the column tools.",
        "2 of them are not known to answer by a schema: see the column output.",
    ]


def test_search_says_how_many_have_no_known_context(tmp_path: Path):
    (tmp_path / "models.toml").write_text('[[models]]\nprovider = "openai"\nmodel = "mine"\naccepts = ["image"]\n')
    result = invoke("search", "--vision", "--context", "1k")
    assert [line.split("\t")[1] for line in result.stdout.splitlines()] == ["acme-5.5"]
    assert "1 more are left out, since their context is unknown.\n" in result.stderr


@pytest.mark.parametrize("option", ["--tools", "--structured"])
def test_models_that_have_only_prices_do_not_chat(tmp_path: Path, option: str):
    (tmp_path / "c.jsonl").unlink()
    speech = {"model": "tts-1", "prices": [{"rates": {"character": "15"}}]}
    write_file(tmp_path / "c.jsonl", speech, {"model": "unknown"}, provider="cloud")
    assert [line[1] for line in lines("search", option, "-p", "cloud")] == ["unknown"]
    assert [line[1] for line in lines("search", "-p", "cloud")] == ["tts-1", "unknown"]


def test_search_and_info_go_on_without_a_damaged_file(tmp_path: Path):
    (tmp_path / "c.jsonl").write_text("{")
    for arguments in (["search", "--pdf"], ["info", "acme-5.5"]):
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
        assert "acme-5.5" in result.stdout
        assert f"cloud is left out: {tmp_path}/c.jsonl:1:2: not JSON" in result.stderr
    assert list(json.loads(invoke("search", "--json").stdout)["left_out"]) == ["cloud"]
    assert invoke("search", "-p", "cloud").exit_code == 2


def test_info_names_an_alias_and_other_providers(tmp_path: Path):
    assert "openai/acme-latest is an alias of acme-5.5.\n" in invoke("info", "openai/acme-latest").stderr
    assert "Providers that have a row for acme-5.5: openai.\n" in invoke("info", "cloud/acme-5.5").stderr


@pytest.mark.parametrize("model", ["some-maker/acme-5.5", "meta/acme-5.5"])
def test_info_takes_a_name_with_a_maker(model: str):
    assert {line[0] for line in lines("info", model)} == {"cloud/acme.acme-5-5", "openai/acme-5.5"}


def test_list_marks_retired_models():
    listed = {line[1]: line[-1] for line in lines("list", "-p", "openai", "--offline")}
    assert listed == {"acme-5.5": "yes", "acme-5.5-fast": "yes", "acme-old": "yes, retired"}


def test_search_shows_context_files_thinking_and_prices():
    assert lines("search", "--vision") == [["openai", "acme-5.5", "400k", "image pdf", "low-high", "2.5", "10"]]


def test_json_has_the_facts_as_they_are_in_rows():
    (model,) = json.loads(invoke("search", "--vision", "--json").stdout)["models"]
    assert model["facts"]["thinking"] == {"levels": ["low", "high"], "can_be_off": False}
    assert model["prices"][0]["rates"]["input"] == "2.50"
    (model,) = json.loads(invoke("info", "acme-5.5-fast", "--json").stdout)["models"]
    assert (model["provider"], model["own_facts"]) == ("openai", ["context_tokens"])


def listing(*names: str) -> bytes:
    body = json.dumps({"data": [{"id": name} for name in names]}).encode()
    return answer(body, content_type="application/json")


def test_list_is_live_and_marked_with_what_the_catalogue_knows(server: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    names = ("acme-5.5", "acme-latest", "acme-5.5-2026-10-07", "acme-6-x", "new")
    for _ in range(2):
        server.script(listing(*names))
    result = invoke("list", "-p", "openai", "--base-url", f"{server.url}/v1")
    assert [line.split("\t")[1:3] + line.split("\t")[-1:] for line in result.stdout.splitlines()] == [
        ["acme-5.5", "400k", "yes"],
        ["acme-latest", "400k", "acme-5.5"],
        ["acme-5.5-2026-10-07", "400k", "acme-5.5"],
        ["acme-6-x", "?", "family acme-6"],
        ["new", "?", "no"],
    ]
    assert result.stderr.startswith("5 models listed by the provider\nPrices are in dollars per million tokens; ? is")
    assert server.requests[0].headers["authorization"] == "Bearer k"
    data = json.loads(invoke("list", "-p", "openai", "--base-url", f"{server.url}/v1", "--json").stdout)
    assert data["live"] is True
    assert [(model["name"], model["match"]) for model in data["models"]][-2:] == [
        ("acme-6-x", "family"),
        ("new", "unknown"),
    ]


@pytest.mark.parametrize(
    ("arguments", "key", "reason"),
    [
        (["--offline"], "k", "--offline was given"),
        ([], "", "no API key. Set OPENAI_API_KEY."),
        (["--base-url", "http://127.0.0.1:1/v1"], "k", "cannot connect to http://127.0.0.1:1"),
    ],
)
def test_list_is_that_of_the_catalogue_if_the_provider_cannot_be_asked(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], key: str, reason: str
):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    result = invoke("list", "-p", "openai", *arguments)
    assert [line.split("\t")[1] for line in result.stdout.splitlines()] == ["acme-5.5", "acme-5.5-fast", "acme-old"]
    assert f"3 models of the catalogue; the provider was not asked: {reason}" in result.stderr


def test_list_of_a_provider_without_one_is_that_of_the_catalogue(server: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    server.script(failure(404, "no such path"))
    result = invoke("list", "-p", "openai", "--base-url", f"{server.url}/v1")
    assert "the provider was not asked: it has no list of models (no such path" in result.stderr


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://acme.example", "error: --base-url 'ftp://acme.example' is not a URL that begins with http"),
        ("http://u:a-secret@acme.example/v1", "not sent.\nSet the provider's environment variable.\n"),
    ],
)
def test_list_from_an_invalid_base_url_is_an_error(monkeypatch: pytest.MonkeyPatch, url: str, message: str):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    result = invoke("list", "-p", "openai", "--base-url", url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "a-secret" not in result.stderr


def test_rejected_key_is_an_error_without_the_key(server: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-key")
    server.script(failure(401, "wrong key sk-a-secret-key"))
    result = invoke("list", "-p", "openai", "--base-url", f"{server.url}/v1")
    assert result.exit_code == 3
    assert "sk-a-secret-key" not in result.output
    assert "openai/any" not in result.output
    assert "Check OPENAI_API_KEY" in result.stderr


def test_all_pages_are_listed_and_one_that_repeats_itself_ends_the_list(server: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    pages = [(["a", "b"], "b"), (["b", "c"], "c"), (["d"], "c")]
    for names, last in pages:
        body = {"data": [{"id": name} for name in names], "has_more": True, "last_id": last}
        server.script(answer(json.dumps(body).encode(), content_type="application/json"))
    found = lines("list", "-p", "anthropic", "--base-url", f"{server.url}/v1")
    assert [line[1] for line in found] == ["a", "b", "c", "d"]
    assert [request.target.rpartition("=")[2] for request in server.requests] == ["1000", "b", "c"]


@pytest.fixture
def terminal() -> Callable[..., Any]:
    from tests.terminal import Terminal

    return Terminal


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal")
@pytest.mark.parametrize("columns", [80, 40])
def test_lines_fit_the_terminal(terminal: Callable[..., Any], columns: int):
    command = [
        "-W",
        "error",
        "-c",
        "from abstractcore_cli import main; main()",
        "models",
        "search",
        "--pdf",
        "-p",
        "google",
    ]
    with terminal(command, dict(os.environ), columns) as window:
        assert window.wait_for_end() == 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", window.screen)
    assert "google" in text
    assert max(map(len, text.splitlines())) <= columns


def test_list_of_the_embedded_provider_is_that_of_stored_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(tmp_path))
    result = invoke("list", "-p", "local")
    assert result.exit_code == 0
    assert "not downloaded" in result.stdout
    listed = json.loads(invoke("list", "--json").stdout)
    assert (listed["stored"], listed["exit_code"]) == ([], 0)
    licences = {model["name"]: model["licence"] for model in listed["packaged"]}
    assert licences == licences | {
        "smollm2-135m-instruct": "Apache-2.0",
        "qwen2.5-coder-1.5b": "Apache-2.0",
        "whisper-base": "MIT",
        "whisper-tiny.en": "MIT",
    }
