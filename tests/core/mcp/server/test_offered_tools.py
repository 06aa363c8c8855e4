"""Tools as a server lists them, and the parts of their results as MCP content."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    InvalidInputError,
    MediaError,
    TextPart,
    Tool,
    ToolOutput,
    ToolSpec,
    VideoPart,
    tool,
)
from abstractcore.mcp.server import OfferedTool, tools_by_name
from abstractcore.mcp.server.calls import mcp_content


class City(BaseModel):
    name: str


@dataclass
class Node:
    name: str
    inner: Node | None = None


def model() -> City:
    return City(name="Oslo")


async def mapping() -> dict[str, int]:
    return {}


def listing() -> list[City]:
    return []


def recursive() -> Node:
    return Node("a")


def part() -> ImagePart:
    raise NotImplementedError


def output() -> ToolOutput:
    raise NotImplementedError


def unannotated():
    return {}


def unresolved() -> Missing:  # type: ignore[name-defined]  # noqa: F821
    return {}


@pytest.mark.parametrize(
    ("function", "required"),
    [
        (model, ["name"]),
        (mapping, []),
        (City, ["name"]),
        *((each, None) for each in (listing, part, output, unannotated)),
    ],
)
def test_output_schema_is_that_of_objects_only(function: Any, required: list[str] | None):
    schema = OfferedTool.of(Tool(function)).output_schema
    assert (schema is None) == (required is None)
    if schema is not None:
        assert schema["type"] == "object"
        assert schema.get("required", []) == required


def test_type_that_is_recursive_or_unknown_has_no_output_schema():
    assert OfferedTool.of(Tool(recursive)).output_schema is None
    assert OfferedTool.of(Tool(unresolved)).output_schema is None


def test_only_declared_hints_are_sent():
    assert OfferedTool.of(Tool(model)).description.annotations is None
    private = OfferedTool.of(tool(labels=("private",))(model)).description.annotations
    assert private is not None
    assert private.model_dump(exclude_none=True) == {"open_world_hint": False}
    sending = OfferedTool.of(tool(labels=("sends",), destructive=True)(model)).description.annotations
    assert sending is not None
    assert sending.model_dump(exclude_none=True) == {"destructive_hint": True, "open_world_hint": True}


@pytest.mark.parametrize("name", ["a name", "größe", "a/b", "x" * 129, "a\nb"])
def test_name_that_clients_refuse_is_an_error(name: str):
    with pytest.raises(InvalidInputError, match="cannot be the name of an MCP tool") as caught:
        tools_by_name([OfferedTool.of(Tool.of(ToolSpec(name), lambda call, context: None))])
    assert caught.value.hint == 'Give it another name: @tool(name="NAME").'


def test_two_tools_of_one_name_are_an_error():
    with pytest.raises(InvalidInputError, match="two tools are named 'model'"):
        tools_by_name([OfferedTool.of(Tool(model)), OfferedTool.of(tool(name="model")(mapping))])


def test_parts_become_content():
    blob = Blob.from_bytes
    found = mcp_content(
        [
            TextPart("hello"),
            ImagePart(blob(b"i", "image/png")),
            AudioPart(blob(b"a", "audio/wav")),
            VideoPart(blob(b"v", "video/mp4", name="a clip.mp4")),
            DocumentPart(blob("é".encode(), "text/plain", name="a.txt")),
            DocumentPart(blob(b"\xe9", "text/plain", name="latin.txt")),
            DocumentPart(Blob.from_url("https://example.com/a.pdf", "application/pdf")),
        ]
    )
    text, image, audio, video, document, latin, link = (each.model_dump(exclude_none=True) for each in found)
    assert text == {"type": "text", "text": "hello"}
    assert image == {"type": "image", "data": encoded(b"i"), "mime_type": "image/png"}
    assert audio == {"type": "audio", "data": encoded(b"a"), "mime_type": "audio/wav"}
    assert video["resource"] == {
        "uri": "attachment:///a%20clip.mp4",
        "mime_type": "video/mp4",
        "blob": encoded(b"v"),
    }
    assert document["resource"] == {"uri": "attachment:///a.txt", "mime_type": "text/plain", "text": "é"}
    assert latin["resource"]["blob"] == encoded(b"\xe9")
    assert (link["type"], link["uri"]) == ("resource_link", "https://example.com/a.pdf")


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_file_at_a_provider_cannot_be_sent():
    with pytest.raises(MediaError, match="its content is not at hand"):
        mcp_content([ImagePart(Blob.from_provider_file("openai", "file-1", "image/png"))])
