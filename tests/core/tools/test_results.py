"""What tools return, as the model reads it."""

from __future__ import annotations

import collections
import datetime
import decimal
import io
import types
import uuid
from pathlib import Path
from typing import Any

import numpy
import PIL.Image
import pytest
from pydantic import BaseModel

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    TextPart,
    ToolOutput,
    ToolResult,
    create_llm,
)
from abstractcore.tools.results import NoContentError, content_of
from tests.core.tools.calls import run_tool, text_of
from tests.core.tools.sixty_signatures import City, Color, Page, Point

IMAGE = ImagePart(Blob.from_bytes(b"\x89PNG", "image/png"))


class Measured(BaseModel):
    value: float


class MeasuredAsConstant(BaseModel, ser_json_inf_nan="constants"):
    value: float
    unit: str


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a text", "a text"),
        (Text("a text"), "a text"),
        ("", ""),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (2.5, "2.5"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
        ("NaN", "NaN"),
        ([1.0, {"mean": float("nan")}], '[1.0,{"mean":"NaN"}]'),
        (Point(float("inf")), '{"x":"Infinity","y":0.0}'),
        (numpy.array([1.0, numpy.nan]), '[1.0,"NaN"]'),
        (Measured(value=float("nan")), '{"value":null}'),
        ([MeasuredAsConstant(value=float("nan"), unit="é")], '[{"value":"NaN","unit":"é"}]'),
        ([MeasuredAsConstant(value=1e-7, unit="-Infinity")], '[{"value":1e-7,"unit":"-Infinity"}]'),
        (10**30, "1" + "0" * 30),
        ([], "[]"),
        (["a", "b"], '["a","b"]'),
        ((1, "é"), '[1,"é"]'),
        ({"a": None}, '{"a":null}'),
        ({1: "a", None: "b"}, '{"1":"a","None":"b"}'),
        ({3}, "[3]"),
        (Color.RED, '"red"'),
        (Point(1), '{"x":1,"y":0.0}'),
        ([Point(1.0)], '[{"x":1.0,"y":0.0}]'),
        (City(name="Oslo"), '{"name":"Oslo","inhabitants":null}'),
        (Page[City](items=[City(name="Oslo")]), '{"items":[{"name":"Oslo","inhabitants":null}],"next":null}'),
        (datetime.date(2026, 11, 22), '"2026-11-22"'),
        (datetime.timedelta(hours=1), '"PT1H"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (decimal.Decimal("1.50"), '"1.50"'),
        (Path("a/b"), '"a/b"'),
        ({"data": b"\xff"}, '{"data":"_w=="}'),
        (types.MappingProxyType({"a": 1}), '{"a":1}'),
        (collections.OrderedDict(a=1), '{"a":1}'),
        (numpy.arange(3), "[0,1,2]"),
        (numpy.int64(3), "3"),
        ({"mean": numpy.float32(0.5)}, '{"mean":0.5}'),
    ],
    ids=repr,
)
def test_values_are_text(value, text):
    assert content_of(value).parts == (TextPart(text),)


def test_none_of_a_procedure_is_done(call_style):
    def procedure() -> None: ...
    def search() -> str | None: ...

    assert text_of(run_tool(call_style, procedure)) == "done"
    assert text_of(run_tool(call_style, search)) == "null"


def test_files_are_parts():
    assert content_of(IMAGE).parts == (IMAGE,)
    assert content_of(Blob.from_bytes(b"\x89PNG", "image/png")).parts == (IMAGE,)
    sound, page = Blob.from_bytes(b"RIFF", "audio/wav"), Blob.from_bytes(b"%PDF", "application/pdf")
    assert content_of([sound, page]).parts == (AudioPart(sound), DocumentPart(page))


def test_lists_with_files_keep_their_order(call_style):
    def show() -> Any:
        return ["before", IMAGE, {"a": 1}, [1, 2], "after"]

    content = run_tool(call_style, show).result.content
    assert content == (TextPart("before"), IMAGE, TextPart('{"a":1}\n[1,2]\nafter'))


def test_pillow_images_are_images(call_style):
    def draw() -> Any:
        return ["red", PIL.Image.new("RGB", (2, 2), "red")]

    text, image = run_tool(call_style, draw).result.content
    assert text == TextPart("red")
    assert isinstance(image, ImagePart)
    assert PIL.Image.open(io.BytesIO(image.blob.read())).size == (2, 2)


def test_unreadable_pillow_image_is_an_error(call_style):
    def draw() -> Any:
        return PIL.Image.new("RGB", (0, 0))

    assert text_of(run_tool(call_style, draw)).startswith("NoContentError: the tool's image: the image cannot be read")


def test_output_keeps_its_data_from_the_model(call_style):
    secret = object()

    def search() -> ToolOutput:
        return ToolOutput(["two rows", IMAGE], data=secret)

    step = run_tool(call_style, search)
    assert step.result.content == (TextPart("two rows"), IMAGE)
    assert step.data is secret


def test_result_of_another_call_becomes_that_of_this_one(call_style):
    def forward() -> ToolResult:
        return ToolResult.text("other", "no", is_error=True)

    step = run_tool(call_style, forward)
    assert (step.result, step.outcome) == (ToolResult.text("c1", "no", is_error=True), "failed")


def test_response_of_another_model_is_its_text(call_style):
    def ask() -> Any:
        return create_llm("scripted", replies=["It rains."]).generate("Weather?")

    assert text_of(run_tool(call_style, ask)) == "It rains."


def cyclic() -> Any:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def deep() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


class Opaque:
    def __repr__(self) -> str:
        raise RuntimeError


class Fragile(BaseModel):
    value: Any


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (object(), "a value of type object has no JSON form: return text, numbers, a dict"),
        (Opaque(), "a value of type Opaque has no JSON form"),
        ({"a": [Opaque()]}, "a value of type Opaque has no JSON form"),
        (Fragile(value=Opaque()), "a value of type Opaque has no JSON form"),
        (b"data", "bytes have no media type: return text, or Blob.from_bytes(data, 'image/png')"),
        ((n for n in range(3)), "a value of type generator gives its items one by one: return a list"),
        (iter([1]), "a value of type list_iterator gives its items one by one: return a list"),
        (map(str, [1]), "a value of type map gives its items one by one: return a list"),
        (cyclic(), "a value of type list cannot be written as JSON: "),
        (len, "a value of type builtin_function_or_method has no JSON form"),
        (Opaque, "a value of type type has no JSON form"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_without_a_form_are_errors_that_name_their_type(call_style, value, text):
    with pytest.raises(NoContentError) as caught:
        content_of(value)
    assert str(caught.value).startswith(text)

    def give() -> Any:
        return value

    step = run_tool(call_style, give)
    assert (step.outcome, step.result.is_error, step.traceback) == ("failed", True, None)
    assert text in text_of(step)


def test_deep_value_is_an_error(call_style):
    value = deep()

    def give() -> Any:
        return value

    assert run_tool(call_style, give).outcome == "failed"
    while value:
        value = value.pop()


def test_lone_surrogates_are_replaced_with_a_warning(call_style):
    def read() -> str:
        return b"a\xffb".decode("utf-8", "surrogateescape")

    step = run_tool(call_style, read)
    assert text_of(step) == "a?b"
    assert [warning.code for warning in step.warnings] == ["replaced_characters"]
