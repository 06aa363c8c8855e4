"""Speech: what `llm.voice` adds to calling the voice itself, and the processor time until the first sound.

.venv/bin/python benchmarks/voice.py [voice]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from abstractcore import Services, create_llm
from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore
from abstractvoice.sound.encoding import Encoder
from abstractvoice.sound.formats import format_named
from abstractvoice.speakers.english import Lexicon, pronounced
from abstractvoice.speakers.loading import speaker
from abstractvoice.speakers.voices import voice_named
from abstractvoice.speakers.weights import packaged_models
from abstractvoice.text import speakable

SENTENCE = "The 9:05 train from Oslo to Bergen leaves on March 5, 2024 and costs $42.50."
ROUNDS = 15


def seconds(work: Callable[[], object]) -> float:
    """The processor time of one run, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Prints the figures."""
    row = voice_named(sys.argv[1] if len(sys.argv) > 1 else "joe")
    store = FileModelStore(packaged=(*PACKAGED_MODELS, *packaged_models()))
    services = Services(models=store)
    options: dict[str, Any] = {"voice_default": row.name, "voice_variation": 0}
    llm = create_llm("scripted", replies=[], services=services, **options)
    voice = speaker(row, store.path(row.model), services.spare_cores, 0)
    (utterance,) = speakable(SENTENCE)
    words, _ = pronounced(utterance.text, Lexicon.load())
    symbols = [symbol for word in voice.model.symbols(words) for symbol in word]

    def directly() -> None:
        encoder = Encoder(format_named("wav"), voice.rate, whole=True)
        encoder.feed(np.asarray(voice.model.sound(symbols, row, 1.0)))
        encoder.finish()

    def first_sound() -> None:
        with llm.voice.tts_stream(SENTENCE) as stream:
            next(stream)

    works: dict[str, Callable[[], object]] = {
        "the voice itself": directly,
        "llm.voice.tts": lambda: llm.voice.tts(SENTENCE),
        "first sound of llm.voice.tts_stream": first_sound,
    }
    for work in works.values():
        work()
    rounds = [{name: seconds(work) for name, work in works.items()} for _ in range(ROUNDS)]
    times = {name: [each[name] for each in rounds] for name in works}
    for name, found in times.items():
        print(f"{name}: {statistics.median(found) * 1000:.0f} ms of processor time, best {min(found) * 1000:.0f} ms")
    services.close()


if __name__ == "__main__":
    main()
