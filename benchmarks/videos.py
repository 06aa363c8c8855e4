"""Frames of a video of ten minutes, relative to PyAV alone, and the memory that a video of 1 GB takes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from rounds import Row, Setup, best, cpu_seconds

from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.ports import MediaContext
from abstractcore.schema import Blob, MediaControls, VideoPart
from abstractcore_media import VideoHandler
from abstractcore_media.video.decoding import DecodedVideo
from abstractcore_media.video.reader import Frame, VideoReader
from abstractcore_media.video.sampling import even_times

_FRAMES = 8
_SECONDS = 600
_RATE, _CLIP_SECONDS = 25, 10
_RATIO = 1.3
_GIGABYTE = 10**9
_MOST_MEMORY = 300
_CONVERT = """
import json, re, sys
from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.ports import MediaContext
from abstractcore.schema import Blob, VideoPart
from abstractcore_media import VideoHandler
part = VideoPart(Blob.from_file(sys.argv[1], "video/mp4"))
pool = ProcessPool()
outputs = frozenset({"text", "image/jpeg"})
VideoHandler().convert(part, MediaContext(None, accepted_outputs=outputs, isolation=pool))
peaks = []
for process in ("self", *pool.process_ids):
    with open(f"/proc/{process}/status") as file:
        peaks.append(int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) / 1024)
print(json.dumps(sum(peaks)))
"""


def videos(setup: Setup) -> list[Row]:
    """Eight even frames, a pass for scenes, and the memory of a conversion."""
    with _video(lambda seconds, _: seconds >= _SECONDS) as path:
        blob = Blob.from_file(path, "video/mp4")
        reader = VideoReader(
            VideoPart(blob),
            max_side=768,
            max_pixels=40_000_000,
            threads=1,
            check_stop=lambda: None,
        )
        times = even_times(0, _SECONDS, _FRAMES)
        pool = ProcessPool()
        batches = {
            "process": _cpu_with_children(lambda: _decoded(blob, pool), pool),
            "frames": cpu_seconds(lambda: reader.frames_at(times, _SECONDS / _FRAMES / 4), 1),
            "seek": cpu_seconds(lambda: _seek_and_decode(path, times), 1),
            "scenes": cpu_seconds(lambda: reader.survey(0, _SECONDS), 1),
            "keyframes": cpu_seconds(lambda: _keyframes(path), 1),
        }
        found = best(batches, min(setup.rounds, 5))
        pool.close()
    rows = [
        Row("8 even frames of 10 minutes / seek and decode", found["frames"], found["seek"], goal=_RATIO),
        Row("the same in a process of its own, reused", found["process"], found["seek"], goal=_RATIO),
        Row("scenes / a pass over keyframes", found["scenes"], found["keyframes"], goal=_RATIO),
    ]
    if not setup.quick:
        with _video(lambda _, size: size > _GIGABYTE) as path:
            done = subprocess.run([sys.executable, "-c", _CONVERT, str(path)], check=True, stdout=subprocess.PIPE)
            peak = json.loads(done.stdout)
            rows.append(Row("megabytes for a video of 1 GB", peak, goal=_MOST_MEMORY, is_count=True))
    return rows


def _decoded(blob: Blob, pool: ProcessPool) -> list[Frame]:
    """Header and frames, as a conversion decodes them."""
    part = VideoPart(blob, controls=MediaControls(fps=_FRAMES / _SECONDS))
    context = MediaContext(cast(Any, None), isolation=pool)
    with closing(DecodedVideo(part, context, VideoHandler(), _FRAMES)) as video:
        return [*video.choice().frames]


def _cpu_with_children(function: Callable[[], object], pool: ProcessPool) -> Callable[[], float]:
    """Returns a batch: the CPU time of this process and those of a pool."""

    def seconds() -> float:
        files = (file for each in pool.process_ids for file in Path(f"/proc/{each}/task").glob("*/schedstat"))
        return time.process_time() + sum(int(file.read_text().split()[0]) for file in files) / 1e9

    def batch() -> float:
        start = seconds()
        function()
        return seconds() - start

    return batch


def _seek_and_decode(path: Path, times: list[float]) -> list[Any]:
    with av.open(str(path)) as container:
        stream = _single_threaded(container)
        found: list[Any] = []
        for time in times:
            container.seek(int(time / stream.time_base), stream=stream)
            found.append(next(container.decode(stream)).to_ndarray(format="rgb24"))
    return found


def _keyframes(path: Path) -> int:
    with av.open(str(path)) as container:
        stream = _single_threaded(container)
        stream.codec_context.skip_frame = "NONKEY"
        return sum(1 for _ in container.decode(stream))


def _single_threaded(container: Any) -> Any:
    stream = container.streams.video[0]
    stream.codec_context.thread_count = 1
    return stream


@contextmanager
def _video(is_enough: Any) -> Iterator[Path]:
    """Yields a video in 1080p, ten seconds of moving noise that are repeated until `is_enough(seconds, bytes)`."""
    with tempfile.TemporaryDirectory() as folder:
        clip, path = Path(folder) / "clip.mp4", Path(folder) / "video.mp4"
        _encode(clip)
        seconds = size = 0
        with av.open(str(path), "w") as target:
            stream: Any = None
            while not is_enough(seconds, size):
                with av.open(str(clip)) as source:
                    given = source.streams.video[0]
                    stream = stream or target.add_stream_from_template(given)
                    later = int(seconds / given.time_base)
                    for packet in source.demux(given):
                        if packet.dts is not None:
                            packet.pts, packet.dts = packet.pts + later, packet.dts + later
                            packet.stream = stream
                            size += packet.size
                            target.mux(packet)
                seconds += _CLIP_SECONDS
        yield path


def _encode(path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (135, 480, 3), np.uint8)
    picture = np.repeat(np.repeat(noise, 8, axis=0), 8, axis=1)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=_RATE, options={"preset": "ultrafast", "g": "50", "bf": "0"})
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 1920, 1080, "yuv420p", 12_000_000
        for number in range(_RATE * _CLIP_SECONDS):
            frame = np.ascontiguousarray(picture[:, number * 4 : number * 4 + 1920])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
