"""Answers that are only an image, in the formats of vendors that make images, and how users reach and save it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from google.genai.types import GenerateContentResponse
from openai.types.responses import Response
from PIL import Image

from tests.chaos_server import LAST_CHUNK, answer, chunk, stream_head
from tests.providers.formats.gemini import wire as gemini
from tests.providers.formats.openai_responses import wire as responses

PNG = (Path(__file__).parents[1] / "media" / "files" / "small.png").read_bytes()
DATA = base64.b64encode(PNG).decode()
GENERATED = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": DATA}
INLINE = {"inlineData": {"mimeType": "image/png", "data": DATA}}
CANDIDATE = {"content": {"role": "model", "parts": [INLINE]}, "finishReason": "STOP", "index": 0}
MODELS = {
    "gemini": {"model": "gemini-3-pro-image-preview", "modalities": ["text", "image"]},
    "openai_responses": {"provider_options": {"openai-responses": {"tools": [{"type": "image_generation"}]}}},
}


def bodies(format: str) -> tuple[dict, bytes]:
    """An answer that is only an image, whole and as a stream; the vendor's types accept it."""
    if format == "gemini":
        body = {"candidates": [CANDIDATE], "responseId": "r", "modelVersion": "m"}
        assert GenerateContentResponse.model_validate(body).parts[0].inline_data.data == PNG
        return body, gemini.events([gemini.chunk(INLINE), gemini.chunk(finish="STOP")])
    required = {"created_at": 0, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    body = responses.completed(GENERATED, **required)
    assert Response.model_validate(body).output[0].type == "image_generation_call"
    items = [responses.begin(), responses.added(GENERATED), responses.done(GENERATED), responses.end(GENERATED)]
    return body, responses.events(items)


@pytest.mark.parametrize("format", MODELS)
def test_answer_that_is_only_an_image_is_reached_and_saved(call_style, server, llm_of, format, tmp_path):
    body, stream = bodies(format)
    server.script(answer(body))
    server.script(stream_head() + chunk(stream) + LAST_CHUNK)
    llm = llm_of(format, **MODELS[format])
    whole = call_style.generate(llm, "Draw a square.")
    streamed = call_style.stream(llm, "Draw a square.")
    list(streamed)
    for response in (whole, streamed.response):
        assert (response.content, response.finish_reason, response.audio) == ("", "stop", ())
        (image,) = response.images
        path = image.save(tmp_path)
        assert (path.parent, path.suffix, path.read_bytes()) == (tmp_path, ".png", PNG)
        with Image.open(path) as saved:
            assert image.to_pil().tobytes() == saved.tobytes()
        assert DATA in response._repr_html_()
    server.script(answer(body))
    call_style.generate(llm, "Larger.", messages=[*whole.messages])
    assert DATA in server.requests[-1].body.decode()
