"""Cassette files: when they are written, and errors about malformed ones."""

from __future__ import annotations

import json
import threading

import pytest

from abstractcore import CassetteError, create_llm, record, replay
from tests.chaos_server import HANG, PATIENCE_SECONDS, chunk, completion, delta, stream_head
from tests.core.middleware.cassettes.lines import lines


@pytest.mark.parametrize("content", [b"precious", b'{"cassettes": 1}\n', b'{"schema_version": 1}\n', b"\x00" * 99])
def test_file_that_is_not_a_cassette_is_never_overwritten(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(CassetteError, match="is not a cassette"):
        record(path)
    assert path.read_bytes() == content


def test_file_created_later_is_not_overwritten(call_style, server, connect, path):
    llm = connect(middleware=[record(path)])
    path.parent.mkdir()
    path.write_bytes(b"precious")
    server.script(completion())
    with pytest.raises(CassetteError, match="is not a cassette"):
        call_style.generate(llm, "hi")
    assert path.read_bytes() == b"precious"


def test_older_cassette_is_replaced_at_the_first_exchange(call_style, server, connect, path, again):
    for text in ("old", "new", "newer"):
        server.script(completion(text))
    call_style.generate(connect(middleware=[record(path)]), "hi")
    llm = connect(middleware=[record(path)])
    assert call_style.generate(again()[0], "hi").content == "old"
    call_style.generate(llm, "hi")
    assert [line["reply"]["parts"][0]["text"] for line in lines(path)] == ["new"]
    call_style.generate(llm, "hi")
    assert len(lines(path)) == 2


def test_directory_is_refused_as_cassette(path):
    path.mkdir(parents=True)
    for make in (record, replay):
        with pytest.raises(CassetteError, match="directory"):
            make(path)


def test_full_disk_leaves_complete_lines(call_style, server, connect, path, monkeypatch):
    server.script(completion("one"))
    server.script(completion("two"))
    recorder = record(path)
    llm = connect(middleware=[recorder])
    call_style.generate(llm, "hi")
    before = path.read_bytes()
    opened = type(path).open

    def with_a_full_disk(self, *arguments, **options):
        file = opened(self, *arguments, **options)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *exception):
                file.close()

            def write(self, data):
                return file.write(data[:10])

            tell, truncate = file.tell, file.truncate

        return Full()

    monkeypatch.setattr(type(path), "open", with_a_full_disk)
    with pytest.raises(CassetteError, match="No space left"):
        call_style.generate(llm, "hi")
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_missing_cassette_hints_at_record(path):
    with pytest.raises(CassetteError, match="No such file") as caught:
        replay(path)
    assert "record(path)" in (caught.value.hint or "")


GOOD = b'{"cassette":1,"request":{"method":"POST","path":"/"},"reply":{}}\n'


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (GOOD[:-1], "line 2: the line is incomplete"),
        (GOOD[:20] + b"\n", "line 2: not JSON"),
        (b"\xff\n", "line 2: not JSON"),
        (b"[" * 100_000 + b"\n", "line 2: not JSON"),
        (b"\n", "line 2: not JSON"),
        (b"[]\n", "line 2: not a line of a cassette"),
        (b'{"type":"model_reply"}\n', "line 2: not a line of a cassette"),
        (GOOD.replace(b"1", b"2", 1), "line 2: version 2 is not supported"),
        (GOOD.replace(b'"reply":{}', b'"replies":{}'), "line 2: replies: no such field"),
        (GOOD.replace(b',"reply":{}', b""), "line 2: has no reply, response, batches or error"),
        (GOOD.replace(b"{}", b'{"parts":[{"type":"text"}]}'), r"line 2: reply\.parts\[0\]\.text: missing"),
        (
            GOOD.replace(b'"reply":{}', b'"error":{"kind":"SystemExit","message":"x"}'),
            r"line 2: error\.kind: unknown error class",
        ),
        (GOOD.replace(b'"reply":{}', b'"batches":[[{"type":"x"}]]'), r"line 2: batches\[0\]\[0\]\.type: unknown"),
    ],
)
def test_malformed_line_is_named(path, line, what):
    path.parent.mkdir()
    path.write_bytes(GOOD + line)
    with pytest.raises(CassetteError, match=what):
        replay(path)


def test_handwritten_cassette_with_fields_in_any_order(call_style, path):
    llm = create_llm("scripted", replies=["a"], middleware=[record(path)])
    call_style.generate(llm, "hi")
    (line,) = lines(path)
    path.write_text(json.dumps(dict(reversed(line.items()))) + "\n")
    llm = create_llm("scripted", replies=[], middleware=[replay(path)])
    assert call_style.generate(llm, "hi").content == "a"


def test_stream_collected_while_its_thread_writes_is_recorded_afterwards(server, connect, path):
    """A finalizer may run at any line, also where the file's lock is held."""
    for _ in range(2):
        server.script(stream_head() + chunk(delta("left")), HANG)
    server.script(completion("whole"))
    recorder = record(path)
    llm = connect(middleware=[recorder])
    streams = [llm.stream("a"), llm.stream("b")]
    for stream in streams:
        next(stream)
    del stream
    append = recorder._append

    def collecting(line: bytes) -> None:
        streams[:1] = []
        append(line)
        streams[:1] = []

    recorder._append = collecting  # type: ignore[method-assign]
    asking = threading.Thread(target=llm.generate, args=["hi"], daemon=True)
    asking.start()
    asking.join(PATIENCE_SECONDS)
    assert not asking.is_alive(), "it waits for itself"
    assert [("reply" in line, line.get("left", False)) for line in lines(path)] == [
        (True, False),
        (False, True),
        (False, True),
    ]
