"""Later provider files in the user's folder: checked as a whole, then replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ConfigurationError
from abstractcore.catalogue import FileCatalogue
from abstractcore.catalogue.updates import CatalogueChange, read_source
from abstractcore.ports import CatalogueFile
from tests.catalogue_files import write_file

OLD = ({"model": "one", "context_tokens": 1}, {"model": "two"}, {"model": "same", "checked": "2026-10-01"})
NEW = (
    {"model": "one", "context_tokens": 2},
    {"model": "same", "checked": "2026-12-01"},
    {"model": "three", "prices": [{"rates": {"input": "1", "output": "2"}}]},
)


@pytest.fixture
def catalogue(tmp_path: Path) -> FileCatalogue:
    return catalogue_at(tmp_path)


def catalogue_at(folder: Path) -> FileCatalogue:
    """Two providers, as installed."""
    installed = folder / "installed"
    installed.mkdir(exist_ok=True)
    files = {
        name: CatalogueFile(name, write_file(installed / f"{name}.jsonl", *OLD, provider=name, as_of="2026-11-22"))
        for name in ("acme", "other")
    }
    return FileCatalogue(lambda: files, {"ABSTRACTCORE_MODELS": ""}, updates=folder / "data" / "catalogue")


def source_of(folder: Path, *rows: Mapping[str, Any] | str, as_of: str | None = "2026-12-20") -> Path:
    """Returns a folder with a file of the provider `acme`."""
    (folder / "new" / "catalogue").mkdir(parents=True, exist_ok=True)
    header = {"as_of": as_of} if as_of else {}
    write_file(folder / "new" / "catalogue" / "acme.jsonl", *rows, **header)
    return folder / "new"


def zipped(folder: Path, name: str = "new.whl") -> Path:
    with zipfile.ZipFile(folder.parent / name, "w") as archive:
        for path in folder.rglob("*.jsonl"):
            archive.write(path, f"some_package/{path.relative_to(folder)}")
    return folder.parent / name


@pytest.mark.parametrize("form", ["folder", "flat folder", "wheel"])
def test_update_of_a_source_is_used_afterwards(catalogue: FileCatalogue, tmp_path: Path, form: str):
    source = source_of(tmp_path, *NEW)
    source = {"folder": source, "flat folder": source / "catalogue", "wheel": zipped(source)}[form]
    (change,) = catalogue.update(read_source(source))
    assert change == CatalogueChange(
        "acme", date(2026, 11, 22), date(2026, 12, 20), added=("three",), removed=("two",), changed=("one",)
    )
    assert change.is_later
    after = catalogue_at(tmp_path)
    assert after.profile("acme", "one").context_tokens == 2
    assert not after.profile("acme", "two").known
    assert after.profile("other", "two").known
    assert os.listdir(tmp_path / "data") == ["catalogue"]


def test_second_update_keeps_the_files_of_other_providers(catalogue: FileCatalogue, tmp_path: Path):
    catalogue.update(read_source(source_of(tmp_path, *NEW)))
    write_file(tmp_path / "b.jsonl", *NEW, provider="other", as_of="2026-12-24")
    only = tmp_path / "only"
    only.mkdir()
    (tmp_path / "b.jsonl").rename(only / "other.jsonl")
    catalogue_at(tmp_path).update(read_source(only))
    after = catalogue_at(tmp_path)
    assert after.profile("acme", "one").context_tokens == after.profile("other", "one").context_tokens == 2


@pytest.mark.parametrize("as_of", ["2026-11-22", "2026-11-01", None])
def test_file_that_is_not_later_replaces_nothing(catalogue: FileCatalogue, tmp_path: Path, as_of: str | None):
    (change,) = catalogue.update(read_source(source_of(tmp_path, *NEW, as_of=as_of)))
    assert not change.is_later
    assert not (tmp_path / "data").exists()


def test_file_of_a_provider_that_is_not_installed_is_left_out(catalogue: FileCatalogue, tmp_path: Path):
    source = source_of(tmp_path, *NEW)
    write_file(source / "catalogue" / "third.jsonl", "not JSON", provider="third", as_of="2026-12-20")
    assert [change.provider for change in catalogue.update(read_source(source))] == ["acme"]
    assert os.listdir(tmp_path / "data" / "catalogue") == ["acme.jsonl"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"model": "bad", ', "acme.jsonl:5:18: not JSON: "),
        ({"model": "bad", "later_fact": 1}, "later_fact: no such field"),
        ({"model": "bad", "like": ["none"]}, "like: no template is called 'none'. It may be damaged, or for a later"),
        (
            {"model": "bad", "alias_of": "bad"},
            "alias_of: the aliases bad -> bad have no end. It may be damaged, or for a",
        ),
        (
            {"model": "bad", "prices": [{"rates": {"input": "-1", "output": "1"}}]},
            r"prices\[0\].rates.input: '-1' is not ",
        ),
        (
            {"model": "bad", "prices": [{"rates": {"input": "1", "output": "1"}}] * 2},
            r"prices\[1\]: is valid at the same time as prices\[0\]",
        ),
    ],
)
def test_one_error_in_one_file_changes_nothing(
    catalogue: FileCatalogue, tmp_path: Path, row: Mapping[str, Any] | str, message: str
):
    catalogue.update(read_source(source_of(tmp_path, *NEW)))
    before = (tmp_path / "data" / "catalogue" / "acme.jsonl").read_bytes()
    source = source_of(tmp_path, *NEW, row, as_of="2026-12-30")
    write_file(source / "catalogue" / "other.jsonl", *NEW, provider="other", as_of="2026-12-30")
    with pytest.raises(ConfigurationError, match=message):
        catalogue_at(tmp_path).update(read_source(source))
    assert (tmp_path / "data" / "catalogue" / "acme.jsonl").read_bytes() == before
    assert os.listdir(tmp_path / "data" / "catalogue") == ["acme.jsonl"]


def test_folder_that_cannot_be_written_is_an_error_and_stays(catalogue: FileCatalogue, tmp_path: Path):
    (tmp_path / "data").write_text("a file in the way")
    with pytest.raises(ConfigurationError, match=r"cannot be written: .+\. Each of its files is as before, or new\."):
        catalogue.update(read_source(source_of(tmp_path, *NEW)))
    assert (tmp_path / "data").read_text() == "a file in the way"


def test_files_are_on_the_disk_before_they_are_in_their_places(
    catalogue: FileCatalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    synced: dict[int, int] = {}
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        state = os.fstat(descriptor)
        synced[state.st_ino] = state.st_size

    monkeypatch.setattr(os, "fsync", noted)
    catalogue.update(read_source(source_of(tmp_path, *NEW)))
    state = (tmp_path / "data" / "catalogue" / "acme.jsonl").stat()
    assert synced == {state.st_ino: state.st_size}


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ('{"model": "one", "tols": 5}', r"acme\.jsonl:2:18: model 'one': tols: no such field\. Did you mean tools\? "),
        (
            '{"model": "one", "prices": [{"rates": {}, "sure": 1}]}',
            r"acme\.jsonl:2:\d+: model 'one': prices\[0\]\.sure: ",
        ),
        ('{"model": "one", "alias_of": "none"}', r"acme\.jsonl:2:18: alias 'one': alias_of: "),
        ('{"model": "one"}\n{"model": "one"}', r"acme\.jsonl:3:1: two rows for the model 'one'"),
        ('{"family": "one", "cache_points": "x"}', r"acme\.jsonl:2:19: family 'one': cache_points: "),
    ],
)
def test_every_error_in_a_file_of_an_update_names_the_way_out(tmp_path: Path, damage: str, problem: str):
    path = tmp_path / "data" / "catalogue" / "acme.jsonl"
    path.parent.mkdir(parents=True)
    write_file(path, damage, as_of="2099-01-01")
    with pytest.raises(ConfigurationError, match=problem) as raised:
        catalogue_at(tmp_path).models("acme").price_rows("one" if '"model"' in damage else "one-x")
        catalogue_at(tmp_path).profile("acme", "one" if '"model"' in damage else "one-x")
    assert str(raised.value).endswith(f"Delete {path}, or run `abstractcore catalogue update`.")


ROOT = Path(__file__).parents[3]
KILLED = """
import os, sys
from pathlib import Path
from abstractcore.catalogue.updates import read_source
from tests.core.catalogue.test_updates import catalogue_at

renames = iter(range(int(sys.argv[2])))
sys.addaudithook(lambda event, _: event == "os.rename" and next(renames, None) is None and os._exit(9))
catalogue_at(Path(sys.argv[1])).update(read_source(Path(sys.argv[1]) / "new"))
"""


@pytest.mark.process
@pytest.mark.parametrize("renames", range(3))
def test_update_that_is_killed_leaves_the_file_of_the_one_before_or_its_own(tmp_path: Path, renames: int):
    catalogue_at(tmp_path).update(read_source(source_of(tmp_path, *NEW)))
    source_of(tmp_path, {"model": "one", "context_tokens": 3}, as_of="2026-12-30")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(renames)], cwd=ROOT, check=False)
    assert (ended.returncode, catalogue_at(tmp_path).profile("acme", "one").context_tokens) in ((9, 2), (0, 3))


def test_updates_of_several_providers_at_the_same_time_are_all_kept(tmp_path: Path):
    names = [f"p{number}" for number in range(4)]
    sources: dict[str, Path] = {}
    for name in names:
        sources[name] = tmp_path / name
        sources[name].mkdir()
        write_file(sources[name] / f"{name}.jsonl", *NEW, provider=name, as_of="2026-12-20")
    installed = {name: write_file(tmp_path / f"{name}.jsonl", *OLD, provider=name) for name in names}
    files = {name: CatalogueFile(name, path) for name, path in installed.items()}
    for number in range(20):
        updates = tmp_path / "data" / str(number)
        barrier = threading.Barrier(len(names))

        def update(name: str, updates: Path = updates, barrier: threading.Barrier = barrier) -> None:
            catalogue = FileCatalogue(lambda: files, {"ABSTRACTCORE_MODELS": ""}, updates=updates)
            barrier.wait()
            catalogue.update(read_source(sources[name]))

        with ThreadPoolExecutor(len(names)) as pool:
            list(pool.map(update, names))
        assert sorted(os.listdir(updates)) == [f"{name}.jsonl" for name in names]


def test_damaged_update_is_named_with_a_way_out_and_the_next_update_replaces_it(tmp_path: Path):
    damaged = tmp_path / "data" / "catalogue" / "acme.jsonl"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b'{"provider": "acme", "as_of": "2026-12-')
    with pytest.raises(ConfigurationError, match=r"acme\.jsonl:1:31: not JSON.*Delete .*acme\.jsonl, or run `abstr"):
        catalogue_at(tmp_path).profile("acme", "one")
    catalogue_at(tmp_path).update(read_source(source_of(tmp_path, *NEW)))
    assert catalogue_at(tmp_path).profile("acme", "one").context_tokens == 2


@pytest.mark.parametrize("damage", ['{"provider": "acme", "as_', '{"model": "one", "tools": 5}'])
@pytest.mark.parametrize("as_of", ["2026-11-22", "2026-11-01", None])
def test_damaged_update_is_replaced_by_a_file_that_is_not_later(tmp_path: Path, damage: str, as_of: str | None):
    damaged = write_file(tmp_path / "acme.jsonl", damage, as_of="2026-12-24")
    (tmp_path / "data" / "catalogue").mkdir(parents=True)
    damaged.rename(tmp_path / "data" / "catalogue" / "acme.jsonl")
    (change,) = catalogue_at(tmp_path).update(read_source(source_of(tmp_path, *NEW, as_of=as_of)))
    assert change.repaired
    assert not change.is_later
    after = catalogue_at(tmp_path)
    assert after.profile("acme", "one").context_tokens == 1
    (change,) = after.update(read_source(source_of(tmp_path, *NEW, as_of=as_of)))
    assert not change.repaired


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"new\.whl does not exist\. Pass a wheel, a zip file, a folder or a URL\."),
        (b"not a zip file", r"new\.whl is not a readable wheel or zip file: .+\. Download it again\."),
        (
            b"PK\x05\x06" + bytes(18),
            r"new\.whl has no catalogue: expected files such as catalogue/PROVIDER\.jsonl\. Is ",
        ),
    ],
)
def test_source_without_a_catalogue_is_an_error(tmp_path: Path, content: bytes | None, message: str):
    if content is not None:
        (tmp_path / "new.whl").write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        read_source(tmp_path / "new.whl")


def test_damaged_archive_is_an_error(tmp_path: Path):
    path = zipped(source_of(tmp_path, *NEW))
    data = bytearray(path.read_bytes())
    data[80] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match="is not a readable wheel or zip file"):
        read_source(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archive_with_any_damage_is_an_error(tmp_path: Path, method: int):
    path = tmp_path / "new.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("catalogue/acmé.jsonl", '{"provider": "acme"}\n' * 50)
    whole = path.read_bytes()
    for number in range(len(whole)):
        path.write_bytes(whole[:number] + bytes([whole[number] ^ 0xFF]) + whole[number + 1 :])
        with suppress(ConfigurationError):  # the damage may be where nothing depends on it
            read_source(path)


def test_archive_with_many_files_is_not_read_whole(tmp_path: Path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(9):
            archive.writestr(f"{number}/catalogue/acme.jsonl", b" " * (8 << 20))
    with pytest.raises(ConfigurationError, match=r"bomb\.zip has more than 64 MiB of catalogues\."):
        read_source(path)


def test_name_that_no_file_can_have_is_an_error():
    with pytest.raises(ConfigurationError, match="does not exist"):
        read_source(Path("x" * 5000))


@pytest.mark.parametrize("exists", [False, True])
def test_symbolic_link_to_the_folder_stays_one(catalogue: FileCatalogue, tmp_path: Path, exists: bool):
    link, folder = tmp_path / "data" / "catalogue", tmp_path / "elsewhere"
    link.parent.mkdir()
    link.symlink_to(folder)
    if exists:
        folder.mkdir()
    catalogue.update(read_source(source_of(tmp_path, *NEW)))
    assert link.is_symlink()
    assert os.listdir(folder) == ["acme.jsonl"]


def test_huge_member_of_an_archive_is_not_read_whole(tmp_path: Path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("catalogue/acme.jsonl", b" " * (64 << 20))
    with pytest.raises(ConfigurationError, match=r"acme\.jsonl is larger than 16 MiB"):
        read_source(path)
