"""Parts of a recording are heard again by another model than the transcript is of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from abstractcore import MediaError
from abstractcore.ports import MediaContext, ModelStore, Retranscribes
from abstractcore.schema import FrozenDict, VideoPart
from abstractcore_media import AudioHandler, VideoHandler
from abstractcore_media.audio import retranscription
from abstractcore_media.audio.speech_models import SpeechModels
from tests.media.audio.recordings import recording
from tests.media.parts import EXAMPLES, FILES, blob, sound

pytestmark = pytest.mark.weights

MEETING = sound(EXAMPLES / "meeting.wav")


@pytest.fixture(scope="module")
def speech() -> SpeechModels:
    return SpeechModels()


@pytest.fixture(scope="module")
def handler(speech: SpeechModels) -> AudioHandler:
    return AudioHandler(speech)


def context(models: ModelStore, **options: Any) -> MediaContext:
    return MediaContext(models, FrozenDict({f"transcription_{name}": value for name, value in options.items()}))


def test_english_is_heard_by_the_english_model(handler: AudioHandler, models: ModelStore):
    assert isinstance(handler, Retranscribes)
    spans = [(0.0, 4.5), (2.8, 7.0), (100.0, 108.0)]
    heard = handler.retranscribe(MEETING, spans, context(models))
    first, second, beyond = heard.text.split("\n")
    assert heard.model == "whisper-tiny.en"
    assert "Tuesday" in first
    assert "copies" in second
    assert "morning" not in second
    assert beyond == ""
    assert [anchor.seconds for anchor in heard.anchors] == spans
    assert [heard.text[anchor.start : anchor.end] for anchor in heard.anchors] == [first, second, beyond]


def test_transcript_of_another_model_is_heard_by_the_default_model(handler: AudioHandler, models: ModelStore):
    heard = handler.retranscribe(MEETING, [(0.0, 4.5)], context(models, model="whisper-tiny.en", words=True))
    assert heard.model == "whisper-base"
    assert "Tuesday" in heard.text


def test_other_languages_are_heard_by_the_default_model_in_another_way(
    handler: AudioHandler, models: ModelStore, monkeypatch: pytest.MonkeyPatch
):
    """The recording says: "Et c'est la dictée numéro 1."."""
    sizes: list[int] = []

    class Recogniser(retranscription.WhisperRecogniser):
        def __init__(self, load: Any, options: Any, source: str, beam_size: int) -> None:
            sizes.append(beam_size)
            super().__init__(load, options, source, beam_size)

    monkeypatch.setattr(retranscription, "WhisperRecogniser", Recogniser)
    heard = handler.retranscribe(sound(FILES / "french.flac"), [(0.0, 6.0)], context(models))
    assert (heard.model, sizes) == ("whisper-base", [1])
    assert "num" in heard.text.lower()


def test_sound_of_a_video_is_heard(speech: SpeechModels, models: ModelStore):
    part = VideoPart(blob(FILES / "speech.webm", "video/webm"))
    heard = VideoHandler(speech).retranscribe(part, [(0.0, 4.5)], context(models, language="en"))
    assert (heard.model, "Tuesday" in heard.text) == ("whisper-tiny.en", True)


def test_long_spans_are_split_and_no_sample_is_decoded_twice(
    handler: AudioHandler, models: ModelStore, monkeypatch: pytest.MonkeyPatch
):
    """A transcriber that reports no times says of a minute that something is said in it."""
    lengths: list[float] = []
    decoded: list[float] = []

    class Deaf(retranscription.WhisperRecogniser):
        def __call__(self, piece: Any) -> Any:
            from abstractcore.ports import Transcription
            from abstractcore.schema import Transcript, TranscriptSegment

            lengths.append(len(piece.samples) / 16_000)
            return Transcription(Transcript((TranscriptSegment("word"),)))

    class Reader(retranscription.SoundReader):
        def blocks(self) -> Any:
            for block in super().blocks():
                decoded.append(len(block) / 16_000)
                yield block

    monkeypatch.setattr(retranscription, "WhisperRecogniser", Deaf)
    monkeypatch.setattr(retranscription, "SoundReader", Reader)
    spans = [(10.0, 72.0), (70.0, 78.0)]
    part = recording(120, longest_pause=2.0).part
    heard = handler.retranscribe(part, spans, context(models, language="en"))
    long, short = heard.text.split("\n")
    assert (long.split(), short) == (["word"] * (len(lengths) - 1), "word")
    assert max(lengths) <= Deaf.max_seconds
    assert lengths[-1] == pytest.approx(8.0, abs=0.01)
    assert sum(decoded) == pytest.approx(68.0, abs=0.01)


def test_samples_are_those_of_the_span(handler: AudioHandler, models: ModelStore, monkeypatch: pytest.MonkeyPatch):
    heard: list[Any] = []

    class Deaf(retranscription.WhisperRecogniser):
        def __call__(self, piece: Any) -> Any:
            heard.append(piece.samples)
            return super().__call__(piece)

    monkeypatch.setattr(retranscription, "WhisperRecogniser", Deaf)
    whole = np.concatenate(list(retranscription.SoundReader(MEETING, 60).blocks()))
    handler.retranscribe(MEETING, [(1.0, 2.0)], context(models, language="en"))
    assert np.array_equal(heard[0], whole[16_000:32_000])


def test_file_that_cannot_be_decoded_is_an_error(handler: AudioHandler, models: ModelStore):
    with pytest.raises(MediaError):
        handler.retranscribe(sound(FILES / "small.png"), [(0.0, 1.0)], context(models, language="en"))
