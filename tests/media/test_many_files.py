"""A thousand files in one call, files that change or cannot be read, and the frames of a video in a small context."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abstractcore import LLM, File, MediaError, Services, UnsupportedContentError, create_llm
from abstractcore.ports import CallContext, Conversion
from abstractcore.schema import Billing, GenerateResponse, ImagePart, TextPart, Usage
from abstractcore.schema.token_counts import text_tokens
from abstractcore.testing import CallStyle
from tests.media.parts import EXAMPLES, FILES

pytestmark = pytest.mark.exhaustive

MANY = 1000
MEMORY_BYTES = 180 << 20
"""More than the process has after one small file. All pictures of the test, decoded at once, have 290 MB."""


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={})
    yield services
    services.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Notes, tables, documents and pictures in turn, all of them different."""
    folder = tmp_path_factory.mktemp("many")
    made: list[Path] = []
    for number in range(MANY):
        kind = number % 10
        if kind < 4:
            path, data = folder / f"{number}.txt", f"note {number}".encode()
        elif kind < 7:
            path, data = folder / f"{number}.csv", f"number,name\n{number},table {number}".encode()
        elif kind < 9:
            path, data = folder / f"{number}.png", picture(number)
        else:
            path, data = folder / f"{number}.docx", docx(f"document {number}")
        path.write_bytes(data)
        made.append(path)
    return made


def docx(text: str) -> bytes:
    """A document of one paragraph."""
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    body = f'<w:document xmlns:w="{namespace}"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("word/document.xml", body)
    return out.getvalue()


def picture(number: int, size: tuple[int, int] = (8, 8)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (number % 256, number // 256, 90)).save(out, "png", compress_level=1)
    return out.getvalue()


def model(services: Services, facts: Any = None, **options: Any) -> LLM:
    return create_llm("scripted", replies=["ok"] * 9, accepts=["image"], services=services, facts=facts, **options)


def test_thousand_files_are_sent_in_order(call_style: CallStyle, services: Services, files: list[Path]):
    llm = model(services)
    response = call_style.generate(llm, "What is in them?", media=files)
    assert [each.source for each in response.media] == [each.name for each in files]
    assert {each.route for each in response.media} == {"inline", "native", "fallback"}
    assert all(each.sent is not None for each in response.media)
    shown: list[str] = []
    for part in llm.calls[0].messages[-1].parts:
        if isinstance(part, TextPart):
            shown += [line for line in part.text.replace("|", "\n").splitlines() if line.strip()[:1] in ("n", "t", "d")]
        elif isinstance(part, ImagePart):
            red, green, _ = Image.open(io.BytesIO(part.blob.read())).convert("RGB").getpixel((0, 0))  # type: ignore[misc]
            shown.append(f"picture {red + 256 * green}")
    numbers = [int(each.split()[1]) for each in shown if each.split()[0] in ("note", "table", "document", "picture")]
    assert numbers == [*range(MANY)]


def test_thousand_files_in_a_plan_are_not_read_twice(services: Services, files: list[Path]):
    llm = model(
        services, facts={"media_limits": {"images": 300}, "media_tokens": {"image": {"by": "file", "tokens": 9}}}
    )
    plan = llm.plan("What is in them?", media=files)
    assert [each.source for each in plan] == [each.name for each in files]
    assert not llm.calls
    sent = llm.generate("What is in them?", media=files).media
    assert [(each.route, each.fallback) for each in sent] == [(each.route, each.fallback) for each in plan]


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"images": 150}, "at most 150 images"), ({"request_bytes": 200_000}, "too large together")],
)
def test_thousand_files_above_a_limit_are_refused_before_anything_is_sent(
    call_style: CallStyle, services: Services, files: list[Path], limits: Any, message: str
):
    llm = model(services, facts={"media_limits": limits})
    with pytest.raises(UnsupportedContentError, match=message):
        call_style.generate(llm, media=files, media_policy={"image": "native", "text": "native"})
    assert not llm.calls


def test_thousand_files_keep_the_limits_of_a_model(services: Services, files: list[Path], monkeypatch: Any):
    """Pictures above the number are sent as text: the words that are read in them, here without reading."""
    from abstractcore_media import ImageHandler

    def convert(self: Any, part: Any, context: Any) -> Conversion:
        return Conversion("red", "image", fallback="ocr")

    monkeypatch.setattr(ImageHandler, "convert", convert)
    llm = model(services, facts={"media_limits": {"images": 150, "image_pixels": 4, "request_bytes": 2_000_000}})
    media = llm.generate("What is in them?", media=files).media
    images = [part for part in llm.calls[0].messages[-1].parts if isinstance(part, ImagePart)]
    assert len(images) == 150
    assert {Image.open(io.BytesIO(each.blob.read())).size for each in images} == {(4, 4)}
    routes = [each.route for each in media if each.kind == "image"]
    assert routes == ["fallback"] * 50 + ["native"] * 150
    assert [each.source for each in media] == [each.name for each in files]


@pytest.mark.process
def test_memory_is_bounded_whatever_the_number_of_pictures(tmp_path: Path):
    """In a process of its own: 200 large pictures, made smaller, among 1,000 files."""
    code = f"""
import resource, sys
from pathlib import Path
from abstractcore import Services, create_llm
from tests.media.test_many_files import picture

folder = Path(sys.argv[1])
files = []
for number in range({MANY}):
    large = number % 5 == 0
    path = folder / f"{{number}}.{{'png' if large else 'txt'}}"
    path.write_bytes(picture(number, (700, 700)) if large else b"note %d" % number)
    files.append(path)
services = Services(environment={{}})
limits = {{"media_limits": {{"image_pixels": 100}}}}
llm = create_llm("scripted", replies=["ok"] * 2, accepts=["image"], services=services, facts=limits)
llm.generate("?", media=files[:1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
media = llm.generate("?", media=files).media
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert [each.source for each in media] == [each.name for each in files]
print(1024 * (after - before))
services.close()
"""
    root = Path(__file__).parents[2]
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
        cwd=root,
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < MEMORY_BYTES


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "empty"])
def test_file_that_cannot_be_opened_among_a_thousand_is_named(
    call_style: CallStyle, services: Services, files: list[Path], tmp_path: Path, kind: str
):
    bad = tmp_path / "bad.txt"
    if kind == "folder":
        bad.mkdir()
    elif kind == "pipe":
        os.mkfifo(bad)
    elif kind == "empty":
        bad.touch()
    llm = model(services)
    with pytest.raises(MediaError, match=r"bad\.txt"):
        call_style.generate(llm, media=[*files[:700], bad, *files[700:]])
    assert not llm.calls


def test_file_that_cannot_be_read_among_a_thousand_is_named(
    call_style: CallStyle, services: Services, files: list[Path], tmp_path: Path
):
    bad = tmp_path / "bad.docx"
    bad.write_bytes((FILES / "report.docx").read_bytes()[:3000])
    llm = model(services)
    with pytest.raises(MediaError, match=r"bad\.docx is a corrupt Word document"):
        call_style.generate(llm, media=[*files[:700], bad, *files[700:]])
    assert not llm.calls


# Files that change

CHANGING: list[tuple[str, str, Any]] = [
    ("a.txt", "inline", b"the first note"),
    ("a.png", "native", picture(1)),
    ("a.docx", "fallback", docx("one")),
    ("a.wav", "fallback", (EXAMPLES / "meeting.wav").read_bytes()),
    ("a.mp4", "fallback", (FILES / "clip.mp4").read_bytes()),
]


@pytest.mark.process
@pytest.mark.parametrize(("name", "route", "content"), CHANGING, ids=[name for name, _, _ in CHANGING])
def test_file_that_changes_between_the_plan_and_the_call_is_read_again(
    services: Services, tmp_path: Path, name: str, route: str, content: bytes
):
    path = tmp_path / name
    path.write_bytes(content)
    llm = model(services)
    (planned,) = llm.plan("?", media=[path])
    call = llm.build("?", media=[path])
    assert planned.route == route
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(MediaError, match=rf"{name} cannot be read: .* has changed since it was added to the call"):
        llm.run(call)
    assert not llm.calls
    (planned_again,) = llm.plan("?", media=[path])
    assert planned_again.route == route


@pytest.mark.parametrize(("name", "route", "content"), CHANGING[:3], ids=[name for name, _, _ in CHANGING[:3]])
@pytest.mark.parametrize("change", ["another", "shorter", "deleted"])
def test_file_that_changes_before_its_bytes_are_read_is_an_error(
    call_style: CallStyle, services: Services, tmp_path: Path, name: str, route: str, content: bytes, change: str
):
    """It changes after the decision, before it is read: nothing of it is sent."""
    path = tmp_path / name
    path.write_bytes(content)

    class Changes:
        async def around_call(self, context: CallContext, next: Callable[..., Any]) -> Any:
            if change == "another":
                path.write_bytes(content + b"!")
            elif change == "shorter":
                path.write_bytes(content[: len(content) // 2])
            else:
                path.unlink()
            return await next(context)

    llm = model(services, middleware=[Changes()])
    with pytest.raises(MediaError, match=name):
        call_style.generate(llm, media=[path])
    assert not llm.calls


@pytest.mark.process
@pytest.mark.parametrize("is_deleted", [False, True], ids=["changed", "deleted"])
def test_native_file_that_changes_after_its_check_is_an_error(
    call_style: CallStyle, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_deleted: bool
):
    """Between the check and the encoding of the request."""
    from abstractcore_media import PdfHandler

    path = tmp_path / "a.pdf"
    content = (FILES / "two_pages.pdf").read_bytes()
    path.write_bytes(content)

    def check(self: Any, part: Any) -> None:
        if is_deleted:
            path.unlink()
        else:
            path.write_bytes(content + b"\n")

    monkeypatch.setattr(PdfHandler, "check", check)
    options: dict[str, Any] = {"api_key": "key", "base_url": "http://127.0.0.1:9", "max_retries": 0}
    llm = create_llm("anthropic/claude-opus-5-5", services=services, **options)
    with pytest.raises(MediaError, match=r"a\.pdf (has changed|cannot be read)"):
        call_style.generate(llm, "?", media=[path])


# The frames of a video


@pytest.fixture(scope="module")
def of_videos() -> Iterator[Services]:
    """Services whose processes decode one video after another."""
    services = Services(environment={})
    yield services
    services.close()


@pytest.mark.process
@pytest.mark.parametrize(("left", "frames"), [(20_000, 16), (5_500, 4), (1_500, 1)])
def test_frames_of_a_video_fit_into_what_the_context_leaves(
    call_style: CallStyle, of_videos: Services, left: int, frames: int
):
    text = "word " * 8_000
    facts = {"context_tokens": text_tokens(text) + 10 + left, "media_tokens": {"image": {"by": "file", "tokens": 1000}}}
    llm = model(of_videos, facts=facts)
    video = File(FILES / "scenes.mp4", fps=4)
    response = call_style.generate(llm, text, media=[video], media_policy={"video": "frames"})
    images = [part for part in llm.calls[0].messages[-1].parts if isinstance(part, ImagePart)]
    (decision,) = response.media
    assert len(images) == frames
    assert (decision.tokens or 0) <= left
    lost = next(each for each in decision.lost if each.what == "frames")
    assert (lost.count, lost.total) == (475 - frames, 475)
    assert frames == 16 or "the context leaves" in decision.reason


@pytest.mark.process
def test_cost_of_a_conversion_that_is_made_again_is_kept(
    call_style: CallStyle, services: Services, monkeypatch: pytest.MonkeyPatch
):
    """A handler that asks a model converts a file twice: with all frames, and with those for which there is room."""
    from abstractcore_media import VideoHandler

    def convert(self: Any, part: Any, context: Any) -> Conversion:
        count = min(16, context.max_images or 16)
        content = [ImagePart(part.blob.from_bytes(picture(number), "image/jpeg")) for number in range(count)]
        billing = Billing(cost=Decimal(1))
        return Conversion(content, "frames", Usage(10, 1, billing=billing), has_fewer_images=count < 16)

    monkeypatch.setattr(VideoHandler, "convert", convert)
    facts = {"context_tokens": 9_000, "media_tokens": {"image": {"by": "file", "tokens": 1000}}}
    response: GenerateResponse[Any] = call_style.generate(
        model(services, facts=facts), media=[EXAMPLES / "bunny.mp4"], media_policy={"video": "frames"}
    )
    assert response.media[0].usage == Usage(20, 2, billing=Billing(cost=Decimal(2)))
    assert response.cost == 2
