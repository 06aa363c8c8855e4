"""What a server writes on disk with everything turned on: only the user that runs it may read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from abstractcore_server.metrics import SharedFolder
from abstractcore_server.store import Keys, Store
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer, completion
from tests.leftovers import wait_until
from tests.server.test_process import ASK, started

DATABASES = {f"{name}.db{end}" for name in ("server", "responses") for end in ("", "-shm", "-wal")}


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """Programs that do not choose the rights of their files give all of them to everyone."""
    before = os.umask(0)
    yield
    os.umask(before)


def shared_paths(folder: Path) -> dict[str, str]:
    """Returns what others than the owner may use below a folder, with its rights."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # a part of a file that has got its name meanwhile
            mode = path.lstat().st_mode
            found |= {str(path.relative_to(folder)): stat.filemode(mode)} if mode & 0o077 else {}
    return found


def configured(folder: Path, vendor: ScriptedServer, workers: int) -> tuple[str, ...]:
    """Returns the arguments of a server that writes receipts and an audit log."""
    file = folder.with_suffix(".toml")
    file.write_text(
        f'[server]\nreceipts = "{folder}/logs/receipts"\naudit_log = "{folder}/audit.jsonl"\n'
        f'[providers.openai-compatible]\nbase_url = "{vendor.url}/v1"\noptions.max_retries = 0\n'
    )
    return ("--config", str(file), "--workers", str(workers))


def use(http: httpx2.Client, vendor: ScriptedServer) -> str:
    """Lets a server store one of each; returns the id of a trace that has a receipt."""
    vendor.script(completion("of a chat"))
    vendor.script(completion("that is stored"))
    facts = {"bytes": 2, "filename": "a.txt", "mime_type": "text/plain", "purpose": "user_data"}
    upload = http.post("/v1/uploads", json=facts)
    answers = [
        upload,
        http.post("/v1/chat/completions", json={**ASK, "stream": False}),
        http.post(f"/v1/uploads/{upload.json()['id']}/parts", files={"data": b"ab"}),
        http.post("/v1/responses", json={"model": ASK["model"], "input": "hi"}),
        http.post("/v1/conversations", json={}),
        http.post("/v1/files", data={"purpose": "user_data"}, files={"file": ("a.txt", b"ab")}),
    ]
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    return answers[1].headers["x-abstractcore-trace-id"]


@pytest.mark.process
@pytest.mark.parametrize("workers", [1, 2])
def test_only_the_user_may_read_what_a_server_writes(tmp_path: Path, server: ScriptedServer, workers: int):
    folder = tmp_path / "written"
    folder.mkdir()
    store = Store(folder / "abstractcore" / "server.db")
    headers = {"authorization": f"Bearer {Keys(store).create('alice').secret}"}
    store.close()
    places = {name: str(folder) for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    with (
        started(*configured(folder, server, workers), **places) as process,
        httpx2.Client(base_url=process.url, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS) as http,
    ):
        receipt = folder / "logs" / "receipts" / use(http, server) / "receipt.json"
        assert wait_until(receipt.exists)
        assert shared_paths(folder) == {}
        names = {path.name for path in folder.rglob("*")}
    assert names >= {*DATABASES, "audit.jsonl"}
    assert workers == 1 or any(name.endswith(".live.json") for name in names)
    assert len(names) > 15  # with the folders, and the bodies of receipts


def test_only_the_user_may_read_what_workers_know_of_each_other(tmp_path: Path):
    folder = SharedFolder(tmp_path, "one")
    folder.save({})
    folder.bury("one")
    folder.bury("two")
    assert len([*tmp_path.iterdir()]) == 2
    assert shared_paths(tmp_path) == {}
