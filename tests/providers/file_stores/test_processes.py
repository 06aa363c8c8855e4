"""Uploads in forked children, and in processes that share a folder of ids and upload the same file at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.stores.artifacts import FolderStoredFiles
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.concurrency.test_threads_and_loops import in_fork
from tests.media.parts import FILES
from tests.providers.file_stores.fakes import STORES, running

pytestmark = pytest.mark.process

PDF = FILES / "two_pages.pdf"
_, MODEL, API = STORES["anthropic"]
PROGRAM = """
import sys
from abstractcore import Services, create_llm
from abstractcore.stores.artifacts import FolderStoredFiles

url, model, folder, path = sys.argv[1:]
services = Services(environment={}, stored_files=FolderStoredFiles(folder))
llm = create_llm("anthropic", model=model, base_url=url, api_key="key-1", services=services, file_store="always")
print(llm.generate("What is it?", media=[path]).media[0].stored)
services.close()
"""


@pytest.fixture
def store():
    with running("anthropic") as store:
        yield store


def gated(store: Any, count: int) -> list[Any]:
    """Gates of the answers to the next `count` uploads."""
    gates = [store.server.gate() for _ in range(count)]
    left, steps = list(gates), store._steps
    store.server.always_by(
        lambda request: (left.pop(0), *steps(request)) if left and request.target == "/v1/files" else steps(request)
    )
    return gates


def test_forked_child_does_not_wait_for_an_upload_of_its_parent(store):
    services = Services(environment={})
    url = f"{store.server.url}{API}"
    llm = create_llm("anthropic", model=MODEL, base_url=url, api_key="key-1", services=services, file_store="always")
    (gate,) = gated(store, 1)
    found: list[Any] = []
    uploading = threading.Thread(target=lambda: found.append(llm.generate("?", media=[PDF]).media[0].stored))
    uploading.start()
    gate.wait_until_reached()

    def child() -> None:
        assert llm.generate("?", media=[PDF]).media[0].stored == "uploaded"
        assert llm.generate("?", media=[PDF]).media[0].stored == "reused"

    in_fork(child)
    gate.open()
    uploading.join(PATIENCE_SECONDS)
    assert (found, store.uploads()) == (["uploaded"], 2)
    services.close()


def test_processes_that_upload_the_same_file_at_once_lose_no_id(store, tmp_path: Path):
    url, folder = f"{store.server.url}{API}", tmp_path / "index"
    gates = gated(store, 2)
    command = [sys.executable, "-W", "error", "-c", PROGRAM, url, MODEL, str(folder), str(PDF)]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in gates]
    for gate in gates:
        gate.wait_until_reached()
    for gate in gates:
        gate.open()
    printed = [program.communicate(timeout=PATIENCE_SECONDS)[0] for program in programs]
    assert printed == ["uploaded\n"] * 2
    services = Services(environment={}, stored_files=FolderStoredFiles(folder))
    llm = create_llm("anthropic", model=MODEL, base_url=url, api_key="key-1", services=services, file_store="always")
    assert {file.id for file in llm.files.list()} == set(store.files)
    assert llm.generate("?", media=[PDF]).media[0].stored == "reused"
    llm.files.delete(*llm.files.list())
    assert (store.files, llm.files.list(), store.uploads()) == ({}, (), 2)
    services.close()
