"""Model names in docs and code are not retired: each is in tests/model_names.toml, with its end date."""

import ast
import json
import os
import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from anthropic.resources.messages.messages import DEPRECATED_MODELS
from anthropic.types import ModelParam
from openai.types.shared import chat_model

from abstractcore import Services
from abstractcore.catalogue import FileCatalogue
from abstractcore.ports import HasModelExamples
from tests import live

ROOT = Path(__file__).parents[1]
TABLE: dict[str, Any] = tomllib.loads((ROOT / "tests" / "model_names.toml").read_text(encoding="utf-8"))
CHECKED: date = TABLE.pop("checked")
LEAST = timedelta(days=90)
ROWS: dict[tuple[str, str], date | None] = {
    (provider, model): row.get("ends") for provider, rows in TABLE.items() for model, row in rows["models"].items()
}
FORMATS = {"gemma4", "llama3"}
"""Formats of tools in prompts with the name of a model that no page names."""
NAMES = {model.rpartition("/")[2] for _, model in ROWS} | FORMATS
SHAPES = re.compile(
    r"""(?<![\w.-])(?:(?:[a-z]+\.)?[a-z]+\.(?=nova-|claude-))?(?:
        gpt-(?:oss-\d+b|\d[\w.]*(?:-\w+)*)
      | o[134](?:-(?:mini|pro)[\w-]*)?
      | claude-(?:[a-z]+-)?\d[\w.:-]*
      | gemini-\d[\w.-]*
      | nova-[\w.:-]+
      | (?:mistral|ministral|magistral|codestral|devstral|pixtral)-(?:\d|large|medium|small|latest|tiny)[\w.-]*
      | command-(?:a|r)[\w-]*
      | grok-\d[\w.-]*
      | deepseek-(?:chat|reasoner|flash|coder|[rv]\d)[\w.-]*
      | sonar(?:-[a-z]+)*
      | (?:llama|qwen|gemma|phi|kimi-k|glm)-?\d[\w.:-]*
    )(?![\w-])""",
    re.VERBOSE,
)
BUILT = re.compile("<!-- built by catalogue/build.py -->.*?<!-- end -->", re.DOTALL)
"""Tables of the catalogue, which has its own check: tests/catalogue/test_examples.py."""
PAGES = [ROOT / "README.md", *(path for path in (ROOT / "docs").glob("*.md") if path.name != "wire-formats.md")]
"""Not the records in docs/decisions, and not the page that is made of the tests' own examples."""


WITHOUT_ENDS = {
    ROOT / "abstractcore/stores/models/packages.py": "weights",
    ROOT / "abstractcore/tools/prompted/formats.py": "formats, called after the models that were trained on them",
}
"""Modules that name models that do not end."""
TOOL_PROMPTS = {
    json.loads(line).get("tool_prompt") for line in (ROOT / "catalogue" / "tool_prompts.jsonl").read_text().splitlines()
}
"""Formats of tools in prompts, some of which are called like models."""


def names_in(text: str) -> set[str]:
    """Returns the model names in a text, without trailing full stops."""
    return {found[0].rstrip(".:-") for found in SHAPES.finditer(text)} - TOOL_PROMPTS


def code(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def model_strings_in(path: Path) -> str:
    """Returns the texts of a module for people: docstrings and hints."""
    said: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        shown = node.value if isinstance(node, ast.Expr | ast.keyword) else None
        if isinstance(node, ast.keyword) and node.arg not in ("hint", "help", "summary"):
            continue
        if shown is not None:
            said += [
                each.value for each in ast.walk(shown) if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
    return "\n".join(said)


@cache
def texts() -> dict[str, str]:
    """Returns the texts that people read, by file."""
    whole = [*PAGES, *(path for path in code("examples", "abstractcore", "server") if path not in WITHOUT_ENDS)]
    found = {str(path.relative_to(ROOT)): BUILT.sub("", path.read_text(encoding="utf-8")) for path in whole}
    found |= {str(path.relative_to(ROOT)): model_strings_in(path) for path in code("providers", "media")}
    for name, provider in Services().registry.providers.items():
        found[f"the provider {name}"] = "\n".join([provider.summary, *provider.options.values()])
    return found


def provider_examples() -> set[tuple[str, str]]:
    """The examples in providers' errors, and the models that `tests.live` calls."""
    shown = set(live.MODELS.items()) | {("ollama", live.OWN_SERVERS["ollama"])}
    for name, provider in Services().registry.providers.items():
        if isinstance(provider, HasModelExamples):
            shown |= {(name, example) for beginning, example in provider.model_examples.items() if example != beginning}
    return shown


@pytest.mark.parametrize("row", ROWS, ids="/".join)
def test_models_had_ninety_days_left_when_they_were_checked(row: tuple[str, str]):
    ends = ROWS[row]
    assert ends is None or ends - CHECKED >= LEAST


@pytest.mark.parametrize("row", ROWS, ids="/".join)
def test_models_have_ninety_days_left_by_the_catalogue(row: tuple[str, str]):
    provider, model = row
    retires = Services(environment={}).catalogue.profile(provider, model).retires
    assert retires is None or date.fromisoformat(retires) - CHECKED >= LEAST


WITHOUT_ROW = {
    ("google", "gemini-3.5-transcribe"): "an example of a model that the catalogue does not know",
    ("ollama", "phi4"): "accepts text only, as an unknown one",
    ("openrouter", "meta-llama/llama-3.3-70b-instruct"): "known by its family",
    ("openrouter", "mistralai/mistral-large"): "known by its family",
    ("openrouter", "moonshotai/kimi-k2"): "known by its family",
    ("openrouter", "qwen/qwen3-32b"): "known by its family",
    ("openrouter", "z-ai/glm-4.6"): "known by its family",
}


WITHOUT_ROWS = {
    "baseten", "bedrock-openai", "cloudflare", "dashscope", "databricks", "deepinfra", "huggingface", "hyperbolic",
    "minimax", "moonshot", "nebius", "novita", "nvidia", "portkey", "sambanova", "vercel", "vertex-openai",
    "zai",
}  # fmt: skip
"""Providers whose models are unknown to the catalogue, but for their families."""


@pytest.mark.parametrize("row", ROWS, ids="/".join)
def test_models_have_a_row_of_the_catalogue(row: tuple[str, str]):
    """Without one, the check of the date of retirement is no check."""
    provider, model = row
    match = FileCatalogue(lambda: Services().registry.catalogues, {}, user_file=Path(os.devnull)).entry(*row).match
    without = row in WITHOUT_ROW or provider in WITHOUT_ROWS
    assert (match != "model") == without, f"{provider} has a row for {model}: {match}"


@pytest.mark.exhaustive
def test_every_model_name_in_docs_is_in_the_table():
    found = {(name, where) for where, text in texts().items() for name in names_in(text) if name not in NAMES}
    assert found == set()


def test_every_model_name_in_providers_and_tests_is_in_the_table():
    assert {shown for shown in provider_examples() if shown not in ROWS} == set()


def test_every_model_in_the_table_is_used():
    everywhere = {name for text in texts().values() for name in names_in(text)}
    shown = provider_examples()
    assert {row for row in ROWS if row not in shown and row[1].rpartition("/")[2] not in everywhere} == set()


def test_deprecations_match_the_openai_package():
    source = Path(str(chat_model.__file__)).read_text(encoding="utf-8")
    known = {name for literal in get_args(chat_model.ChatModel) for name in get_args(literal) or (literal,)}
    ends = {
        name: date.fromisoformat(found[2])
        for found in re.finditer(r'- ((?:"[^"]+",?\s+)*"[^"]+"):\s+Announced shutdown\s+date:\s+([\d-]+)', source)
        for name in re.findall(r'"([^"]+)"', found[1])
    }
    assert ends["gpt-5-mini"] == date(2026, 12, 11), "the package is read as it is written"
    for provider, name in ROWS:
        if provider in ("openai", "openai-responses"):
            assert name in known
            assert ends.get(name) == ROWS[provider, name]


def test_deprecations_match_the_anthropic_package():
    known = {name for part in get_args(ModelParam) for name in get_args(part)}
    assert "claude-sonnet-4-5" in known & DEPRECATED_MODELS.keys()
    for provider, name in ROWS:
        if provider == "anthropic":
            assert name in known
            assert name not in DEPRECATED_MODELS


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('create_llm("openai/gpt-5-mini")', {"gpt-5-mini"}),
        ("gpt-4.1 and gpt-4o-mini-2024-07-18.", {"gpt-4.1", "gpt-4o-mini-2024-07-18"}),
        (
            "`claude-sonnet-4-5`, us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            {"claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
        ),
        ("o3, o4-mini; grok-3-mini", {"o3", "o4-mini", "grok-3-mini"}),
        ("gemini-2.5-flash-lite: amazon.nova-micro-v1:0", {"gemini-2.5-flash-lite", "amazon.nova-micro-v1:0"}),
        ("groq/openai/gpt-oss-20b", {"gpt-oss-20b"}),
        (
            "deepseek-chat sonar llama3.2 qwen3 command-a-03-2025",
            {"deepseek-chat", "sonar", "llama3.2", "qwen3", "command-a-03-2025"},
        ),
        ("GPT-5, gpt, Claude, command-line, mistral-common, to0o1, gpt-oss", set()),
    ],
)
def test_model_names_are_found_by_their_shape(text: str, names: set[str]):
    assert names_in(text) == names
