"""An index that is changed while it is used: by others, by a rebuild, by a store that fails, by one killed."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from abstractcore import IndexMismatchError, create_llm
from abstractcore.search import Index
from abstractcore.search.matching import VectorMatrix
from abstractcore.search.store import IndexFile


@pytest.fixture
def other(services, words):
    return create_llm("words", "other", services=services)


@pytest.fixture
def index(tmp_path: Path, llm):
    with Index(tmp_path / "i.db", llm) as index:
        index.add([f"text {n} of apples" for n in range(20)], ids=[f"t{n}" for n in range(20)], tags={"team": "red"})
        yield index


class KeptVectors:
    """A store in memory."""

    def __init__(self) -> None:
        self.vectors: dict[int, list[float]] = {}
        self.fails = False

    def put(self, numbers, vectors) -> None:
        if self.fails:
            raise RuntimeError("the store is full")
        self.vectors |= dict(zip(numbers, vectors.lists(), strict=True))

    def remove(self, numbers) -> None:
        for number in numbers:
            self.vectors.pop(number, None)

    def nearest(self, vector, most, among):
        (own,) = vector.lists()
        scores = [(number, sum(a * b for a, b in zip(own, each, strict=True))) for number, each in self.vectors.items()]
        return sorted(scores, key=lambda each: -each[1])[:most]


def test_a_rebuild_keeps_what_others_add_change_tag_and_remove_meanwhile(index, llm, other):
    calls = []

    def change(progress) -> None:
        calls.append(progress)
        if len(calls) > 1:
            return
        with Index(index.path, llm) as second:
            second.remove(["t0", "t1"])
            second.add(["a new text of pears"], ids=["new"])
            second.add(["text 5 of apples"], ids=["t5"], tags={"team": "blue"})
            second.add(["a changed text of plums"], ids=["t19"])

    index.rebuild(other, on_progress=change)
    assert len(index) == 19
    assert index.search("pears", 1)[0].id == "new"
    assert index.search("plums", 1)[0].id == "t19"
    assert dict(index.search("plums", 1)[0].tags) == {"team": "red"}
    assert [hit.id for hit in index.search("apples", 50, where={"team": "blue"})] == ["t5"]
    assert {hit.id for hit in index.search("apples", 50)}.isdisjoint({"t0", "t1"})
    assert {each.tags.get("team") for each in index.documents()} == {"red", "blue", None}


def test_searches_go_on_during_a_rebuild_in_one_event_loop(index):
    async def both() -> int:
        rebuilding = asyncio.create_task(index.arebuild())
        searches = 0
        while not rebuilding.done():
            assert await index.asearch("apples")
            assert index.search("apples", mode="words")
            searches += 1
        await rebuilding
        return searches

    assert asyncio.run(both()) > 0


def test_a_search_whose_chunks_are_replaced_meanwhile_is_made_again(index, llm, monkeypatch):
    nearest, rebuilt = VectorMatrix.nearest, []

    def and_then_rebuild(matrix, *arguments):
        found = nearest(matrix, *arguments)
        if not rebuilt:
            rebuilt.append(True)
            with Index(index.path, llm) as second:
                second.rebuild()
        return found

    monkeypatch.setattr(VectorMatrix, "nearest", and_then_rebuild)
    assert len(index.search("text 7 of apples", 3)) == 3
    assert rebuilt


def test_vectors_of_a_model_that_the_index_has_no_more_are_not_written(index, other, monkeypatch):
    write, rebuilt = IndexFile.write, []

    def after_a_rebuild(file, *arguments):
        if not rebuilt:
            rebuilt.append(True)
            with Index(index.path, other) as second:
                second.rebuild()
        return write(file, *arguments)

    monkeypatch.setattr(IndexFile, "write", after_a_rebuild)
    with pytest.raises(IndexMismatchError, match=r"of words/other .* of words/m"):
        index.add(["a new text of pears"], ids=["new"])
    assert Index.model_of(index.path) == "words/other"
    assert "new" not in [each.id for each in index.documents()]


@pytest.mark.parametrize("steps", range(0, 60, 4))
def test_a_cancelled_rebuild_leaves_the_index_and_no_file(index, steps):
    async def cancel() -> None:
        task = asyncio.create_task(index.arebuild())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert len(await index.asearch("apples", 20)) == 20

    asyncio.run(cancel())
    assert not list(index.path.parent.glob("*.new-*"))


@pytest.mark.parametrize("work", [Index.rebuild, lambda index: index.add(["a text"])], ids=["rebuild", "add"])
def test_what_a_killed_rebuild_has_left_is_deleted_and_nothing_else(index, llm, work):
    shutil.copy(index.path, f"{index.path}.new-00000001")
    notes = index.path.with_name("i.db.new-and-old.txt")
    notes.write_text("my notes")
    with Index(f"{index.path}.new-00000002", llm) as used:
        used.add(["a text"])
        work(index)
        assert sorted(path.name for path in index.path.parent.glob("*.new-*[!lm]")) == [
            "i.db.new-00000002",
            notes.name,
        ]
    work(index)
    assert list(index.path.parent.glob("*.new-*")) == [notes]


def test_the_files_of_an_index_are_not_documents_of_its_folder(index, llm):
    folder = index.path.parent
    (folder / "i.db.md").write_text("a text about the index")
    with Index(f"{index.path}.new-00000001", llm):
        report = index.add(folder)
    assert [Path(path).name for path in report.added] == ["i.db.md"]
    assert not report.failed


def test_a_store_that_fails_leaves_what_was_there(tmp_path, llm):
    store = KeptVectors()
    with Index(tmp_path / "kept.db", llm, store=store) as index:
        index.add(["apples are red", "pears are green"], ids=["a", "b"])
        store.fails = True
        with pytest.raises(RuntimeError, match="full"):
            index.add(["plums are blue"], ids=["a"])
        with pytest.raises(RuntimeError, match="full"):
            index.rebuild()
        assert len(store.vectors) == 2
        assert index.search("apples", 1, mode="meaning")[0].text == "apples are red"
        store.fails = False
        index.add(["plums are blue"], ids=["a"])
        assert len(store.vectors) == 2
        assert index.search("plums", 1, mode="meaning")[0].id == "a"


def test_an_index_without_its_store_or_with_a_new_one_is_refused_until_it_is_rebuilt(tmp_path, llm):
    path, store = tmp_path / "kept.db", KeptVectors()
    with Index(path, llm, store=store) as index:
        index.add(["apples are red"], ids=["a"])
    with Index(path, llm) as index:
        with pytest.raises(IndexMismatchError, match="are in a store, and are looked for in the file"):
            index.search("apples")
        index.rebuild()
        assert index.search("apples", mode="meaning")[0].id == "a"
    with Index(path, llm, store=store) as index:
        with pytest.raises(IndexMismatchError, match="are in the file") as caught:
            index.add(["pears are green"])
        assert "store=" in caught.value.hint


def test_progress_that_raises_ends_the_call_with_what_is_written(tmp_path, llm):
    def stop(progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with Index(tmp_path / "stopped.db", llm) as index:
        with pytest.raises(KeyboardInterrupt):
            index.add(["apples", "pears", "plums"], ids=["a", "b", "c"], on_progress=stop)
        assert [each.id for each in index.documents()] == ["a"]
        assert index.add(["apples", "pears", "plums"], ids=["a", "b", "c"]).added == ["b", "c"]
