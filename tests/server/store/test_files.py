"""Uploads in parts, in a SQLite file and a PostgreSQL: what counts, what is removed, and what happens at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from abstractcore import InvalidInputError, NotFoundError
from abstractcore_server.store import Store
from abstractcore_server.store import files as upload_rows
from abstractcore_server.store.files import Files, Quota, QuotaExceeded, StoredUpload, Uploads
from abstractcore_server.store.tables import files as file_rows
from tests.server.store.databases import Clock

MOST = 100
ROOM = Quota(MOST, files=1000, uploads=1000)
FACTS: Any = {"name": "a.bin", "purpose": "user_data", "media_type": "text/plain"}


@pytest.fixture
def files(store: Store, clock: Clock) -> Files:
    return Files(store, clock)


@pytest.fixture
def uploads(store: Store, clock: Clock) -> Uploads:
    return Uploads(store, 10_000, clock)


@pytest.fixture
def rows(store: Store) -> Callable[[], tuple[int, ...]]:
    """Returns the numbers of rows: files, uploads, parts, pieces."""
    names = ("files", "uploads", "upload_parts", "upload_pieces")

    def counted() -> tuple[int, ...]:
        with store.reading() as connection:
            counts = (connection.execute(text(f"SELECT count(*) FROM abstractcore_{name}")) for name in names)
            return tuple(count.scalar_one() for count in counts)

    return counted


def create(
    uploads: Uploads, size: int, id: str = "u1", owner: str = "me", seconds: float | None = None
) -> StoredUpload | None:
    try:
        return uploads.create(owner, id, size=size, quota=ROOM, seconds=seconds, **FACTS)
    except QuotaExceeded:
        return None


def begin_part(uploads: Uploads, part: str, size: int, id: str = "u1", owner: str = "me") -> bool:
    try:
        uploads.begin_part(owner, id, part, size, ROOM)
    except QuotaExceeded:
        return False
    return True


def add(uploads: Uploads, part: str, *pieces: bytes, id: str = "u1", owner: str = "me", whole: bool = True) -> bool:
    if not begin_part(uploads, part, sum(map(len, pieces)), id, owner):
        return False
    for position, piece in enumerate(pieces):
        assert uploads.write_piece(part, position, piece)
    if whole:
        uploads.end_part(owner, id, part)
    return True


def free(uploads: Uploads) -> None:
    while uploads.free():
        pass


def content(files: Files, id: str, owner: str = "me") -> bytes:
    inline, parts = files.content(owner, id)
    return inline + b"".join(files.piece(part, position) or b"" for part in parts for position in range(3))


def test_file_has_the_parts_in_the_order_of_the_completion(uploads: Uploads, files: Files, clock: Clock):
    made = create(uploads, 8, seconds=5_000)
    assert made is not None
    assert made.expires == clock() + 3600
    for part, pieces in {"p1": (b"c",), "p2": (b"unused",), "p3": (b"ab", b"cd", b"efg")}.items():
        assert add(uploads, part, *pieces)
    clock.time += 60
    assert uploads.check("me", "u1", ["p3", "p1"]) == made
    file = uploads.complete("me", "u1", ["p3", "p1"], "f1", "text/plain", ROOM)
    assert file == files.find("me", "f1")
    assert (file.size, file.expires) == (8, clock() + 5_000)
    assert content(files, "f1") == b"abcdefgc"
    assert files.content("other", "f1") == (b"", [])


def test_files_are_found_among_more_ids_than_a_statement_takes(uploads: Uploads, files: Files):
    assert create(uploads, 0)
    file = uploads.complete("me", "u1", [], "f1", "text/plain", ROOM)
    ids = [f"file-{number}" for number in range(70_000)]
    assert files.find_all("me", [*ids, "f1"]) == {"f1": file}
    assert files.find_all("other", ["f1"]) == files.find_all("me", []) == {}


def test_file_outlasts_its_upload_and_takes_everything_with_it(
    uploads: Uploads, files: Files, clock: Clock, rows: Callable[[], tuple[int, ...]]
):
    for id in ("u1", "u2"):
        create(uploads, 1, id)
        add(uploads, f"{id}-p", b"x", id=id)
        uploads.complete("me", id, [f"{id}-p"], f"{id}-f", "text/plain", ROOM)
    clock.time += 9_000
    create(uploads, 1, "u3")
    assert content(files, "u1-f") == b"x"
    assert files.delete("me", "u1-f")
    assert rows() == (1, 2, 2, 2)
    free(uploads)
    assert rows() == (1, 2, 1, 1)
    clock.time += 1_000
    create(uploads, 1, "u4")
    free(uploads)
    assert rows() == (0, 2, 0, 0)


def test_parts_count_until_they_are_cancelled_or_expire(
    uploads: Uploads, clock: Clock, rows: Callable[[], tuple[int, ...]]
):
    assert create(uploads, MOST + 1) is None
    create(uploads, 60)
    assert add(uploads, "p1", b"x" * 60)
    assert not add(uploads, "p2", b"x" * 41)
    assert add(uploads, "p3", b"x" * 40, whole=False)
    assert create(uploads, 1, "u2") is None
    assert create(uploads, 60, "u3", "other") is not None
    uploads.cancel("me", "u1")
    create(uploads, 60, "u4")
    assert add(uploads, "p4", b"x" * 100, id="u4")
    clock.time += 3600
    assert create(uploads, 100, "u5") is not None
    free(uploads)
    assert rows() == (0, 1, 0, 0)


def test_files_and_uploads_of_an_owner_are_limited(uploads: Uploads, files: Files, clock: Clock):
    quota = Quota(MOST, files=2, uploads=3)

    def begun(id: str, owner: str = "me") -> StoredUpload:
        return uploads.create(owner, id, size=0, quota=quota, **FACTS)

    for id in ("u1", "u2", "u3"):
        begun(id)
    uploads.cancel("me", "u3")  # its row stays until it expires
    with pytest.raises(QuotaExceeded) as full:
        begun("u4")
    assert full.value.limit == "uploads"
    assert begun("u5", "other")

    clock.time += 3600
    for id in ("u6", "u7", "u8"):
        begun(id)
    for id in ("u6", "u7"):
        uploads.complete("me", id, [], f"{id}-file", "text/plain", quota)
    for refused in (lambda: begun("u9"), lambda: uploads.complete("me", "u8", [], "f", "text/plain", quota)):
        with pytest.raises(QuotaExceeded) as full:
            refused()
        assert full.value.limit == "files"
    files.delete("me", "u6-file")
    assert uploads.complete("me", "u8", [], "f", "text/plain", quota).size == 0


def test_files_count_with_parts(uploads: Uploads, files: Files):
    create(uploads, 60)
    add(uploads, "p1", b"x" * 60)
    uploads.complete("me", "u1", ["p1"], "f1", "text/plain", ROOM)
    assert create(uploads, 41, "u2") is None
    assert create(uploads, 40, "u3") is not None
    assert not add(uploads, "p2", b"x" * 41, id="u3")
    assert files.delete("me", "f1")
    assert create(uploads, 100, "u4") is not None


def test_content_of_a_file_of_an_earlier_version_is_read(store: Store, files: Files, clock: Clock):
    with store.writing() as connection:
        row = {"owner": "me", "id": "f1", "size": 1, "created": clock(), "expires": clock() + 9, "content": b"x"}
        connection.execute(file_rows.insert().values(**FACTS, **row))
    assert content(files, "f1") == b"x"


def test_upload_that_has_ended_takes_no_parts(uploads: Uploads, clock: Clock):
    for id in ("completed", "cancelled", "expired"):
        create(uploads, 0, id)
    uploads.complete("me", "completed", [], "f1", "text/plain", ROOM)
    uploads.cancel("me", "cancelled")
    with pytest.raises(InvalidInputError, match="its file is f1"):
        uploads.begin_part("me", "completed", "p", 1, ROOM)
    with pytest.raises(InvalidInputError, match="was cancelled"):
        uploads.begin_part("me", "cancelled", "p", 1, ROOM)
    with pytest.raises(NotFoundError, match="has expired"):
        uploads.begin_part("other", "expired", "p", 1, ROOM)
    clock.time += 3600
    for id in ("expired", "cancelled"):
        with pytest.raises(NotFoundError, match="has expired"):
            uploads.cancel("me", id)


def test_part_whose_upload_is_cancelled_meanwhile_is_gone(uploads: Uploads, rows: Callable[[], tuple[int, ...]]):
    create(uploads, 2)
    assert begin_part(uploads, "p1", 2)
    assert uploads.write_piece("p1", 0, b"a")
    uploads.cancel("me", "u1")
    assert not uploads.write_piece("p1", 1, b"b")
    with pytest.raises(InvalidInputError, match="was cancelled"):
        uploads.end_part("me", "u1", "p1")
    free(uploads)
    assert rows() == (0, 1, 0, 0)


def test_pieces_take_the_place_of_those_that_are_not_needed(uploads: Uploads, rows: Callable[[], tuple[int, ...]]):
    create(uploads, 9)
    add(uploads, "p1", *[b"x"] * 9)
    uploads.cancel("me", "u1")
    create(uploads, 4, "u2")
    add(uploads, "p2", *[b"x"] * 4, id="u2")
    assert rows() == (0, 2, 2, 1 + 4)
    while uploads.free():
        assert rows()[3] >= 4
    assert rows() == (0, 2, 1, 4)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (["p1", "p1"], r"part_ids\[1\]: 'p1' is named twice"),
        (["p1", "other"], r"part_ids\[1\]: 'other' is not a part of the upload u1"),
        (["p1", "half"], r"part_ids\[1\]: 'half' is not a part of the upload u1"),
        (["p1", "\0"], r"part_ids\[1\]"),
        (["p1"], "have 1 bytes together, but the upload was created for 2"),
        ([], "have 0 bytes together"),
        (["p1", "p2", "p3"], "have 3 bytes together"),
    ],
)
def test_other_parts_do_not_complete_an_upload(uploads: Uploads, parts: list[str], message: str):
    create(uploads, 2)
    create(uploads, 2, "u2")
    for part in ("p1", "p2", "p3"):
        add(uploads, part, b"x")
    add(uploads, "other", b"x", id="u2")
    add(uploads, "half", b"x", whole=False)
    with pytest.raises(InvalidInputError, match=message):
        uploads.complete("me", "u1", parts, "f1", "text/plain", ROOM)
    assert uploads.complete("me", "u1", ["p1", "p2"], "f1", "text/plain", ROOM).size == 2


def test_number_of_parts_is_limited(uploads: Uploads, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(upload_rows, "MOST_PARTS", 2)
    create(uploads, 3)
    assert add(uploads, "p1", b"x")
    assert add(uploads, "p2", b"x")
    with pytest.raises(InvalidInputError, match="has 2 parts, which is the most"):
        add(uploads, "p3", b"x")


def test_of_completions_at_once_one_makes_the_file(uploads: Uploads, rows: Callable[[], tuple[int, ...]]):
    create(uploads, 1)
    add(uploads, "p1", b"x")

    def complete(number: int) -> bool:
        try:
            return uploads.complete("me", "u1", ["p1"], f"f{number}", "text/plain", ROOM).size == 1
        except InvalidInputError:
            return False

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(complete, range(8))) == 1
    assert rows() == (1, 1, 1, 1)


def test_parts_at_once_never_exceed_what_an_owner_may_have(uploads: Uploads):
    create(uploads, MOST)

    def begin(number: int) -> bool:
        return begin_part(uploads, f"p{number}", 30)

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(begin, range(8))) == 3
