"""Files that clients send in the part for documents, whatever their kind is: their media type decides."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from abstractcore import InvalidInputError
from abstractcore.registry import Registry
from abstractcore.schema import MediaPart, WireRequest

CONTENT = base64.b64encode(b"content").decode()


FORMATS = pytest.mark.parametrize("format", ["openai_chat", "openai_responses"])


def parsed(format: str, file: Any) -> MediaPart:
    """Returns the part of a file that a client sends."""
    if format == "openai_chat":
        body: Any = {"messages": [{"role": "user", "content": [{"type": "file", "file": file}]}]}
    else:
        body = {"input": [{"role": "user", "content": [{"type": "input_file", **file}]}]}
    transpiler = Registry.from_entry_points().wire_format(format).transpiler()
    call = transpiler.parse(WireRequest("/", {}, json.dumps({"model": "m", **body}).encode())).call
    (part,) = call.messages[0].parts
    assert isinstance(part, MediaPart)
    return part


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [("video/mp4", "video"), ("audio/wav", "audio"), ("image/png", "image"), ("application/pdf", "document")],
)
@FORMATS
def test_media_type_decides_what_a_file_is(format: str, media_type: str, kind: str):
    part = parsed(format, {"filename": "a", "file_data": f"data:{media_type};base64,{CONTENT}"})
    assert part.type == kind
    assert part.blob.media_type == media_type


@pytest.mark.parametrize(
    ("name", "media_type"), [("a.pdf", "application/pdf"), ("a.csv", "text/csv"), ("a", "application/pdf")]
)
@FORMATS
def test_base64_without_a_data_url_is_a_file_of_the_type_of_its_name(format: str, name: str, media_type: str):
    """As OpenAI's description of the API has it (`ChatCompletionRequestMessageContentPartFile`)."""
    part = parsed(format, {"filename": name, "file_data": CONTENT})
    assert (part.blob.read(), part.blob.media_type, part.blob.name) == (b"content", media_type, name)


@FORMATS
def test_file_data_that_is_neither_names_its_field(format: str):
    with pytest.raises(InvalidInputError, match=r"file_data: not base64"):
        parsed(format, {"filename": "a.pdf", "file_data": "no base64!"})
