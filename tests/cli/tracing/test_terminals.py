"""Traces and costs in terminals of any width, in pipes without a reader, and until Ctrl-C."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from abstractcore.traces import TraceStore
from tests.cli.tracing.traces import a_call, a_store
from tests.core.traces.stores import NOON, write

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal")]
COMMAND = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
BARS = set("█░━╸▏▎▍▌▋▊▉")


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The path of a database with some traces."""
    return a_store(tmp_path / "traces.db")


def on_screen(*arguments: str, columns: int = 100, **environment: str) -> str:
    """Returns what a terminal shows, with its styles."""
    from tests.terminal import Terminal

    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    environment = {**variables, "PYTHONUTF8": "1", **environment}
    with Terminal([*COMMAND, *arguments], environment, columns) as window:
        window.wait_for_end()
    return window.screen


def plain(screen: str) -> str:
    """Returns a text without styles."""
    return re.sub(r"\x1b\[[0-9;]*m", "", screen).replace("\r", "")


def test_waterfall_and_bars_have_the_room_that_is_left(place):
    tree = plain(on_screen("traces", "show", "loop-1", "--store", place))
    whole, *parts = [line.count("━") for line in bars(tree)]
    assert [round(4 * part / whole) for part in parts] == [1, 1, 2]
    costs = plain(on_screen("costs", "--store", place))
    assert len(bars(costs)) == 3
    assert max(map(len, f"{tree}\n{costs}".splitlines())) <= 100


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_each_call_has_one_line_and_what_was_searched_is_marked(tmp_path, columns):
    store = TraceStore(tmp_path / "traces.db")
    calls = [
        a_call(f"Where is lamp {number}?", trace_id=f"{number}{'a' * 31}", model="a-model-with-a-long-name-2026-11-29",
               tags={"team": "office", "user": "somebody"}, at=NOON + number)
        for number in range(3)
    ]  # fmt: skip
    write(store, *calls)
    store.close()
    place = str(tmp_path / "traces.db")
    listed = plain(on_screen("traces", "list", "--store", place, columns=columns)).splitlines()
    assert len([line for line in listed if line]) == 4
    assert max(map(len, listed)) <= columns
    id = listed[1].split()[0].removesuffix("…")
    assert f"trace 2{'a' * 31}" in plain(on_screen("traces", "show", id, "--store", place, columns=columns))
    found = on_screen("traces", "search", "lamp", "--store", place, columns=columns)
    assert len([line for line in plain(found).splitlines() if line]) == 7
    assert re.search(r"Where is \x1b\[[0-9;]*m.*lamp\x1b\[", found)


def bars(text: str) -> list[str]:
    return [line for line in text.splitlines() if BARS & set(line)]


@pytest.mark.parametrize("columns", [20, 40, 60])
def test_narrow_terminals_have_every_figure_and_no_bars(place, columns):
    tree = plain(on_screen("traces", "show", "loop-1", columns=columns, ABSTRACTCORE_TRACES_STORE=place))
    words = " ".join(re.sub("[├└│─]", "", tree).split())
    assert not bars(tree)
    assert all(figure in words for figure in ("10 in, 5 out $0.002000", "2.00 s", "about $0.001000"))


def test_no_color_and_ascii_terminals_are_respected(place):
    screen = on_screen(
        "traces", "show", "loop-1", "--store", place, NO_COLOR="1", PYTHONUTF8="0", PYTHONIOENCODING="ascii"
    )
    assert "|- vendor/small" in screen
    assert "====" in screen
    assert screen.isascii()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", screen)


def test_stored_texts_cannot_control_a_terminal(place):
    screen = on_screen("traces", "show", "loop-1", "--store", place)
    assert "␛]0;title␇" in screen
    assert not set("\x07\x9b\u202e") & set(screen)


def test_pipe_without_a_reader_ends_the_command_quietly(place):
    store = TraceStore(place)
    write(store, *(a_call("word " * 100, at=NOON + number) for number in range(2_000)))
    store.close()
    arguments = [sys.executable, *COMMAND, "traces", "list", "--limit", "10000", "--store", place]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.readline()
        program.stdout.close()
        error = program.stderr.read().decode()
    assert (program.returncode, error) == (1, "")


def test_ctrl_c_ends_tail(place):
    from tests.terminal import Terminal

    with Terminal([*COMMAND, "traces", "tail", "--store", place], dict(os.environ)) as window:
        window.wait_for("other-1")
        window.wait_until_idle()
        window.type("\x03")
        assert window.wait_for_end() == 130
    assert "Traceback" not in window.screen
