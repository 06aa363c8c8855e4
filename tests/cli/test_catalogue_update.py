"""`abstractcore catalogue update`: from a folder, a URL, or the newest wheel of the package index."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.ports import CatalogueFile
from abstractcore.registry import Registry
from abstractcore_cli import catalogues
from abstractcore_cli.app import app
from tests.catalogue_files import write_file
from tests.chaos_server import answer, failure

NEW = ({"model": "one", "context_tokens": 2}, *({"model": f"new-{number}"} for number in range(10)))


@pytest.fixture(autouse=True)
def updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed catalogue of one provider, and a user's data folder; the folder of updates."""
    registry = Registry()
    installed = write_file(tmp_path / "acme.jsonl", {"model": "one", "context_tokens": 1}, as_of="2026-11-22")
    registry.add_catalogue(CatalogueFile("acme", installed))
    monkeypatch.setattr(catalogues, "registry", lambda: registry)
    monkeypatch.setattr("platformdirs.user_data_path", lambda name, author=None: tmp_path / "data" / name)
    return tmp_path / "data" / "abstractcore" / "catalogue"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel of a later version, which has no code."""
    new = write_file(tmp_path / "new.jsonl", *NEW, as_of="2026-12-20")
    path = tmp_path / "wheels" / "abstractcore-99.0-py3-none-any.whl"
    path.parent.mkdir()
    info = "abstractcore-99.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(new, "abstractcore_providers/catalogue/acme.jsonl")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: abstractcore\nVersion: 99.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def update(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["catalogue", "update", *arguments])


def test_update_says_what_changed(updates: Path, wheel: Path):
    result = update(str(wheel))
    assert result.exit_code == 0, result.output
    assert result.stdout == "acme\t2026-12-20\t2026-11-22\t10\t0\t1\n"
    assert result.stderr.splitlines() == [
        "acme: new: new-0, new-1, new-2, new-3, new-4, new-5, new-6, new-7 and 2 more",
        "acme: changed: one",
        f"1 of 1 files are later than those in use: {updates}",
    ]
    assert (updates / "acme.jsonl").exists()
    again = update(str(wheel))
    assert again.stdout == ""
    assert again.stderr == f"0 of 1 files are later than those in use: {updates}\n"


def test_json_names_every_change(updates: Path, wheel: Path):
    data = json.loads(update(str(wheel), "--json").stdout)
    assert (data["folder"], data["exit_code"]) == (str(updates), 0)
    (provider,) = data["providers"]
    assert (provider["provider"], provider["updated"], provider["changed"]) == ("acme", True, ["one"])
    assert len(provider["added"]) == 10


@pytest.mark.process
def test_default_is_the_newest_wheel_of_the_index(updates: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(wheel.parent)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    result = update()
    assert result.exit_code == 0, result.output
    assert "acme\t2026-12-20\t2026-11-22\t10\t0\t1\n" in result.stdout
    assert (updates / "acme.jsonl").exists()


def write_wheel(path: Path, project: str, content: bytes) -> None:
    """Writes a wheel with one file of the catalogue."""
    path.parent.mkdir()
    info = f"{project}-99.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("abstractcore_providers/catalogue/acme.jsonl", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: 99.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.mark.process
@pytest.mark.parametrize(
    ("content", "place"),
    [
        (
            b'{"provider": "acme", "as_of": "2099-01-01"}\n{"model": "x", "tols": 1}\n',
            "acme.jsonl:2:16: model 'x': tols",
        ),
        (b'{"provider": "acme", "as_of": "2099-01-01"}\n{"model": "\xff"}\n', "acme.jsonl:2:12: not UTF-8"),
        (b"{", "acme.jsonl:1:2: not JSON"),
    ],
)
def test_invalid_file_is_named_by_its_wheel_and_its_path_in_it(
    updates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Any, content: bytes, place: str
):
    path = tmp_path / "index" / "abstractcore-99.0-py3-none-any.whl"
    write_wheel(path, "abstractcore", content)
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(path.parent)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    from_index = update()
    assert from_index.exit_code == 2
    member = f"abstractcore_providers/catalogue/{place}"
    assert from_index.stderr.splitlines()[1].startswith(f"error: the wheel of abstractcore 99.0/{member}")
    server.script(answer(path.read_bytes(), content_type="application/zip"))
    from_url = update(f"{server.url}/new.whl?token=a-secret")
    assert from_url.stderr.startswith(f"error: {server.url}/new.whl/{member}")
    assert update(str(path)).stderr.startswith(f"error: {path}/{member}")
    assert not updates.exists()


@pytest.mark.process
def test_wheel_of_another_project_is_named_with_what_to_type(
    updates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "other" / "abstractcore-2.9-py3-none-any.whl"
    path.parent.mkdir()
    info = "abstractcore-2.9.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other/catalogue/acme.jsonl", "{}")  # a catalogue of something else
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: abstractcore\nVersion: 2.9\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(path.parent)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    result = update()
    assert result.exit_code == 2
    assert result.stderr.splitlines()[1:] == [
        "error: the package index has abstractcore 2.9 without a catalogue: an earlier version, or another project of "
        "that name.",
        "Name the source: `abstractcore catalogue update SOURCE`, with a wheel of this project, a zip file, a folder "
        "or a URL.",
    ]
    assert not updates.exists()


def test_damaged_file_of_an_update_is_replaced_and_named(updates: Path, tmp_path: Path):
    updates.mkdir(parents=True)
    (updates / "acme.jsonl").write_text("{")
    same = tmp_path / "same"
    same.mkdir()
    shutil.copy(tmp_path / "acme.jsonl", same)
    result = update(str(same))
    assert "damaged files were replaced: acme\n" in result.stderr


@pytest.mark.process
def test_wheel_that_the_index_does_not_have_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    result = update("--json")
    assert result.exit_code == 2
    assert "abstractcore could not be downloaded" in json.loads(result.stdout)["error"]["message"]


def test_source_may_be_a_url_that_redirects(server: Any, updates: Path, wheel: Path):
    server.script(b"HTTP/1.1 302 Found\r\nlocation: /files/new.whl\r\ncontent-length: 0\r\n\r\n")
    server.script(answer(wheel.read_bytes(), content_type="application/zip"))
    result = update(f"{server.url}/latest?token=a-secret")
    assert result.exit_code == 0, result.output
    assert [request.target for request in server.requests] == ["/latest?token=a-secret", "/files/new.whl"]
    assert (updates / "acme.jsonl").exists()


@pytest.mark.parametrize(
    ("scripted", "message"),
    [
        (failure(404, "no"), "/x answers with HTTP status 404."),
        (
            b"HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n",
            "/x redirects to file:///etc/pas",
        ),
        (
            b"HTTP/1.1 302 Found\r\nlocation: http://[::1?a-secret\r\ncontent-length: 0\r\n\r\n",
            "/x redirects to http://[::1.",
        ),
        (answer(b"<html>", content_type="text/html"), "/x is not a readable wheel or zip file"),
    ],
)
def test_url_without_a_catalogue_is_an_error_without_its_query(
    server: Any, updates: Path, scripted: bytes, message: str
):
    server.script(scripted)
    result = update(f"{server.url}/x?token=a-secret")
    assert result.exit_code == 2
    assert message in result.stderr
    assert "a-secret" not in result.output
    assert not updates.exists()


def test_endless_redirects_end(server: Any):
    for _ in range(6):
        server.script(b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n")
    result = update(f"{server.url}/x")
    assert (result.exit_code, len(server.requests)) == (2, 6)
    assert "redirects more than 5 times." in result.stderr


def test_text_that_is_no_url_is_an_error():
    result = update("http://[::1/x.whl?a-secret")
    assert (result.exit_code, "http://[::1/x.whl is not a URL: " in result.stderr) == (2, True)
    assert "a-secret" not in result.output


def test_server_that_cannot_be_reached_is_exit_code_4_with_a_hint_for_this_command():
    result = update("http://127.0.0.1:1/x.whl")
    assert result.exit_code == 4
    assert result.stderr.endswith("\nCheck the URL, and that this machine can reach it.\n")


def test_download_that_takes_too_long_ends(server: Any, updates: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstractcore_cli.catalogue_updates._MOST_SECONDS", -1)
    server.script(answer(wheel.read_bytes(), content_type="application/zip"))
    result = update(f"{server.url}/new.whl")
    assert (result.exit_code, "/new.whl takes longer than -1 s." in result.stderr) == (2, True)
    assert not updates.exists()


def test_empty_source_is_not_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheel: Path):
    monkeypatch.chdir(wheel.parent)
    result = update("")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: the source is empty.\nPass a wheel")


@pytest.mark.parametrize("source", ["nowhere", "."])
def test_source_without_files_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    result = update(source)
    assert result.exit_code == 2
    assert "does not exist" in result.stderr if source == "nowhere" else "has no catalogue" in result.stderr
