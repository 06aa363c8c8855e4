"""Sound that was made, read back: its samples, and what Whisper hears in it."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any, cast

import av
import numpy as np


def samples(data: bytes) -> tuple[np.ndarray[Any, Any], int]:
    """The samples of a file, and how many there are in a second."""
    container: Any = av.open(io.BytesIO(data))
    frames = list(container.decode(audio=0))
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames]), frames[0].sample_rate


def seconds(data: bytes) -> float:
    """The length of a file."""
    found, rate = samples(data)
    return len(found) / rate


def heard(data: bytes, whisper: str) -> list[str]:
    """The words that Whisper hears in a file, with a model in the format of CTranslate2. It writes numbers as words, so
    that they can be compared: signs and digits are taken away from it.
    """
    model, signs = _listener(whisper)
    segments, _ = model.transcribe(
        io.BytesIO(data),
        language="en",
        beam_size=5,
        condition_on_previous_text=False,
        suppress_tokens=[-1, *signs],
    )
    return words("".join(segment.text for segment in segments))


@cache
def _listener(whisper: str) -> tuple[Any, list[int]]:
    """A model, and the tokens of signs and digits in its vocabulary."""
    import faster_whisper  # pyright: ignore[reportMissingTypeStubs]

    model = cast(Any, faster_whisper).WhisperModel(whisper, device="cpu", compute_type="int8", cpu_threads=1)
    vocabulary: dict[str, int] = model.hf_tokenizer.get_vocab()
    signs = [token for text, token in vocabulary.items() if re.search(r"\d|[%$+\-\u00a3]", text) and "<|" not in text]
    return model, signs


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z]+", re.sub(r"['\u2019]", "", text.lower()))


def word_errors(expected: list[str], found: list[str]) -> int:
    """How many words were replaced, added or lost."""
    row = list(range(len(found) + 1))
    for count, word in enumerate(expected, start=1):
        before, row[0] = row[0], count
        for place, other in enumerate(found, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != other))
    return row[-1]
