"""A stored record equals the record, in each capture mode; what is not to be kept is in no file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from abstractcore import Services, context, create_llm, tool
from abstractcore.schema import (
    Blob,
    CallRecord,
    Capture,
    ImagePart,
    InteractionRecord,
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    ToolCall,
    ToolRecord,
    TraceRecord,
)
from abstractcore.testing.strategies.record import call_records, interaction_records, tool_records
from abstractcore.traces import TraceStore
from abstractcore.traces.contents import packed, unpacked
from abstractcore.traces.rows import decoded, encoded
from abstractcore.traces.tables import records
from tests.core.traces.stores import a_call, write

CANARY = "the tulips are in the blue vase"


class Row:
    """A row as the database returns it."""

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)


def read_back(record: TraceRecord) -> TraceRecord:
    row = encoded(record, searchable=True)
    bodies = {position: unpacked(*packed(content.body)) for position, content in row.contents}
    return decoded(Row({"id": 1, **row.values}), bodies)


@settings(max_examples=100, deadline=None)
@given(call_records())
def test_call_is_read_back(record: CallRecord):
    assert read_back(record) == record


@settings(deadline=None)
@given(interaction_records())
def test_interaction_is_read_back(record: InteractionRecord):
    assert read_back(record) == record


@settings(deadline=None)
@given(tool_records())
def test_tool_run_is_read_back(record: ToolRecord):
    assert read_back(record) == record


def test_row_has_every_column_of_the_table():
    assert {"id", *encoded(a_call(), searchable=False).values} == {column.name for column in records.columns}


@pytest.mark.parametrize("capture", ["off", "redacted", "full"])
def test_stored_records_equal_those_of_a_subscriber(store: TraceStore, capture: Capture):
    @tool
    def calendar(day: str) -> str:
        """Returns the meetings of a day."""
        return f"{CANARY} on {day}"

    services, seen = Services(), list[TraceRecord]()
    asked = ModelReply((ToolCall("1", "calendar", '{"day": "Monday"}'),), "tool_calls")
    llm = create_llm("scripted", replies=[asked, "On Monday.", "Again."], services=services)
    with (
        services.records.subscribe(seen.append, capture, records="all"),
        store.keep_for(services.records, capture),
        context(tags={"team": "office"}),
    ):
        llm.generate("When?", tools=[calendar], run_tools=True, parent_id="0" * 32)
        llm.generate("And again?", system_prompt="Be kind.", temperature=0.5)
    assert {type(record) for record in seen} == {CallRecord, InteractionRecord, ToolRecord}
    for record in seen:
        stored = {node.record.trace_id: node.record for node in store.trace(record.trace_id)}
        assert stored[record.trace_id] == record


@pytest.mark.parametrize("capture", ["off", "redacted"])
def test_no_content_is_in_the_files_of_a_database_that_keeps_none(tmp_path: Path, capture: Capture):
    @tool
    def calendar(day: str) -> str:
        """Returns the meetings of a day."""
        return CANARY

    services = Services()
    asked = ModelReply((ToolCall("1", "calendar", f'{{"day": "{CANARY}"}}'),), "tool_calls")
    llm = create_llm("scripted", replies=[asked, CANARY, CANARY], services=services)
    store = TraceStore(tmp_path / "traces.db")
    with store.keep_for(services.records, capture) as keeping:
        llm.generate(CANARY, tools=[calendar], run_tools=True, system_prompt=CANARY)
        llm.generate(CANARY, media=[Blob.from_bytes(CANARY.encode(), "text/plain")])
        assert keeping.flush(30)
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert len(store.calls()) == 3
    store.close()
    assert b"traces_records" in content
    for word in ("tulips", "vase"):
        assert word.encode() not in content


def test_a_message_and_a_file_are_stored_once(store: TraceStore):
    picture = Blob.from_bytes(bytes(range(256)) * 40, "image/png")
    shared = Message("user", (TextPart("Look at this."), ImagePart(picture)))
    other = Message("user", (ImagePart(picture),))
    calls = [a_call(call=ModelCall("small", (shared, *more), "vendor"), reply=None) for more in ((), (), (other,))]
    write(store, *calls[:1])
    write(store, *calls[1:])
    with store.database.reading() as connection:
        bodies = [bytes(row.body) for row in connection.exec_driver_sql("SELECT body FROM traces_contents")]
    assert len(bodies) == 3  # two messages and the file
    assert [store.trace(call.trace_id).root.record for call in calls] == calls


def test_reply_is_stored_once_with_the_message_of_the_next_call(store: TraceStore):
    first = a_call("Hello.", "Hello to you.")
    assert first.call is not None
    assert first.reply is not None
    answer = Message("assistant", first.reply.parts)
    again = Message("user", (TextPart("And?"),))
    second = a_call(call=ModelCall("small", (*first.call.messages, answer, again), "vendor"))
    write(store, first, second)
    with store.database.reading() as connection:
        (count,) = connection.exec_driver_sql("SELECT count(*) FROM traces_contents").one()
    assert count == 4
    assert store.trace(second.trace_id).root.record == second
