"""`ask --tool` and `chat --tool`: which tools are found, who approves calls, and what is shown of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from tests.chaos_server import (
    DONE,
    LAST_CHUNK,
    USAGE,
    ScriptedServer,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    failure,
    stream_head,
    streamed,
)

COMMAND = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
needs_terminal = pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal")
SHOP = '''
"""Tools of a shop."""

import time
from dataclasses import dataclass
from pathlib import Path

from abstractcore import ToolContext, ToolOutput, tool

CITY = "Oslo"


@tool(read_only=True)
def stock(item: str, context: ToolContext) -> ToolOutput:
    """Returns how many of an item there are."""
    print("counting")
    context.progress(1, 2, "counted half")
    return ToolOutput(f"7 {item}", data={"shelf": 3})


@tool
def order(item: str, count: int = 1) -> str:
    """Orders an item."""
    Path("orders.txt").write_text(f"{count} {item}\\n")
    return f"ordered {count} {item}"


@tool
def slow() -> str:
    """Takes long."""
    Path("slow.txt").write_text("running")
    time.sleep(600)
    return "done"


@tool
@dataclass
class Invoice:
    """An invoice."""

    total: float


def plain(item: str) -> str:
    return item.upper()


def bad(*items: str) -> str:
    return ""


class Desk:
    @staticmethod
    def ring(times: int) -> str:
        return "ring " * times
'''
GREETER = """
from abstractcore import ToolResult, ToolSpec
from abstractcore.registry import hookimpl

class Greeter:
    name, summary = "greeter", "greets"

    def tools(self):
        return [ToolSpec("greet", "Greets.", {"type": "object", "properties": {}}, read_only=True)]

    async def call(self, call):
        return ToolResult.text(call.id, "Hello!")

@hookimpl
def register_tools():
    return [Greeter()]
"""
MODULES = {
    "shop.py": SHOP,
    "exported.py": "__all__ = ['LIMIT', 'double']\nLIMIT = 3\ndef double(n: int) -> int:\n    return 2 * n\n"
    "def other() -> str:\n    return ''\n",
    "empty.py": "def first(text: str) -> str:\n    return text\n",
    "broken.py": "print('loading')\nraise RuntimeError('no database')\n",
    "exiting.py": "raise SystemExit(3)\n",
    "needy.py": "import no_such_library\n",
    "greeting_plugin.py": GREETER,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with modules of tools, and a plugin with a tool source."""
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    info = tmp_path / "greetings-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[abstractcore.plugins]\ngreetings = greeting_plugin\n")
    return tmp_path


@pytest.fixture
def to_server(server: ScriptedServer) -> list[str]:
    """The options that make the server answer."""
    return ["--provider", "openai-compatible/m", "--base-url", f"{server.url}/v1"]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Runs the command in the folder, without a terminal."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments: str, stdin: str | None = None) -> Any:
        return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)

    yield run
    for name in MODULES:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.fixture
def terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the command in the folder, in a terminal."""
    pytest.importorskip("pty")
    from tests.terminal import Terminal

    monkeypatch.chdir(folder)
    return lambda *arguments: Terminal([*COMMAND, *arguments], dict(os.environ), 200)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": 0, "id": "call_1", "type": "function", "function": function}


def calling(name: str, **arguments: Any) -> bytes:
    """A whole reply that calls a tool."""
    body = completion_body("", "tool_calls")
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call(name, **arguments)]}
    return answer(body)


def streamed_call(name: str, text: str = "", **arguments: Any) -> bytes:
    """A streamed reply that calls a tool."""
    made = json.loads(delta()[6:])
    made["choices"][0]["delta"] = {"tool_calls": [call(name, **arguments)]}
    events = [delta(text), b"data: " + json.dumps(made).encode() + b"\n\n", delta(finish_reason="tool_calls"), USAGE]
    return stream_head() + b"".join(map(chunk, [*events, DONE])) + LAST_CHUNK


def results(server: ScriptedServer, number: int = -1) -> list[str]:
    """The results of tools in a request."""
    messages = server.requests[number].json["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def offered(server: ScriptedServer) -> list[str]:
    return [each["function"]["name"] for each in server.requests[0].json["tools"]]


def test_read_only_tool_runs_without_asking(run, server, to_server):
    server.script(calling("stock", item="tea"))
    server.script(completion("Seven."))
    result = run("ask", "How much tea?", "--tool", "shop:stock", *to_server)
    assert (result.exit_code, result.stdout) == (0, "Seven.\n")
    lines = result.stderr.splitlines()
    assert lines[:4] == ['-> stock({"item": "tea"})', "counting", "   stock: 1 of 2 counted half", "<- 7 tea"]
    assert lines[4].startswith("openai-compatible/m-1: 6 tokens in, 4 out")
    assert results(server) == ["7 tea"]


def test_json_has_the_steps_and_nothing_else_is_printed(run, server, to_server):
    server.script(calling("stock", item="tea"))
    server.script(completion("Seven."))
    result = run("ask", "How much tea?", "--json", "--tool", "shop:stock", *to_server)
    data = json.loads(result.stdout)
    (step,) = data["tool_steps"]
    assert (result.stderr, data["content"], data["loop_status"]) == ("counting\n", "Seven.", "answered")
    assert step.pop("seconds") >= 0
    assert step == {
        "round": 0,
        "id": "call_1",
        "name": "stock",
        "arguments": {"item": "tea"},
        "outcome": "done",
        "result": "7 tea",
        "data": {"shelf": 3},
    }


def test_without_a_terminal_other_tools_need_yes(run, server, to_server, folder):
    refused = run("ask", "Order tea.", "--tool", "shop:order", *to_server)
    assert (refused.exit_code, server.requests) == (2, [])
    assert "order: its calls need an approval, and there is no terminal to ask on" in refused.stderr
    assert "--yes" in refused.stderr
    server.script(calling("order", item="tea"))
    server.script(completion("Done."))
    allowed = run("ask", "Order tea.", "--tool", "shop:order", "--yes", *to_server)
    assert (allowed.exit_code, allowed.stdout) == (0, "Done.\n")
    assert (folder / "orders.txt").read_text() == "1 tea\n"


def test_piped_chat_with_such_a_tool_is_refused_before_anything_is_read(run, server, to_server):
    refused = run("chat", "--tool", "shop:order", *to_server, stdin="Order tea.\n")
    assert (refused.exit_code, server.requests) == (2, [])


@pytest.mark.parametrize(
    ("names", "tools"),
    [
        (["shop"], ["stock", "order", "slow", "Invoice"]),
        (["shop:stock", "shop"], ["stock", "order", "slow", "Invoice"]),
        (["exported"], ["double"]),
        (["shop:plain", "empty:first"], ["plain", "first"]),
        (["shop:Desk.ring"], ["ring"]),
        (["greeter"], ["greet"]),
    ],
)
def test_modules_functions_and_tool_sources_are_tools(run, server, to_server, folder, monkeypatch, names, tools):
    monkeypatch.syspath_prepend(folder)
    server.script(completion("Hello."))
    result = run("ask", "Hi.", "--yes", *(f"--tool={name}" for name in names), *to_server)
    assert result.exit_code == 0, result.stderr
    assert offered(server) == tools


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("zzz", "no module and no tool source is called 'zzz'", "the current folder and in installed packages"),
        ("shopp", "no module and no tool source is called 'shopp'", "Did you mean shop?"),
        ("x" * 3000, "no module and no tool source is called 'xxx", "xxx..."),
        ("shop:\x1b[31m", "shop has no function '\\x1b[31m'", "MODULE:FUNCTION"),
        ("shop.py:order", "'shop.py' is a file, not a module", "--tool shop:order\n"),
        ("./shop.py", "'./shop.py' is a file, not a module", "--tool shop\n"),
        ("deep/stock.py:look", "'deep/stock.py' is a file, not a module", "--tool deep.stock:look\n"),
        ("/away/stock.py", "'/away/stock.py' is a file, not a module", "--tool stock, in the folder /away"),
        ("..", "no module and no tool source is called '..'", "installed packages"),
        ("shop:ordr", "shop has no function 'ordr'", "Did you mean order?"),
        ("shop:CITY", "shop:CITY is not a function but str", "MODULE:FUNCTION"),
        ("shop:", "'shop:' is not the name of a tool", "MODULE:FUNCTION"),
        (":order", "':order' is not the name of a tool", "MODULE:FUNCTION"),
        ("shop:bad", "--tool shop:bad", "list"),
        ("empty", "the module empty has no tools", "--tool empty:first"),
        ("broken", "the module broken cannot be imported: RuntimeError: no database", 'python -c "import broken"'),
        ("exiting", "the module exiting cannot be imported: SystemExit: 3", "import exiting"),
        ("needy", "the module needy cannot be imported: ModuleNotFoundError: No module named 'no_such_library'", ""),
    ],
)
def test_tool_that_cannot_be_used_is_an_error_before_anything_is_sent(run, server, to_server, name, message, hint):
    result = run("ask", "Hi.", "--tool", name, *to_server)
    assert (result.exit_code, result.stdout, server.requests) == (2, "", [])
    assert message in result.stderr
    assert hint in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option", [["--yes"], ["--max-rounds", "3"]])
def test_options_of_tools_need_a_tool(run, server, to_server, option):
    result = run("ask", "Hi.", *option, *to_server)
    assert (result.exit_code, server.requests) == (2, [])
    assert f"{option[0]}: no tool is given" in result.stderr


def test_at_the_limit_of_rounds_the_model_must_answer(run, server, to_server):
    for count in range(2):
        server.script(calling("stock", item=f"tea {count}"))
    server.script(completion("About seven."))
    result = run("ask", "How much tea?", "--tool", "shop:stock", "--max-rounds", "2", "-q", *to_server)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "About seven.\n", "counting\n" * 2)
    assert server.requests[-1].json["tool_choice"] == "none"


def test_final_tool_gives_the_answer(run, server, to_server):
    server.script(calling("Invoice", total=12.5))
    result = run("ask", "Total?", "--tool", "shop:Invoice", "--yes", "-q", *to_server)
    assert (result.exit_code, result.stdout) == (0, '{"total":12.5}\n')


def test_same_failing_call_ends_with_a_warning(run, server, to_server):
    for _ in range(3):
        server.script(calling("order", item="tea", count="many"))
    result = run("ask", "Order tea.", "--tool", "shop:order", "--yes", *to_server)
    assert "<- invalid_arguments: invalid arguments for order:" in result.stderr
    assert "warning: there is no answer: the same tool call failed several times" in result.stderr


@pytest.mark.process
@needs_terminal
@pytest.mark.parametrize(
    ("typed", "result", "orders"),
    [
        ("y\n", "ordered 2 tea", "2 tea\n"),
        ("yes\n", "ordered 2 tea", "2 tea\n"),
        ("n\n", "not run: denied: the user does not allow it", None),
        ("n too expensive\n", "not run: denied: too expensive", None),
        ("\x04", "not run: denied: the user does not allow it", None),
        ("what\ny\n", "ordered 2 tea", "2 tea\n"),
    ],
)
def test_user_is_asked_before_a_tool_runs(terminal, server, to_server, folder, typed, result, orders):
    server.script(streamed_call("order", "Let me see.", item="tea", count=2))
    server.script(streamed("Well."))
    with terminal("ask", "Order tea.", "--tool", "shop:order", *to_server) as window:
        place = window.wait_for("[e]dit: ", window.wait_for('The model calls order with {"item": "tea", "count": 2}'))
        assert "Let me see." in window.screen[:place]
        for line in typed.splitlines(keepends=True):
            window.type(line)
            if line == "what\n":
                place = window.wait_for("[e]dit: ", window.wait_for("n REASON tells the model why", place))
        assert window.wait_for_end() == 0
        assert "Well." in window.screen
    assert results(server) == [result]
    assert ((folder / "orders.txt").read_text() if orders else None) == orders


@pytest.mark.process
@needs_terminal
def test_always_is_asked_once(terminal, server, to_server):
    for count in (1, 2):
        server.script(streamed_call("order", item="tea", count=count))
    server.script(streamed("Done."))
    with terminal("ask", "Order tea.", "--tool", "shop:order", *to_server) as window:
        window.wait_for("[e]dit: ")
        window.type("a\n")
        assert window.wait_for_end() == 0
        assert window.screen.count("[e]dit: ") == 1
    assert results(server) == ["ordered 1 tea", "ordered 2 tea"]


@pytest.mark.process
@needs_terminal
def test_arguments_can_be_edited(terminal, server, to_server):
    server.script(streamed_call("order", item="tea", count=2))
    server.script(streamed("Done."))
    with terminal("ask", "Order tea.", "--tool", "shop:order", *to_server) as window:
        place = window.wait_for("[e]dit: ")
        window.type("e\n")
        place = window.wait_for('"count": 2}', window.wait_for("Arguments: ", place))
        window.type("\x15{nonsense\n")
        place = window.wait_for("[e]dit: ", window.wait_for("Not JSON", place))
        window.type("e\n")
        window.wait_for('"count": 2}', window.wait_for("Arguments: ", place))
        window.type("\x7f\x7f5}\n")
        assert window.wait_for_end() == 0
    assert results(server) == ["ordered 5 tea"]


@pytest.mark.process
@needs_terminal
def test_arguments_are_shown_without_control_characters(terminal, server, to_server):
    server.script(streamed_call("order", item="\x1b[2J\u202etea\nRun it? y"))
    server.script(streamed("Done."))
    with terminal("ask", "Order tea.", "--tool", "shop:order", *to_server) as window:
        place = window.wait_for("[e]dit: ")
        assert r'{"item": "\u001b[2J\u202etea\nRun it? y"}' in window.screen[:place]
        window.type("n\n")
        assert window.wait_for_end() == 0
        assert "\x1b[2J" not in window.screen
        assert "\u202e" not in window.screen


@pytest.mark.process
@needs_terminal
def test_chat_shows_calls_and_keeps_their_results(terminal, server, to_server):
    server.script(streamed_call("stock", "Looking.", item="tea"))
    server.script(streamed("Seven."))
    server.script(streamed("Bye."))
    with terminal("chat", "--tool", "shop:stock", *to_server) as window:
        window.wait_for("> ")
        window.type("How much tea?\n")
        place = window.wait_for("Looking.\r\n")
        place = window.wait_for("<- 7 tea", window.wait_for('-> stock({"item": "tea"})', place))
        window.wait_for("> ", window.wait_for("Seven.", place))
        window.type("Thanks.\n")
        window.wait_for("Bye.")
        window.type("/exit\n")
        assert window.wait_for_end() == 0
    roles = [message["role"] for message in server.requests[-1].json["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.process
@needs_terminal
@pytest.mark.parametrize("during", ["tool", "approval"])
def test_ctrl_c_leaves_the_chat_usable_and_the_conversation_sendable(terminal, server, to_server, folder, during):
    server.script(streamed_call("slow", "Wait."))
    server.script(streamed("Still here."))
    with terminal("chat", "--tool", "shop:slow", *to_server) as window:
        window.wait_for("> ")
        window.type("Do it.\n")
        place = window.wait_for("[e]dit: ")
        if during == "tool":
            window.type("y\n")
            place = window.wait_for("-> slow({})", place)
        window.wait_until_idle()
        window.type("\x03")
        window.wait_for("> ", window.wait_for("stopped", place))
        window.type("Are you there?\n")
        window.wait_for("> ", window.wait_for("Still here."))
        window.type("/exit\n")
        assert window.wait_for_end() == 0
        assert "Traceback" not in window.screen
    messages = server.requests[-1].json["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    (result,) = results(server)
    assert result.startswith("interrupted: cancelled while it ran" if during == "tool" else "not run: cancelled")


def test_json_of_an_error_has_the_steps_before_it(run, server, to_server):
    server.script(calling("stock", item="tea"))
    server.script(failure(400, "not that"))
    result = run("ask", "How much tea?", "--json", "--tool", "shop:stock", *to_server)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["error"]["type"]) == (3, "BadRequestError")
    assert [(step["name"], step["result"]) for step in data["tool_steps"]] == [("stock", "7 tea")]


def test_what_a_tool_prints_is_not_in_the_streamed_answer(run, server, to_server):
    server.script(streamed_call("stock", "Let me see. ", item="tea"))
    server.script(streamed("Seven."))
    result = run("ask", "How much tea?", "--stream", "--tool", "shop:stock", *to_server)
    assert (result.exit_code, result.stdout) == (0, "Let me see. \nSeven.\n")
    assert "counting\n" in result.stderr


@pytest.mark.process
@needs_terminal
@pytest.mark.parametrize(("status", "kept"), [(400, []), (503, ["7 tea"])])
def test_an_error_after_a_tool_leaves_the_chat_usable(terminal, server, to_server, status, kept):
    """What a tool has done stays in the conversation, unless the conversation itself was refused."""
    server.script(streamed_call("stock", item="tea"))
    for _ in range(1 if status == 400 else 3):
        server.script(failure(status, "not that", **{"retry-after": "0"}))
    server.script(streamed("Still here."))
    with terminal("chat", "--tool", "shop:stock", *to_server) as window:
        window.wait_for("> ")
        window.type("How much tea?\n")
        window.wait_for("> ", window.wait_for("not that"))
        window.type("Hello?\n")
        window.wait_for("> ", window.wait_for("Still here."))
        window.type("/exit\n")
        assert window.wait_for_end() == 0
    assert results(server) == kept


@pytest.mark.process
@needs_terminal
def test_a_long_argument_is_shortened_with_its_end_shown(terminal, server, to_server):
    server.script(streamed_call("order", item="x" * 10_000 + "END"))
    server.script(streamed("Done."))
    with terminal("ask", "Order.", "--tool", "shop:order", *to_server) as window:
        place = window.wait_for("[e]dit: ")
        assert "characters are not shown]" in window.screen[:place]
        assert "END" in window.screen[:place]
        window.type("n\n")
        assert window.wait_for_end() == 0
