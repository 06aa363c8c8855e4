"""MusicGen on this machine: the real loading code of transformers, with a tiny random model made here.

It needs torch, of several gigabytes, which the project does not install: `pip install torch transformers` runs the
tests that need it.
"""

from __future__ import annotations

import io
import sys
import wave
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    CallProgress,
    CapabilityUnavailableError,
    InvalidInputError,
    MissingExtraError,
    ModelStoreError,
    RequestTimeoutError,
    UnsupportedContentError,
    UnsupportedOptionError,
    create_llm,
)
from abstractcore.testing import CallStyle
from tests.backend_doubles import call

needs_torch = pytest.mark.skipif(
    find_spec("transformers") is None or find_spec("torch") is None, reason="transformers and torch are not installed"
)
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def local(source: object, **options: Any) -> LLM:
    """An LLM with the backend of MusicGen."""
    options |= {"music_backend": "musicgen", "music_model": None if source is None else str(source)}
    return create_llm("scripted", replies=[], **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model."""
    from tests.plugins.music.tiny_musicgen import musicgen

    return musicgen(tmp_path_factory.mktemp("musicgen"))


def samples(part: Any) -> tuple[int, int, bytes]:
    """Channels, length in samples and content of a WAV file."""
    with wave.open(io.BytesIO(part.blob.read())) as file:
        return file.getnchannels(), file.getnframes(), file.readframes(file.getnframes())


@needs_torch
def test_music_has_its_length_and_is_the_same_with_a_seed(call_style: CallStyle, model: Path):
    llm = local(model)
    seen: list[CallProgress] = []
    first = call(call_style, llm.music, "t2m", "a waltz", seconds=1.5, seed=3, on_progress=seen.append)
    assert samples(first.part)[:2] == (2, 12_000)
    assert [each.done for each in seen] == [*range(1, 80)]
    assert {(each.total, each.what) for each in seen} == {(79, "steps")}
    assert samples(llm.music.t2m("a waltz", seconds=1.5, seed=3).part) == samples(first.part)
    assert samples(llm.music.t2m("a waltz", seconds=1.5, seed=4).part) != samples(first.part)
    assert (first.cost, first.model, first.warnings) == (0, f"transformers/{model}", ())
    assert first.metadata["seed"] == 3


@needs_torch
def test_options_that_it_does_not_take_are_warnings(model: Path):
    llm = local(model)
    options: dict[str, Any] = {"guidance": 1.0, "extra": {"temperature": 0.5}}
    result = llm.music.t2m("a waltz", seconds=0.5, lyrics="Rain", tempo=90, also=["midi"], format="flac", **options)
    assert result.part.blob.read()[:4] == b"fLaC"
    assert sorted((each.code, each.path) for each in result.warnings) == [
        ("changed_option", "tempo"), ("unsupported_option", "also"), ("unsupported_option", "lyrics"),
    ]  # fmt: skip
    with pytest.raises(UnsupportedOptionError, match="does not take 'lyrics'"):
        llm.music.t2m("a waltz", lyrics="Rain", strict=True)


@needs_torch
def test_time_limit_ends_the_steps(model: Path):
    with pytest.raises(RequestTimeoutError):
        local(model).music.t2m("a waltz", seconds=30, timeout=0.3)


@needs_torch
@pytest.mark.parametrize("problem", ["nothing", "config", "kind", "weights", "dtype"])
def test_model_that_cannot_be_loaded_is_a_typed_error(model: Path, tmp_path: Path, problem: str):
    folder = tmp_path / "broken"
    options: dict[str, Any] = {}
    if problem != "nothing":
        folder.mkdir()
        for file in model.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
    if problem == "config":
        (folder / "config.json").write_text("{")
    if problem == "kind":
        (folder / "config.json").write_text('{"model_type": "bert"}')
    if problem == "weights":
        (folder / "model.safetensors").write_bytes(bytes(100))
    if problem == "dtype":
        options["music_dtype"] = "float7"
    source = folder if problem != "nothing" else tmp_path / "nobody" / "nothing" / "here"
    with pytest.raises(UnsupportedContentError if problem == "kind" else ModelStoreError):
        local(source, **options).music.t2m("a waltz", seconds=0.5)


def test_missing_libraries_are_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"MusicGen needs the package torch\. Install with: pip install torch"):
        local(tmp_path).music.t2m("a waltz")


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "empty prompt": ({"prompt": " "}, InvalidInputError, "prompt"),
    "score": ({"format": "midi"}, UnsupportedContentError, "music_backend='score'"),
    "length": ({"seconds": -1}, InvalidInputError, "seconds"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_a_model_is_loaded(tmp_path: Path, case: str):
    options, kind, message = BAD[case]
    given: dict[str, Any] = {"prompt": "a waltz", **options}
    with pytest.raises(kind, match=message):
        local(tmp_path).music.t2m(**given)


def test_model_must_be_named():
    with pytest.raises(CapabilityUnavailableError, match="music_model='folder or name on the hub'"):
        local(None).music.t2m("a waltz")
