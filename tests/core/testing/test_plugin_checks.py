"""`check_backends` passes a backend that keeps the contract, and names what another one breaks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import InvalidInputError, MediaError, MissingExtraError
from abstractcore.ports import BackendRegistry, Made
from abstractcore.testing.plugin import Check, Inputs, backend_checks, check_backends
from abstractcore.testing.plugin.__main__ import main
from tests.backend_doubles import WAV


class Good:
    """Keeps the contract."""

    is_local = True

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    async def tts(self, text: str, *, voice: str = "low") -> Made:
        self._check(voice)
        await self.owner.runtime.sleep(0.001)
        return Made.of(WAV, "audio/wav", transcript=text)

    def tts_stream(self, text: str, *, voice: str = "low") -> Iterator[Made]:
        self._check(voice)
        for word in text.split():
            yield Made.of(word.encode(), "audio/pcm", transcript=word)

    def stt(self, audio: bytes) -> str:
        if not audio.startswith(b"RIFF"):
            raise MediaError("it is not a WAV file")
        return "a tone"

    def list_voices(self) -> list[str]:
        return ["low", "high"]

    def _check(self, voice: str) -> None:
        if voice not in ("low", "high"):
            raise InvalidInputError(f"no voice is called {voice!r}", path="voice")


def registering(factory: Any, description: str = "Beeps.") -> Any:
    def register(registry: BackendRegistry) -> None:
        registry.register_voice_backend(backend_id="tests:voice", factory=factory, description=description)

    return register


def failures(factory: Any, **options: Any) -> list[str]:
    checks = [*backend_checks(registering(factory, **options))]
    return [f"{check.what}: {check.message}" for check in checks if check.outcome == "failed"]


def test_backend_that_keeps_the_contract_passes():
    checks = check_backends(registering(Good), inputs=Inputs(text="Hello there"))
    assert {check.outcome for check in checks} == {"ok"}
    assert {check.what for check in checks} >= {
        "has a description",
        "tts returns sound (sync)",
        "tts_stream is left after its first part (async)",
        "stt refuses what is not a recording (sync)",
        "list_voices returns entries with ids (async)",
    }


def test_broken_backend_is_described_line_by_line():
    class Bad(Good):
        def tts(self, text: str, *, voice: str = "low") -> Made:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise KeyError(voice)

        async def tts_stream(self, text: str) -> AsyncIterator[Made]:  # pyright: ignore[reportIncompatibleMethodOverride]
            await asyncio.sleep(0)
            yield Made.of(WAV, "audio/wav")

        def stt(self, audio: bytes) -> str:
            return "always the same"

        def list_voices(self) -> list[Any]:
            return [{"name": "low"}]

    found = failures(Bad, description="")
    assert "has a description: pass description=..." in found
    assert "tts returns sound (sync): tests:voice: tts failed: KeyError: 'low'" in found
    assert "tts refuses an unknown voice (async): tests:voice: tts failed: KeyError: 'no-such-voice-0'" in found
    assert any(line.startswith("tts_stream yields sound (sync): ") and "event loop" in line for line in found)
    assert not any(line.startswith("tts_stream yields sound (async)") for line in found)
    assert "stt refuses what is not a recording (sync): it was accepted without an error or a warning" in found
    assert "list_voices returns entries with ids (sync): an entry has no id: {'name': 'low'}" in found
    with pytest.raises(AssertionError, match="failed  tests:voice: tts returns sound"):
        check_backends(registering(Bad))


def test_backend_that_cannot_run_here_is_skipped():
    class Absent(Good):
        async def tts(self, text: str, *, voice: str = "low") -> Made:
            raise MissingExtraError("the package is not installed")

    checks = check_backends(registering(Absent))
    skipped = {check.what: check.message for check in checks if check.outcome == "skipped"}
    assert skipped["tts returns sound (sync)"] == "tests:voice: the package is not installed"


def test_factory_that_fails_is_one_failure():
    def factory(owner: Any) -> Any:
        raise ZeroDivisionError

    assert failures(factory) == [
        "is made: the backend 'tests:voice' failed: ZeroDivisionError. This is a bug in the plugin."
    ]


def test_other_backends_are_left_out():
    assert [*backend_checks(registering(Good), backends=["another"])] == []


def test_line_of_a_check_names_the_backend():
    assert str(Check("a:b", "tts returns sound", "failed", "no")) == "failed  a:b: tts returns sound: no"


@pytest.mark.parametrize(
    ("package", "reason"),
    [
        ("no-such-package", "is not installed"),
        ("pluggy", "is installed, but has no entry points"),
        ("hooked", "is installed, but has no backends. Its hooks are checked by `abstractcore plugins`."),
        ("Hooked", "python -m abstractcore.testing.plugin hooked"),
        ("", "usage: "),
    ],
)
def test_command_says_why_a_package_has_nothing_to_check(
    package: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    metadata = tmp_path / "hooked-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hooked\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[abstractcore.plugins]\nhooked = hooked\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main([package]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.process
@pytest.mark.parametrize(("arguments", "code"), [(["no-such-package"], 2), ([], 2), (["abstracta2a"], 2)])
def test_command_needs_a_package_with_backends(arguments: list[str], code: int):
    command = [sys.executable, "-m", "abstractcore.testing.plugin", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr
