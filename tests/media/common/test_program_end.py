"""Programs that end while native code still works for a call that was cancelled: Python 3.11 would abort them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from abstractcore.stores.models import FileModelStore

pytestmark = pytest.mark.process

FILES = Path(__file__).parents[1] / "files"
OCR = """
import sys, threading
from PIL import Image
from abstractcore_media.image.ocr import TextReader

reader, begun = TextReader(), threading.Event()
engine = reader._loaded(1)

def announced(*given, **options):
    begun.set()
    found = engine(*given, **options)
    print("returned", flush=True)
    return found

reader._engine = announced
image = Image.open(sys.argv[1])
reading = dict(threads=1, deadline=None)
threading.Thread(target=reader.read, args=(image, "page"), kwargs=reading, daemon=True).start()
assert begun.wait(60)
"""
WHISPER = """
import sys, threading
from pathlib import Path
import numpy
from abstractcore.stores.models import FileModelStore
from abstractcore_media.audio.options import RecognitionOptions
from abstractcore_media.audio.pauses import SpeechPiece
from abstractcore_media.audio.speech import WhisperRecogniser
from abstractcore_media.audio.speech_models import SpeechModels

whisper, begun = SpeechModels().load("whisper-tiny.en", FileModelStore(Path(sys.argv[1])).path, 1), threading.Event()
encode = whisper.encode

def announced(*given, **options):
    begun.set()
    found = encode(*given, **options)
    print("returned", flush=True)
    return found

whisper.encode = announced
recognise = WhisperRecogniser(lambda: whisper, RecognitionOptions(model="whisper-tiny.en"), "a.wav")
noise = numpy.random.default_rng(0).normal(0, 0.1, 28 * 16_000).astype(numpy.float32)
threading.Thread(target=recognise, args=(SpeechPiece(noise, ((0, len(noise)),)),), daemon=True).start()
assert begun.wait(60)
"""


def test_while_text_is_read() -> None:
    ended = subprocess.run([sys.executable, "-c", OCR, str(FILES / "scanned_page.png")], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "returned\n"), ended.stderr


@pytest.mark.weights
def test_while_speech_is_recognised(models: FileModelStore) -> None:
    models.path("whisper-tiny.en")
    ended = subprocess.run([sys.executable, "-c", WHISPER, str(models.root)], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "returned\n"), ended.stderr
