"""`context`: tags, session and parent of the calls in a block, in tasks and threads too."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from abstractcore import InvalidInputError, ModelCall, context, create_llm


def scripted(**options):
    return create_llm("scripted", replies=["ok"] * 4, **options)


def said(call: ModelCall) -> tuple[dict[str, str], str | None]:
    return dict(call.tags), call.parent_id


def test_calls_in_a_block_have_its_tags_session_and_parent(call_style):
    llm = scripted()
    with context(session="s", tags={"team": "a"}, parent_id="p"):
        call_style.generate(llm, "hi")
    call_style.generate(llm, "hi")
    assert [said(call) for call in llm.calls] == [({"team": "a", "session": "s"}, "p"), ({}, None)]


def test_call_overrides_context_and_context_overrides_llm(call_style):
    llm = scripted(tags={"a": "llm", "b": "llm", "c": "llm"}, parent_id="llm")
    with context(tags={"b": "block", "c": "block"}, parent_id="block"):
        call_style.generate(llm, "hi", tags={"c": "call"})
        call_style.generate(llm, "hi", parent_id="call")
    assert [said(call) for call in llm.calls] == [
        ({"a": "llm", "b": "block", "c": "call"}, "block"),
        ({"a": "llm", "b": "block", "c": "block"}, "call"),
    ]


def test_name_of_a_prompt_is_a_tag(call_style):
    llm = scripted(prompt_name="greeting@1", tags={"a": "llm"})
    call_style.generate(llm, "hi")
    call_style.generate(llm, "hi", prompt_name="greeting@2")
    assert [said(call)[0] for call in llm.calls] == [
        {"a": "llm", "prompt": "greeting@1"},
        {"a": "llm", "prompt": "greeting@2"},
    ]


def test_inner_blocks_add_to_outer_ones(call_style):
    llm = scripted()
    with context(session="s", tags={"a": "outer", "b": "outer"}), context(tags={"b": "inner"}, parent_id="p"):
        call_style.generate(llm, "hi")
    assert said(llm.calls[0]) == ({"a": "outer", "b": "inner", "session": "s"}, "p")


def test_stream_belongs_to_the_context_of_its_creation(call_style):
    llm = scripted()
    with context(session="s"):
        stream = call_style.stream(llm, "hi")
    assert "".join(stream.text()) == "ok"
    assert said(llm.calls[0]) == ({"session": "s"}, None)


def test_call_as_data_gets_values_of_the_context_that_it_does_not_set(call_style):
    llm = scripted()
    call = llm.build("hi", tags={"a": "call"})
    with context(tags={"a": "block", "b": "block"}, parent_id="p"):
        llm.run(call)
    assert said(llm.calls[0]) == ({"a": "call", "b": "block"}, "p")


def test_tasks_and_to_thread_inherit_the_context():
    llm = scripted()

    async def main() -> None:
        with context(session="s"):
            await asyncio.gather(llm.agenerate("hi"), asyncio.to_thread(llm.generate, "hi"))
            task = asyncio.create_task(llm.agenerate("hi"))
        await task
        await llm.agenerate("hi")

    asyncio.run(main())
    assert sorted(call.tags.get("session", "none") for call in llm.calls) == ["none", "s", "s", "s"]


def test_thread_with_copied_context_inherits_the_context():
    llm = scripted()
    with context(session="s"):
        thread = threading.Thread(target=contextvars.copy_context().run, args=[llm.generate, "hi"])
    thread.start()
    thread.join()
    assert said(llm.calls[0]) == ({"session": "s"}, None)


def test_context_in_an_async_generator_may_be_left_by_another_task():
    llm = scripted()

    async def answers():
        with context(session="s"):
            yield await llm.agenerate("hi")
            yield await llm.agenerate("hi")

    async def main() -> None:
        generator = answers()
        await asyncio.create_task(anext(generator))
        await generator.aclose()
        await llm.agenerate("hi")

    asyncio.run(main())
    assert [said(call) for call in llm.calls] == [({"session": "s"}, None), ({}, None)]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"session": 3}, "session"),
        ({"tags": {"a": 3}}, "tags.a"),
        ({"tags": {3: "a"}}, "tags"),
        ({"tags": ["a"]}, "tags"),
        ({"parent_id": 3}, "parent_id"),
    ],
)
def test_tag_that_is_not_a_string_is_refused(given, path):
    with pytest.raises(InvalidInputError, match=f"^{path}: "), context(**given):
        pytest.fail("the block was entered")
