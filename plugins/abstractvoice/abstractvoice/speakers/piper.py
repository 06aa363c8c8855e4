"""`Piper`: voices in the format of Piper, a model and a file about it for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..sound.samples import Samples
from .english import PronouncedWord
from .sessions import LoadSession
from .voices import VoiceRow, families


class Piper:
    """One voice, loaded. Usable from several threads. Without `variation` a text has the same sound each time."""

    longest = 400
    """Symbols at once: more than in any sentence that sounds natural."""

    def __init__(self, folder: Path, load: LoadSession, variation: float) -> None:
        family = families()["piper"]
        about = json.loads((folder / family["config"]).read_bytes())
        self.rate = int(about["audio"]["sample_rate"])
        self._ids: dict[str, int] = {symbol: ids[0] for symbol, ids in about["phoneme_id_map"].items()}
        inference: dict[str, float] = about["inference"]
        self._length = inference["length_scale"]
        self._noise = variation * inference["noise_scale"], variation * inference["noise_w"]
        self._session = load(folder / family["file"])

    def symbols(self, said: Sequence[PronouncedWord]) -> list[list[int]]:
        """Returns the symbols of each word or mark."""
        return [[self._ids[each] for each in _spelled(word) if each in self._ids] for word in said]

    def sound(self, symbols: Sequence[int], voice: VoiceRow, speed: float) -> Samples:
        """Returns the sound of symbols."""
        blank = self._ids["_"]
        if symbols[0] == self._ids[" "]:
            symbols = symbols[1:]
        ids = [self._ids["^"], blank, *(each for symbol in symbols for each in (symbol, blank)), self._ids["$"]]
        scales = [self._noise[0], self._length / speed, self._noise[1]]
        inputs = {
            "input": np.array([ids], dtype=np.int64),
            "input_lengths": np.array([len(ids)], dtype=np.int64),
            "scales": np.array(scales, dtype=np.float32),
        }
        return self._session.run(inputs)


def _spelled(said: PronouncedWord) -> str:
    return said.mark.replace("\u2026", ".") if said.mark else f" {''.join(said.phonemes)}"
