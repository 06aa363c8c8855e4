"""The JSON Schemas of sixty signatures: beside another package's for the same functions, and in every wire format."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pydantic_ai
import pytest

from abstractcore import Message, ModelCall, Tool, digest
from abstractcore_providers.formats.registered import FORMATS
from tests.core.tools.sixty_signatures import SIXTY
from tests.providers.published import provider_of

ROOT = Path(__file__).parents[3]


def without_known_differences(schema: Any) -> Any:
    """Returns a schema without what we write differently on purpose.

    A dataclass or TypedDict in the parameters takes no unknown keys, as the parameters themselves; items of a named
    tuple have no titles, which repeat names that are not sent.
    """
    if isinstance(schema, list):
        return [without_known_differences(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: without_known_differences(item) for key, item in schema.items()}
    if kept.get("title") in ("Point", "Line", "Address", "Options"):
        kept.pop("additionalProperties", None)
    if "prefixItems" in kept:
        for item in kept["prefixItems"]:
            item.pop("title", None)
    return kept


@pytest.mark.parametrize("function", SIXTY, ids=lambda function: function.__name__)
def test_schema_is_that_of_pydantic_ai(function):
    ours = copy.deepcopy(Tool(function).spec.parameters)
    theirs = pydantic_ai.Tool(function).tool_def.parameters_json_schema
    assert without_known_differences(ours) == without_known_differences(theirs)


@pytest.mark.parametrize("function", SIXTY, ids=lambda function: function.__name__)
def test_schema_is_a_valid_json_schema(function):
    jsonschema.Draft202012Validator.check_schema(copy.deepcopy(Tool(function).spec.parameters))


REWRITTEN = {
    "anthropic_messages": set[str](),
    "bedrock_converse": set[str](),
    "cohere_chat": set[str](),
    "gemini": {"s14", "s19", "s51"},
    "gemini_interactions": {"s14", "s19", "s51"},
    "ollama": {f"s{n}" for n in (13, 14, *range(26, 39), 51, 58)},
    "openai_chat": {"s19", "s51"},
    "openai_responses": {"s19", "s51"},
}
"""The signatures whose schema a format rewrites: tuples need `items`, a reference with a default `anyOf`; Ollama has no
references."""


@pytest.mark.parametrize("format", FORMATS)
def test_every_wire_format_takes_the_schemas(format):
    transpiler, rewritten = FORMATS[format](), set[str]()
    for function in SIXTY:
        tools = (Tool(function).spec,)
        call = ModelCall(provider=provider_of(format), model="m", messages=(Message.user("hi"),), tools=tools)
        warnings = [each for each in transpiler.encode(call).warnings if each.path.startswith("tools")]
        if (format, function.__name__) != ("ollama", "s32"):  # recursive
            assert {each.code for each in warnings} <= {"schema_normalized"}, warnings
        if warnings:
            rewritten.add(function.__name__)
    assert rewritten == REWRITTEN[format]


DIGESTS = """
from abstractcore import Tool, digest
from tests.core.tools.sixty_signatures import SIXTY
def with_sets(a: set[str] = {"x", "y", "z"}, b: frozenset[int] = frozenset((3, 1, 2))): ...
print(digest([Tool(function).spec.parameters for function in [*SIXTY, with_sets]]))
"""


@pytest.mark.process
def test_digest_of_the_schemas_is_the_same_in_every_process():
    def digest_with(seed: str) -> str:
        environment = {"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            [sys.executable, "-c", DIGESTS], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert digest_with("1") == digest_with("2")
    assert re.fullmatch("[0-9a-f]{64}\n", digest_with("3"))


def test_spec_is_data():
    from abstractcore import from_json, to_json

    for function in SIXTY:
        spec = Tool(function).spec
        assert from_json(to_json(spec)) == spec
        assert digest(from_json(to_json(spec))) == digest(spec)
        json.dumps(spec.parameters)
