"""JSON documents of the schema, both ways, and digests."""

import json
import os
import subprocess
import sys
from dataclasses import is_dataclass
from functools import reduce
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstractcore
from abstractcore.schema import (
    EMPTY,
    Blob,
    CallWarning,
    Delta,
    DocumentPart,
    GenerateResponse,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    Sampling,
    SchemaError,
    TextPart,
    ToolCall,
    ToolEnded,
    ToolEvent,
    ToolProgress,
    ToolStarted,
    Usage,
    canonical_json,
    digest,
    from_data,
    from_json,
    to_data,
    to_json,
)
from abstractcore.testing import strategies
from tests.core.schema.test_standard_copies import RECORDS
from tests.properties import examples

DEEP: Any = reduce(lambda inner, _: [inner], range(101), "bottom")
CYCLE: list[Any] = []
CYCLE.append(CYCLE)

DOCUMENTS = {
    "call": strategies.calls(options=strategies.item_options("scripted")),
    "reply": strategies.replies(options=strategies.item_options("scripted")),
    "response": strategies.responses(),
    "record": strategies.call_records(),
    "interaction record": strategies.interaction_records(),
    "tool record": strategies.tool_records(),
    "message": strategies.messages(),
    "tool": strategies.tool_specs(),
    "tool step": strategies.tool_steps(),
    "tool answer": strategies.tool_answers(),
    "pending call": strategies.pending_calls(),
    "tool event": strategies.tool_steps().flatmap(
        lambda step: st.sampled_from(
            [ToolStarted(step.call, step.round), ToolProgress(step.call, 0.5, 2.5, "half"), ToolEnded(step)]
        )
    ),
    "tool loop": strategies.tool_loops(),
    "journal entry": strategies.journal_entries(),
    "transcript": strategies.transcripts(),
    "blob": strategies.blobs() | strategies.blobs_elsewhere(),
    "part": strategies.parts(),
    "delta": strategies.streams(strategies.replies()).flatmap(lambda case: st.sampled_from(case[1])),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_document_survives_a_round_trip(kind: str):
    @examples(40)
    @given(DOCUMENTS[kind])
    def check(document: object):
        again = from_json(to_json(document))
        assert type(again) is type(document)
        assert again == document
        assert to_json(again) == to_json(document)
        assert digest(again) == digest(document)

    check()


def test_every_public_record_of_the_schema_is_a_document():
    public = [getattr(abstractcore, name) for name in abstractcore.__all__]
    records = [cls for cls in public if isinstance(cls, type) and is_dataclass(cls) and "schema" in cls.__module__]
    records.remove(abstractcore.MediaDecision)  # it has a field "type"
    assert len(records) > 60
    for cls in {*records, *get_args(Part), *get_args(Delta), *get_args(ToolEvent)}:
        for record in RECORDS[cls.__name__]:
            again = from_json(to_json(record), cls)
            assert (type(again), again) == (cls, record)
            assert to_json(from_json(to_json(again))) == to_json(again)


@examples(30)
@given(strategies.calls(options=strategies.item_options("scripted")))
def test_canonical_json_has_sorted_keys_and_no_spaces(call: ModelCall):
    text = canonical_json(call)
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_default_fields_are_omitted():
    assert to_data(ModelCall("m", (Message.user("hi"),))) == {
        "model": "m",
        "messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}],
    }


DIGEST_PROGRAM = """
from abstractcore.schema import *
call = ModelCall(
    "m",
    (Message.user("Grüße", ImagePart(Blob.from_bytes(b"1", "image/png"))),),
    tools=(ToolSpec("t", parameters={"b": [1, 2.5], "a": {"z": None, "y": True}}),),
    provider_options={"p": {"x": 1, "w": "2"}},
    tags={"b": "1", "a": "2"},
)
print(digest(call))
"""


@pytest.mark.process
def test_digest_is_the_same_in_every_process():
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST_PROGRAM],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert digests == {"e01177499d2971b968423135e1262babe961e9570d6b3cc865a1cb8b35678c6c\n"}


def test_digest_does_not_depend_on_mapping_order():
    one = ModelCall("m", (Message.user("hi"),), tags={"a": "1", "b": "2"})
    other = ModelCall("m", (Message.user("hi"),), tags={"b": "2", "a": "1"})
    assert digest(one) == digest(other)


def test_digest_does_not_depend_on_where_content_is_stored(tmp_path: Path):
    file = tmp_path / "cat.png"
    file.write_bytes(b"cat")
    held, stored = Blob.from_bytes(b"cat", "image/png"), Blob.from_file(file, "image/png")
    kept = Blob.from_artifact(held.sha256 or "", "image/png", 3)
    digests = {digest(ModelCall("m", (Message.user(ImagePart(blob)),))) for blob in (held, stored, kept)}
    assert held == stored == kept
    assert len(digests) == 1
    assert digest(held) != digest(Blob.from_bytes(b"cat", "image/jpeg"))


@pytest.mark.parametrize(
    ("value", "path", "what"),
    [
        ({"temperature": [float("nan")]}, "temperature[0]", "nan is not a JSON number"),
        ({"a": {"b": float("inf")}}, "a.b", "inf is not a JSON number"),
        ({"a": [1, {"b": float("-inf")}]}, "a[1].b", "-inf is not a JSON number"),
        ({"a": "\ud800"}, "a", "lone surrogate"),
        ({"a": {"\udfff": 1}}, "a", "lone surrogate"),
        ({"a": {1: 2}}, "a", "key 1 is not text"),
        ({"a": [{1, 2}]}, "a[0]", "set is not a JSON value"),
        ({"a": b"bytes"}, "a", "bytes is not a JSON value"),
        ({"a": 2**1025}, "a", "too large"),
        ({"a": -(10**5000)}, "a", "too large"),
        ({"a": CYCLE}, "a" + "[0]" * 99, "nested deeper than 100 levels"),
        ({"a": DEEP}, "a" + "[0]" * 99, "nested deeper than 100 levels"),
    ],
    ids=["nan", "inf", "-inf", "surrogate", "surrogate-key", "key", "set", "bytes", "integer", "huge", "cycle", "deep"],
)
def test_non_json_value_is_refused_with_its_path(value: Any, path: str, what: str):
    with pytest.raises(SchemaError, match=what) as caught:
        OpaquePart("p", "k", value)
    assert caught.value.path == f"data.{path}"
    if "a" in value and not isinstance(value["a"], bytes):
        with pytest.raises(SchemaError, match=what) as caught:
            canonical_json(value)
        assert caught.value.path == path


def test_boundary_numbers_are_kept():
    numbers = [2**1024 - 1, -(2**1023), 5e-324, 1.7976931348623157e308, -0.0, 0]
    part = OpaquePart("p", "k", numbers)
    assert from_json(to_json(part)) == part


def document(**changes: Any) -> str:
    data: dict[str, Any] = {
        "schema_version": 1,
        "type": "model_call",
        "model": "m",
        "messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}],
    }
    return json.dumps({name: value for name, value in {**data, **changes}.items() if value is not ...})


def user(**part: Any) -> list[Any]:
    return [{"role": "user", "parts": [part]}]


@pytest.mark.parametrize(
    ("text", "path", "what"),
    [
        ("{", "", "not a JSON document"),
        ("[" * 100_000, "", "not a JSON document"),
        ("1" * 5000, "", "not a JSON document"),
        (b"\xff\xfe\xfa", "", "not a JSON document"),
        ("[]", "", "expected a JSON object"),
        (document(schema_version=2), "schema_version", "version 2 is not supported"),
        (document(schema_version=True), "schema_version", "version True is not supported"),
        (document(schema_version=1.0), "schema_version", "version 1.0 is not supported"),
        (document(schema_version=...), "schema_version", "version None is not supported"),
        (document(type="call"), "type", "unknown type 'call'"),
        (document(type=["model_call"]), "type", "unknown type"),
        (document(type=...), "type", "unknown type None"),
        (document(model=...), "model", "missing"),
        (document(model=5), "model", "expected text, got int"),
        (document(modell="m"), "modell", "no such field"),
        (document(messages=[]), "messages", "the call is empty"),
        (document(messages={}), "messages", "expected a list, got dict"),
        (document(messages=[5]), "messages[0]", "expected an object, got int"),
        (document(messages=[{"role": "user"}]), "messages[0].parts", "missing"),
        (document(messages=[{"role": "bard", "parts": []}]), "messages[0].role", "'bard' is not one of"),
        (document(messages=user(type="smell")), "messages[0].parts[0].type", "unknown type 'smell'"),
        (document(messages=user(type="text", text=5)), "messages[0].parts[0].text", "expected text"),
        (document(messages=user(type="text", text="\ud800")), "messages[0].parts[0].text", "lone surrogate"),
        (document(messages=user(type="text", text="x", x=1)), "messages[0].parts[0].x", "no such field"),
        (
            document(messages=user(type="image", blob={"form": "bytes", "media_type": "image/png", "data": "%"})),
            "messages[0].parts[0].blob.data",
            "not base64",
        ),
        (
            document(messages=user(type="image", blob={"form": "bytes", "media_type": "image/png"})),
            "messages[0].parts[0].blob.data",
            "needs data",
        ),
        (
            document(messages=user(type="tool_result", call_id="c", content=[])),
            "messages[0].parts[0]",
            "is not allowed here",
        ),
        (document(sampling={"temperature": "hot"}), "sampling.temperature", "expected float, got str"),
        (document(sampling={"temperature": True}), "sampling.temperature", "expected float, got bool"),
        (document(sampling={"seed": 1.5}), "sampling.seed", "expected int, got float"),
        (document(sampling={"max_output_tokens": 0}), "sampling.max_output_tokens", "at least 1"),
        (document(sampling={"stop": [""]}), "sampling.stop", "non-empty"),
        (document(sampling={"temperature": 10**400}), "sampling.temperature", "too large"),
        (document(tools=[{"name": ""}]), "tools[0].name", "needs a name"),
        (document(tools=[{"name": "t"}, {"name": "t"}]), "tools[1].name", "two tools"),
        (document(tools=[{"name": "t", "parameters": []}]), "tools[0].parameters", "expected an object"),
        (document(tool_choice={"mode": "tool"}), "tool_choice.tool", "is required with mode"),
        (document(tool_choice={"mode": "any"}), "tool_choice.mode", "'any' is not one of"),
        (document(thinking="hard"), "thinking", "'hard' is not one of"),
        (document(thinking=-1), "thinking", "neither a number of tokens"),
        (document(modalities=["smell"]), "modalities[0]", "'smell' is not one of"),
        (document(stream=1), "stream", "expected bool, got int"),
        (document(provider_options={"p": 5}), "provider_options.p", "expected an object"),
        (document(media_policy={"image": 1}), "media_policy.image", "expected text"),
        (document(tags={"a": 1}), "tags.a", "expected text"),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_invalid_document_is_refused_with_its_path(text: str | bytes, path: str, what: str):
    with pytest.raises(SchemaError, match=what) as caught:
        from_json(text)
    assert caught.value.path == path


@examples(100)
@given(st.binary(max_size=40) | st.text(max_size=40))
def test_random_bytes_are_a_schema_error(text: str | bytes):
    with pytest.raises(SchemaError):
        from_json(text)


def keys_of(node: Any) -> list[Any]:
    """The keys of an object or the indexes of a list; [] for any other value."""
    if isinstance(node, dict):
        return sorted(cast("dict[str, object]", node))
    return list(range(len(cast("list[object]", node)))) if isinstance(node, list) else []


@pytest.mark.exhaustive
@examples(100)
@given(strategies.calls(options=strategies.item_options("scripted")), st.data())
def test_mutated_document_reads_or_is_a_schema_error(call: ModelCall, data: st.DataObject):
    """One value anywhere in a document is replaced by any JSON value."""
    written = json.loads(to_json(call))
    node, key = written, ""
    while True:
        key = data.draw(st.sampled_from(keys_of(node)))
        if not keys_of(node[key]) or not data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(strategies.json_values())
    try:
        again = from_json(json.dumps(written))
    except SchemaError:
        return
    assert from_json(to_json(again)) == again


def test_object_without_a_document_type_is_refused():
    with pytest.raises(SchemaError, match="SchemaError has no JSON document type"):
        to_json(SchemaError("wrong"))


def test_data_can_be_read_as_a_class_without_a_document_type():
    assert from_data(Usage, {"input": 1}) == Usage(1)
    with pytest.raises(SchemaError, match="expected int, got str") as caught:
        from_data(Usage, {"input": "1"}, "usage")
    assert caught.value.path == "usage.input"


def test_equal_values_have_equal_digests_for_integer_and_float():
    assert Sampling(temperature=1) == Sampling(temperature=1.0)
    assert digest(Sampling(temperature=1)) == digest(Sampling(temperature=1.0))


def test_metadata_at_the_depth_limit_can_be_written_anywhere():
    deep: Any = None
    for _ in range(99):
        deep = [deep]
    call = ModelCall("m", (Message.assistant(OpaquePart("p", "k", deep)),))
    assert from_json(to_json(call)) == call


def test_response_keeps_its_output_as_json():
    response = GenerateResponse(
        ModelReply((TextPart("{}"),)), {"a": [1]}, (), (), Usage(), (), (), "p", "m", None, "t", 0.5
    )
    again: Any = from_json(to_json(response))
    assert again.output == {"a": [1]}


def test_warnings_and_arguments_hold_frozen_json():
    assert CallWarning("c", "p", "m", [1]).requested == [1]
    call = ToolCall("c", "t", '{"a": [1]}')
    assert call.arguments == {"a": [1]}
    assert ToolCall.of("c", "t", {"ä": 1.10}).arguments_text == '{"ä": 1.1}'


def test_documents_keep_file_names():
    part = DocumentPart(Blob.from_bytes(b"%PDF", "application/pdf", name="a.pdf"))
    again: Any = from_json(to_json(part))
    assert again.blob.name == "a.pdf"
    assert EMPTY == {}
