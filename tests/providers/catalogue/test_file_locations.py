"""`urls`, `file_ids` and `lossy` of the vendors' endpoints, and their clients' types."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from abstractcore import Services
from abstractcore.ports import ModelProfile
from tests.providers.catalogue_rows import PROVIDERS, header

OFFICE = "application/vnd.openxmlformats-officedocument"
DOCX, XLSX = f"{OFFICE}.wordprocessingml.document", f"{OFFICE}.spreadsheetml.sheet"
PDF, PNG, MP4, WAV = "application/pdf", "image/png", "video/mp4", "audio/wav"
WEB, YOUTUBE, S3, GS = "https://example.com/a", "https://www.youtube.com/watch?v=x", "s3://b/a", "gs://b/a"
STORED = "https://generativelanguage.googleapis.com/v1beta/files/abc"


def profile(provider: str, model: str) -> ModelProfile:
    return Services(environment={}).catalogue.profile(provider, model)


@pytest.mark.parametrize(
    ("provider", "model", "kind", "media_type", "reads"),
    [
        ("openai", "gpt-5.4", "image", PNG, {WEB}),
        ("openai", "gpt-5.4", "document", PDF, set()),
        ("openai", "gpt-audio", "audio", WAV, set()),
        ("openai", "a-new-model", "document", PDF, set()),
        ("azure", "gpt-5.4", "document", PDF, set()),
        ("openai-responses", "gpt-5.4", "document", PDF, {WEB}),
        ("openai-responses", "gpt-5.4", "document", DOCX, {WEB}),
        ("anthropic", "claude-opus-5-5", "image", PNG, {WEB}),
        ("anthropic", "claude-opus-5-5", "document", PDF, {WEB}),
        ("anthropic", "claude-opus-5-5", "text", "text/plain", set()),
        ("bedrock", "anthropic.claude-opus-5-5", "image", PNG, {S3}),
        ("bedrock", "amazon.nova-pro-v1:0", "video", MP4, {S3}),
        ("google", "gemini-3.8-flash", "image", PNG, {WEB, STORED, GS}),
        ("google", "gemini-3.8-flash", "image", "image/heic", {STORED, GS}),
        ("google", "gemini-3.8-flash", "audio", WAV, {STORED, GS}),
        ("google", "gemini-2.0-flash", "document", PDF, {STORED, GS}),
        ("google", "gemini-2.0-flash", "video", MP4, {STORED, GS, YOUTUBE}),
        ("google-interactions", "gemini-3.8-flash", "document", PDF, {WEB, STORED, GS}),
        ("vertex", "gemini-3.8-flash", "audio", WAV, {WEB, GS, STORED, YOUTUBE}),
        ("mistral", "mistral-large-4", "image", PNG, {WEB}),
        ("mistral", "voxtral-small-2507", "audio", WAV, set()),
        ("xai", "grok-4.5", "image", PNG, {WEB}),
        ("groq", "qwen/qwen3.8-27b", "image", PNG, {WEB}),
        ("openrouter", "anthropic/claude-fable-5", "image", PNG, {WEB}),
        ("openrouter", "anthropic/claude-fable-5", "document", PDF, set()),
        ("cohere", "command-a-plus-05-2026", "image", PNG, {WEB}),
        ("cerebras", "gemma-4-31b", "image", PNG, set()),
        ("ollama", "bakllava", "image", PNG, set()),
    ],
)
def test_urls_that_the_endpoint_reads(provider: str, model: str, kind: str, media_type: str, reads: set[str]):
    found = profile(provider, model)
    tried = {WEB, S3, GS} | ({STORED} if provider.startswith(("google", "vertex")) else set())
    tried |= {YOUTUBE} if kind in ("video", "audio") else set()
    assert {url for url in tried if found.reads_url(kind, media_type, url)} == reads


@pytest.mark.parametrize("provider", PROVIDERS)
def test_facts_about_files_name_their_pages_and_a_day(provider: str):
    rows = [header(provider).get("every", {}), *header(provider)["templates"].values()]
    for row in rows:
        if "urls" in row and "file_ids" in row:
            assert row["files_source"].startswith("https://")
        if row.get("lossy"):
            assert row["lossy_source"].startswith("https://")
            assert row["files_checked"] >= "2026-11-23"


def test_urls_and_ids_are_those_of_the_vendors_clients():
    from anthropic.types import URLImageSourceParam, URLPDFSourceParam
    from botocore.session import get_session
    from cohere.types import ImageUrl
    from openai.types.chat.chat_completion_content_part_param import FileFile
    from openai.types.responses import ResponseInputFileParam, ResponseInputImageParam

    assert set(get_type_hints(FileFile)) == {"file_data", "file_id", "filename"}, "chat completions: no URL of a file"
    assert {"file_url", "file_id"} <= set(get_type_hints(ResponseInputFileParam))
    assert {"image_url", "file_id"} <= set(get_type_hints(ResponseInputImageParam))
    assert "url" in get_type_hints(URLImageSourceParam)
    assert "url" in get_type_hints(URLPDFSourceParam)
    assert set(ImageUrl.model_fields) == {"url", "detail"}, "Cohere: a web URL or a data URL"
    bedrock = get_session().get_service_model("bedrock-runtime")
    for source in ("ImageSource", "DocumentSource", "VideoSource", "AudioSource"):
        shape: Any = bedrock.shape_for(source)
        assert {"bytes", "s3Location"} <= set(shape.members)
        assert not {"url", "uri"} & set(shape.members)


@pytest.mark.parametrize(
    ("provider", "model", "media_type", "loss"),
    [
        ("openai-responses", "gpt-5.4", XLSX, "1,000 rows"),
        ("openai-responses", "gpt-5.4", DOCX, "without its pictures"),
        ("openai-responses", "gpt-5.4", PDF, ""),
        ("google", "gemini-4-carbon", DOCX, "as plain text"),
        ("vertex", "gemini-4-carbon", XLSX, "as plain text"),
        ("bedrock", "amazon.nova-pro-v1:0", XLSX, "only the text"),
        ("bedrock", "amazon.nova-pro-v1:0", DOCX, ""),
        ("bedrock", "anthropic.claude-opus-5-5", PDF, "only the text of a PDF"),
        ("anthropic", "claude-opus-5-5", PDF, ""),
    ],
)
def test_losses_of_vendors(provider: str, model: str, media_type: str, loss: str):
    found = profile(provider, model)
    assert loss in found.lossy.get(media_type, "")
    assert bool(found.lossy.get(media_type)) is bool(loss)
    assert found.supports("document", media_type)


def test_stored_files_that_requests_may_name():
    assert profile("openai", "gpt-5.4").accepts_id("document", PDF)
    assert not profile("openai", "gpt-5.4").accepts_id("image", PNG)
    assert profile("openai-responses", "gpt-5.4").accepts_id("image", PNG)
    assert not profile("bedrock", "amazon.nova-pro-v1:0").accepts_id("document", PDF)
    assert profile("vllm", "any").accepts_id("image", PNG), "unknown"
