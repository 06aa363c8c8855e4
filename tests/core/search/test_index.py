"""An index: files and texts added, found with their places, changed, removed, and embedded anew."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from abstractcore import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    IndexMismatchError,
    InvalidInputError,
    SearchIndexError,
    ServerError,
    create_llm,
)
from abstractcore.search import Index, adding
from abstractcore.search.adding import Adding
from abstractcore.search.vectors import Embedder

MEDIA = Path(__file__).parents[3] / "examples" / "media"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "fruit.md").write_text("# Fruit\n\nThe orchard gave 41 tonnes of apples.\n\n# Staff\n\nAnn picks pears.")
    (folder / "deep" / "prices.txt").write_text("A bicycle costs 300 euros.\nA lamp costs 20 euros.")
    (folder / ".hidden").write_text("a secret of the dog")
    return folder


@pytest.fixture
def index(tmp_path: Path, llm):
    with Index(tmp_path / "papers.db", llm) as index:
        yield index


def add(call_style, index: Index, *arguments, **options):
    if call_style.name == "sync":
        return index.add(*arguments, **options)
    return asyncio.run(index.aadd(*arguments, **options))


def search(call_style, index: Index, *arguments, **options):
    if call_style.name == "sync":
        return index.search(*arguments, **options)
    return asyncio.run(index.asearch(*arguments, **options))


def test_files_of_a_folder_are_found_with_their_lines(call_style, index, folder):
    report = add(call_style, index, folder)
    assert sorted(Path(path).name for path in report.added) == ["fruit.md", "prices.txt"]
    assert not report.failed
    assert report.cost.known > 0
    hits = search(call_style, index, "how many tonnes of apples")
    assert hits[0].where == "fruit.md, line 3"
    assert hits[0].file == str(folder / "fruit.md")
    assert hits[0].source.text == "The orchard gave 41 tonnes of apples."
    assert hits[0].text.startswith("# Fruit")
    assert 0 < hits[0].similarity <= 1
    assert hits[0].score == 1.0
    assert search(call_style, index, "lamp")[0].where == f"deep{os.sep}prices.txt, line 2"
    assert all("secret" not in hit.text for hit in search(call_style, index, "secret dog", 100))


@pytest.mark.parametrize(
    ("file", "query", "where"),
    [
        ("invoice.pdf", "What is due in total?", "invoice.pdf, page 1"),
        ("invoice.pdf", "Who owns the lamps until they are paid?", "invoice.pdf, page 2"),
        ("sales.xlsx", "units in February", "sales.xlsx, Sales!A3:F3"),
        ("harvest.docx", "tonnes of apples of the orchard", "harvest.docx, paragraph 3"),
        ("harvest_form.pdf", "Is it insured against hail?", "harvest_form.pdf, page 1"),
    ],
)
def test_hits_in_documents_say_page_cell_and_paragraph(index, file, query, where):
    index.add(MEDIA / file)
    hit = index.search(query, 1)[0]
    assert hit.where == where
    assert hit.line is None
    if file.endswith(".pdf"):
        assert hit.source.box is not None


def test_files_that_have_not_changed_are_not_embedded_again(index, folder, words):
    index.add(folder)
    before = len(words.texts)
    os.utime(folder / "fruit.md", ns=(1, 1))  # the same content at another time
    report = index.add(folder)
    assert (len(report.unchanged), report.added, report.changed) == (2, [], [])
    assert len(words.texts) == before


def test_a_changed_file_replaces_what_was_read_of_it_and_a_deleted_one_is_removed(index, folder):
    index.add(folder)
    (folder / "fruit.md").write_text("# Fruit\n\nNo apples, but plums.")
    (folder / "deep" / "prices.txt").unlink()
    report = index.add(folder)
    assert [Path(path).name for path in report.changed] == ["fruit.md"]
    assert [Path(path).name for path in report.removed] == ["prices.txt"]
    assert "plums" in index.search("apples", 1)[0].text
    assert all("tonnes" not in hit.text and "bicycle" not in hit.text for hit in index.search("tonnes bicycle", 50))
    assert len(index) == 1


def test_files_below_a_folder_that_cannot_be_read_now_are_kept(index, folder, monkeypatch):
    index.add(folder)
    listing = os.walk

    def walk(top, onerror, **options):
        for parent, folders, names in listing(top, onerror=onerror):
            if Path(parent).name == "deep":
                onerror(PermissionError(13, "Permission denied", parent))
                continue
            yield parent, folders, names

    monkeypatch.setattr("os.walk", walk)
    report = index.add(folder)
    assert report.failed == {str(folder / "deep"): "Permission denied"}
    assert report.removed == []
    assert index.search("lamp", 1)[0].file is not None


def test_a_gone_file_whose_name_begins_like_that_of_an_unreadable_one_is_removed(index, folder, monkeypatch):
    (folder / "fruit.md.old").write_text("old apples")
    (folder / "fruit").mkdir()
    (folder / "fruit" / "a.md").write_text("new apples")
    index.add(folder)
    (folder / "fruit.md.old").unlink()
    (folder / "fruit.md").write_bytes(b"")
    report = index.add(folder)
    assert list(report.failed) == [str(folder / "fruit.md")]
    assert report.removed == [str(folder / "fruit.md.old")]


def test_files_with_names_that_are_no_text_are_reported_and_others_are_added(index, folder):
    name = os.fsdecode(b"caf\xe9.md")
    try:
        (folder / name).write_text("a name in Latin-1")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    report = index.add(folder)
    assert len(report.added) == 2
    assert "not UTF-8" in report.failed[str(folder / name)]
    for given in (folder / name, [folder / name]):
        with pytest.raises(InvalidInputError, match="is not a path"):
            index.add(given)


def test_tags_stay_unless_others_are_given(index, folder):
    index.add(folder, tags={"team": "sales"})
    index.add(["a text"], ids=["a"], tags={"team": "sales"})
    (folder / "fruit.md").write_text("plums")
    index.add(folder)
    index.add(["a text"], ids=["a"])
    index.add(["a changed text"], ids=["a"])
    assert {each.tags["team"] for each in index.documents()} == {"sales"}
    index.add(folder, tags={})
    assert [each.id for each in index.documents() if each.tags] == ["a"]


def test_a_file_without_text_is_reported_with_the_reason_and_read_again_when_it_changes(index, folder):
    empty = folder / "empty.txt"
    empty.write_text(" \n")
    failed = index.add(folder).failed
    assert list(failed) == [str(empty)]
    assert "has no text" in failed[str(empty)]
    assert index.add(folder).failed == failed
    assert [each.problem for each in index.documents() if each.problem] == list(failed.values())
    empty.write_text("words at last")
    report = index.add(folder)
    assert not report.failed
    assert index.search("words at last", 1)[0].file == str(empty)


def test_a_file_that_changes_while_it_is_read_is_reported_and_tried_again(index, folder, monkeypatch):
    file = folder / "fruit.md"
    reading = type(index.llm.media_loader()).load_one

    def load_one(loader, item, path):
        part = reading(loader, item, path)
        if file.read_text() != "changed":
            file.write_text("changed")
        return part

    monkeypatch.setattr(type(index.llm.media_loader()), "load_one", load_one)
    assert "changed" in index.add(file).failed[str(file)]
    report = index.add(file)
    assert report.changed == [str(file)]
    assert not report.failed
    assert index.search("changed", 1)[0].text == "changed"


@pytest.mark.parametrize("error", [BadRequestError, ContentFilterError])
def test_a_file_that_the_model_refuses_to_read_is_reported_and_tried_again(index, folder, monkeypatch, error):
    file = folder / "fruit.md"
    reading = Adding._read

    async def refused(adding, found, sha256):
        if found.name == file.name:
            raise error("the picture is too small")
        return await reading(adding, found, sha256)

    with monkeypatch.context() as patched:
        patched.setattr(Adding, "_read", refused)
        report = index.add(folder)
    assert report.failed == {str(file): "the picture is too small"}
    assert report.added == [str(folder / "deep" / "prices.txt")]
    assert index.add(folder).changed == [str(file)]
    assert index.search("apples", 1)[0].file == str(file)


@pytest.mark.parametrize("error", [AuthenticationError, ServerError])
def test_a_model_that_fails_for_every_file_ends_the_call(index, folder, monkeypatch, error):
    async def failed(adding, found, sha256):
        raise error("no")

    monkeypatch.setattr(Adding, "_read", failed)
    with pytest.raises(error):
        index.add(folder)


def test_texts_have_ids_and_tags_by_which_they_are_chosen(call_style, index):
    texts = ["apples are red", "pears are green", "plums are blue"]
    report = add(call_style, index, texts, ids=["a", "b", "c"], tags={"kind": "fruit"})
    assert report.added == ["a", "b", "c"]
    add(call_style, index, ["the sea is blue"], ids=["d"], tags={"kind": "water"})
    assert [hit.id for hit in search(call_style, index, "blue", where={"kind": "water"})] == ["d"]
    assert {hit.id for hit in search(call_style, index, "blue", where={"kind": ["water", "fruit"]})} == {*"abcd"}
    assert search(call_style, index, "blue", where={"kind": "stone"}) == []
    hit = search(call_style, index, "green", 1)[0]
    assert (hit.id, hit.file, dict(hit.tags)) == ("b", None, {"kind": "fruit"})
    assert add(call_style, index, texts, ids=["a", "b", "c"]).unchanged == ["a", "b", "c"]
    assert add(call_style, index, ["apples are yellow"], ids=["a"]).changed == ["a"]
    assert index.remove("a") == 1
    assert "a" not in [hit.id for hit in search(call_style, index, "apples", 10)]


def test_words_alone_are_searched_without_the_model(index, words, folder):
    index.add(folder)
    words.texts.clear()
    hits = index.search("bicycle", mode="words")
    assert hits[0].text.startswith("A bicycle")
    assert hits[0].similarity is None
    assert index.search('"quoted" AND (NOT * near', mode="words") == []
    assert words.texts == []
    assert index.search("bicycle", mode="meaning", k=1)[0].score == pytest.approx(
        index.search("bicycle", 1)[0].similarity
    )


@pytest.mark.exhaustive
def test_a_failure_keeps_what_was_written_and_the_next_call_goes_on(index, tmp_path, words):
    files = tmp_path / "many"
    files.mkdir()
    for number in range(600):
        (files / f"{number:03}.txt").write_text(f"document number {number}")
    words.fail_after = 300
    with pytest.raises(ServerError, match="crashed"):
        index.add(files)
    written = len(index)
    assert 0 < written < 600
    words.fail_after = None
    report = index.add(files)
    assert len(report.unchanged) == written
    assert len(index) == 600


def test_a_model_that_fails_does_so_before_all_files_are_read(index, folder, words, monkeypatch):
    words.fail_after = 0
    read = []
    reading = type(index.llm.media_loader()).load_one

    def load_one(loader, item, path):
        read.append(path)
        return reading(loader, item, path)

    monkeypatch.setattr(type(index.llm.media_loader()), "load_one", load_one)
    with pytest.raises(ServerError):
        index.add(folder)
    assert read == ["fruit.md"]


def test_an_index_of_another_model_or_other_chunks_is_refused_until_it_is_rebuilt(index, folder, services, words):
    index.add(folder)
    other = create_llm("words", "other", services=services)
    with Index(index.path, other) as opened:
        with pytest.raises(
            IndexMismatchError, match=r"are of words/m with 256 dimensions.*are of words/other"
        ) as caught:
            opened.search("apples")
        assert "rebuild" in caught.value.hint
        with pytest.raises(IndexMismatchError):
            opened.add(["a new text"])
        assert len(opened) == 2
        assert opened.search("apples", mode="words")
        report = opened.rebuild()
        assert len(report.added) == 2
        assert opened.search("apples", 1)[0].where == "fruit.md, line 3"
    assert Index.model_of(index.path) == "words/other"
    with pytest.raises(IndexMismatchError, match="words/m"):
        index.search("apples")
    with Index(index.path, other, chunk_tokens=16) as opened:
        with pytest.raises(IndexMismatchError, match="up to 200 tokens, not 16"):
            opened.add(["a new text"])
        opened.rebuild(chunk_tokens=16)
        opened.add(["a new text"])
    assert not list(index.path.parent.glob("*.new-*"))


def test_a_search_sees_what_another_index_object_has_added_changed_and_removed(tmp_path, llm):
    with Index(tmp_path / "i.db", llm) as one, Index(tmp_path / "i.db", llm) as two:
        one.add(["apples are red"], ids=["a"])
        assert [hit.id for hit in two.search("apples")] == ["a"]
        one.add(["pears are green"], ids=["b"])
        assert two.search("pears", 1, mode="meaning")[0].id == "b"
        one.add(["plums are blue"], ids=["a"])
        assert [hit.id for hit in two.search("red apples", mode="meaning")] != []
        assert all("apples" not in hit.text for hit in two.search("red apples", mode="meaning"))
        one.remove(["a", "b"])
        assert two.search("pears") == []


def test_threads_add_and_search_at_once(tmp_path, llm):
    with Index(tmp_path / "i.db", llm) as index:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for count in range(5):
                    index.add([f"text {number} {count} of thread number {number}"], ids=[f"{number}-{count}"])
                    assert index.search(f"thread number {number}", 3)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert len(index) == 30


def test_hits_are_sent_as_documents_named_by_their_places(index, services):
    index.add(MEDIA / "invoice.pdf")
    hits = index.search("total due", 1)
    asked = create_llm("scripted", replies=["EUR 1,234.50"], services=services)
    response = asked.generate("How much is due?", media=hits)
    assert [decision.source for decision in response.media] == ["invoice.pdf, page 1"]
    assert response.sources("EUR 1,234.50")[0].name == "invoice.pdf, page 1"


def test_the_tool_is_read_only_and_returns_places(index, folder):
    index.add(folder)
    tool = index.as_tool()
    assert tool.spec.read_only
    assert tool("how many apples").startswith("[fruit.md, line 3]\n# Fruit")
    assert index.as_tool(name="notes").spec.name == "notes"


def test_vectors_may_be_kept_elsewhere(tmp_path, llm):
    class Kept:
        def __init__(self):
            self.vectors = {}

        def put(self, numbers, vectors):
            self.vectors |= dict(zip(numbers, vectors.lists(), strict=True))

        def remove(self, numbers):
            for number in numbers:
                self.vectors.pop(number, None)

        def nearest(self, vector, most, among):
            (own,) = vector.lists()
            scores = [
                (number, sum(a * b for a, b in zip(own, each, strict=True)))
                for number, each in self.vectors.items()
                if among is None or number in among
            ]
            return sorted(scores, key=lambda each: -each[1])[:most]

    store = Kept()
    with Index(tmp_path / "i.db", llm, store=store) as index:
        index.add(["apples are red", "pears are green"], ids=["a", "b"], tags={"kind": "fruit"})
        assert len(store.vectors) == 2
        assert index.search("pears", 1, mode="meaning", where={"kind": "fruit"})[0].id == "b"
        index.add(["plums are blue"], ids=["a"])
        index.remove("b")
        assert len(store.vectors) == 1
        index.rebuild()
        assert len(store.vectors) == 1
        assert index.search("plums", 1)[0].id == "a"
    with sqlite3.connect(tmp_path / "i.db") as connection:
        assert connection.execute("SELECT count(*) FROM chunks WHERE vector IS NOT NULL").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(
    ("arguments", "options", "path"),
    [
        (("/no/such/folder",), {}, "source"),
        (("a\0b",), {}, "source"),
        ((b"text",), {}, "source"),
        ((5,), {}, "source"),
        (([5],), {}, "source[0]"),
        (([""],), {}, "source[0]"),
        ((["a", "\ud800"],), {}, "source[1]"),
        ((["a", "b"],), {"ids": ["x"]}, "ids"),
        ((["a", "b"],), {"ids": "ab"}, "ids"),
        ((["a", "b"],), {"ids": ["x", "x"]}, "ids[1]"),
        ((["a"],), {"tags": {"a": 1}}, "tags"),
    ],
)
def test_what_cannot_be_added_is_refused_with_its_place(index, arguments, options, path):
    with pytest.raises(InvalidInputError) as caught:
        index.add(*arguments, **options)
    assert caught.value.path.startswith(path)
    assert len(index) == 0


def test_any_number_of_tags_and_values_chooses_documents(index):
    names = [f"tag{number}" for number in range(40)]
    index.add(["apples"], ids=["a"], tags=dict.fromkeys(names, "x"))
    index.add(["apples"], ids=["b"], tags=dict.fromkeys(names[:39], "x"))
    values = [f"value{number}" for number in range(500)]
    assert [hit.id for hit in index.search("apples", where={name: [*values, "x", "x"] for name in names})] == ["a"]
    assert index.search("apples", where={f"none{number}": "x" for number in range(3000)}) == []
    assert index.search("apples", where={"tag0": []}) == []


def test_names_of_files_in_a_list_of_texts_are_refused_with_what_to_write(index, folder):
    with pytest.raises(InvalidInputError, match="names of files") as caught:
        index.add([str(folder / "fruit.md")])
    assert "Path" in caught.value.hint
    assert index.add([folder / "fruit.md"]).added == [str(folder / "fruit.md")]


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"query": " "}, "query"),
        ({"query": 5}, "query"),
        ({"k": 0}, "k"),
        ({"k": True}, "k"),
        ({"mode": "fuzzy"}, "mode"),
        ({"where": "tag"}, "where"),
        ({"where": {"a": 5}}, "where['a']"),
        ({"where": {"a": "\ud800"}}, "where['a']"),
        ({"query": "a \ud800", "mode": "words"}, "query"),
    ],
)
def test_what_cannot_be_searched_is_refused(index, options, path):
    with pytest.raises(InvalidInputError) as caught:
        index.search(**{"query": "apples", **options})
    assert caught.value.path == path


def test_a_file_that_is_no_index_or_cannot_be_used_is_refused(tmp_path, llm):
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"garbage" * 1000)
    with pytest.raises(SearchIndexError, match="damaged, or not an index"):
        Index(garbage, llm)
    assert garbage.read_bytes() == b"garbage" * 1000
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with pytest.raises(SearchIndexError, match="is not an index"):
        Index(other, llm)
    with pytest.raises(SearchIndexError, match="cannot be opened"):
        Index(tmp_path / "no" / "folder.db", llm)
    later = tmp_path / "later.db"
    Index(later, llm).close()
    with sqlite3.connect(later) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(SearchIndexError, match="has version 9: this release reads version 1"):
        Index(later, llm)
    for path in ("a\0b.db", "\ud800.db", b"i.db", 5, None):
        with pytest.raises(InvalidInputError) as caught:
            Index(path, llm)
        assert caught.value.path == "path"
    with pytest.raises(InvalidInputError, match="expected an LLM"):
        Index(tmp_path / "i.db", "openai")
    with pytest.raises(InvalidInputError, match="at least 16"):
        Index(tmp_path / "i.db", llm, chunk_tokens=3)


@pytest.mark.parametrize("ids", [5, None, [5], b"a"])
def test_what_cannot_be_removed_is_refused(index, ids):
    with pytest.raises(InvalidInputError) as caught:
        index.remove(ids)
    assert caught.value.path.startswith("ids")


def test_an_index_that_was_deleted_or_replaced_while_it_is_open_is_refused(tmp_path, llm):
    path = tmp_path / "i.db"
    with Index(path, llm) as index:
        index.add(["apples"])
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink()
        with pytest.raises(SearchIndexError, match="was deleted while it was open"):
            index.add(["pears"])
        with Index(path, llm) as second:
            second.add(["plums"])
        with pytest.raises(SearchIndexError, match="was replaced while it was open"):
            index.search("apples")


def test_a_closed_index_says_so_and_its_file_is_private(tmp_path, llm):
    index = Index(tmp_path / "i.db", llm)
    assert stat.S_IMODE((tmp_path / "i.db").stat().st_mode) == 0o600
    index.close()
    index.close()
    with pytest.raises(SearchIndexError, match="is closed"):
        index.search("apples")


@pytest.mark.process
def test_a_forked_child_searches_the_index_of_its_parent(index, folder):
    index.add(folder)
    context = multiprocessing.get_context("fork")
    received, sent = context.Pipe(duplex=False)

    def work() -> None:
        sent.send(index.search("lamp", 1, mode="words")[0].where)

    child = context.Process(target=work)
    child.start()
    assert received.recv().endswith("prices.txt, line 2")
    child.join()
    assert index.search("lamp", 1)


def test_progress_names_each_document(index, folder):
    seen = []
    index.add(folder, on_progress=lambda progress: seen.append((progress.done, progress.total, progress.what)))
    assert seen == [(0, 2, "fruit.md"), (1, 2, f"deep{os.sep}prices.txt"), (2, 2, "")]


def test_long_document_is_embedded_in_parts_with_progress(call_style, tmp_path, llm, words, monkeypatch):
    monkeypatch.setattr(adding, "_MOST_AT_ONCE", 8)
    text = "\n\n".join(f"## Part {number}\n\n" + f"word{number} " * 30 for number in range(20))
    seen, embedded = [], []
    embed = Embedder.embed

    async def counted(self, texts, purpose, pipeline):
        embedded.append(len(texts))
        return await embed(self, texts, purpose, pipeline)

    monkeypatch.setattr(Embedder, "embed", counted)
    with Index(tmp_path / "long.db", llm, chunk_tokens=50) as index:
        report = add(call_style, index, [text], ids=["long"], on_progress=seen.append)
        assert report.chunks == sum(embedded) > 16
        assert max(embedded) == 8
        parts = [f"long, {8 * number} of {report.chunks} parts" for number in range(1, len(embedded))]
        assert [(each.done, each.total, each.what) for each in seen] == [
            (0, 1, "long"),
            *((0, 1, part) for part in parts),
            (1, 1, ""),
        ]
        embedded.clear()
        for number in range(20):
            assert f"word{number} " in search(call_style, index, f"word{number}", 1)[0].text


def test_vectors_of_long_documents_are_those_of_their_chunks(index, words):
    text = "\n\n".join(f"## Part {number}\n\n" + f"word{number} " * 150 for number in range(20))
    index.add([text], ids=["long"])
    assert len(words.texts) >= 20
    assert "word7" in index.search("word7", 1)[0].text
