"""Reprs of records, responses and streams: one line in a terminal; text and images in a notebook."""

from __future__ import annotations

import asyncio
import base64
import io
from dataclasses import is_dataclass
from html.parser import HTMLParser
from typing import Any

import PIL.Image
import pytest
from hypothesis import given
from IPython.core.formatters import DisplayFormatter

from abstractcore import (
    AudioPart,
    Blob,
    GenerateResponse,
    HostedTool,
    ImagePart,
    Message,
    ModelReply,
    OpaquePart,
    ReasoningPart,
    Suspend,
    TextDelta,
    TextPart,
    ToolCall,
    ToolPolicy,
    ToolResult,
    Usage,
    VideoPart,
    create_llm,
    schema,
)
from abstractcore.schema import PartDelta, WireRequest
from abstractcore.schema.reprs import Immutable, ShortRepr, short_repr
from abstractcore.testing import strategies
from tests.junk import junk
from tests.properties import examples

SECRET = "sk-canary-0123456789"
LONGEST = 2000


def answered(reply: Any, **options: Any) -> GenerateResponse[Any]:
    response: Any = create_llm("scripted", replies=[reply]).generate("hi", **options)
    return response


def test_response_repr_is_one_informative_line():
    assert repr(answered("A ticket costs\n12 euros.")) == (
        r"GenerateResponse('A ticket costs\n12 euros.', finish_reason='stop', model='scripted/scripted', "
        "usage=Usage(input=1, output=5), cost=Decimal('0'))"
    )
    asks = repr(answered(ModelReply((ToolCall("c1", "weather", '{"city": "Ulm"}'),), "tool_calls")))
    assert """tool_calls=(ToolCall(id='c1', name='weather', arguments_text='{"city": "Ulm"}'),)""" in asks
    assert "output={'a': 1}, finish_reason='stop'" in repr(answered('{"a": 1}', response_model=dict[str, int]))
    assert "warnings=1)" in repr(answered("a", voice_speed=1))


def test_repr_of_a_response_names_its_tool_calls_and_the_limit_it_reached():
    def clock() -> str:
        return "12:30"

    asks = ModelReply((ToolCall("c1", "clock"),), "tool_calls")
    done = create_llm("scripted", replies=[asks, "Half past twelve."]).generate("hi", tools=[clock], run_tools=True)
    assert "GenerateResponse('Half past twelve.', tool_steps=1, finish_reason='stop'" in repr(done)
    stopped = answered(asks, tools=[clock], run_tools=ToolPolicy(max_rounds=1))
    assert "tool_steps=1, loop='max_rounds', finish_reason='tool_calls'" in repr(stopped)


def test_repr_of_a_loop_begins_with_its_status_and_counts():
    def clock() -> str:
        return "12:30"

    asks = ModelReply((ToolCall("c1", "clock"),), "tool_calls")
    loop = answered(asks, tools=[clock], run_tools=ToolPolicy(approve=lambda pending: Suspend())).loop
    assert repr(loop) == f"ToolLoop('suspended', rounds=1, pending=1, id={loop.id!r})"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Message.user("hi"), "Message(role='user', parts=(TextPart(text='hi'),))"),
        (ToolCall("c1", "f"), "ToolCall(id='c1', name='f')"),
        (ToolResult.text("c1", "sunny"), "ToolResult(call_id='c1', content=(TextPart(text='sunny'),))"),
        (TextDelta(3, 0, "Hel"), "TextDelta(sequence=3, block=0, text='Hel')"),
        (Usage(input=1), "Usage(input=1)"),
        (ModelReply(), "ModelReply()"),
        (TextPart("a" * 100), f"TextPart(text='{'a' * 80}'... [100 characters])"),
        (
            ImagePart(Blob.from_bytes(b"x" * 5000, "image/png", name="a.png")),
            "ImagePart(blob=Blob(bytes, image/png, dee8c2a11da4, 5,000 bytes))",
        ),
        (
            HostedTool("web_search", {"list": [1, 2, 3, 4, 5], "b": True}),
            "HostedTool(kind='web_search', options={'list': [1, 2, 3, 4, ... 1 more], 'b': True})",
        ),
        (PartDelta(1, 0, TextPart("a")), "PartDelta(sequence=1, block=0, part=TextPart(text='a'))"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_record_repr_omits_defaults(record: Any, expected: str):
    shown = repr(record)
    if isinstance(record, ImagePart):
        shown = shown.replace(str(record.blob.sha256)[:12], "dee8c2a11da4")
    assert shown == expected


def test_every_record_has_such_a_repr():
    named = [getattr(schema, name) for name in schema.__all__]
    records = [each for each in named if isinstance(each, type) and is_dataclass(each)]
    assert len(records) > 40
    others = {each.__name__ for each in records if each.__repr__ is not short_repr}
    assert others == {"Blob", "CostSums", "GenerateResponse", "ToolLoop"}
    assert issubclass(Immutable, ShortRepr)


@examples(100)
@given(strategies.replies())
def test_repr_of_any_reply_is_one_short_line(reply: ModelReply):
    shown = repr(reply)
    assert "\n" not in shown
    assert len(shown) <= LONGEST


def test_long_values_are_shortened_at_every_level():
    part = TextPart("word " * 100_000)
    call = ToolCall("c", "f", '{"a": "' + "b" * 100_000 + '"}')
    turns = [Message.user(part), Message.assistant(part, call), Message.tool("c", "x" * 100_000)] * 50
    big = create_llm("scripted", replies=[]).build(
        messages=turns, provider_options={"p": {"deep": [["x" * 9999]] * 99}}
    )
    for record in (part, call, big, ModelReply((part, call)), answered("x" * 100_000), PartDelta(1, 0, part)):
        assert len(repr(record)) <= LONGEST


def test_keys_are_not_shown():
    tool = HostedTool("web_search", {"headers": {"Authorization": SECRET, "x": "y"}, "api_key": SECRET})
    opaque = OpaquePart("p", "k", {"a": [{"password": SECRET}]})
    blob = Blob.from_url(f"https://host.test/a.png?X-Signature={SECRET}", "image/png")
    for record in (tool, opaque, blob, ImagePart(blob), WireRequest("https://host.test", {"x-api-key": SECRET}, b"")):
        assert SECRET not in repr(record)
        assert SECRET not in short_repr(record)
    assert "'x': 'y'" in repr(tool)


def test_any_response_has_a_repr():
    response = answered("a")
    for thing in junk().values():
        assert "GenerateResponse(" in repr(GenerateResponse(**{**fields_of(response), "output": thing}))


def fields_of(response: Any) -> dict[str, Any]:
    return {name: getattr(response, name) for name in type(response).__dataclass_fields__}


def test_stream_repr_shows_its_progress():
    llm = create_llm("scripted", replies=["one two", "one"])
    stream = llm.stream("hi")
    assert repr(stream) == "<Stream: new, '' so far>"
    with stream:
        next(stream.text())
        assert repr(stream) == "<Stream: open, 'one' so far>"
    assert repr(stream) == "<Stream: closed, 'one' so far>"

    async def streamed() -> str:
        async with llm.astream("hi") as other:
            [delta async for delta in other]
            return repr(other)

    assert asyncio.run(streamed()) == "<AsyncStream: done, 'one' so far>"


# Notebooks


def displayed(item: Any) -> dict[str, str]:
    """What IPython's own formatter shows, by media type."""
    shown, _ = DisplayFormatter().format(item)
    return shown


class Reader(HTMLParser):
    """The elements and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(item: Any) -> Reader:
    return Reader(displayed(item)["text/html"])


def png() -> bytes:
    file = io.BytesIO()
    PIL.Image.new("RGB", (2, 2), "red").save(file, "PNG")
    return file.getvalue()


def test_notebook_display_shows_answer_and_warnings():
    response = answered("Two lines:\n* one", voice_speed=1)
    html = read(response)
    assert "Two lines:\n* one" in html.text
    assert "scripted/scripted: stop" in html.text
    assert "'voice_speed'" in html.text
    assert displayed(response)["text/plain"] == repr(response)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "a < b & c > d"])
def test_model_output_is_escaped_in_html(text: str):
    everywhere = (TextPart(text), ReasoningPart(text), ToolCall("c", text, text), OpaquePart("p", text, text))
    html = read(answered(ModelReply(everywhere)))
    assert html.text.count(text) >= 4
    assert {tag for tag, _ in html.elements} <= {"div", "details", "summary", "p", "code", "small", "br"}


def test_notebook_display_shows_images_audio_and_video():
    picture = ImagePart(Blob.from_bytes(png(), "image/png", name='"><script>'))
    sound, film = AudioPart(Blob.from_bytes(b"RIFF", "audio/wav")), VideoPart(Blob.from_bytes(b"x", "video/mp4"))
    for item in (answered(ModelReply((picture, sound, film))), Message.assistant(picture, sound, film)):
        shown = [(tag, element["src"]) for tag, element in read(item).elements if "src" in element]
        assert [tag for tag, _ in shown] == ["img", "audio", "video"]
        header, _, data = str(shown[0][1]).partition(",")
        assert header == "data:image/png;base64"
        assert base64.b64decode(data) == png()
    assert [tag for tag, _ in read(picture).elements] == ["div", "img"]


@pytest.mark.parametrize(
    "blob",
    [
        Blob.from_url("https://host.test/a.png", "image/png"),
        Blob.from_bytes(b"<svg/>", "image/svg+xml"),
        Blob.from_bytes(b"x" * (5 << 20), "image/png"),
        Blob.from_provider_file("openai", "f1", "image/png"),
        Blob("file", "image/png", location="/no/such/file", sha256="0" * 64, size=1),
    ],
    ids=["url", "svg", "big", "provider", "gone"],
)
def test_too_large_or_unsafe_media_are_named_and_not_embedded(blob: Blob):
    html = read(ImagePart(blob))
    assert [tag for tag, _ in html.elements] == ["div", "p", "code"]
    assert html.text == repr(blob)


@examples(50)
@given(strategies.replies())
def test_any_reply_has_a_notebook_display(reply: ModelReply):
    assert {tag for tag, _ in read(reply).elements} <= {
        "div", "details", "summary", "p", "code", "img", "audio", "video",
    }  # fmt: skip


@pytest.mark.parametrize(
    "url", [f"https://user:{SECRET}@host.test/a.png", f"https://host.test/a.png?sig={SECRET}", f"//h/a.png#{SECRET}"]
)
def test_blob_repr_shows_no_query_or_password_of_its_url(url: str):
    blob = Blob.from_url(url, "image/png")
    assert SECRET not in repr(blob)
    assert SECRET not in ImagePart(blob)._repr_html_()
    assert "a.png" in repr(blob)


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\u202eb", "x" * 100_000])
def test_blob_repr_is_one_line(name: str):
    for blob in (Blob.from_provider_file("p", name, "image/png"), Blob.from_bytes(b"x", f"image/{name}")):
        assert repr(blob).isprintable()
        assert len(repr(blob)) < 500
