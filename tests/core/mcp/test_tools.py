"""The tools of MCP servers in tool loops: sync and async, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    ImagePart,
    InvalidInputError,
    MCPTools,
    MissingExtraError,
    Services,
    TextPart,
    ToolEnded,
    ToolPolicy,
    ToolProgress,
    ToolRecord,
    ToolServerError,
    UnknownOptionError,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.toolservers.base import in_sync
from tests.core.mcp.conftest import COLD_SHOP, PATIENCE_SECONDS, SHOP
from tests.core.mcp.shop import PNG
from tests.core.tools.loops import Way, calls, scripted

pytestmark = pytest.mark.process

INTERRUPTED = """
import signal, sys
from abstractcore import MCPTools

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it ignored
*command, mode, began, is_caught = sys.argv[1:]
shop = MCPTools(command=command, mode=mode, connect_timeout=120)
try:
    shop.call("watch", {"path": began})
except KeyboardInterrupt:
    if is_caught != "True":
        raise
    print(shop.call("price", {"item": "tea"}).result.as_text)
"""


@tool
def weather(city: str) -> str:
    """The weather."""
    return f"sun in {city}"


def run(way: Way, tools: MCPTools, *given: tuple[str, dict[str, Any]], **request: Any) -> Any:
    """The response to a loop of one round of calls."""
    first = [calls(*given)] if given else []
    return way.generate(scripted(*first, "Done."), tools=[weather, tools], run_tools=True, **request)


def test_missing_sdk_is_an_error_that_names_what_to_install(monkeypatch):
    """By its own name: a package index may have another project called abstractcore."""
    monkeypatch.setattr("abstractcore.mcp.tools.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"^MCP servers require mcp.*pip install mcp \(part of the extra 'mcp'"):
        MCPTools(command=SHOP)


@pytest.mark.process
def test_all_names_are_imported_without_the_sdk():
    missing = "import sys; sys.modules.update(mcp=None, mcp_types=None); from abstractcore import *"
    assert subprocess.run([sys.executable, "-c", missing], capture_output=True, text=True).stderr == ""


@pytest.mark.smoke
def test_tools_stand_beside_functions(way: Way, shop: MCPTools):
    response = run(way, shop, ("price", {"item": "tea"}), ("weather", {"city": "Oslo"}))
    assert [(step.outcome, step.result.as_text) for step in response.tool_steps] == [
        ("done", "300"),
        ("done", "sun in Oslo"),
    ]
    assert response.tool_steps[0].data["structuredContent"] == {"result": 300}
    assert (response.content, response.warnings) == ("Done.", ())


@pytest.mark.smoke
def test_record_of_a_call_names_the_server(way: Way, shop: MCPTools):
    found: list[Any] = []
    services = Services(environment={})
    llm = create_llm("scripted", replies=[calls(("price", {"item": "tea"})), "Done."], services=services)
    with services.records.subscribe(found.append, "full", "all"):
        way.generate(llm, tools=[shop], run_tools=True)
    services.close()
    (run,) = [record for record in found if isinstance(record, ToolRecord)]
    assert (run.tool, run.source, run.server, run.outcome) == ("price", "mcp", shop.name, "done")


def test_results_keep_every_kind_of_content(way: Way, shop: MCPTools):
    llm = create_llm("scripted", replies=[calls(("show", {"item": "tea"})), "Done."], accepts=["image"])
    [step] = way.generate(llm, tools=[shop], run_tools=True).tool_steps
    before, image, after = step.result.content
    assert before == TextPart("Look:")
    assert isinstance(image, ImagePart)
    assert (image.blob.data, image.blob.media_type) == (PNG, "image/png")
    assert after.text == "[shop://page]\nAbout tea.\n[resource: menu, shop://menu, All items]"
    assert step.data["structuredContent"] == {"item": "tea"}
    assert step.data["_meta"]["shelf"] == 7
    assert re.fullmatch("[0-9a-f]{64}", step.data["_meta"]["given"])
    assert step.data["forUser"][0]["text"] == "for the user only"


def test_error_of_a_tool_is_an_error_result(way: Way, shop: MCPTools):
    response = run(way, shop, ("fail", {}), ("price", {"item": 3}), ("no_such_tool", {}))
    failed, invalid, unknown = response.tool_steps
    assert (failed.outcome, failed.result.is_error) == ("failed", True)
    assert "sold out" in failed.result.as_text
    assert invalid.result.is_error
    assert unknown.outcome == "unknown_tool"
    assert response.content == "Done."


def test_progress_is_events(streamed_way: Way, shop: MCPTools):
    run(streamed_way, shop, ("pack", {"count": 3}))
    progress = [event for event in streamed_way.events if isinstance(event, ToolProgress)]
    ended = next(index for index, event in enumerate(streamed_way.events) if isinstance(event, ToolEnded))
    assert progress
    assert (progress[-1].done, progress[-1].total, progress[-1].message) == (3, 3, "item 3")
    assert streamed_way.events.index(progress[-1]) < ended


def test_question_of_a_server_suspends_the_call(way: Way, mode: str, shop: MCPTools):
    response = run(way, shop, ("order", {"item": "tea"}), ("price", {"item": "tea"}))
    assert response.loop.status == "suspended"
    loop = from_json(to_json(response.loop))
    [pending] = loop.pending
    [question] = pending.input.questions
    assert (pending.reason, question.message) == ("input", "When do you need the tea?")
    assert question.schema["properties"]["day"]["type"] == "string"
    done = way.resume(scripted("Done."), loop, [pending.respond({"day": "Friday"})], tools=[weather, shop])
    assert [step.result.as_text for step in done.tool_steps] == ["tea on Friday", "300"]
    declined = way.resume(scripted("Done."), loop, [pending.respond(None)], tools=[weather, shop])
    assert declined.tool_steps[0].result.is_error


def test_questions_that_follow_each_other_are_asked_once(way: Way):
    """A call before revision 2026-07-28 is made again after each answer, and its earlier answers are given again."""
    with MCPTools(command=SHOP, mode="legacy", connect_timeout=PATIENCE_SECONDS) as shop:
        response = run(way, shop, ("guess", {}))
        asked: list[str] = []
        for answer in ({"number": 1}, {"number": 2}, {}):
            [pending] = from_json(to_json(response.loop)).pending
            asked.append(pending.input.questions[0].message)
            response = way.resume(scripted("Done."), response.loop, [pending.respond(answer)], tools=[shop])
    assert asked == ["Which number?", "Which number?", "Which name?"]
    assert response.tool_steps[0].result.as_text == "[1, 2] nobody"


def test_state_of_another_process_is_asked_again(way: Way):
    """The server's key for its state ends with its process: "Invalid or expired requestState"."""
    with MCPTools(command=SHOP, connect_timeout=PATIENCE_SECONDS) as shop:
        response = run(way, shop, ("order", {"item": "tea"}))
        [pending] = response.loop.pending
    answer = pending.respond({"day": "Friday"})
    with MCPTools(command=COLD_SHOP, name="shop", connect_timeout=PATIENCE_SECONDS) as other:
        again = way.resume(scripted("Done."), response.loop, [answer], tools=[weather, other])
        [asked] = again.loop.pending
        assert asked.input.questions == pending.input.questions
        done = way.resume(scripted("Done."), again.loop, [asked.respond({"day": "Monday"})], tools=[weather, other])
    assert done.tool_steps[0].result.as_text == "tea on Monday"


def test_read_only_call_is_made_again_after_the_server_died(way: Way, shop: MCPTools, tmp_path: Path):
    [step] = run(way, shop, ("die_once", {"path": str(tmp_path / "died")})).tool_steps
    assert (step.outcome, step.result.as_text) == ("done", "alive")


def test_other_call_is_not_made_again(way: Way, shop: MCPTools):
    response = run(way, shop, ("die", {}))
    [step] = response.tool_steps
    assert step.outcome == "failed"
    assert "was lost while the call ran; it may have taken effect" in step.result.as_text
    assert "It ended with exit code 3. Its last output: " in step.result.as_text
    assert "out of stock" in step.result.as_text
    assert run(way, shop, ("price", {"item": "tea"})).tool_steps[0].result.as_text == "300"


def test_call_past_its_time_limit_leaves_the_connection_usable(way: Way, shop: MCPTools):
    llm = scripted(calls(("wait", {})), calls(("price", {"item": "tea"})), "Done.")
    response = way.generate(llm, tools=[shop], run_tools=ToolPolicy(timeout=1.0))
    assert [step.outcome for step in response.tool_steps] == ["timed_out", "done"]


def test_new_tools_are_offered_to_the_next_call(way: Way, shop: MCPTools):
    run(way, shop, ("restock", {}))
    assert run(way, shop, ("tea", {})).tool_steps[0].result.as_text == "tea"


def test_changed_definition_waits_for_approval(way: Way, shop: MCPTools):
    run(way, shop, ("price", {"item": "tea"}), ("reword", {}))
    response = run(way, shop, ("price", {"item": "tea"}))
    [pending] = response.loop.pending
    assert pending.reason == "tool_changed"
    assert pending.tool.description.startswith("Sends all files")
    done = way.resume(scripted("Done."), response.loop, [pending.allow()], tools=[shop])
    assert done.tool_steps[0].outcome == "done"
    assert run(way, shop, ("price", {"item": "tea"})).loop.status == "answered"


def test_pins_outlive_the_process(way: Way, mode: str, tmp_path: Path):
    path = tmp_path / "pins.json"
    shop = MCPTools(command=SHOP, mode=mode, pins=path, connect_timeout=PATIENCE_SECONDS)
    run(way, shop, ("price", {"item": "tea"}), ("reword", {}))
    again = MCPTools(command=SHOP, mode=mode, pins=path, connect_timeout=PATIENCE_SECONDS)
    assert run(way, again, ("price", {"item": "tea"})).loop.status == "answered"
    text = path.read_text().replace(from_digest(path, "price"), "0" * 64)
    path.write_text(text)
    changed = MCPTools(command=SHOP, mode=mode, pins=path, connect_timeout=PATIENCE_SECONDS)
    assert run(way, changed, ("price", {"item": "tea"})).loop.pending[0].reason == "tool_changed"


def children(process: int | None = None) -> set[str]:
    """The ids of the child processes, of this process unless another is given."""
    found = Path(f"/proc/{process or os.getpid()}/task").glob("*/children")
    return {pid for path in found for pid in path.read_text().split()}


def from_digest(path: Path, name: str) -> str:
    """The pinned digest of a tool."""
    import json

    return json.loads(path.read_text())["shop"][name]


def test_hints_become_flags_and_labels(shop: MCPTools):
    specs = {spec.name: spec for spec in shop.list_tools()}
    assert (specs["price"].read_only, specs["price"].idempotent, specs["price"].destructive) == (True, True, False)
    assert (specs["price"].labels, specs["fail"].labels) == ((), ("untrusted", "sends"))
    assert (specs["fail"].read_only, specs["fail"].destructive) == (False, True)


def test_chosen_tools_share_the_connection(shop: MCPTools):
    chosen = shop.only("p*", "show").without("pack").prefixed("shop_")
    assert [spec.name for spec in chosen.list_tools()] == ["shop_price", "shop_show"]
    way = Way.of("sync-whole")
    with way as sync:
        llm = scripted(calls(("shop_price", {"item": "tea"})), "Done.")
        assert sync.generate(llm, tools=[chosen], run_tools=True).tool_steps[0].result.as_text == "300"
        response = sync.generate(scripted("x"), tools=[shop.only("price", "prise*")])
    [warning] = response.warnings
    assert warning.code == "no_tool_matches"
    assert "only('prise*') matches no tool" in warning.message


def test_deferred_tools_are_found_by_search(way: Way, mode: str):
    shop = MCPTools(command=SHOP, mode=mode, defer=True, connect_timeout=PATIENCE_SECONDS)
    llm = scripted(calls(("search_tools", {"query": "price of an item"})), calls(("price", {"item": "tea"})), "Done.")
    response = way.generate(llm, tools=[shop], run_tools=True)
    assert response.tool_steps[-1].result.as_text == "300"


def test_server_that_is_not_required_is_a_warning(way: Way):
    missing = MCPTools(command=["/no/such/program"], required=False)
    response = run(way, missing, ("weather", {"city": "Oslo"}))
    assert [warning.code for warning in response.warnings] == ["tool_server_failed"]
    assert response.content == "Done."
    problem = r"the MCP server program cannot be reached: No such file or directory: '/no/such/program'\."
    with pytest.raises(ToolServerError, match=problem) as caught:
        run(way, MCPTools(command=["/no/such/program"]))
    assert caught.value.server == "program"


def test_environment_of_a_server_is_minimal(way: Way, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    code = "import os, sys; print(sorted(os.environ), file=sys.stderr); sys.exit(1)"
    with pytest.raises(ToolServerError) as caught:
        run(way, MCPTools(command=[sys.executable, "-c", code], env={"GIVEN": "1"}))
    assert "GIVEN" in str(caught.value)
    assert "MY_API_KEY" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("print('hello')", "It ended with exit code 0. Its last output: hello"),
        ("import sys; sys.exit('no licence')", "Its last output: no licence"),
        ("print('x' * 5_000_000)", "It sent a message of more than 1,000,000 bytes"),
    ],
)
def test_server_without_a_handshake_is_an_error_with_its_output(way: Way, mode: str, code: str, problem: str):
    command = [sys.executable, "-c", code]
    tools = MCPTools(command=command, mode=mode, connect_timeout=PATIENCE_SECONDS, max_message_bytes=1_000_000)
    with pytest.raises(ToolServerError) as caught:
        run(way, tools)
    assert problem in str(caught.value)


def test_server_that_hangs_in_the_handshake_is_an_error_with_its_output(mode: str):
    code = "import sys; print('starting', flush=True); sys.stdin.read()"
    tools = MCPTools(command=[sys.executable, "-c", code], mode=mode, connect_timeout=3)
    with pytest.raises(ToolServerError, match=r"did not answer in 3 s\. Its last output: starting"):
        tools.list_tools()


def test_result_that_is_too_long_ends_the_connection_only(way: Way, mode: str):
    shop = MCPTools(command=SHOP, mode=mode, max_message_bytes=100_000, connect_timeout=PATIENCE_SECONDS)
    [step] = run(way, shop, ("large", {"size": 1_000_000})).tool_steps
    assert step.outcome == "failed"
    assert "It sent a message of more than 100,000 bytes" in step.result.as_text
    assert run(way, shop, ("price", {"item": "tea"})).tool_steps[0].result.as_text == "300"


def test_resources_are_media_and_prompts_are_messages(way: Way, shop: MCPTools):
    assert {str(each.uri) for each in shop.resources()} == {"shop://menu", "shop://picture"}
    media = [*shop.resource("shop://menu"), *shop.resource("shop://picture")]
    assert [part.blob.media_type for part in media] == ["text/plain", "image/png"]
    assert [each.name for each in shop.prompts()] == ["greeting"]
    [message] = shop.prompt("greeting", name="Ann")
    assert (message.role, message.text) == ("user", "Say hello to Ann.")
    llm = scripted("Hello Ann.")
    way.generate(llm, "x", messages=[message], media=media[:1])
    assert "tea 300" in llm.calls[0].messages[1].text
    with pytest.raises(ToolServerError, match="cannot read shop://none"):
        shop.resource("shop://none")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "expected one of server, command and url, got none"),
        ({"command": ["a"], "url": "http://a"}, "got command and url"),
        ({"command": "npx server"}, "expected a list of the program and its arguments"),
        ({"command": []}, "the list is empty"),
        ({"url": "localhost:80"}, "expected an http or https URL"),
        ({"url": "http://a", "env": {}}, "is for servers with command= only"),
        ({"command": ["a"], "headers": {}}, "is for servers with url= only"),
        ({"command": ["a"], "mode": "new"}, "expected 'auto' or 'legacy'"),
        ({"command": ["a"], "connect_timeout": 0}, "expected a number above 0"),
        ({"server": "http://a"}, "a URL is given as url="),
        ({"url": "http://a:99999/mcp"}, "expected an http or https URL"),
        ({"url": "http://[::1"}, "expected an http or https URL"),
        ({"command": ["a"], "sampling": "gpt-4o"}, "sampling: expected an LLM or a function, got 'gpt-4o'"),
        ({"command": ["a"], "only": ["get_*"]}, r"Use its method: MCPTools\(...\)\.only\(...\)"),
        ({"command": ["a"], "prefix": "a_"}, r"Use its method: MCPTools\(...\)\.prefixed\(...\)"),
        ({"comand": ["a"]}, "has no option 'comand'. Did you mean command?"),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict[str, Any], problem: str):
    with pytest.raises((InvalidInputError, UnknownOptionError), match=problem):
        MCPTools(**arguments)


def test_closed_server_has_no_process_left(shop: MCPTools):
    before = children()
    shop.list_tools()
    [server] = children() - before
    shop.close()
    assert not Path(f"/proc/{server}").exists()


def test_call_that_runs_when_the_server_is_closed_does_not_start_it_again(mode: str, tmp_path: Path):
    """The call may be repeated after a lost connection; this one was not lost."""

    async def closed_meanwhile() -> str:
        shop = MCPTools(command=SHOP, mode=mode, connect_timeout=PATIENCE_SECONDS)
        began = tmp_path / "began"
        call = asyncio.create_task(shop.acall("watch", {"path": str(began)}))
        while not began.exists():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)
        await shop.aclose()
        text = (await call).result.as_text
        assert children() == before
        return text

    before = children()
    assert "was closed" in asyncio.run(closed_meanwhile())


@pytest.mark.parametrize(("mode", "is_caught"), [("auto", False), ("legacy", True)])
def test_ctrl_c_ends_a_sync_call(mode: str, tmp_path: Path, is_caught: bool):
    """Without a hang or a traceback of anything else; the tools can be used afterwards."""
    began = tmp_path / "began"
    arguments = [*SHOP, mode, str(began), str(is_caught)]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not began.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        servers = children(process.pid)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert output == ("300\n" if is_caught else "")
    assert errors.count("Traceback") == (0 if is_caught else 1)
    assert is_caught or errors.endswith("\nKeyboardInterrupt\n")
    assert len(servers) == 1
    assert not Path(f"/proc/{servers.pop()}").exists()


@pytest.mark.parametrize("is_async", [False, True])
def test_server_of_tools_that_are_dropped_ends(mode: str, is_async: bool):
    """Its owner did not close it, and the event loop goes on."""

    def has_ended() -> bool:
        gc.collect()
        return not children() - before

    async def dropped() -> None:
        shop = MCPTools(command=SHOP, mode=mode, connect_timeout=PATIENCE_SECONDS)
        assert (await shop.acall("price", {"item": "tea"})).result.as_text == "300"
        assert children() - before
        del shop
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not has_ended():  # noqa: ASYNC110 - nor has a process that nobody waits for
                await asyncio.sleep(0.01)
            await other_tasks_end()

    async def other_tasks_end() -> None:
        """The process has ended before what ended it has: its pipes are closed at last."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=PATIENCE_SECONDS)
        assert all(task.done() for task in others)

    before = children()
    if is_async:
        asyncio.run(dropped())
        return
    shop = MCPTools(command=SHOP, mode=mode, connect_timeout=PATIENCE_SECONDS)
    assert shop.call("price", {"item": "tea"}).result.as_text == "300"
    assert children() - before
    del shop
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not has_ended() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert has_ended()
    in_sync(other_tasks_end)


def test_values_of_env_are_not_in_errors(way: Way, mode: str):
    code = "import os, sys; print(os.environ['TOKEN']); print(os.environ['TOKEN'], file=sys.stderr)"
    tools = MCPTools(command=[sys.executable, "-c", code], env={"TOKEN": "sk-env-secret-key"}, mode=mode)
    with pytest.raises(ToolServerError, match="Its last output: ") as caught:
        run(way, tools)
    assert "sk-env-secret-key" not in repr(caught.value)
