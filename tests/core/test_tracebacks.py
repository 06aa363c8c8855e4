"""Tracebacks of our own errors: the user's line and the method that was called, and no frames of the engine."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abstractcore import RateLimitError, Session, create_llm

METHODS: dict[str, Callable[[Any], Any]] = {
    "generate": lambda llm: llm.generate("hi"),
    "typed": lambda llm: llm.generate("hi", response_model=int),
    "stream": lambda llm: list(llm.stream("hi")),
    "decide": lambda llm: llm.decide("hi", ["a", "b"]),
    "session": lambda llm: Session(llm).ask("hi"),
    "file": lambda llm: llm.generate("hi", media="no-such-file.pdf"),
    "embed": lambda llm: llm.embed(["a"]),
    "async": lambda llm: asyncio.run(llm.agenerate("hi")),
}
FRAMES = {"async": 3, "embed": 3}
"""How many of our frames are left, if not two: in async code, and of an error before the call begins."""


def failing(call: Any) -> str:
    raise RateLimitError("not now")


def frames(run: Callable[[], object]) -> list[str]:
    """The modules of the frames of the error that is raised."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any kind
        run()
    found = traceback.walk_tb(caught.value.__traceback__)
    return [frame.f_globals["__name__"] for frame, _ in found]


def ours(names: list[str]) -> list[str]:
    return [name for name in names if name.partition(".")[0].startswith("abstractcore")]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ABSTRACTCORE_DEBUG", raising=False)


@pytest.mark.parametrize("method", METHODS)
def test_frames_of_the_engine_are_left_out(method: str):
    llm = create_llm("scripted", replies=failing, max_retries=0)
    names = ours(frames(lambda: METHODS[method](llm)))
    assert len(names) <= FRAMES.get(method, 2), names


@pytest.mark.parametrize("value", ["1", "true"])
def test_all_frames_are_kept_for_debugging(value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ABSTRACTCORE_DEBUG", value)
    llm = create_llm("scripted", replies=failing, max_retries=0)
    assert "abstractcore.engine.pipeline" in frames(lambda: llm.generate("hi"))


def test_frames_of_the_users_own_code_are_kept():
    class Mine:
        async def around_call(self, context: Any, next: Any) -> Any:
            return await next(context)

    llm = create_llm("scripted", replies=failing, max_retries=0, middleware=[Mine()])
    assert frames(lambda: llm.generate("hi")).count(__name__) == 4  # this line, its lambda, the middleware, the reply


def test_other_exceptions_keep_their_traceback():
    class Broken:
        async def around_call(self, context: Any, next: Any) -> Any:
            raise ZeroDivisionError

    llm = create_llm("scripted", replies=["hi"], middleware=[Broken()])
    assert "abstractcore.engine.pipeline" in frames(lambda: llm.generate("hi"))


def test_cause_of_an_error_is_kept_with_the_users_frames():
    def check(value: int) -> None:
        raise ValueError("too small")

    llm = create_llm("scripted", replies=["1"], output_retries=0)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - with whatever cause
        llm.generate("hi", response_model=int, output_check=check)
    assert "too small" in "".join(traceback.format_exception(caught.value))


@pytest.mark.process
def test_script_prints_its_own_line_and_the_message(tmp_path: Path):
    script = tmp_path / "ask.py"
    script.write_text(
        "from abstractcore import create_llm\ncreate_llm('scripted', replies=[]).generate('hi')\n", "utf-8"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert "ask.py" in ended.stderr
    assert "ScriptExhaustedError: scripted/scripted: the script has 0 replies" in ended.stderr
    assert ended.stderr.count('File "') <= 3
