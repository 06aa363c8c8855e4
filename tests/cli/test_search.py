"""`abstractcore embed`, `index` and `search`, with a server that embeds texts as their words."""

from __future__ import annotations

import errno
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy
import pytest
from typer.testing import CliRunner

from abstractcore import EmbeddingCache
from abstractcore.schema import CallProgress
from abstractcore_cli.app import app
from abstractcore_cli.embedding import _WRITERS  # pyright: ignore[reportPrivateUsage]
from tests.core.search.conftest import vector

MODEL = ("--provider", "openai", "--model", "m")


class EmbedsWords(BaseHTTPRequestHandler):
    """The route /v1/embeddings (https://platform.openai.com/docs/api-reference/embeddings)."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(asked["input"])]
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        body = json.dumps({"data": data, "model": asked["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Writes nothing."""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), EmbedsWords)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "fruit.md").write_text("# Fruit\n\nThe orchard gave 41 tonnes of apples.\n")
    (tmp_path / "papers" / "empty.txt").write_text("")
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def run(*arguments: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)


def test_a_folder_is_added_searched_listed_and_removed():
    added = run("index", "add", "papers", *MODEL)
    assert (added.exit_code, added.stdout) == (0, "1 added, 1 not read\n")
    assert "empty.txt is empty" in added.stderr
    found = run("search", "how many tonnes of apples")
    assert found.stdout == "fruit.md, line 3\n    The orchard gave 41 tonnes of apples.\n"
    assert run("index", "add", "papers", *MODEL).stdout == "1 unchanged, 1 not read\n"
    listed = json.loads(run("index", "list", "--json").stdout)
    assert listed["index"].endswith("index.db")
    assert [(Path(each["id"]).name, each["chunks"]) for each in listed["documents"]] == [
        ("empty.txt", 0),
        ("fruit.md", 1),
    ]
    assert "fruit.md\t1\t" in run("index", "list").stdout
    assert run("index", "remove", "papers/fruit.md").stdout == "1 removed\n"
    empty = run("search", "apples")
    assert (empty.exit_code, empty.stdout) == (0, "")
    assert "nothing was found" in empty.stderr


def test_json_has_whole_hits_with_their_places():
    run("index", "add", "papers/fruit.md", "--tag", "kind=fruit", "--index", "own.db", *MODEL)
    found = json.loads(run("search", "apples", "--index", "own.db", "--tag", "kind=fruit", "--json").stdout)
    (hit,) = found["hits"]
    assert (hit["where"], hit["line"], hit["tags"]) == ("fruit.md, line 3", 3, {"kind": "fruit"})
    assert hit["source"]["text"] == "The orchard gave 41 tonnes of apples."
    assert (
        json.loads(run("search", "apples", "--index", "own.db", "--tag", "kind=stone", "--json").stdout)["hits"] == []
    )
    assert run("search", "apples", "--index", "own.db", "--words").stdout.startswith("fruit.md, line 3\n")
    rebuilt = run("index", "rebuild", "--index", "own.db", "--provider", "openai", "--model", "other")
    assert rebuilt.stdout == "1 added\n"
    refused = run("search", "apples", "--index", "own.db", *MODEL)
    assert refused.exit_code == 2
    assert "are of openai/other" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "apples"), "There is no index"),
        (("index", "list", "--index", "none.db"), "There is no index none.db"),
        (("index", "add", "no/such/folder", *MODEL), "does not exist.\nName a folder or a file that exists."),
        (("index", "add", "papers", "--tag", "kind", *MODEL), "--tag: 'kind' is not a tag"),
        (("search", "apples", "--index", "papers/fruit.md"), "damaged, or not an index"),
        (("embed", "papers/fruit.md", "-o", "vectors.txt", *MODEL), "has no known ending"),
        (("embed", "none.txt", "-o", "vectors.npz", *MODEL), "none.txt"),
        (("embed", "none.txt", "--lines", "-o", "vectors.npz", *MODEL), "none.txt cannot be read"),
        (("embed", "papers/empty.txt", "--lines", "-o", "vectors.npz", *MODEL), "nothing to embed"),
    ],
)
def test_what_is_wrong_ends_with_one_error_and_exit_code_2(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not Path("vectors.npz").exists()


def test_lines_and_files_become_vectors_with_their_texts():
    Path("questions.txt").write_text("red apples\n\ngreen pears\n")
    result = run("embed", "questions.txt", "--lines", "-o", "q.npz", *MODEL)
    assert result.stdout == "q.npz\n"
    assert "openai/m: 2 x 256, 2 tokens" in result.stderr
    kept = numpy.load("q.npz")
    assert kept["vectors"].shape == (2, 256)
    assert list(kept["texts"]) == ["red apples", "green pears"]
    assert list(kept["lines"]) == [1, 3]
    assert run("embed", "-", "papers/fruit.md", "-o", "q.jsonl", "--quiet", *MODEL, stdin="plums").stderr == ""
    rows = [json.loads(line) for line in Path("q.jsonl").read_text().splitlines()]
    assert [row["file"] for row in rows] == ["stdin", "papers/fruit.md"]
    assert len(rows[0]["vector"]) == 256
    made = json.loads(run("embed", "questions.txt", "-o", "q.jsonl", "--json", *MODEL).stdout)
    assert (made["vectors"], made["dimensions"], made["model"]) == (1, 256, "openai/m")


def test_many_lines_are_embedded_in_batches_and_counted(monkeypatch):
    Path("many.txt").write_text("".join(f"line {number}\n" for number in range(5000)))
    seen: list[CallProgress] = []
    monkeypatch.setattr("abstractcore_cli.embedding.progress_shown", lambda silent: nullcontext(seen.append))
    result = run("embed", "many.txt", "--lines", "-o", "q.npz", *MODEL)
    assert "openai/m: 5,000 x 256" in result.stderr
    assert numpy.load("q.npz")["vectors"].shape == (5000, 256)
    assert len(seen) > 1
    assert [each.done for each in seen] == sorted({each.done for each in seen})
    assert (seen[-1].done, seen[-1].total, seen[-1].what) == (5000, 5000, "5,000 of 5,000 texts embedded")


@pytest.mark.parametrize("ending", [".npz", ".jsonl"])
def test_file_stays_as_it_was_if_vectors_cannot_be_written(monkeypatch, ending):
    Path(f"q{ending}").write_text("before")
    before = sorted(Path().iterdir())

    def full(path: Path, *arguments: object) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setitem(_WRITERS, ending, full)
    result = run("embed", "papers/fruit.md", "-o", f"q{ending}", *MODEL)
    assert result.exit_code == 2
    assert "cannot be written: No space left on device" in result.stderr
    assert f"it goes on with the vectors in q{ending}.unfinished." in result.stderr
    assert Path(f"q{ending}").read_text() == "before"
    assert {*Path().iterdir()} - {*before} == {Path(f"q{ending}.unfinished")}


@pytest.mark.skipif(sys.platform != "linux", reason="uses /proc, where nobody can make files")
def test_folder_that_cannot_be_written_is_one_error_before_anything_is_embedded(monkeypatch, capfd):
    monkeypatch.setattr("abstractcore_cli.embedding._embedded", None)
    result = run("embed", "papers/fruit.md", "-o", "/proc/q.npz", *MODEL)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "error: /proc/q.npz cannot be written: No such file or directory.",
        "Name another file: --output FILE.",
    ]
    assert capfd.readouterr().err == ""


def test_a_configured_cache_is_used_in_place_of_an_unfinished_file(tmp_path, monkeypatch):
    settings = f'[llm.embedding]\nmodel = "openai/m"\noptions.embed_cache = "{tmp_path / "own.db"}"\n'
    Path("settings.toml").write_text(settings)
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(tmp_path / "settings.toml"))
    assert run("embed", "papers/fruit.md", "-o", "q.npz").stdout == "q.npz\n"
    with closing(EmbeddingCache(tmp_path / "own.db")) as cache:
        assert cache.count() == 1


def test_a_parquet_table_is_read_by_pyarrow():
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    assert run("embed", "papers/fruit.md", "-o", "q.parquet", *MODEL).exit_code == 0
    (row,) = parquet.read_table("q.parquet").to_pylist()
    assert row["text"].startswith("# Fruit")
    assert len(row["vector"]) == 256
