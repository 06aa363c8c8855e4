"""What the server does with each field of each route, as docs/server-fields.md says of all fields that clients send."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from dataclasses import asdict, fields
from typing import Any

import anthropic.types.message_create_params
import cohere
import openai
import openai.types.chat.completion_create_params
import openai.types.completion_create_params
import openai.types.file_create_params
import openai.types.responses.response_create_params
import openai.types.upload_complete_params
import openai.types.upload_create_params
import openai.types.uploads.part_create_params
import pytest
from ollama._types import ChatRequest, GenerateRequest

from abstractcore import create_llm
from abstractcore.registry import Registry
from abstractcore_server.configuration.settings import (
    GuardSettings,
    MCPSettings,
    ModelSettings,
    ProviderSettings,
    ServerLimits,
    ServerSettings,
)
from abstractcore_server.routes import ROUTES
from tests.documents import ROOT
from tests.server.fields import FIELDS, PAGE, outcome, page
from tests.server.serving import Served

DOCS = ROOT / "docs"
SETUP = (DOCS / "server-setup.md").read_text(encoding="utf-8")
ROUTE_TABLES = (DOCS / "server-routes.md").read_text(encoding="utf-8")


def test_page_is_what_the_formats_do():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make docs"


def test_page_has_every_limit_with_its_default():
    section = SETUP.partition("\n## Limits\n")[2].partition("\n## ")[0]
    named: dict[str, int] = {}
    for names, defaults in re.findall(r"^\| (`.+?`) \| ([\d, ]+) \|", section, re.MULTILINE):
        named |= zip(re.findall(r"`(\w+)`", names), map(int, defaults.split(", ")), strict=True)
    assert named == asdict(ServerLimits())


@pytest.mark.parametrize("table", [ServerSettings, ProviderSettings, ModelSettings, GuardSettings, MCPSettings])
def test_page_has_every_setting(table: Any):
    text = SETUP + (DOCS / "server-calls.md").read_text(encoding="utf-8")
    missing = [
        each.name for each in fields(table) if not re.search(rf"(?m)`{each.name}`|\b{each.name}(\.\w+)? = ", text)
    ]
    assert missing == []


CONNECTED: dict[str, dict[str, Any]] = {
    "azure": {"api_key": "k", "resource": "r"},
    "bedrock": {"api_key": "k", "region": "us-east-1"},
    "bedrock-openai": {"api_key": "k", "base_url": "http://localhost:8000/v1"},
    "bedrock-anthropic": {"api_key": "k", "base_url": "http://localhost:8000/v1"},
    "vertex-anthropic": {"project": "p", "access_token": "t"},
    "vertex-openai": {"project": "p", "access_token": "t"},
    "cloudflare": {"api_key": "k", "base_url": "http://localhost:8000/v1"},
    "databricks": {"api_key": "k", "base_url": "http://localhost:8000/v1"},
    "local": {},
    "openai-compatible": {"base_url": "http://127.0.0.1:1/v1"},
    "vertex": {"project": "p", "access_token": "t"},
}
"""What providers need beside a key, to be made."""


def test_page_has_the_providers_of_each_api():
    section = PAGE.read_text(encoding="utf-8").partition("\n* ")[0]
    named: dict[str, set[str]] = {}
    for routes, providers in re.findall(r"(?m)^\| (`.+?`) \| (`.+?`) \|$", section):
        named |= {key: set(re.findall(r"`(.+?)`", providers)) for key in re.findall(r"`(.+?)`", routes)}
    registry = Registry.from_entry_points()
    without_chat = {"jina", "tei", "voyage"}  # rows of OpenAI's format
    made = {
        name: create_llm(name, "m", **CONNECTED.get(name, {"api_key": "k"}))
        for name in {*registry.providers} - without_chat
    }
    dialects = {route.path: route.dialect for route in ROUTES}
    for path in named:
        format = registry.wire_format(dialects[f"/v1beta/models/{{model}}{path}" if path[0] == ":" else path].format)
        same = {name for name, llm in made.items() if type(llm.transpiler) is type(format.transpiler())}
        assert named[path] == same, path
    assert len(named) == len(FIELDS)


def _annotations(params: Any) -> Collection[str]:
    return params.__annotations__


OF_CLIENTS: dict[str, Collection[str]] = {
    "/v1/chat/completions": _annotations(openai.types.chat.completion_create_params.CompletionCreateParamsBase),
    "/v1/completions": _annotations(openai.types.completion_create_params.CompletionCreateParamsBase),
    "/v1/responses": _annotations(openai.types.responses.response_create_params.ResponseCreateParamsBase),
    "/v1/messages": _annotations(anthropic.types.message_create_params.MessageCreateParamsBase),
    "/v2/chat": inspect.signature(cohere.ClientV2.chat).parameters.keys() - {"self", "request_options"},
    "/api/chat": ChatRequest.model_fields,
    "/api/generate": GenerateRequest.model_fields,
}


@pytest.mark.parametrize("path", OF_CLIENTS)
def test_page_names_every_field_that_the_vendors_client_sends(path: str):
    named = {name.partition(".")[0] for name in FIELDS[path]}
    assert set(OF_CLIENTS[path]) - named == set()


OF_FILES: dict[str, Any] = {
    "/v1/files": openai.types.file_create_params.FileCreateParams,
    "/v1/uploads": openai.types.upload_create_params.UploadCreateParams,
    "/v1/uploads/{id}/parts": openai.types.uploads.part_create_params.PartCreateParams,
    "/v1/uploads/{id}/complete": openai.types.upload_complete_params.UploadCompleteParams,
}


@pytest.mark.parametrize("path", OF_FILES)
def test_page_names_every_field_of_files(path: str):
    (row,) = re.findall(rf"^\| `{re.escape(path)}` \|(.*?)\|", ROUTE_TABLES, re.MULTILINE)
    assert {*re.findall(r"`(\w+)`", row)} == {*_annotations(OF_FILES[path])}


@pytest.mark.parametrize("path", FIELDS)
def test_no_field_is_dropped_in_silence(path: str):
    assert [name for name in FIELDS[path] if "no effect" in outcome(path, name)] == []


def test_fields_of_another_vendor_are_named_in_warnings(served: Served):
    served.script("hello")
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        completion = client.chat.completions.create(
            model="scripted",
            messages=[{"role": "user", "content": "hi"}],
            user="someone",
            extra_body={"abstractcore": {}, "made_up": 1},
        )
    assert completion.model_extra is not None
    warnings = completion.model_extra["abstractcore"]["warnings"]
    assert {(each["code"], each["path"]) for each in warnings} == {
        ("field_left_out", "made_up"),
        ("field_left_out", "user"),
    }


def test_a_request_that_would_mean_something_else_is_refused(served: Served):
    with (
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client,
        pytest.raises(openai.BadRequestError, match="previous_response_id"),
    ):
        client.responses.create(model="scripted", input="hi", previous_response_id="resp_1")
