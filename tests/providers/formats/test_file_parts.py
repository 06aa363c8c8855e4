"""Files that clients send in the part for documents, whatever their kind is: their media type decides."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from abstractcore.registry import Registry
from abstractcore.schema import WireRequest

CONTENT = base64.b64encode(b"content").decode()


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [("video/mp4", "video"), ("audio/wav", "audio"), ("image/png", "image"), ("application/pdf", "document")],
)
@pytest.mark.parametrize("format", ["openai_chat", "openai_responses"])
def test_media_type_decides_what_a_file_is(format: str, media_type: str, kind: str):
    file: Any = {"filename": "a", "file_data": f"data:{media_type};base64,{CONTENT}"}
    if format == "openai_chat":
        body: Any = {"messages": [{"role": "user", "content": [{"type": "file", "file": file}]}]}
    else:
        body = {"input": [{"role": "user", "content": [{"type": "input_file", **file}]}]}
    transpiler = Registry.from_entry_points().wire_format(format).transpiler()
    call = transpiler.parse(WireRequest("/", {}, json.dumps({"model": "m", **body}).encode())).call
    (part,) = call.messages[0].parts
    assert part.type == kind
    assert part.blob.media_type == media_type  # type: ignore[union-attr]
