"""The arguments of calls: validated before the function runs, with every problem named."""

from __future__ import annotations

import datetime
import decimal
import json
import pathlib
import uuid
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, StrictInt, field_validator
from typing_extensions import TypedDict, Unpack

from abstractcore import Tool, ToolCall, ToolContext, ToolError
from abstractcore.tools import ArgumentsError
from tests.chaos_server import (
    DONE,
    LAST_CHUNK,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    event,
    stream_head,
)
from tests.chaos_server import streamed as streamed_answer
from tests.core.tools.calls import run_call, run_tool, text_of
from tests.core.tools.sixty_signatures import Color, Even, Point


def echo(**values: Any) -> dict[str, Any]:
    """Returns the values as a function has got them."""
    return values


@pytest.mark.parametrize(
    ("annotation", "given", "value"),
    [
        (int, "3", 3),
        (int, 3.0, 3),
        (float, 3, 3.0),
        (bool, "yes", True),
        (str, "x", "x"),
        (Color, "red", Color.RED),
        (Point, {"x": 1}, Point(1.0)),
        (set[int], [1, 1], {1}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (datetime.date, "2026-11-22", datetime.date(2026, 11, 22)),
        (uuid.UUID, "12345678123456781234567812345678", uuid.UUID("12345678123456781234567812345678")),
        (pathlib.Path, "a/b", pathlib.Path("a/b")),
        (decimal.Decimal, 1.5, decimal.Decimal("1.5")),
        (Literal["a", 1], 1, 1),
        (bytes, "ab", b"ab"),
    ],
)
def test_values_become_those_of_the_annotations(annotation, given, value):
    def function(a):
        return a

    function.__annotations__["a"] = annotation
    prepared = Tool(function).prepare({"a": given})
    assert prepared.keywords == {"a": value}
    assert type(prepared.keywords["a"]) is type(value)


def test_defaults_are_those_of_the_function():
    shared: list[int] = []
    marker = object()

    def function(a: list[int] = shared, b: Any = marker, /, c: int = 3, *, d: Any = marker) -> Any: ...

    tool = Tool(function)
    prepared = tool.prepare({})
    assert prepared.positional == (shared, marker)
    assert prepared.positional[0] is shared
    assert prepared.keywords == {}
    assert dict(tool.spec.parameters["properties"])["b"] == {}


def test_default_none_may_be_given():
    def function(a: int = None, b: Annotated[str, Field(description="B.")] = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013

    tool = Tool(function)
    assert tool.prepare({"a": None}).keywords == {"a": None}
    assert tool.spec.parameters["properties"] == {
        "a": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "description": "B."},
    }


def test_defaults_of_pydantic_are_passed():
    def function(
        a: int = Field(default=3, ge=1), b: Annotated[list[int], Field(default_factory=lambda: [7])] = ...
    ) -> Any: ...  # type: ignore[assignment]

    assert Tool(function).prepare({}).keywords["a"] == 3


def test_names_that_pydantic_reserves_are_ordinary():
    def function(
        _x: int, json: int, schema: int, copy: int, model_config: int, model_fields: int, self_: int, p0: int
    ): ...

    names = ["_x", "json", "schema", "copy", "model_config", "model_fields", "self_", "p0"]
    tool = Tool(function)
    assert list(tool.spec.parameters["properties"]) == names
    given = {name: index for index, name in enumerate(names)}
    assert tool.prepare(given).keywords == given


def test_alias_is_the_name_for_the_model():
    def function(from_: Annotated[str, Field(alias="from")]) -> Any: ...

    tool = Tool(function)
    assert list(tool.spec.parameters["properties"]) == ["from"]
    assert tool.prepare({"from": "a"}).keywords == {"from_": "a"}


def test_texts_in_annotations_describe_arguments():
    class Doc:
        documentation = "A doc."

    def function(
        a: Annotated[str, "A text."], b: Annotated[str, Doc()], c: Annotated[str, Field(description="C.")], d: str
    ):
        """F.

        Args:
            a: Not used.
            c: Not used.
            d: From the docstring.
        """

    function.__annotations__["b"] = Annotated[str, Doc()]
    properties: Any = Tool(function).spec.parameters["properties"]
    described = {name: schema["description"] for name, schema in properties.items()}
    assert described == {"a": "A text.", "b": "A doc.", "c": "C.", "d": "From the docstring."}


def test_positional_and_keyword_arguments_reach_their_places(call_style):
    def function(a: int, context: ToolContext[Any], /, b: int, *, c: int = 3) -> list[Any]:
        return [a, context.call_id, b, c]

    assert text_of(run_tool(call_style, function, {"a": 1, "b": 2})) == '[1,"c1",2,3]'


def test_untyped_arguments_are_any_json():
    def function(a, b=1): ...

    tool = Tool(function)
    assert tool.spec.parameters["properties"] == {"a": {}, "b": {"default": 1}}
    assert tool.prepare({"a": {"x": [1, None]}}).keywords == {"a": {"x": [1, None]}}


def test_other_keywords_are_allowed_by_type():
    def function(a: int, **others: float) -> Any: ...

    tool = Tool(function)
    assert tool.spec.parameters["additionalProperties"] == {"type": "number"}
    assert tool.prepare({"a": 1, "b": "2.5"}).keywords == {"a": 1, "b": 2.5}
    with pytest.raises(ArgumentsError, match="- b: Input should be a valid number"):
        tool.prepare({"a": 1, "b": "x"})
    assert Tool(echo).spec.parameters["additionalProperties"] is True
    assert Tool(echo).prepare({"a": 1, "self": 2}).keywords == {"a": 1, "self": 2}


class Options(TypedDict, total=False):
    limit: int
    name: Annotated[str, Field(description="Its name.")]


def test_keywords_of_a_typed_dict_are_arguments():
    def function(a: int, **options: Unpack[Options]) -> Any: ...

    tool = Tool(function)
    assert tool.spec.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "limit": {"type": "integer"},
            "name": {"type": "string", "description": "Its name."},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert tool.prepare({"a": 1, "limit": 3}).keywords == {"a": 1, "limit": 3}


def several(city: str, days: Annotated[int, Field(ge=1)], line: list[Point], n: StrictInt = 1) -> None: ...


def test_every_problem_is_named_with_its_path(call_style):
    step = run_tool(call_style, several, {"citty": "Oslo", "days": 0, "line": [{"x": 1}, {"x": "a", "z": 1}], "n": "1"})
    assert step.outcome == "invalid_arguments"
    assert text_of(step).splitlines() == [
        "invalid arguments for several:",
        "- citty: unknown argument. Did you mean city?",
        "- city: Field required",
        "- days: Input should be greater than or equal to 1, got 0",
        "- line[1].x: Input should be a valid number, unable to parse string as a number, got 'a'",
        "- line[1].z: Unexpected keyword argument, got 1",
        "- n: Input should be a valid integer, got '1'",
    ]


def test_unknown_argument_alone_is_refused_with_the_known_ones(call_style):
    def add(a: int = 1, b: int = 2) -> int:
        return a + b

    assert text_of(run_tool(call_style, add, {"verbose": True})).splitlines()[1] == (
        "- verbose: unknown argument. The arguments are: a, b."
    )


@pytest.mark.exhaustive
def test_many_problems_are_counted(call_style):
    def function(numbers: list[int]) -> None: ...

    text = text_of(run_tool(call_style, function, {"numbers": ["x"] * 250_000, **{f"k{n}": 1 for n in range(1000)}}))
    assert len(text) < 6000
    assert "... and 249,980 more problems" in text
    assert "... and 980 more unknown arguments" in text


def test_values_that_are_shown_are_bounded(call_style):
    def function(n: int) -> None: ...

    assert len(text_of(run_tool(call_style, function, {"n": "x" * 1_000_000, "k" * 1_000_000: 1}))) < 2000


def test_a_megabyte_of_arguments_reaches_the_function(call_style):
    def function(text: str, rows: list[dict[str, int]]) -> str:
        return f"{len(text)} {len(rows)}"

    rows = [{"a": n} for n in range(60_000)]
    assert text_of(run_tool(call_style, function, {"text": "x" * 500_000, "rows": rows})) == "500000 60000"


def test_deep_arguments_are_refused(call_style):
    def function(a: Any) -> None: ...

    deep = ToolCall("c1", "function", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}")
    step = run_call(call_style, Tool(function), deep)
    assert text_of(step).startswith("the arguments are not a JSON object: nest")


def test_validators_speak_to_the_model_and_their_bugs_are_failures(call_style):
    class Odd(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def check(cls, n: int) -> int:
            return {}[n]  # type: ignore[no-any-return]

    def function(even: Even | None = None, odd: Odd | None = None) -> None: ...

    function.__annotations__["odd"] = Odd | None
    step = run_tool(call_style, function, {"even": {"n": 1}})
    assert text_of(step).splitlines()[1] == "- even.n: Value error, n must be even, got 1"
    step = run_tool(call_style, function, {"odd": {"n": 1}})
    assert (step.outcome, text_of(step)) == ("failed", "KeyError: 1")
    with pytest.raises(ToolError, match="the tool 'function' failed: KeyError: 1"):
        run_tool(call_style, Tool(function, on_error="raise"), {"odd": {"n": 1}})


def test_arguments_may_be_missing_altogether(call_style):
    def function(a: int = 3) -> int:
        return a

    assert text_of(run_call(call_style, Tool(function), ToolCall("c1", "function", ""))) == "3"


def test_json_of_arguments_is_read_as_written(call_style):
    def function(a: str, b: float, c: Any) -> Any:
        return [a, b, c]

    text = '{"a": "\\u00e9\\n", "b": 1e300, "c": {"": [true, null, -0.0]}}'
    step = run_call(call_style, Tool(function), ToolCall("c1", "function", text))
    assert json.loads(text_of(step)) == ["é\n", 1e300, {"": [True, None, -0.0]}]


REMOVAL = {"path": "/tmp/x"}
ARGUMENTS: dict[str, tuple[Any, list[str]]] = {
    "a text": (json.dumps(REMOVAL), ["/tmp/x"]),
    "an object": (REMOVAL, ["/tmp/x"]),
    "an empty object": ({}, ["/"]),
    "a list": ([REMOVAL], []),
    "a number": (1, []),
    "a boolean": (True, []),
    "a text without an object": ("/tmp/x", []),
}
"""Arguments as servers send them, and the paths with which the tool is run: llama.cpp may send an object."""


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_tool_runs_with_the_arguments_that_a_server_sends_or_not_at_all(name, streamed, call_style, server, connect):
    arguments, expected = ARGUMENTS[name]
    removed: list[str] = []

    def remove(path: str = "/") -> str:
        """Removes a folder."""
        removed.append(path)
        return "removed"

    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "remove", "arguments": arguments}}
    if streamed:
        first = event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        events = [first, delta(finish_reason="tool_calls"), DONE]
        server.script(stream_head() + b"".join(map(chunk, events)) + LAST_CHUNK)
        server.script(streamed_answer("done"))
    else:
        body = completion_body("", "tool_calls")
        body["choices"][0]["message"]["tool_calls"] = [call]
        server.script(answer(body))
        server.script(completion("done"))
    if streamed:
        with call_style.stream(connect(), "Remove /tmp/x.", tools=[remove], run_tools=True) as stream:
            content = "".join(stream.text())
    else:
        content = call_style.generate(connect(), "Remove /tmp/x.", tools=[remove], run_tools=True).content
    result = json.loads(server.requests[1].body)["messages"][-1]
    assert removed == expected
    assert (result["role"], result["tool_call_id"]) == ("tool", "call_1")
    assert (result["content"] == "removed") == bool(expected)
    assert content == "done"
