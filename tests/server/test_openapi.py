"""`/openapi.json` and `/docs`: valid by schemathesis, of all routes, and true of what the server does."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator

from abstractcore import InvalidInputError
from abstractcore.registry import Registry
from abstractcore_server import FixedKeys
from abstractcore_server.dialects import ANTHROPIC, COHERE, GEMINI, OLLAMA, OPENAI_CHAT, OPENAI_RESPONSES, ClientDialect
from abstractcore_server.files import stored_files
from abstractcore_server.media import generation, transcriptions
from abstractcore_server.pages import APIS, ERRORS, requests
from abstractcore_server.routes import ROUTES
from tests.server.fields import FIELDS
from tests.server.request_schemas import FILE, OWN, content
from tests.server.serving import serving

WITHOUT_BODY = {"/v1/responses/{id}/cancel", "/v1/uploads/{id}/cancel"}


@pytest.fixture(scope="module")
def document(http: httpx2.Client) -> Any:
    response = http.get("/openapi.json")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    return response.json()


def test_document_is_valid_and_has_every_route(document: Any):
    schemathesis = import_module("schemathesis")
    loaded = schemathesis.openapi.from_dict(document)
    loaded.validate()
    found = {(operation.ok().path, operation.ok().method.upper()) for operation in loaded.get_all_operations()}
    assert found == {(route.path, method) for route in ROUTES for method in route.methods}
    operations = [each for item in document["paths"].values() for name, each in item.items() if name != "parameters"]
    ids = [each["operationId"] for each in operations]
    assert len(set(ids)) == len(ids)
    assert all(each["summary"] for each in operations)
    tags = {tag["name"] for tag in document["tags"]}
    assert {tag for each in operations for tag in each["tags"]} == tags


def test_schemas_are_those_of_the_fields():
    assert FILE.read_text(encoding="utf-8") == content(), "run: make docs"
    posted = {route.path for route in ROUTES if "POST" in route.methods}
    assert posted - requests().paths.keys() == WITHOUT_BODY
    assert requests().paths.keys() <= posted
    assert {*requests().paths.values()} == requests().schemas.keys()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/v1/audio/speech", vars(generation)["_SPEECH_FIELDS"]),
        ("/v1/audio/transcriptions", vars(transcriptions)["_FIELDS"] | {"file"}),
        ("/v1/audio/music", vars(generation)["_MUSIC_FIELDS"]),
        ("/v1/images/edits", vars(generation)["_IMAGE_FIELDS"]),
        ("/v1/images/generations", vars(generation)["_IMAGE_FIELDS"] - {"image", "mask"}),
        ("/v1/files", frozenset(vars(stored_files)["_FIELDS"])),
        ("/v1/uploads", vars(stored_files)["_UPLOAD_FIELDS"]),
        ("/v1/uploads/{id}/complete", vars(stored_files)["_FIELDS_OF_COMPLETION"]),
    ],
)
def test_fields_are_those_that_the_server_reads(path: str, names: frozenset[str]):
    assert OWN[path].fields.keys() == names


@pytest.mark.parametrize("path", FIELDS)
def test_a_request_with_all_fields_is_as_described(document: Any, path: str):
    fields: dict[str, Any] = {}
    for name, value in FIELDS[path].items():
        outer, _, inner = name.rpartition(".")
        fields.setdefault(outer, {})[inner] = value
    body = {**fields.pop("", {}), **fields}
    schema = {"$ref": f"#/components/schemas/{requests().paths[path]}", "components": document["components"]}
    validator: Any = Draft202012Validator(schema)
    validator.validate(body)
    assert not validator.is_valid([body])
    if "model" in body:
        assert not validator.is_valid({**body, "model": 7})


@pytest.mark.parametrize("dialect", [ANTHROPIC, COHERE, GEMINI, OLLAMA, OPENAI_CHAT, OPENAI_RESPONSES])
def test_errors_are_as_described(dialect: ClientDialect):
    format = Registry.from_entry_points().wire_format(dialect.format).transpiler()
    for error in (InvalidInputError("no", path="model"), InvalidInputError("no")):
        body = json.loads(dialect.failure(format, error).body)
        validator: Any = Draft202012Validator(ERRORS[APIS[dialect.name][0]])
        validator.validate(body)


def test_docs_have_the_fields_and_the_document(http: httpx2.Client):
    page = http.get("/docs").text
    assert 'href="/openapi.json"' in page
    assert '<h3 id="v1_chat_completions"><code>/v1/chat/completions</code></h3>' in page
    assert "<code>reasoning_effort</code>" in page
    assert "carried; for models of other APIs: left out, with a warning" in page
    assert "<code>generationConfig.topK</code>" in page
    assert all(f"<code>{route.path}</code>" in page for route in ROUTES)


def test_keys_are_described_where_they_are_needed(document: Any):
    assert document["security"] == []
    access = FixedKeys(["a-key-of-a-client-0123456789"])
    with serving(access=access) as served, httpx2.Client(base_url=served.url, trust_env=False) as client:
        secured = client.get("/openapi.json").json()
        assert client.get("/v1/models").status_code == 401
    assert {"bearer": []} in secured["security"]
    assert secured["paths"]["/docs"]["get"]["security"] == []
    assert "security" not in secured["paths"]["/v1/models"]["get"]
    import_module("schemathesis").openapi.from_dict(secured).validate()
