"""One file as `media`, without a list: every method that takes files takes it, and sends what a list of one sends."""

from __future__ import annotations

import asyncio
import base64
import collections
import inspect
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import PIL.Image
import pytest

import abstractcore
from abstractcore import Blob, DocumentPart, File, ImagePart, InvalidInputError, ModelCall, Session, create_llm


def drawn() -> bytes:
    """A PNG."""
    file = io.BytesIO()
    PIL.Image.new("RGB", (8, 8)).save(file, "PNG")
    return file.getvalue()


PAGE = drawn()
WRITTEN = ImagePart(Blob.from_bytes(PAGE, "image/png"))
PIXELS = numpy.zeros((2, 2, 3), dtype=numpy.uint8)


class Hit:
    """An object that is sent as a file."""

    def media_part(self) -> ImagePart:
        return WRITTEN


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.png"
    path.write_bytes(PAGE)
    return path


FILES: dict[str, Callable[[Path], Any]] = {
    "text": str,
    "path": lambda page: page,
    "bytes": lambda page: PAGE,
    "bytearray": lambda page: bytearray(PAGE),
    "memoryview": lambda page: memoryview(PAGE),
    "data URL": lambda page: f"data:image/png;base64,{base64.b64encode(PAGE).decode()}",
    "open file": lambda page: io.BytesIO(PAGE),
    "Pillow image": lambda page: PIL.Image.new("RGB", (2, 2)),
    "array": lambda page: PIXELS,
    "blob": lambda page: Blob.from_bytes(PAGE, "image/png"),
    "image part": lambda page: WRITTEN,
    "document part": lambda page: DocumentPart(Blob.from_bytes(b"a page", "text/plain")),
    "hit": lambda page: Hit(),
    "File": lambda page: File(page, name="other.png"),
}


def answered(call: ModelCall) -> str:
    """A reply of the form that is asked for."""
    return "fine" if call.output is None else '"1"'


def model() -> Any:
    return create_llm("scripted", replies=answered, accepts=["image", "document"])


async def drained(stream: Any) -> None:
    async with stream as opened:
        async for _ in opened:
            pass


METHODS: Mapping[str, Callable[[Any, Any], Any]] = {
    "LLM.generate": lambda llm, media: llm.generate("hi", media=media),
    "LLM.agenerate": lambda llm, media: asyncio.run(llm.agenerate("hi", media=media)),
    "LLM.stream": lambda llm, media: list(llm.stream("hi", media=media)),
    "LLM.astream": lambda llm, media: asyncio.run(drained(llm.astream("hi", media=media))),
    "LLM.build": lambda llm, media: llm.build("hi", media=media),
    "LLM.plan": lambda llm, media: llm.plan("hi", media=media),
    "LLM.count_tokens": lambda llm, media: llm.count_tokens("hi", media=media),
    "LLM.acount_tokens": lambda llm, media: asyncio.run(llm.acount_tokens("hi", media=media)),
    "LLM.map": lambda llm, media: llm.map(["hi"], media=media),
    "LLM.amap": lambda llm, media: asyncio.run(llm.amap(["hi"], media=media)),
    "LLM.decide": lambda llm, media: llm.decide("hi", ["1", "2"], media=media),
    "LLM.adecide": lambda llm, media: asyncio.run(llm.adecide("hi", ["1", "2"], media=media)),
    "LLM.score": lambda llm, media: llm.score("hi", 1, 3, media=media),
    "LLM.ascore": lambda llm, media: asyncio.run(llm.ascore("hi", 1, 3, media=media)),
    "Session.ask": lambda llm, media: Session(llm).ask("hi", media=media),
    "Session.aask": lambda llm, media: asyncio.run(Session(llm).aask("hi", media=media)),
    "Session.stream": lambda llm, media: list(Session(llm).stream("hi", media=media)),
    "Session.astream": lambda llm, media: asyncio.run(drained(Session(llm).astream("hi", media=media))),
    "Session.plan": lambda llm, media: Session(llm).plan("hi", media=media),
}
ELSEWHERE = {"LLM.operate", "LLM.aoperate", "Session.resume", "Session.aresume", "Voice.reply", "Voice.areply"}
"""They prepare a call as `generate` does: for an operation, a loop that has its files already, and speech."""


def methods_with_files() -> set[str]:
    found: set[str] = set()
    for name in dir(abstractcore):
        public = getattr(abstractcore, name)
        if not inspect.isclass(public):
            continue
        for method, function in inspect.getmembers(public, inspect.isfunction):
            if not method.startswith("_") and "media" in inspect.signature(function).parameters:
                found.add(f"{public.__name__}.{method}")
    return found


def test_all_methods_with_files_are_tried():
    assert methods_with_files() == {*METHODS, *ELSEWHERE}


def outcome(method: str, media: Any) -> tuple[Any, list[Any]]:
    """What the method returns where that is data, and the messages that the model got."""
    llm = model()
    result = METHODS[method](llm, media)
    comparable = result if method in ("LLM.build", "LLM.count_tokens", "LLM.acount_tokens") else None
    if method in ("LLM.plan", "Session.plan"):
        comparable = result.media
    return comparable, [call.messages for call in llm.calls]


@pytest.mark.parametrize("method", METHODS)
def test_one_file_is_a_list_of_one(method: str, page: Path):
    single, in_list = outcome(method, page), outcome(method, [page])
    assert single == in_list
    assert method.endswith("count_tokens") or "image/png" in repr(single)
    assert outcome(method, None) != single


@pytest.mark.parametrize("kind", FILES)
def test_each_kind_of_file_may_be_alone(kind: str, page: Path):
    make = FILES[kind]
    single, in_list = outcome("LLM.build", make(page)), outcome("LLM.build", [make(page)])
    assert single == in_list
    assert outcome("Session.ask", make(page)) == outcome("Session.ask", [make(page)])


@pytest.mark.parametrize("many", [tuple, collections.deque, collections.UserList], ids=["tuple", "deque", "UserList"])
def test_any_sequence_is_a_list(many: Callable[[list[Any]], Any], page: Path):
    assert outcome("LLM.build", many([page, PAGE])) == outcome("LLM.build", [page, PAGE])


@pytest.mark.parametrize("nothing", [[], (), None])
def test_no_files_are_none(nothing: Any):
    assert len(outcome("LLM.build", nothing)[0].messages[0].parts) == 1


@pytest.mark.parametrize(
    "wrong",
    [5, {"type": "image_url"}, {"a.pdf"}, iter(["a.pdf"]), True, Path],
    ids=["number", "mapping", "set", "iterator", "bool", "class"],
)
def test_what_is_no_file_is_refused_with_an_example(wrong: Any):
    with pytest.raises(InvalidInputError, match=r"expected a file or a list of files, got \w+.*media='report.pdf'"):
        model().build("hi", media=wrong)


def test_one_missing_file_is_named(tmp_path: Path):
    with pytest.raises(abstractcore.MediaError, match=r"absent\.pdf does not exist"):
        model().build("hi", media=tmp_path / "absent.pdf")
