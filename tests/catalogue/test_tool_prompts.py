"""The table of formats of tools in prompts, by family."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "catalogue"))
from rows import CatalogueError
from tool_prompts import ToolPrompts

LINE = {"tool_prompt": "hermes", "families": ["acme-3"], "source": "page"}


def table(tmp_path: Path, *lines: dict[str, Any]) -> ToolPrompts:
    path = tmp_path / "tool_prompts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return ToolPrompts(path, {"page": "https://acme.example"})


def test_rows_of_a_family_have_its_format_unless_they_state_one(tmp_path: Path):
    rows: dict[str, Any] = {
        "maker/Acme-3-8B": {},
        "acme.acme-3": {},
        "acme-3-own": {"tool_prompt": "glm"},
        "acme-3-none": {"like": ["silent"]},
        "acme-3-alias": {"alias_of": "acme-3-own"},
        "acme-4": {},
    }
    table(tmp_path, LINE).add_to(rows, {"silent": {"tool_prompt": None}})
    assert rows == {
        "maker/Acme-3-8B": {"tool_prompt": "hermes"},
        "acme.acme-3": {"tool_prompt": "hermes"},
        "acme-3-own": {"tool_prompt": "glm"},
        "acme-3-none": {"like": ["silent"]},
        "acme-3-alias": {"alias_of": "acme-3-own"},
        "acme-4": {},
    }


def test_families_are_added_beside_those_of_the_provider(tmp_path: Path):
    families: dict[str, Any] = {"acme-3": {"context_tokens": 5}}
    table(tmp_path, LINE, {**LINE, "families": ["acme-3-old"], "tool_prompt": None}).add_families(families)
    assert families == {"acme-3": {"context_tokens": 5}, "acme-3-old": {}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**LINE, "tool_prompt": "herms"}, r"tool_prompts.jsonl:2: tool_prompt: 'herms' is not one of deepseek, "),
        ({**LINE, "source": "none"}, r"tool_prompts.jsonl:2: sources.json does not name 'none'"),
        (LINE, r"tool_prompts.jsonl:2: 'acme-3' has a format already"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, line: dict[str, Any], message: str):
    with pytest.raises(CatalogueError, match=message):
        table(tmp_path, LINE, line)
