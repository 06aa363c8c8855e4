"""`asdict`, `astuple`, `replace`, `copy` and `pickle` work with every record of the schema."""

import copy
import dataclasses
import json
import pickle
from decimal import Decimal
from typing import Any, cast

import pytest
from pydantic import BaseModel

import abstractcore.schema as schema
from abstractcore import (
    Blob,
    CallProgress,
    CallWarning,
    CostRange,
    CostSums,
    DrawnText,
    Evidence,
    GenerateResponse,
    HeardReply,
    ImagePart,
    InteractionRecord,
    MediaResult,
    ModelCall,
    ModelReply,
    OutputAttempt,
    PendingCall,
    Plan,
    SpokenPiece,
    SpokenWord,
    ToolApproval,
    ToolCall,
    ToolEnded,
    ToolLoop,
    ToolProgress,
    ToolRecord,
    ToolSpec,
    ToolStarted,
    ToolStep,
    Transcript,
    TranscriptResult,
    TranscriptSegment,
    Usage,
)
from abstractcore.schema import (
    AllowedCall,
    BackendFacts,
    Billing,
    CachedContent,
    CallInput,
    Check,
    EmbedInput,
    EmbedReply,
    Encoded,
    InputRequest,
    InputResponse,
    JournalEntry,
    Lowered,
    MediaAnchor,
    MediaControls,
    MediaFacts,
    MediaLoss,
    MediaProgress,
    MediaText,
    MediaVerification,
    Message,
    ModelList,
    ModelListInput,
    OperationInput,
    PairFault,
    Parsed,
    ParsedInput,
    PartialVectors,
    Question,
    RankedIndex,
    Rendered,
    ReplyReading,
    RerankInput,
    RerankReply,
    SentNames,
    SeparateUsage,
    Source,
    StoredFile,
    StoredReplyInput,
    TextPart,
    Vectors,
    Verification,
    WireRequest,
    WireResponse,
    WordDifference,
)
from tests.core.schema.test_frozen_v1 import OBJECTS
from tests.core.schema.test_immutability import mutable_places


class City(BaseModel):
    """A user's own type, which can be changed."""

    name: str
    districts: list[str] = []


def nested_records(value: Any) -> list[Any]:
    """All dataclass instances in a value."""
    if dataclasses.is_dataclass(value):
        inner: list[Any] = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return [value, *(record for item in inner for record in nested_records(item))]
    items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
    return [record for item in items for record in nested_records(item)]


TOOL_CALL = ToolCall("1", "f")
STEP = ToolStep(TOOL_CALL, TOOL_CALL.result("done"), 0)
PENDING = PendingCall(TOOL_CALL, "approval")
CALL = OBJECTS["model_call"]
assert isinstance(CALL, ModelCall)
OTHERS = [
    StoredFile("f", "p", "http://h/v1", "a1", "0" * 64, "text/plain", 3, 1.0, 2.0, "a.txt", False),
    CachedContent("c", {"p": {"a": [1]}}, tokens=7),
    Encoded(WireRequest("/", {"a": "b"}, b"{}"), names=SentNames({"a_1": "a!"}, {"a_1": {"b_2": "b]"}}, {"c_3": "c?"})),
    Lowered(CALL, reading=ReplyReading("react", (ToolSpec("f"),))),
    ModelList(("a",), "next"),
    OperationInput(model="m", tags={"a": "b"}),
    CallInput(CALL),
    ModelListInput("next", model="m"),
    StoredReplyInput("r1", (Message.user("hi"),), model="m"),
    CostSums(Decimal("0.1"), Decimal("0.02"), 3),
    PairFault("second_result", "messages[1].parts[0]", "the call 'a' has a result already"),
    Plan(warnings=(CallWarning("a", "b", "c"),), estimated_cost=CostRange(Decimal("0.1"), Decimal(2))),
    Billing(separate=(SeparateUsage("m", 1),)),
    OutputAttempt(0, "{}", "missing"),
    MediaAnchor(0, 9, 1, (0.1, 0.2, 0.3, 0.4), seconds=(0.0, 1.5)),
    MediaControls("1-3,7", start=1.5, resolution="low"),
    MediaFacts(640, 480, frames=1, seconds=7.5),
    MediaLoss("pages", 2, 40, ("page 3", "page 17")),
    MediaProgress("call.mp3", 60.0, 310.5, "seconds"),
    DrawnText(2, 444, 14, 111, 38, 0.98),
    Evidence("total", "12 euros", verified=True, match="exact", source="file", document=0, start=9, end=17),
    Source("12 euros", "exact", "file", "a.txt", 0, anchors=(MediaAnchor(0, 9, paragraph=1),)),
    Verification((Check("number", "12 euros", 6, 14, "agreed"),), ("b.txt has no text",)),
    MediaText("12 euros", (MediaAnchor(0, 8, paragraph=1),)),
    CallProgress(2, 4, "steps", ImagePart(Blob.from_bytes(b"a", "image/png"))),
    BackendFacts(backend="b", metadata={"seed": 7}),
    MediaResult(backend="b", parts=(ImagePart(Blob.from_bytes(b"a", "image/png")),), metadata={"seed": 7}),
    MediaVerification("two pears", "to pears", 2, 1, (WordDifference("two", "to"),)),
    SpokenPiece("Hello there.", 0.0, 1.0, 0, 12, (SpokenWord("Hello", 5, 0.5), SpokenWord("there.", 12))),
    HeardReply("Hello", "Hello", 0.6, "word_times", (Message.assistant("Hello"),)),
    TranscriptResult(backend="b", transcript=Transcript((TranscriptSegment("hello", 0.0, 1.0),), language="en")),
    PENDING.allow(),
    AllowedCall(TOOL_CALL),
    InputResponse(InputRequest((Question("size", "Which size?", {"type": "object"}),), {"a": [1]}), ({"b": 1},)),
    JournalEntry("intent", call=TOOL_CALL),
    ToolLoop("a", CALL, steps=(STEP,), pending=(PENDING,)),
    ToolEnded(STEP),
    ToolProgress(TOOL_CALL, 1.0),
    ToolStarted(TOOL_CALL, 0),
    EmbedInput(("hi", (ImagePart(Blob.from_bytes(b"a", "image/png")),)), purpose="query", model="m"),
    EmbedReply(Vectors.of([[0.5, 1.0]]), Usage(3, 0), "m", (3,), (0,)),
    PartialVectors(Vectors.of([[0.5, 1.0]]), (3,)),
    RerankInput("who?", ("a", "b"), 1, model="m"),
    RerankReply((RankedIndex(1, 0.5),), model="m"),
    Parsed(CALL),
    ParsedInput(ModelListInput(model="m")),
    Rendered(b"{}"),
    WireResponse(200, {"a": "b"}, b"{}"),
    InteractionRecord("i", None, "tools", "p", "m", "done", False, 0.5, 1.5, None, 2, 1, "answered"),
    ToolRecord(
        "t",
        "i",
        "f",
        "c",
        "function",
        "done",
        0.5,
        1.5,
        arguments={"a": [1]},
        result=TOOL_CALL.result("done"),
        approval=ToolApproval("edited", "approver", {"a": [2]}),
        cost=Decimal("0.5"),
        tags={"a": "b"},
    ),
]
RECORDS: dict[str, list[Any]] = {}
for record in nested_records((*OBJECTS.values(), *OTHERS)):
    RECORDS.setdefault(type(record).__name__, []).append(record)


def plain(value: Any) -> Any:
    """Returns the expected result of `asdict`: dicts for records; JSON and tuples unchanged."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return tuple(map(plain, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else value


def test_there_is_a_sample_of_every_record():
    exported = [getattr(schema, name) for name in schema.__all__]
    records = {cls.__name__ for cls in exported if isinstance(cls, type) and dataclasses.is_dataclass(cls)}
    assert records - RECORDS.keys() == set()


@pytest.mark.parametrize("name", RECORDS)
def test_record_works_with_copy_pickle_and_dataclasses(name: str):
    for record in RECORDS[name]:
        assert dataclasses.asdict(record) == plain(record)
        assert dataclasses.astuple(record) is not None
        for again in (dataclasses.replace(record), copy.copy(record), pickle.loads(pickle.dumps(record))):
            assert again == record
            assert repr(again) == repr(record)
        deep = copy.deepcopy(record)
        assert deep == record
        assert mutable_places(deep, name) == mutable_places(record, name)


def test_asdict_keeps_json():
    call = dataclasses.asdict(ToolCall("c", "t", '{"tags": ["a"]}'))
    assert json.loads(json.dumps(call))["arguments"] == {"tags": ["a"]}
    assert json.loads(json.dumps(dataclasses.asdict(ToolSpec("t", parameters={"required": ["a"]}))))["parameters"] == {
        "required": ["a"]
    }


def response(output: Any) -> GenerateResponse[Any]:
    reply = ModelReply((TextPart("{}"),), provider_metadata={"ids": [1]})
    return GenerateResponse(reply, output, (reply,), (), Usage(), (), (), "p", "m", None, "t", 0.5)


def test_deep_copy_of_a_response_copies_its_output():
    first = response(City(name="Ulm", districts=["Mitte"]))
    second = copy.deepcopy(first)
    second.output.districts.append("West")
    assert first.output.districts == ["Mitte"]
    assert second.reply is first.reply


def test_asdict_of_a_response_keeps_the_output():
    assert dataclasses.asdict(response(City(name="Ulm")))["output"] == City(name="Ulm")
    assert dataclasses.asdict(response([1]))["output"] == [1]
    assert pickle.loads(pickle.dumps(response(City(name="Ulm")))) == response(City(name="Ulm"))


def test_blob_is_copied_with_its_bytes():
    blob = Blob.from_bytes(b"test", "text/plain")
    assert dataclasses.asdict(blob)["data"] == b"test"
    assert pickle.loads(pickle.dumps(blob)).read() == b"test"
