"""`abstractcore talk`: with files, and with a microphone and a loudspeaker that are not there."""

from __future__ import annotations

import _thread
import array
import signal
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.stores.models import FileModelStore
from abstractcore.testing.http_server import ScriptedServer
from abstractcore_cli.app import app
from tests.chaos_server import failure, streamed
from tests.leftovers import wait_until
from tests.media.parts import EXAMPLES
from tests.plugins.voice.sound_devices import LISTENING, FakeSoundDevice
from tests.plugins.voice.sounds import seconds

pytestmark = [pytest.mark.process, pytest.mark.weights]

QUIET = bytes(2 * 16_000)
"""A second."""
LONG = "The meeting is on Tuesday in room twelve, at half past nine. Then we eat together in the garden."


@pytest.fixture(autouse=True)
def in_a_folder(models: FileModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent.resolve()))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard() -> Iterator[None]:
    """A background job inherits it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def question() -> bytes:
    """The beginning of a recording as a microphone would give it: "Good morning." """
    with wave.open(str(EXAMPLES / "meeting.wav")) as file:
        recorded = array.array("h", file.readframes(round(0.75 * file.getframerate())))
    rate = 22_050
    return array.array("h", (recorded[n * rate // 16_000] for n in range(len(recorded) * 16_000 // rate))).tobytes()


def talk(server: ScriptedServer, *arguments: str) -> Any:
    """The result of the command; the model is at the server."""
    model = ("--provider", "openai-compatible/m", "--base-url", f"{server.url}/v1")
    listens = ("--listen-model", "whisper-tiny.en")
    return CliRunner().invoke(app, ("talk", *arguments, *model, *listens), catch_exceptions=False)


def sent(server: ScriptedServer, number: int) -> list[tuple[str, str]]:
    """The messages of a request after the system message."""
    return [(each["role"], each["content"]) for each in server.requests[number].json["messages"][1:]]


def test_recording_is_answered_in_a_file(server: ScriptedServer, tmp_path: Path):
    server.script(streamed("It is at ", "9:30. Bye."))
    result = talk(server, "--input", str(EXAMPLES / "meeting.wav"), "--output", "answer.wav")
    assert result.exit_code == 0, result.stderr
    heard, answer = result.stdout.splitlines()
    assert heard.startswith("> Good morning, the meeting starts")
    assert answer == "It is at 9:30. Bye."
    assert seconds((tmp_path / "answer.wav").read_bytes()) > 1.5
    assert "spoken conversation" in server.requests[0].json["messages"][0]["content"]


def test_several_recordings_are_a_conversation(server: ScriptedServer, question: bytes, tmp_path: Path):
    with wave.open("hello.wav", "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(QUIET[:8_000] + question + QUIET[:8_000])
    server.script(streamed("Hello."))
    server.script(streamed("Again, hello."))
    files = ("--input", "hello.wav", "--input", "hello.wav", "--output", "answers.wav", "--system", "Be kind.")
    result = talk(server, *files, "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [role for role, _ in sent(server, 1)] == ["user", "assistant", "user"]
    assert sent(server, 1)[1] == ("assistant", "Hello.")
    assert server.requests[1].json["messages"][0]["content"] == "Be kind."
    assert result.stdout.endswith("Hello.\n> Good morning.\nAgain, hello.\n")


def test_silence_is_not_sent_to_the_model(server: ScriptedServer, tmp_path: Path):
    with wave.open("quiet.wav", "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(QUIET)
    result = talk(server, "--input", "quiet.wav", "--output", "answers.wav")
    assert (result.exit_code, result.stdout, server.requests) == (0, "", [])
    assert "nothing was understood" in result.stderr
    assert "nothing was said: answers.wav is not written" in result.stderr
    assert not Path("answers.wav").exists()


def test_model_that_fails_leaves_no_file(server: ScriptedServer):
    server.script(failure(400, "not that"))
    result = talk(server, "--input", str(EXAMPLES / "meeting.wav"), "--output", "answer.wav")
    assert (result.exit_code, Path("answer.wav").exists()) == (3, False)
    assert "not that" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--input", "none.wav", "--output", "a.wav"), "none.wav"),
        (("--input", "x.wav", "--output", "a.mp3"), "--output 'a.mp3' is not a WAV file."),
        (("--input", "x.wav", "--output", "no/a.wav"), "no/a.wav cannot be written: there is no such folder"),
        (("--input", "x.wav", "--output", "a.wav", "--option", "x"), "--option 'x' is not an argument."),
    ],
)
def test_mistake_is_a_usage_error(server: ScriptedServer, arguments: tuple[str, ...], message: str):
    result = talk(server, *arguments)
    assert (result.exit_code, server.requests, Path("a.wav").exists()) == (2, [], False)
    assert message in result.stderr


def _not_found(name: str) -> None:
    """No library of the system."""


def devices(monkeypatch: pytest.MonkeyPatch, library: object) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", library)


def test_conversation_with_a_microphone_and_a_loudspeaker(
    server: ScriptedServer, question: bytes, monkeypatch: pytest.MonkeyPatch
):
    library = FakeSoundDevice()
    library.script = [QUIET, question, QUIET, LISTENING, _thread.interrupt_main]
    devices(monkeypatch, library)
    server.script(streamed("Hello. How are you?"))
    result = talk(server)
    assert result.stdout.splitlines()[:2] == ["> Good morning.", "Hello. How are you?"]
    assert library.rate == 22_050
    assert len(library.heard) > 2 * library.rate
    assert "speak. Ctrl-C stops an answer" in result.stderr


def test_user_who_speaks_stops_the_answer_and_the_model_knows_what_was_heard(
    server: ScriptedServer, question: bytes, monkeypatch: pytest.MonkeyPatch
):
    library = FakeSoundDevice()

    def enough() -> None:
        library.wait_until_heard(1.0)

    library.script = [QUIET, question, QUIET, enough, question, QUIET, LISTENING, _thread.interrupt_main]
    devices(monkeypatch, library)
    server.script(streamed(LONG))
    server.script(streamed("Yes."))
    result = talk(server, "--headphones")
    first, answer, second = sent(server, 1)
    assert (first, second) == (("user", "Good morning."), ("user", "Good morning."))
    assert answer[0] == "assistant"
    assert 0 < len(answer[1]) < len(LONG)
    assert LONG.startswith(answer[1])
    assert library.aborted == 1
    assert f"stopped: {answer[1]!r} was heard (" in result.stderr


def test_ctrl_c_stops_the_answer_and_the_conversation_goes_on(
    server: ScriptedServer, question: bytes, monkeypatch: pytest.MonkeyPatch
):
    library = FakeSoundDevice()

    def enough() -> None:
        library.wait_until_heard(1.0)

    library.script = [
        *(QUIET, question, QUIET, enough, _thread.interrupt_main, lambda: wait_until(lambda: library.aborted)),
        *(QUIET, question, QUIET, LISTENING, _thread.interrupt_main),
    ]
    devices(monkeypatch, library)
    server.script(streamed(LONG * 5))
    server.script(streamed("Yes."))
    result = talk(server)
    assert len(server.requests) == 2
    assert sent(server, 1)[1][0] == "assistant"
    assert LONG.startswith(sent(server, 1)[1][1])
    assert "stopped: " in result.stderr


def test_failed_turn_does_not_end_a_live_conversation(
    server: ScriptedServer, question: bytes, monkeypatch: pytest.MonkeyPatch
):
    library = FakeSoundDevice()
    library.script = [QUIET, question, QUIET, QUIET, question, QUIET, LISTENING, _thread.interrupt_main]
    devices(monkeypatch, library)
    server.script(failure(400, "not that"))
    server.script(streamed("Yes."))
    result = talk(server, "--headphones")
    assert "not that" in result.stderr
    assert result.stdout.splitlines()[:3] == ["> Good morning.", "> Good morning.", "Yes."], result.stderr


@pytest.mark.parametrize(
    ("library", "message"),
    [
        (None, "need the package sounddevice.\nInstall with: pip install sounddevice"),
        (FakeSoundDevice(is_there=False), "no microphone can be opened: Error querying device -1."),
    ],
)
def test_without_sound_devices_the_error_names_the_files(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, library: object, message: str
):
    devices(monkeypatch, library)
    result = talk(server)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "--input FILE --output FILE.wav" in result.stderr


def test_library_without_portaudio_is_an_error_that_says_what_to_install(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ctypes.util.find_library", _not_found)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    result = talk(server)
    assert result.exit_code == 2
    if sys.platform == "linux":  # elsewhere the wheel has it
        assert "sounddevice needs the library PortAudio.\nInstall it with: apt install libportaudio2." in result.stderr
