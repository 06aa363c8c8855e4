"""`POST /embeddings`: requests and responses read and written, for clients and for servers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import CreateEmbeddingResponse
from openai.types.embedding_create_params import EmbeddingCreateParams
from pydantic import TypeAdapter

from abstractcore.errors import InvalidInputError, ServerError, UnsupportedContentError
from abstractcore.ports import EMBED
from abstractcore.schema import (
    EMBED_PURPOSES,
    Blob,
    EmbedInput,
    EmbedReply,
    ImagePart,
    TextPart,
    Usage,
    Vectors,
    WireRequest,
    WireResponse,
)
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import EmbeddingFields
from abstractcore_providers.formats.openai_chat.embeddings import embedding, served_embedding
from abstractcore_providers.formats.openai_responses import OpenAIResponses

OWN = EmbeddingFields()
RICH = EmbeddingFields(
    purpose="input_type",
    words={"query": "search_query", "document": "search_document"},
    truncate="truncate",
    cut="END",
    refuse="NONE",
    image="image",
)
PIXEL = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


def inputs(fields: EmbeddingFields) -> st.SearchStrategy[EmbedInput]:
    """Inputs with everything that a request can have."""
    return st.builds(
        EmbedInput,
        st.lists(TEXTS | st.just((PIXEL,)) if fields.image else TEXTS, min_size=1, max_size=5).map(tuple),
        model=TEXTS,
        provider=st.just("p"),
        dimensions=st.none() | st.integers(1, 4096),
        purpose=st.sampled_from([None, *fields.words]) if fields.purpose else st.none(),
        truncate=st.booleans() if fields.truncate else st.just(False),
        provider_options=st.sampled_from([{}, {"p": {"user": "ann"}}]),
    )


@pytest.mark.parametrize("fields", [OWN, RICH], ids=["own", "rich"])
@given(data=st.data())
def test_servers_read_what_clients_write(fields: EmbeddingFields, data: st.DataObject):
    operation, served = embedding("p", fields), served_embedding("p", fields)
    given = data.draw(inputs(fields))
    encoded = operation.encode(given)
    parsed = served.parse(encoded.request)
    assert encoded.warnings == parsed.warnings == ()
    assert parsed.input == given
    assert operation.encode(parsed.input) == encoded


@given(
    rows=st.integers(1, 6).flatmap(
        lambda size: st.lists(
            st.lists(st.floats(-1, 1, width=32), min_size=size, max_size=size).filter(any), min_size=1, max_size=5
        )
    ),
    encoding=st.sampled_from(["base64", "float"]),
    tokens=st.integers(0, 10**6),
)
def test_clients_read_what_servers_write(rows: list[list[float]], encoding: str, tokens: int):
    reply = EmbedReply(Vectors.of(rows), Usage(tokens, 0), "m")
    if any(not any(row) for row in reply.vectors.lists()):  # too small for float32
        return
    given = EmbedInput(("a",) * len(rows), model="m")
    request = WireRequest("/embeddings", {}, json.dumps({"model": "m", "encoding_format": encoding}).encode())
    rendered = served_embedding("p", OWN).render(reply, request)
    assert rendered.warnings == ()
    assert embedding("p", OWN).decode(WireResponse(200, {}, rendered.body), given) == reply
    if encoding == "float":
        assert len(CreateEmbeddingResponse.model_validate_json(rendered.body).data) == len(rows)


def test_request_has_the_fields_of_the_vendors_client():
    given = EmbedInput(("a", "b"), model="m", dimensions=3, provider_options={"openai": {"user": "ann"}})
    body = json.loads(OpenAIChat().operations[EMBED].encode(given).request.body)
    assert TypeAdapter(EmbeddingCreateParams).validate_python(body, strict=False, extra="forbid")
    assert body == {"model": "m", "input": ["a", "b"], "encoding_format": "base64", "dimensions": 3, "user": "ann"}


def test_losses_are_warnings():
    given = EmbedInput(("a",), model="m", purpose="query", truncate=True)
    encoded = embedding("p", OWN).encode(given)
    assert [(each.code, each.path) for each in encoded.warnings] == [
        ("unsupported_option", "purpose"),
        ("unsupported_option", "truncate"),
    ]
    fixed = embedding("p", replace(OWN, dimensions=None)).encode(EmbedInput(("a",), model="m", dimensions=3))
    assert [each.path for each in fixed.warnings] == ["dimensions"]
    unknown = embedding("p", RICH).encode(EmbedInput(("a",), model="m", purpose="code"))
    assert [each.path for each in unknown.warnings] == ["purpose"]
    other = EmbedInput(("a",), model="m", provider_options={"q": {"user": "ann"}})
    assert [each.code for each in embedding("p", OWN).encode(other).warnings] == ["other_provider_options"]


def test_options_that_the_input_has_are_refused():
    given = EmbedInput(("a",), model="m", provider_options={"p": {"dimensions": 3}})
    with pytest.raises(InvalidInputError, match=r"provider_options\.p\.dimensions"):
        embedding("p", OWN).encode(given)


def test_image_needs_a_field():
    message = r"items\[1\]: this API embeds texts only, and this item has image"
    with pytest.raises(UnsupportedContentError, match=message):
        embedding("p", OWN).encode(EmbedInput(("a", (PIXEL,)), model="m"))
    both = EmbedInput(((TextPart("a"), PIXEL),), model="m")
    with pytest.raises(UnsupportedContentError, match="a text or an image alone, and this item has text, image"):
        embedding("p", RICH).encode(both)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"model": "m", "input": [1, 2]}, r"input\[0\]: tokens are not accepted.*Send the texts"),
        ({"model": "m", "input": [[1, 2]]}, r"input\[0\]: tokens are not accepted"),
        ({"model": "m", "input": []}, "input: expected a text, or a list"),
        ({"model": "m", "input": ""}, "input: must not be empty"),
        ({"model": "m"}, "input: expected a text, or a list"),
        ({"model": "m", "input": {"a": 1}}, "input: expected a text, or a list"),
        ({"model": "m", "input": ["a", {"a": 1}]}, r"input\[1\]: expected text, got dict"),
        ({"model": "m", "input": ["a", "\ud800"]}, r"input\[1\]"),
        ({"input": ["a"]}, "model: expected text"),
        ({"model": "", "input": ["a"]}, "model: must not be empty"),
        ({"model": "m", "input": ["a"], "dimensions": 0}, "dimensions: expected at least 1"),
        ({"model": "m", "input": ["a"], "dimensions": "3"}, "dimensions: expected"),
        ([], "expected an object"),
    ],
)
def test_invalid_request_names_the_path(body: Any, message: str):
    request = WireRequest("/embeddings", {}, json.dumps(body).encode())
    with pytest.raises(InvalidInputError, match=message):
        OpenAIChat().served_operations[EMBED].parse(request)


def test_one_text_is_a_list_of_one():
    request = WireRequest("/embeddings", {}, b'{"model": "m", "input": "a"}')
    assert OpenAIResponses().served_operations[EMBED].parse(request).input.items == ("a",)


def test_unknown_purpose_names_the_known_ones():
    request = WireRequest("/embeddings", {}, b'{"model": "m", "input": "a", "input_type": "search"}')
    with pytest.raises(InvalidInputError, match=r"input_type: unknown value 'search'.*search_query, search_document"):
        served_embedding("p", RICH).parse(request)
    assert set(RICH.words) <= set(EMBED_PURPOSES)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"data": {}}',
        b'{"data": []}',
        b'{"data": [{}]}',
        b'{"data": [{"embedding": [NaN]}]}',
        b"\xff",
    ],
)
def test_junk_is_a_server_error(body: bytes):
    with pytest.raises(ServerError):
        OpenAIChat().operations[EMBED].decode(WireResponse(200, {}, body), EmbedInput(("a",), model="m"))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "total_tokens": 3}, Usage(3, 0)),
        ({"total_tokens": 4}, Usage(4, 0)),
        ({}, Usage()),
        (None, Usage()),
    ],
)
def test_tokens_are_those_of_the_input(usage: Any, expected: Usage):
    body = {"data": [{"index": 0, "embedding": [0.5]}], "usage": usage}
    response = WireResponse(200, {}, json.dumps(body).encode())
    operation = OpenAIChat().operations[EMBED]
    reply = operation.decode(response, EmbedInput(("a",), model="m"))
    assert reply.usage == expected
    assert operation.to_record(reply) == {"count": 1, "dimensions": 1}
