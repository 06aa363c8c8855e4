"""`chat --session` and the commands of a chat; `abstractcore sessions`: listed, shown, exported and removed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore import (
    BadRequestError,
    InvalidInputError,
    MediaError,
    Message,
    ModelReply,
    ServerError,
    Session,
    Suspend,
    ToolCall,
    ToolPolicy,
    UnknownProviderError,
    Usage,
    create_llm,
    tool,
)
from abstractcore.sessions import RECALL
from abstractcore_cli.app import app
from abstractcore_cli.chatting.chat import ChatArguments, _opened  # pyright: ignore[reportPrivateUsage]
from abstractcore_cli.chatting.commands import ChatCommands
from abstractcore_cli.chatting.turns import ChatSession
from abstractcore_cli.plugins import ConnectionArguments, connections, registry
from abstractcore_cli.sessions.names import session_path
from abstractcore_cli.toolbox import ToolArguments, Toolbox, toolbox
from tests.chaos_server import HANG, ScriptedServer, chunk, delta, stream_head, streamed

COMMAND = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
needs_terminal = pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal")
CONFIGURATION = """
[llm.ann]
model = "scripted/ann"
options.replies = ["I am Ann.", "Still Ann."]
options.facts = { context_tokens = 8000 }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of named sessions, which is not made yet."""
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("abstractcore_cli.sessions.names.data_folder", lambda: tmp_path / "data" / "abstractcore")
    (tmp_path / "config.toml").write_text(CONFIGURATION)
    return tmp_path / "data" / "abstractcore" / "sessions"


def talk(name: str, *texts: str) -> Path:
    """Makes a named session of questions and answers."""
    path = session_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Session.open(path, create_llm("scripted/ann", replies=[*texts[1::2]])) as session:
        for question in texts[::2]:
            session.ask(question)
    return path


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*arguments], input=stdin, catch_exceptions=False)
    return result.exit_code, result.output


def run_json(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    return result.exit_code, json.loads(result.stdout)


class Chat:
    """A chat in this process, with lines as a person types them."""

    def __init__(self, replies: list[Any], path: Path | None = None, tools: Toolbox | None = None) -> None:
        self._connections = connections(quiet=True)
        services = self._connections.__enter__()
        llm = create_llm("scripted", replies=replies, services=services, max_retries=0)
        toolbox = tools or Toolbox()
        options: dict[str, Any] = {"tools": toolbox.tools, "run_tools": toolbox.run_tools, "keep_partial": True}
        session = llm.session(**options) if path is None else Session.open(path, llm, **options)
        self.state = ChatSession(session, toolbox, ConnectionArguments(quiet=True), services, path)
        self.commands = ChatCommands(self.state)

    def type(self, *lines: str) -> None:
        for line in lines:
            if not self.commands.run(line):
                self.state.ask(line)

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.state.session.messages]

    def close(self) -> None:
        self.state.session.close()
        self._connections.__exit__(None, None, None)


@pytest.fixture
def chatting() -> Iterator[Callable[..., Chat]]:
    """Begins a chat, which is closed afterwards."""
    begun: list[Chat] = []

    def chatting(*replies: Any, path: Path | None = None, tools: Toolbox | None = None) -> Chat:
        begun.append(Chat([*replies], path, tools))
        return begun[-1]

    yield chatting
    for chat in begun:
        chat.close()


def test_undo_takes_back_the_last_question(chatting, capsys):
    chat = chatting("one", "two")
    chat.type("first", "second", "/undo")
    assert chat.texts == ["first", "one"]
    assert "taken back: second" in capsys.readouterr().err
    chat.type("/undo")
    with pytest.raises(InvalidInputError, match="no exchange to undo"):
        chat.type("/undo")


def test_fork_goes_on_in_a_copy(chatting, folder: Path, capsys):
    path = talk("trip", "Where?", "Oslo.")
    chat = chatting("two", "three", path=path)
    chat.type("second", "/fork other", "third")
    assert "goes on in other; trip stays as it is" in capsys.readouterr().err
    chat.close()
    for name, count in (("trip", 2), ("other", 3)):
        with Session.open(folder / f"{name}.session", create_llm("scripted", replies=[])) as session:
            assert len(session.exchanges) == count
    with pytest.raises(InvalidInputError, match="there is a session 'trip' already"):
        chatting().type("/fork trip")


def test_fork_keeps_a_conversation_that_was_in_memory(chatting, folder: Path):
    chat = chatting("one")
    chat.type("first", "/fork kept")
    assert chat.state.name == "kept"
    assert chat.texts == ["first", "one"]
    assert (folder / "kept.session").exists()


def test_model_is_changed_to_one_of_the_configuration_or_a_group(chatting, capsys):
    chat = chatting("one", "two")
    chat.type("first", "/model ann", "who?")
    assert chat.texts == ["first", "one", "who?", "I am Ann."]
    assert "scripted/ann is asked from now on" in capsys.readouterr().err
    chat.type("/model ann ann")
    assert len(chat.state.session.llm.members) == 2
    chat.type("who?")
    assert chat.texts[-1] == "I am Ann."
    with pytest.raises(UnknownProviderError, match="Did you mean openai"):
        chat.type("/model opnai/gpt-5")
    assert len(chat.state.session.llm.members) == 2
    chat.type("/model")
    assert "is asked\n" in capsys.readouterr().err


def test_base_url_is_that_of_its_provider_only(chatting):
    chat = chatting()
    chat.state.connection = ConnectionArguments("openai-compatible/a", base_url="http://localhost:1/v1")
    chat.state.session = chat.state.session.with_llm(
        create_llm("openai-compatible/a", base_url="http://localhost:1/v1")
    )
    chat.type("/model openai-compatible/b")
    assert "http://localhost:1/v1" in repr(chat.state.session.llm)
    chat.type("/model ann")
    assert chat.state.session.llm.model == "ann"


def test_compact_and_cost_say_what_they_did(chatting, capsys):
    chat = chatting(*["An answer of some length, so that a summary of it is shorter. " * 5] * 8, "A summary.")
    chat.type("/compact", *[f"question {number}" for number in range(8)], "/compact prices", "/cost")
    shown = capsys.readouterr().err
    assert "nothing was compacted" in shown
    assert "2 exchanges" in shown
    assert "8 exchanges, $0 known" in shown
    assert chat.texts[0].endswith("A summary.")


def test_file_goes_with_the_next_question_only(chatting, tmp_path: Path, capsys):
    (tmp_path / "my notes.txt").write_text("Bring two copies.")
    chat = chatting("one", "two")
    chat.type("/file", "/file my notes.txt", "/file 'my notes.txt'", "What?", "And?")
    first, _, second, _ = chat.state.session.messages
    assert len(first.parts) == 3
    assert len(second.parts) == 1
    assert "with the next question: my notes.txt, my notes.txt" in capsys.readouterr().err
    with pytest.raises(MediaError, match=r"nope\.pdf is not a file"):
        chat.type("/file nope.pdf")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("my notes.txt", "my notes.txt"),
        ("'my notes.txt'", "my notes.txt"),
        ('"my notes.txt"', "my notes.txt"),
        ("my\\ notes.txt", "my notes.txt"),
        ("'it'\\''s.txt'", "it's.txt"),
        ("it's.txt", "it's.txt"),
        ("'quoted'", "'quoted'"),
        ("~/my\\ notes.txt", "my notes.txt"),
    ],
)
def test_file_is_found_as_it_is_typed_or_dropped_on_the_terminal(chatting, tmp_path, monkeypatch, typed, name):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / name).write_text("Bring two copies.")
    chat = chatting()
    chat.type(f"/file {typed}")
    assert [Path(each).name for each in chat.state.files] == [name]


def test_cost_of_nothing_names_no_tokens(chatting, capsys):
    chat = chatting("one")
    chat.type("/cost")
    shown = capsys.readouterr().err
    assert "0 exchanges, $0" in shown
    assert "?" not in shown
    chat.type("first", "/undo", "/cost")
    assert "1 tokens in, 1 out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "goes_again"),
    [(ServerError("down", status=500), True), (BadRequestError("no", status=400), False)],
)
def test_file_of_a_question_that_may_succeed_later_goes_with_the_next_one(chatting, tmp_path, error, goes_again):
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    chat = chatting(error, "two")
    with pytest.raises(type(error)):
        chat.type("/file notes.txt", "What?")
    chat.type("What?")
    assert len(chat.state.session.messages[0].parts) == 1 + goes_again


def test_a_folder_is_not_added_as_a_file(chatting, tmp_path: Path):
    with pytest.raises(MediaError, match=r"is a folder, not a file"):
        chatting().type(f"/file {tmp_path}")


@pytest.mark.parametrize(("name", "hint"), [("gpt-5.4-mini", "/model openai/gpt-5.4-mini"), ("opnai", "openai")])
def test_hint_for_a_model_that_there_is_not_can_be_typed_in_the_chat(chatting, name, hint):
    with pytest.raises(UnknownProviderError) as caught:
        chatting().type(f"/model {name}")
    assert hint in (caught.value.hint or "")
    assert "--" not in caught.value.hint
    assert "create_llm" not in caught.value.hint


def test_files_of_the_command_go_with_the_first_question(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    connection = ConnectionArguments("ann", quiet=True)
    with _opened(ChatArguments(connection, ToolArguments(), session="files", media=("notes.txt",))) as chat:
        chat.ask("What?")
        chat.ask("And?")
        assert [len(message.parts) for message in chat.session.messages] == [2, 1, 1, 1]
    code, output = run("chat", "-f", "nope.txt", "-p", "ann", stdin="What?\n")
    assert code == 2
    assert "nope.txt is not a file" in output
    assert "Write --media PATH" in output


def test_tools_are_listed_with_those_that_ask_first(chatting, capsys):
    @tool(read_only=True)
    def look() -> str:
        """Looks."""
        return "seen"

    @tool
    def buy() -> str:
        """Buys.

        At once.
        """
        return "bought"

    box = Toolbox([look, buy], ToolPolicy(), [look.spec, buy.spec])
    chatting(tools=box).type("/tools")
    assert capsys.readouterr().err == "look: Looks.\nbuy (you are asked first): Buys.\n"
    chatting().type("/tools")
    assert "start the chat with --tool" in capsys.readouterr().err


def test_tools_of_the_session_run_without_asking(monkeypatch, tmp_path: Path):
    (tmp_path / "stall.py").write_text('def sell() -> str:\n    """Sells."""\n    return "sold"\n')
    monkeypatch.setattr("abstractcore_cli.toolbox.can_ask", lambda: True)
    box = toolbox(ToolArguments(("stall:sell",)), registry())
    assert [box.asks_about(name) for name in ("sell", RECALL, "search_tools")] == [True, False, False]
    assert not toolbox(ToolArguments(("stall:sell",), yes=True), registry()).asks_about("sell")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("/hlep", "unknown command /hlep: Did you mean /help?"),
        ("/xyzzy now", "unknown command /xyzzy: /help lists the commands."),
        ("/File-s", "unknown command /file-s: Did you mean /file?"),
        ("/", "/help: list the commands"),
    ],
)
def test_unknown_command_is_named_and_not_sent(chatting, capsys, line, text):
    chat = chatting()
    chat.type(line)
    assert text in capsys.readouterr().err
    assert chat.texts == []


def test_every_command_is_in_the_help(chatting, capsys):
    chat = chatting()
    chat.type("/help")
    shown = capsys.readouterr().err
    for name in ("undo", "fork NAME", "model [NAME ...]", "compact [FOCUS]", "cost", "file [PATH]", "tools", "exit"):
        assert f"/{name}: " in shown
    chat.type("/quit")
    assert chat.commands.is_over


@pytest.mark.parametrize("line", ["/undo 3", "/exit now", "/fork", "/cost all"])
def test_wrong_argument_of_a_command_is_an_error(chatting, line):
    with pytest.raises(InvalidInputError, match=r"takes no argument|needs NAME"):
        chatting().type(line)


@pytest.mark.parametrize("line", ["/etc/passwd is what?", "/etc/hosts", "1/2?", "/ 2"])
def test_text_with_slashes_is_a_question(chatting, line):
    chat = chatting("one")
    chat.type(line)
    assert chat.texts == [line, "one"]


def test_answer_that_waited_when_the_chat_ended_is_resumed_or_left_out(chatting, monkeypatch):
    @tool
    def buy() -> str:
        """Buys."""
        bought.append(1)
        return "bought"

    bought: list[int] = []
    box = Toolbox([buy], ToolPolicy(), [buy.spec])
    path = session_path("shop")
    path.parent.mkdir(parents=True)
    monkeypatch.setattr("abstractcore_cli.toolbox.can_ask", lambda: True)
    monkeypatch.setattr("abstractcore_cli.toolbox.ask_line", lambda prompt: "y")
    for resumes in (True, False):
        llm = create_llm("scripted", replies=[ModelReply((ToolCall("c", "buy"),))])
        with Session.open(path, llm, tools=box.tools, run_tools=box.run_tools) as session:
            assert session.ask("Buy it.").pending
        chat = chatting("Done.", "Else.", path=path, tools=box)
        chat.type("/resume" if resumes else "What else?")
        roles = [message.role for message in chat.state.session.messages]
        if resumes:
            assert roles == ["user", "assistant", "tool", "assistant"]
            with pytest.raises(InvalidInputError, match="no answer of this conversation was cut off"):
                chat.type("/resume")
        else:
            assert roles[4:] == ["user", "assistant", "tool", "user", "assistant"]
            assert "not run: cancelled" in str(chat.state.session.messages[6].parts)
        assert bought == [1]
        chat.close()


@pytest.mark.parametrize(
    ("error", "kept"),
    [(ServerError("down", status=500), ["user", "assistant", "tool"]), (BadRequestError("no", status=400), [])],
)
@pytest.mark.parametrize("resumes", [False, True])
def test_resumed_answer_that_fails_is_kept_unless_it_was_refused(chatting, monkeypatch, error, kept, resumes):
    @tool
    def buy() -> str:
        """Buys."""
        return "bought"

    answers = iter(["y"])

    def ask_line(prompt: str) -> str:
        if resumes and not interrupted:
            interrupted.append(prompt)
            raise KeyboardInterrupt
        return next(answers)

    interrupted: list[str] = []
    policy = ToolPolicy(approve=lambda pending: Suspend())
    monkeypatch.setattr("abstractcore_cli.toolbox.can_ask", lambda: True)
    monkeypatch.setattr("abstractcore_cli.toolbox.ask_line", ask_line)
    chat = chatting(ModelReply((ToolCall("c", "buy"),)), error, "Else.", tools=Toolbox([buy], policy, [buy.spec]))
    if resumes:
        chat.type("Buy it.")
        assert chat.state.session.loop is not None
    with pytest.raises(type(error)):
        chat.type("/resume" if resumes else "Buy it.")
    assert [message.role for message in chat.state.session.messages] == kept
    chat.type("What else?")
    assert [message.role for message in chat.state.session.messages] == [*kept, "user", "assistant"]


def test_stopped_question_of_a_tool_waits_until_another_question_is_asked(chatting, monkeypatch):
    @tool
    def buy() -> str:
        """Buys."""
        return "bought"

    def stop(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("abstractcore_cli.toolbox.can_ask", lambda: True)
    monkeypatch.setattr("abstractcore_cli.toolbox.ask_line", stop)
    policy = ToolPolicy(approve=lambda pending: Suspend())
    reply = ModelReply((ToolCall("c", "buy"),), usage=Usage(input=7, output=1))
    chat = chatting(reply, "Else.", tools=Toolbox([buy], policy, [buy.spec]))
    chat.type("Buy it.")
    session = chat.state.session
    assert session.loop is not None
    chat.type("What else?")
    assert "not run: cancelled" in str(session.messages[2].parts)
    assert [exchange.number for exchange in session.exchanges] == [1, 2]
    assert session.exchanges[0].usage.input == 7


def test_piped_chat_goes_on_and_its_lines_are_questions(folder: Path, capsys):
    talk("trip", "Where?", "Oslo.")
    code, _ = run("chat", "--session", "trip", "-p", "ann", stdin="Who?\n/undo\n")
    assert code == 0
    with Session.open(folder / "trip.session", create_llm("scripted", replies=[])) as session:
        texts = [message.text for message in session.messages]
    assert texts == ["Where?", "Oslo.", "Who?", "I am Ann.", "/undo", "Still Ann."]


def test_model_that_answered_last_is_asked_again(folder: Path, monkeypatch):
    talk("trip", "Where?", "Oslo.")
    created: list[tuple[Any, Any]] = []

    def create(connection: ConnectionArguments, services: Any) -> Any:
        created.append((connection.provider, connection.model))
        return create_llm("scripted/ann", replies=["Again."])

    monkeypatch.setattr("abstractcore_cli.chatting.chat.create", create)
    for arguments in (["--session", "trip"], ["--session", "trip", "-p", "ann"], ["--session", "new"]):
        assert run("chat", *arguments, stdin="And?\n")[0] == 0
    assert created == [("ann", None), ("ann", None), (None, None)]


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "-x", "x" * 65, "a\tb", "a:b", "~", ".hidden", "x."])
def test_unsafe_names_are_refused(folder: Path, name):
    code, output = run("chat", "--session", name, "-p", "ann", stdin="")
    assert (code, "is not a name for a session" in output) == (2, True)
    assert not folder.exists()


def test_file_elsewhere_is_named_by_its_path(tmp_path: Path, folder: Path):
    for path in ("./here.session", "there.session"):
        assert run("chat", "--session", path, "-p", "ann", stdin="Who?\n")[0] == 0
        assert (tmp_path / path).exists()
        assert "I am Ann." in run("sessions", "show", path)[1]
    assert not folder.exists()


def test_file_of_the_current_folder_is_named_where_a_name_may_mean_it(folder: Path):
    note = "'trip' is a new session; to go on with the file ./trip.session: --session ./trip.session"
    assert run("chat", "--session", "./trip.session", "-p", "ann", stdin="Who?\n")[0] == 0
    code, output = run("sessions", "show", "trip")
    assert (code, output.splitlines()[-1]) == (2, "Did you mean ./trip.session?")
    assert run("sessions", "show", "./tripp.session")[1].endswith("Did you mean trip.session?\n")
    for says in (True, False):  # a new session, then that one
        code, output = run("chat", "--session", "trip", "-p", "ann", stdin="Who?\n")
        assert (code, note in output) == (0, says)
    assert "I am Ann." in run("sessions", "show", "trip")[1]


def test_sessions_are_listed_with_the_latest_first(folder: Path):
    assert "There are no sessions" in run("sessions", "list")[1]
    old, _ = talk("old", "Where?", "Oslo.", "When?", "June."), talk("new", "Who?", "Ann.")
    os.utime(old, (1e9, 1e9))
    (folder / "broken.session").write_text("a diary " * 100)
    code, output = run("sessions", "list")
    rows = [line.split("\t") for line in output.splitlines()]
    assert code == 0
    assert [row[:2] for row in rows[:3]] == [["new", "scripted/ann"], ["old", "scripted/ann"], ["broken", "-"]]
    assert rows[1][2:5] == ["2", rows[1][3], "$0 known"]
    assert "broken.session is damaged" in rows[3][0]
    _, data = run_json("sessions", "list")
    new, old_row, broken = data["sessions"]
    assert (new["name"], new["exchanges"], new["cost"], new["calls_of_unknown_cost"]) == ("new", 1, "0", 0)
    assert old_row["last_used"] == 1e9
    assert rows[1][3] == f"{old_row['input_tokens'] + old_row['output_tokens']:,}"
    assert broken["error"]["type"] == "SessionError"


def test_session_is_shown_in_full(folder: Path):
    path = talk("trip", "Where?", "Oslo\x1b[2J.")
    with Session.open(path, create_llm("scripted", replies=[]), system_prompt="Be brief.") as session:
        session.add(Message.user("Bye."))
    code, output = run("sessions", "show", "trip")
    assert code == 0
    lines = output.splitlines()
    assert lines[:6] == ["system", "  Be brief.", "user", "  Where?", "assistant", "  Oslo\u241b[2J."]
    assert lines[6].startswith("scripted/ann: ")
    assert lines[7:] == ["user", "  Bye."]
    _, data = run_json("sessions", "show", "trip")
    assert data["session"]["format"] == "abstractcore-session"
    assert len(data["session"]["exchanges"]) == 2


def test_session_is_exported_and_loaded(folder: Path, tmp_path: Path):
    talk("trip", "Where?", "Oslo.")
    assert run("sessions", "export", "trip", "trip.json")[0] == 0
    loaded = Session.load("trip.json", create_llm("scripted", replies=[]))
    assert [message.text for message in loaded.messages] == ["Where?", "Oslo."]
    code, output = run("sessions", "export", "trip", "trip.json")
    assert (code, "trip.json exists already" in output) == (2, True)
    code, output = run("sessions", "export", "trip", "missing/trip.json")
    assert (code, "missing/trip.json cannot be written" in output) == (2, True)
    assert json.loads(run("sessions", "export", "trip")[1]) == json.loads((tmp_path / "trip.json").read_text())
    expected = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Oslo."}]
    assert json.loads(run("sessions", "export", "trip", "--openai")[1]) == expected
    assert run_json("sessions", "export", "trip", "--openai")[1]["messages"] == expected
    assert run_json("sessions", "export", "trip", "o.json", "--openai")[1]["file"] == "o.json"
    assert json.loads((tmp_path / "o.json").read_text()) == expected


def test_session_is_removed_once_agreed(folder: Path, monkeypatch):
    talk("trip", "Where?", "Oslo.")
    code, output = run("sessions", "remove", "trip")
    assert (code, "Add --yes" in output) == (2, True)
    assert run_json("sessions", "remove", "trip")[1]["error"]["hint"] == "Add --yes to remove it."
    with Session.open(folder / "trip.session", create_llm("scripted", replies=[])):
        code, output = run("sessions", "remove", "trip", "--yes")
        assert (code, "Close the other chat" in output) == (2, True)
    assert run("sessions", "remove", "trip", "-y")[0] == 0
    assert [*folder.iterdir()] == []


@pytest.mark.parametrize("command", ["show", "export", "remove"])
def test_missing_session_is_an_error_with_the_nearest_names(folder: Path, command):
    talk("trip", "Where?", "Oslo.")
    code, data = run_json("sessions", command, "tripp")
    assert (code, data["error"]["hint"]) == (2, "Did you mean trip?")
    assert "abstractcore sessions list" in run("sessions", command, "xyzzy")[1]


@pytest.fixture
def terminal() -> Callable[..., Any]:
    pytest.importorskip("pty")
    from tests.terminal import Terminal

    return lambda *arguments: Terminal([*COMMAND, *arguments], {**os.environ}, 100)


@pytest.mark.process
@needs_terminal
def test_conversation_goes_on_in_the_terminal_after_an_answer_was_stopped(
    terminal, server: ScriptedServer, folder: Path
):
    to_server = ["-p", "openai-compatible/m", "--base-url", f"{server.url}/v1"]
    server.script(streamed("Oslo is fine."))
    server.script(stream_head(), chunk(delta("It rains in")), HANG)
    server.script(streamed("Bye."))
    with terminal("chat", "--session", "trip", *to_server) as window:
        window.wait_for("> ", window.wait_for("trip: a new conversation"))
        window.type("Where?\n")
        window.wait_for("> ", window.wait_for("Oslo is fine."))
        window.type("And the weather?\n")
        window.wait_for("It rains in")
        window.wait_until_idle()
        window.type("\x03")
        window.wait_for("> ", window.wait_for("stopped"))
        code, output = run("chat", "--session", "trip", *to_server, stdin="Me too.\n")
        assert (code, "abstractcore sessions show trip" in output) == (2, True)
        window.type("\x04")
        assert window.wait_for_end() == 0
    with terminal("chat", "--session", "trip", *to_server) as window:
        place = window.wait_for("trip: 2 exchanges")
        place = window.wait_for("It rains in", window.wait_for("> And the weather?", place))
        window.wait_for("> ", place)
        window.type("Thanks.\n")
        window.wait_for("Bye.", place)
        window.type("/exit\n")
        assert window.wait_for_end() == 0
        assert "Traceback" not in window.screen
    messages = [(each["role"], each["content"]) for each in server.requests[-1].json["messages"]]
    assert messages == [
        ("user", "Where?"),
        ("assistant", "Oslo is fine."),
        ("user", "And the weather?"),
        ("assistant", "It rains in"),
        ("user", "Thanks."),
    ]


@pytest.mark.process
@needs_terminal
def test_session_is_removed_after_a_yes_in_the_terminal(terminal, folder: Path):
    talk("trip", "Where?", "Oslo.")
    for answer, code, remains in (("n", 1, True), ("y", 0, False)):
        with terminal("sessions", "remove", "trip") as window:
            window.wait_for("[y]es, [n]o: ")
            window.type(f"{answer}\n")
            assert window.wait_for_end() == code
        assert (folder / "trip.session").exists() == remains
