"""Calls as data: built here, run elsewhere, with the same bytes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from abstractcore import (
    ConfigurationError,
    InvalidInputError,
    Message,
    ModelCall,
    Suspend,
    ToolPolicy,
    ToolSpec,
    create_llm,
    from_json,
    to_json,
)
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS, completion, streamed

TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {"x": {"type": "number"}}})

ELSEWHERE = """
import sys
from abstractcore import create_llm, from_json
call = from_json(sys.stdin.read())
llm = create_llm("openai-compatible", model="m", base_url=sys.argv[1])
print(llm.run(call).content, end="")
"""


def run(call_style, llm, call, **options):
    return llm.run(call, **options) if call_style.name == "sync" else call_style.run(llm.arun(call, **options))


@pytest.mark.process
def test_saved_call_gives_the_same_request_in_another_process(server, connect, tmp_path):
    server.always(completion("done"))
    notes = tmp_path / "notes.txt"
    notes.write_text("Bring two copies.")
    llm = connect()
    call = llm.build(
        "What is to be brought?",
        messages=[Message.user("hello"), Message.assistant("hi")],
        system_prompt="Be brief.",
        media=[notes],
        tools=[TOOL],
        temperature=0.25,
        stop=["x"],
        seed=7,
        response_model=dict[str, int],
        tags={"a": "b"},
    )
    llm.run(call)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", ELSEWHERE, f"{server.url}/v1"],
        input=to_json(call),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 3,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("done", "")
    here, there = server.requests
    assert here.body == there.body
    assert json.loads(here.body)["seed"] == 7


def test_run_makes_the_call_of_build(call_style, server, connect):
    server.always(completion("done"))
    llm = connect()
    call = llm.build("hi", temperature=0.5)
    response = run(call_style, llm, call)
    assert (response.content, response.output) == ("done", None)
    call_style.generate(llm, "hi", temperature=0.5)
    first, second = server.requests
    assert first.body == second.body


def test_stream_call_streams(server, connect):
    server.always(streamed("a", "b"))
    llm = connect()
    call = llm.build("hi")
    with llm.stream_call(call) as stream:
        assert list(stream.text()) == ["a", "b"]
    assert server.requests[0].json["stream"] is True


def test_astream_call_streams(server, connect):
    server.always(streamed("a", "b"))
    llm = connect()

    async def texts() -> list[str]:
        async with llm.astream_call(llm.build("hi")) as stream:
            return [text async for text in stream.text()]

    assert asyncio.run(texts()) == ["a", "b"]


def test_call_built_for_streaming_can_be_run_without(call_style, server, connect):
    server.always(completion("done"))
    llm = connect()
    assert run(call_style, llm, llm.build("hi", stream=True)).content == "done"


@pytest.mark.parametrize("changes", [{"model": "other"}, {"provider": "openai"}])
def test_call_for_another_model_is_refused_with_a_hint(call_style, connect, changes):
    llm = connect()
    call = llm.build("hi").with_(**changes)
    with pytest.raises(InvalidInputError, match="the call is for") as caught:
        run(call_style, llm, call)
    assert caught.value.hint == "Use call.with_(provider='openai-compatible', model='m') to run it here."


def test_closed_llm_refuses_to_run_calls(call_style, connect):
    llm = connect()
    call = llm.build("hi")
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        run(call_style, llm, call)
    with pytest.raises(ConfigurationError, match="closed"):
        llm.stream_call(call)


@pytest.mark.parametrize("junk", [None, {}, "hi", ModelCall])
def test_value_that_is_not_a_call_is_refused(call_style, connect, junk):
    with pytest.raises(InvalidInputError, match=r"^call: expected a ModelCall, got "):
        run(call_style, connect(), junk)


@pytest.mark.parametrize("timeout", [0, -1, True, "soon", float("inf")])
def test_invalid_timeout_is_refused(call_style, connect, timeout):
    llm = connect()
    with pytest.raises(InvalidInputError, match=r"^timeout: "):
        run(call_style, llm, llm.build("hi"), timeout=timeout)


def test_call_survives_a_json_round_trip():
    llm = create_llm("scripted", replies=["ok"])
    call = llm.build("hi", tags={"a": "b"})
    assert from_json(to_json(call)) == call


def test_loop_of_another_model_names_the_llm_that_can_resume_it():
    def clock() -> str:
        return "12:30"

    asks = ScriptedReply.tool_call("clock", {})
    policy = ToolPolicy(approve=lambda call: Suspend())
    loop = create_llm("scripted", replies=[asks]).generate("hi", tools=[clock], run_tools=policy).loop
    assert loop is not None
    with pytest.raises(InvalidInputError, match="the call is for scripted/scripted") as caught:
        create_llm("openai/gpt-5.4", api_key="k").resume(loop)
    assert caught.value.path == "loop.call.model"
    assert caught.value.hint == "Resume it with create_llm('scripted/scripted')."
