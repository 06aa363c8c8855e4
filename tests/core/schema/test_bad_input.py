"""Invalid values at every entry point of the schema: a `SchemaError` with the path."""

import json
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import (
    AudioPart,
    Billing,
    Blob,
    CachePoint,
    CallWarning,
    Citation,
    Delta,
    DocumentPart,
    FrozenDict,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    OutputSchema,
    PartDelta,
    ReasoningPart,
    ReplyEnd,
    Sampling,
    SchemaError,
    SeparateUsage,
    TextDelta,
    TextEnd,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolChoice,
    ToolResult,
    ToolSpec,
    Usage,
    UsageDelta,
    VideoPart,
    accumulate,
    canonical_json,
    deltas_of,
    digest,
    freeze,
    from_data,
    from_json,
    to_data,
    to_json,
)
from tests.core.schema.test_immutability import mutable_places
from tests.junk import junk, junk_and_arrays, nested, outcome, values
from tests.properties import examples

BLOB = Blob.from_bytes(b"test", "image/png")
HASH = BLOB.sha256 or ""
OBJECTS: tuple[object, ...] = (
    BLOB,
    Blob.from_url("https://host.test/a.png", "image/png"),
    Blob.from_provider_file("openai", "file-1", "application/pdf"),
    Blob.from_artifact(HASH, "image/png", 4),
    Blob("file", "image/png", location="/a.png", sha256=HASH, size=4),
    CachePoint(300),
    CallWarning("code", "path", "message"),
    Citation("source", start=1, end=2),
    TextPart("text", (Citation("source"),)),
    ReasoningPart("text", "signature"),
    ImagePart(BLOB, "low"),
    AudioPart(BLOB, "transcript", "id"),
    VideoPart(BLOB),
    DocumentPart(BLOB),
    ToolCall("id", "name", "{}"),
    ToolResult("id", (TextPart("text"),)),
    HostedToolCall("id", "name"),
    HostedToolResult("id", (TextPart("text"),)),
    OpaquePart("provider", "kind", {"a": 1}),
    Message.user("text"),
    ToolSpec("name", "description", {"type": "object"}),
    HostedTool("web_search", {"max_uses": 3}),
    ToolChoice("tool", "name"),
    OutputSchema("name", {"type": "object"}, "description"),
    Sampling(100, 0.5, 0.9, 40, 7, ("END",), 0.1, -0.1, 2),
    Usage(1, 2),
    Usage(1, billing=Billing(tier="flex")),
    Billing(Decimal("0.5"), "flex", "us", {"web_search": 1}, (SeparateUsage("m", 1),)),
    SeparateUsage("m", 1, 2, 3, 4, {"cache_write_5m": 4}),
    ModelReply((TextPart("text"),), "stop", "stop", Usage(1, 2), "m", "p", "id"),
    ModelCall("m", (Message.user("text"),), "p", (ToolSpec("name"),), ToolChoice(), sampling=Sampling(seed=1)),
)
FIELDS = [
    pytest.param(value, field.name, id=f"{type(value).__name__}{index}-{field.name}")
    for index, value in enumerate(OBJECTS)
    for field in fields(value)  # type: ignore[arg-type]
    if field.init
]


def constructed_with(value: object, **changes: object) -> object:
    """As `dataclasses.replace`, with hash and size found anew where the data changes."""
    given = {field.name: getattr(value, field.name) for field in fields(value) if field.init}  # type: ignore[arg-type]
    if isinstance(value, Blob) and "data" in changes:
        given |= {"sha256": None, "size": None}
    return type(value)(**{**given, **changes})


def check_accepted_or_refused(value: object, name: str, junk: Any) -> None:
    """An object that was made is immutable and can be written; one that was not is refused by its field's name."""
    made, error = outcome(lambda: constructed_with(value, **{name: junk}), SchemaError)
    if error is not None:
        assert error.message
        assert error.path.startswith(name) or type(value) is Blob
        assert error.path.split("[")[0].split(".")[0] in {field.name for field in fields(value)}  # type: ignore[arg-type]
        return
    assert mutable_places(made, "made") == []
    again, error = outcome(lambda: from_data(type(made), to_data(made)), SchemaError)
    if error is not None:
        assert error.path == "location", "only the path of a file may be one that JSON cannot carry"
    else:
        assert again == made


@pytest.mark.parametrize(("value", "name"), FIELDS)
def test_field_accepts_valid_values_and_names_invalid_ones(value: object, name: str):
    for thing in junk_and_arrays().values():
        check_accepted_or_refused(value, name, thing)


@examples(300)
@given(st.sampled_from(FIELDS), values())
def test_generated_field_value_is_accepted_or_refused_with_its_path(field: Any, thing: Any):
    check_accepted_or_refused(*field.values, thing)


@pytest.mark.parametrize(
    ("make", "path", "what"),
    [
        (lambda: Sampling(temperature=-0.1), "temperature", "must be at least 0"),
        (lambda: Sampling(top_p=1.1), "top_p", "must be between 0 and 1"),
        (lambda: Sampling(top_p=-0.1), "top_p", "must be between 0 and 1"),
        (lambda: Sampling(top_k=-1), "top_k", "must be at least 0"),
        (lambda: Sampling(top_logprobs=-1), "top_logprobs", "must be at least 0"),
        (lambda: Sampling(max_output_tokens=0), "max_output_tokens", "must be at least 1"),
        (lambda: Sampling(temperature=2**1024 - 1), "temperature", "too large"),
        (lambda: Sampling(stop=(text for text in ["a"])), "stop", "expected a list, got generator"),
        (lambda: Sampling(stop=["a", 5]), "stop[1]", "expected text, got int"),
        (lambda: CachePoint(0), "ttl", "at least 1 second"),
        (lambda: TextPart("", cache=CachePoint()), "cache", "an empty text cannot hold"),
        (lambda: ModelReply((TextPart("a"), TextPart("b", cache=CachePoint()))), "parts[0].cache", "not allowed"),
        (lambda: Citation("s", start=-1), "start", "must not be negative"),
        (lambda: Billing(0.5), "cost", "expected a Decimal, got float"),
        (lambda: Billing(Decimal("NaN")), "cost", "NaN is not a JSON number"),
        (lambda: Billing(Decimal("-0.5")), "cost", "must not be negative"),
        (lambda: Billing(Decimal("1E+999999")), "cost", "more than 50 digits before or after"),
        (lambda: Billing(Decimal("1.000E-51")), "cost", "more than 50 digits before or after"),
        (lambda: Billing(Decimal(f"1.{'0' * 50}1")), "cost", "more than 50 digits after"),
        (lambda: Billing(tier=1), "tier", "expected text, got int"),
        (lambda: Billing(counts=[1]), "counts", "expected a mapping, got list"),
        (lambda: Billing(counts={"web_serch": 1}), "counts", "'web_serch' is not a meter"),
        (lambda: Billing(counts={"web_search": None}), "counts.web_search", "expected an integer, got NoneType"),
        (lambda: Billing(counts={"web_search": -1}), "counts.web_search", "must not be negative"),
        (lambda: Billing(separate=[Usage(1)]), "separate[0]", "expected a SeparateUsage, got Usage"),
        (lambda: SeparateUsage(input=0.5), "input", "expected an integer, got float"),
        (lambda: SeparateUsage(counts={"tokens": 1}), "counts", "'tokens' is not a meter"),
        (lambda: Usage(billing={"cost": 1}), "billing", "expected a Billing, got dict"),
        (lambda: from_data(Billing, {"cost": 0.5}), "cost", "expected text, got float"),
        (lambda: from_data(Billing, {"cost": "1e5"}), "cost", "'1e5' is not a decimal number"),
        (lambda: from_data(Billing, {"cost": "\u0661"}), "cost", "is not a decimal number"),
        (lambda: from_data(Billing, {"counts": {"tokens": 1}}), "counts", "'tokens' is not a meter"),
        (lambda: to_data(Decimal("Infinity")), "", "Infinity is not a JSON number"),
        (lambda: Message([], ()), "role", "unknown role"),
        (lambda: Message("user", (part for part in ())), "parts", "expected a sequence of parts"),
        (lambda: Message.user(5), "parts[0]", "a int is not allowed here"),
        (lambda: Message.user("a", [TextPart("b")]), "parts[1]", "a list is not allowed here"),
        (lambda: ImagePart("a.png"), "blob", "expected a Blob, got str"),
        (lambda: Blob.from_bytes("text", "text/plain"), "data", "expected bytes, got str"),
        (lambda: Blob.from_bytes(5, "text/plain"), "data", "expected bytes, got int"),
        (lambda: Blob.from_bytes(b"", 5), "media_type", "expected text, got int"),
        (lambda: Blob.from_file(5, "text/plain"), "path", "expected a path, got int"),
        (lambda: Blob.from_file("a\x00", "text/plain"), "path", "is not a path"),
        (lambda: Blob.from_url(5, "image/png"), "location", "expected text, got int"),
        (lambda: Blob.from_artifact(5, "image/png", 4), "sha256", "expected text, got int"),
        (lambda: Blob.from_artifact(HASH, "image/png", True), "size", "expected an integer, got bool"),
        (lambda: ModelCall("m", [5]), "messages[0]", "expected a Message, got int"),
        (lambda: ModelCall("m", {"a": 1}), "messages", "expected a list, got dict"),
        (lambda: ModelCall("m", [Message.user("a")], tools=[len]), "tools[0]", "expected a ToolSpec, got builtin"),
        (lambda: ModelCall("m", [Message.user("a")], tags={"a": 1}), "tags.a", "expected text, got int"),
        (lambda: ModelCall("m", [Message.user("a")], thinking=-(10**5000)), "thinking", "neither a number of tokens"),
        (lambda: ModelCall("m", [Message.user("a")], thinking=10**5000), "thinking", "too large"),
        (lambda: ModelCall("m", [Message.user("a")], media_policy={"smell": "auto"}), "media_policy", "unknown kind"),
        (lambda: ModelCall("m", [Message.user("a")], media_history={"smell": "text"}), "media_history", "unknown kind"),
        (
            lambda: ModelCall("m", [Message.user("a")], media_history={"image": "txt"}),
            "media_history.image",
            "'txt' is not one of keep, text",
        ),
        (lambda: ToolCall.of("id", "name", {"a": [float("nan")]}), "arguments.a[0]", "nan is not a JSON number"),
        (lambda: ToolCall.of("id", "name", []), "arguments", "expected a mapping, got list"),
        (lambda: ToolSpec("t", parameters={"a": nested(100_000)}), "parameters.a" + "[0]" * 99, "nested deeper"),
        (lambda: FrozenDict({"a": {1}}), "a", "set is not a JSON value"),
        (lambda: FrozenDict([1]), "", "expected a mapping, got list"),
        (lambda: freeze({"a": {1}}), "a", "set is not a JSON value"),
    ],
)  # fmt: skip
def test_message_states_problem_and_path(make: Any, path: str, what: str):
    with pytest.raises(SchemaError, match=what) as caught:
        make()
    assert caught.value.path == path


def test_too_deeply_nested_tool_arguments_are_kept_as_text_with_the_reason():
    for opening, closing in (('{"a":', "}"), ("[", "]")):
        text = f'{{"x":{opening * 100_000}1{closing * 100_000}}}'
        call = ToolCall("id", "name", text)
        assert call.arguments is None
        assert "nested" in (call.arguments_error or "")
        assert from_json(to_json(call)) == call


@pytest.mark.parametrize("write", [to_data, to_json, canonical_json, digest], ids=lambda write: write.__name__)
def test_value_that_cannot_be_serialised_is_a_schema_error(write: Any):
    for thing in junk().values():
        written, error = outcome(lambda thing=thing: write(thing), SchemaError)
        assert (written is None) == (error is not None or (thing is None and write is to_data))


def test_self_referencing_value_is_a_schema_error():
    @dataclass
    class Node:
        next: Any = None

    node = Node()
    node.next = node
    with pytest.raises(SchemaError, match="refers to itself"):
        digest(node)


def test_accumulating_values_that_are_not_deltas_is_a_schema_error():
    for thing in (*junk().values(), *([thing] for thing in junk().values())):
        reply, error = outcome(lambda thing=thing: accumulate(thing), SchemaError)
        assert reply == ModelReply() if error is None else error.path.startswith("deltas")


@pytest.mark.parametrize("kind", get_args(Delta), ids=lambda kind: kind.type)
def test_delta_with_a_field_of_the_wrong_type_accumulates_or_is_a_schema_error(kind: Any):
    valid: dict[str, Any] = {
        "sequence": 0, "block": 0, "text": "a", "id": "a", "name": "b", "arguments_text": "{}",
        "part": TextPart("a"), "usage": Usage(), "finish_reason": "stop",
    }  # fmt: skip
    names = [field.name for field in fields(kind)]
    given = {name: valid[name] for name in names if name in valid}
    for name in names:
        for thing in junk().values():
            delta = kind(**{**given, name: thing})
            reply, error = outcome(lambda delta=delta: accumulate([delta]), SchemaError)
            if error is not None:
                assert error.path
            else:
                assert mutable_places(reply, "reply") == []
                assert from_json(to_json(reply)) == reply


@pytest.mark.parametrize(
    ("deltas", "path", "what"),
    [
        (5, "deltas", "expected deltas, got int"),
        ([TextDelta(0, 0, "a"), 5], "deltas[1]", "expected a delta, got int"),
        ([TextDelta(0, "one", "a")], "deltas[0].block", "expected an integer, got str"),
        ([TextDelta(0, 0, "a"), TextDelta(1, 0, 5)], "block 0.text", "expected text, got int"),
        ([ToolCallDelta(0, 1, None)], "block 1.text", "expected text, got NoneType"),
        ([TextDelta(0, 3, "\ud800")], "block 3.text", "lone surrogate"),
        ([TextEnd(0, 0, 5)], "deltas[0]", "tuple"),
        ([PartDelta(0, 0, 5)], "parts[0]", "a int is not allowed here"),
        ([UsageDelta(0, 5)], "usage", "expected a Usage, got int"),
        ([ReplyEnd(0, "bored")], "finish_reason", "is not one of"),
    ],
)
def test_inconsistent_stream_is_refused_with_its_path(deltas: Any, path: str, what: str):
    with pytest.raises(SchemaError, match=what) as caught:
        accumulate(deltas)
    assert caught.value.path == path


def test_only_a_reply_can_be_split_into_deltas():
    with pytest.raises(SchemaError, match="expected a ModelReply, got str"):
        deltas_of("text")  # type: ignore[arg-type]


def test_invalid_document_is_a_schema_error():
    for thing in junk().values():
        with pytest.raises(SchemaError):
            from_json(thing)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"type": "opaque", "data": ['])
def test_document_100_000_levels_deep_is_a_schema_error(opening: str):
    for text in (opening * 100_000, f'{{"schema_version": 1, "type": "opaque", "data": {opening * 100_000}'):
        with pytest.raises(SchemaError):
            from_json(text)


def test_data_100_000_levels_deep_is_a_schema_error_with_its_path():
    data = {"model": "m", "messages": [{"role": "user", "parts": [{"type": "opaque", "provider": "p", "kind": "k"}]}]}
    data["messages"][0]["parts"][0]["data"] = nested(100_000)  # type: ignore[index]
    with pytest.raises(SchemaError, match="nested deeper") as caught:
        from_data(ModelCall, data)
    assert caught.value.path == "messages[0].parts[0].data" + "[0]" * 100


@examples(100)
@given(st.sampled_from(OBJECTS), st.data())
def test_data_with_one_replaced_value_reads_or_is_a_schema_error(value: object, data: st.DataObject):
    written = to_data(value)
    node: Any = {"top": json.loads(json.dumps(written))}
    top = node
    while True:
        key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if not isinstance(node[key], dict | list) or not node[key] or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(values())
    read, error = outcome(lambda: from_data(type(value), top["top"], "top"), SchemaError)
    assert mutable_places(read, "read") == [] if error is None else error.path.startswith("top")
