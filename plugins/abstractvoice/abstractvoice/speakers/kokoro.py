"""`Kokoro`: 28 English voices of one model, each a table of styles by the length of what is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..sound.samples import Samples
from .english import PronouncedWord
from .sessions import LoadSession
from .voices import VoiceRow, families

_STYLES, _WIDTH = 510, 256
_BORDER = 0
"""The symbol before and after what is said."""


class Kokoro:
    """The model, loaded. Usable from several threads."""

    rate = 24_000
    longest = 400
    """Symbols at once; the model knows 510, and is most natural below that."""

    def __init__(self, folder: Path, load: LoadSession) -> None:
        about = families()["kokoro"]
        self._symbols: dict[str, int] = about["symbols"]
        self._written: dict[str, str] = about["written"]
        self._places = {voice["style"]: place for place, voice in enumerate(about["voices"])}
        self._styles = np.memmap(folder / about["styles"], np.float32, "r", shape=(len(self._places), _STYLES, _WIDTH))
        self._session = load(folder / about["file"])

    def symbols(self, said: Sequence[PronouncedWord]) -> list[list[int]]:
        """Returns the symbols of each word or mark."""
        return [[self._symbols[each] for each in self._spelled(word) if each in self._symbols] for word in said]

    def sound(self, symbols: Sequence[int], voice: VoiceRow, speed: float) -> Samples:
        """Returns the sound of symbols."""
        if symbols[0] == self._symbols[" "]:
            symbols = symbols[1:]
        style = self._styles[self._places[voice.style], min(len(symbols), _STYLES - 1)]
        inputs = {
            "input_ids": np.array([[_BORDER, *symbols, _BORDER]], dtype=np.int64),
            "style": style[None],
            "speed": np.array([speed], dtype=np.float32),
        }
        return self._session.run(inputs)

    def _spelled(self, said: PronouncedWord) -> str:
        if said.mark:
            return said.mark
        text = "".join(said.phonemes)
        for written, symbol in self._written.items():
            text = text.replace(written, symbol)
        return f" {text}"
