"""Files in calls: the same file again, and 200 files at once."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from images import photo
from pydantic_core import to_json
from rounds import Row, Setup, best

from abstractcore.ports import Answer, Attempt, AttemptNext

_EXAMPLES = Path(__file__).parents[1] / "examples" / "media"
_DOCUMENTS = Path(__file__).parents[1] / "tests" / "media" / "files" / "documents"
_AGAIN = 5e-3
_LARGE = "photo of 12 megapixels, itself, above the floor"
_MANY, _FEW = 200, 20
_MOST_EACH = 20
"""Megabytes for one file more: its bytes in the request, several times, but not the 36 of its pixels."""
_MOST_IDLE = 1.3
_BUSY = "import time; end = time.monotonic() + 2\nwhile time.monotonic() < end: sum(range(9999))"
_QUIET_SECONDS = 3
_MODEL = """
[[models]]
provider = "openai-compatible"
model = "sees"
accepts = ["image"]
media_limits = {image_pixels = 1568}
"""
_MANY_FILES = """
import json, re, resource, sys, time
from abstractcore import create_llm
from abstractcore.client.services import default_services

def peak(process):
    with open(f"/proc/{process}/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) / 1024

class AtRequest:  # what the server needs does not count
    async def around_attempt(self, attempt, next):
        self.times = time.process_time(), time.perf_counter()
        return await next(attempt)

clock = AtRequest()
llm = create_llm("openai-compatible", model="sees", base_url=sys.argv[1], api_key="key", middleware=[clock])
before, began = time.process_time(), time.perf_counter()
response = llm.generate("q", media=sys.argv[2:])
assert len(response.media) == len(sys.argv[2:])
decoders = [peak(each) for each in default_services().isolation.process_ids]
default_services().close()
children = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = clock.times[0] - before + children.ru_utime + children.ru_stime
print(json.dumps([cpu, clock.times[1] - began, peak("self"), sum(decoders)]))
"""


def again(setup: Setup) -> list[Row]:
    """A call with a file that was in a call before, as the model gets it: itself, as text, as frames.

    From the call to the request, encoded. What is above the floor counts: reading the bytes that are sent, and writing
    them as base64 and JSON.
    """
    from abstractcore import create_llm

    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "photo.jpg"
        large.write_bytes(photo())
        time.sleep(_QUIET_SECONDS)  # the hash of a file that has just changed is not kept
        cases: dict[str, tuple[Path, list[str]]] = {
            "image, itself": (_EXAMPLES / "receipt.jpg", ["image"]),
            _LARGE: (large, ["image"]),
            "image, as text": (_EXAMPLES / "receipt.jpg", []),
            "PDF, as text": (_DOCUMENTS / "harvest.pdf", []),
            "recording, as text": (_EXAMPLES / "meeting.wav", []),
            "video, as frames": (_EXAMPLES / "bunny.mp4", ["image"]),
        }
        batches: dict[str, Callable[[], float]] = {}
        for name, (path, accepts) in cases.items():
            clock = _AtRequest()
            llm = create_llm(
                "openai-compatible",
                model="files",
                base_url=setup.url,
                api_key="key",
                facts={"accepts": accepts},
                middleware=[clock],
                transcription_model="whisper-tiny.en",
            )
            batches[name] = clock.seconds(lambda llm=llm, path=path: llm.generate("q", media=[path]))
        batches["floor"] = _seconds(lambda: to_json({"url": b64encode(large.read_bytes()).decode()}))
        found = best(batches, 2 * setup.rounds)
    floor = found.pop("floor")
    whole = found[_LARGE]
    found[_LARGE] = whole - floor
    return [
        *(Row(f"the same file again: {name}", seconds, goal=_AGAIN) for name, seconds in found.items()),
        Row("the same photo again / reading, base64 and JSON of its bytes", whole, floor),
    ]


class _AtRequest:
    """Notes when a request is encoded."""

    def __init__(self) -> None:
        self.time = 0.0

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Sends the request."""
        self.time = time.perf_counter()
        return await next(attempt)

    def seconds(self, function: Callable[[], object]) -> Callable[[], float]:
        """Returns a batch: the seconds from a call to its request."""

        def batch() -> float:
            began = time.perf_counter()
            function()
            return self.time - began

        return batch


def many(setup: Setup) -> list[Row]:
    """200 photos of 12 megapixels, and 200 documents, in one call: memory, and how much of the cores is not used."""
    count = _FEW * 2 if setup.quick else _MANY
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "models.toml"
        model.write_text(_MODEL)
        for name, data, suffix in (("photos", photo(orientation=6), ".jpg"), ("RTF files", _rtf(), ".rtf")):
            paths: list[str] = []
            for number in range(count):
                path = Path(folder) / f"{number}{suffix}"
                path.write_bytes(data + b" " * number)  # no two are the same
                paths.append(str(path))
            few = _measured(setup.url, model, paths[:_FEW])
            free = _free_cores()
            cpu, wall, own, decoders = _measured(setup.url, model, paths)
            free = (free + _free_cores()) / 2
            each = (own - few[2]) / (count - _FEW)
            rows += [
                Row(f"{count} {name} at once: megabytes", own, is_count=True),
                Row(f"{count} {name} at once: megabytes for each above {_FEW}", each, goal=_MOST_EACH, is_count=True),
                Row(f"{count} {name} at once: megabytes of decoders", decoders, is_count=True),
                Row(f"{count} {name} at once: seconds", wall),
                Row(f"{count} {name} at once: cores of busy loops / its own", free, cpu / wall, goal=_MOST_IDLE),
            ]
    return rows


def _seconds(function: Callable[[], object]) -> Callable[[], float]:
    def batch() -> float:
        began = time.perf_counter()
        function()
        return time.perf_counter() - began

    return batch


def _measured(url: str, model: Path, paths: list[str]) -> tuple[float, float, float, float]:
    """Returns seconds of processor time, seconds, megabytes of the program, and megabytes of its decoders."""
    command, environment = [sys.executable, "-c", _MANY_FILES, url, *paths], {"ABSTRACTCORE_MODELS": str(model)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, **environment})
    cpu, wall, own, decoders = json.loads(done.stdout)
    return cpu, wall, own, decoders


def _free_cores() -> float:
    """Returns how many cores busy loops get, one for each core, beside what else runs on the machine."""
    count = len(os.sched_getaffinity(0))
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    loops = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    for loop in loops:
        loop.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) / (time.perf_counter() - began)


def _rtf() -> bytes:
    paragraphs = b"".join(b"\\par Paragraph %d with {\\b bold} words and some more." % n for n in range(3000))
    return b"{\\rtf1\\ansi " + paragraphs + b"}"
