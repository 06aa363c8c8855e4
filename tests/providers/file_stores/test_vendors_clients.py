"""The vendors' own clients upload to the same fakes, and our requests are theirs: path, fields, headers, content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm, record, replay
from abstractcore.ports import Fallback
from tests.media_doubles import Handler, registry
from tests.providers.file_stores.fakes import STORES, camel, running, sent

PDF = b"%PDF-1.4 a paper"
TWO_DAYS = 172_800


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "paper.pdf"
    path.write_bytes(PDF)
    return path


@pytest.fixture
def services():
    papers = Handler("paper", "document", b"%PDF-", "application/pdf", (Fallback("text", frozenset({"text"})),))
    services = Services(environment={}, registry=registry(papers))
    yield services
    services.close()


def llm_of(provider: str, url: str, services: Services, **options: Any):
    _, model, path = STORES[provider]
    options = {"api_key": "key-1", "file_store": "always", **options}
    return create_llm(provider, model=model, base_url=f"{url}{path}", services=services, **options)


def test_openai(path, services):
    from openai import OpenAI
    from openai.types import FileObject

    with running("openai-responses") as store:
        llm_of("openai-responses", store.server.url, services).generate("?", media=[path])
        with OpenAI(api_key="key-1", base_url=f"{store.server.url}/v1") as client:
            expiry: Any = {"anchor": "created_at", "seconds": TWO_DAYS}
            made = client.files.create(file=path, purpose="user_data", expires_after=expiry)
            FileObject.model_validate(made.model_dump())
            ours, _, theirs = store.server.requests
            assert (ours.method, ours.target, sent(ours)) == (theirs.method, theirs.target, sent(theirs))
            (mine,) = llm_of("openai-responses", store.server.url, services).files.list()
            assert client.files.retrieve(mine.id).bytes == len(PDF)
            assert client.files.delete(mine.id).deleted


@pytest.mark.exhaustive
def test_openai_in_parts(services, tmp_path):
    from openai import OpenAI

    path = tmp_path / "paper.pdf"
    path.write_bytes(b"%PDF-" + bytes(33 << 20))
    with running("openai-responses") as store:
        llm_of("openai-responses", store.server.url, services).generate("?", media=[path])
        ours = store.server.requests[:4]
        with OpenAI(api_key="key-1", base_url=f"{store.server.url}/v1") as client:
            body = ours[0].json
            upload = client.uploads.create(**body)
            parts = [client.uploads.parts.create(upload.id, data=sent(part)["data"]).id for part in ours[1:3]]
            client.uploads.complete(upload.id, part_ids=parts)
        theirs = store.server.requests[-4:]
        for our, their in zip(ours, theirs, strict=True):
            assert our.target.replace("upload-1", "upload-2") == their.target
            assert sent(our) == sent(their)


def test_anthropic(path, services):
    from anthropic import Anthropic

    with running("anthropic") as store:
        llm_of("anthropic", store.server.url, services).generate("?", media=[path])
        with Anthropic(api_key="key-1", base_url=store.server.url) as client:
            made = client.files.upload(file=path, expires_in_seconds=TWO_DAYS)
            assert (made.mime_type, made.size_bytes) == ("application/pdf", len(PDF))
            ours, _, theirs = store.server.requests
            assert (ours.method, ours.target, sent(ours)) == (theirs.method, theirs.target, sent(theirs))
            assert "anthropic-beta" not in ours.headers
            assert "anthropic-beta" not in theirs.headers
            (mine,) = llm_of("anthropic", store.server.url, services).files.list()
            assert client.files.retrieve_metadata(mine.id).id == mine.id
            client.files.delete(mine.id)
        assert [kept.id for kept in store.files.values()] == [made.id]


def test_google(path, services):
    from google import genai
    from google.genai import types

    with running("google") as store:
        llm_of("google", store.server.url, services).generate("?", media=[path])
        client = genai.Client(
            api_key="key-1", http_options=types.HttpOptions(base_url=store.server.url, api_version="v1beta")
        )
        made = client.files.upload(file=path, config={"display_name": "paper.pdf", "mime_type": "application/pdf"})
        our_start, our_chunk, _, start, chunk = store.server.requests
        fields = ("protocol", "command", "header-content-length", "header-content-type")
        for name in fields:
            assert our_start.headers[f"x-goog-upload-{name}"] == start.headers[f"x-goog-upload-{name}"]
        assert our_start.target == start.target
        ours = sent(our_start)["file"]
        theirs = {camel(name): value for name, value in sent(start)["file"].items()}
        assert {**ours, "sizeBytes": int(ours["sizeBytes"])} == {**theirs, "sizeBytes": int(theirs["sizeBytes"])}
        assert our_chunk.target.replace("session1", "session2") == chunk.target
        for name in ("command", "offset"):
            assert our_chunk.headers[f"x-goog-upload-{name}"] == chunk.headers[f"x-goog-upload-{name}"]
        assert our_chunk.body == chunk.body == PDF
        (mine,) = llm_of("google", store.server.url, services).files.list()
        assert client.files.get(name=f"files/{mine.id.rpartition('/')[2]}").uri == mine.id
        client.files.delete(name=made.name or "")
        client.close()


@pytest.mark.parametrize("provider", sorted(STORES))
def test_uploads_are_recorded_and_replayed_without_a_key(call_style, path, services, tmp_path, provider):
    cassette = tmp_path / "cassette.jsonl"
    with running(provider) as store:
        llm = llm_of(provider, store.server.url, services, middleware=[record(cassette)])
        assert call_style.generate(llm, "?", media=[path]).media[0].stored == "uploaded"
    assert b"key-1" not in cassette.read_bytes()
    assert [json.loads(line)["request"]["method"] for line in cassette.read_bytes().splitlines()][-1] == "POST"
    papers = Handler("paper", "document", b"%PDF-", "application/pdf", (Fallback("text", frozenset({"text"})),))
    offline = Services(environment={}, registry=registry(papers))
    llm = llm_of(provider, "http://127.0.0.1:1", offline, api_key=None, middleware=[replay(cassette)])
    response = call_style.generate(llm, "?", media=[path])
    assert (response.content, response.media[0].stored) == ("Read.", "uploaded")
    offline.close()
