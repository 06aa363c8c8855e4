"""A database that several programs use: servers of one or several processes, and `abstractcore keys`."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import stat
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstractcore_server.store import Keys, Store
from abstractcore_server.store.responses import Conversations
from tests.chaos_server import ScriptedServer
from tests.leftovers import wait_until
from tests.server.test_workers import Served, serving

pytestmark = pytest.mark.process

COMMANDS = ("create", "list", "rotate", "revoke")
SERVERS = [("sqlite", 1), ("sqlite", 2), ("sqlite", 4), ("postgresql", 2)]
KEY_PROGRAM = """
import json, sys
from typer.testing import CliRunner
from abstractcore_cli.app import app
for line in sys.stdin:
    result = CliRunner().invoke(app, ["keys", *json.loads(line), "--json"])
    print(json.dumps(json.loads(result.stdout)), flush=True)
"""
Clients = list[httpx2.Client]


class KeyProgram:
    """A process that runs commands of `abstractcore keys`: each opens the database, and closes it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, database: str, command: str, name: str) -> None:
        """Lets the process run a command, `name` is the key's."""
        assert self._process.stdin is not None
        arguments = [command, *([] if command == "list" else [name]), "--database", database]
        print(json.dumps(arguments), file=self._process.stdin, flush=True)

    def end(self) -> Any:
        """Returns the JSON data of the command that was begun."""
        assert self._process.stdout is not None
        data = json.loads(self._process.stdout.readline())
        assert data["exit_code"] == 0, data
        return data

    def run(self, database: str, command: str, name: str = "") -> Any:
        """Runs a command; returns its JSON data."""
        self.begin(database, command, name)
        return self.end()


@contextmanager
def key_program() -> Generator[KeyProgram]:
    command = [sys.executable, "-c", KEY_PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield KeyProgram(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(params=SERVERS, ids=lambda each: f"{each[0]}-{each[1]}")
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, int]:
    """The URL of a database, and the number of processes of the servers that use it."""
    kind, workers = request.param
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/server.db", workers
    return request.getfixturevalue("postgresql").url, workers


@pytest.fixture
def vendor() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@contextmanager
def opened(database: str) -> Generator[Store]:
    """Opens the database in this process, which is one more program."""
    store = Store(database)
    yield store
    store.close()


def removed_files(*servers: Served) -> list[str]:
    """Returns the database files that processes of servers have open and that have been deleted."""
    found: list[str] = []
    pending = [server.process.process.pid for server in servers]
    while pending:
        process = Path("/proc") / str(pending.pop())
        for task in (process / "task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
                pending += map(int, (task / "children").read_text().split())
        for file in (process / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # a file that has just been closed
                found.append(os.readlink(file))
    return [file for file in found if "server.db" in file and file.endswith("(deleted)")]


def clients_of(server: Served, stack: ExitStack) -> Clients:
    """Returns a client of each process of a server."""
    return list(server.clients(stack).values())


def statuses(clients: Clients, secret: str) -> set[int]:
    """Returns the statuses with which all processes answer a key: 404 is that of a valid one."""
    headers = {"authorization": f"Bearer {secret}"}
    return {http.get("/v1/conversations/conv_none", headers=headers).status_code for http in clients}


def check(clients: Clients, stored: list[str], *servers: Served) -> None:
    """Fails if a process has a deleted file open, or does not find what others have stored, before and now."""
    assert removed_files(*servers) == []
    stored += [http.post("/v1/conversations", json={}).json()["id"] for http in clients]
    for http, id in itertools.product(clients, stored):
        assert http.get(f"/v1/conversations/{id}").status_code == 200


def test_commands_for_keys_before_during_and_after_a_server(
    shared: tuple[str, int], vendor: ScriptedServer, tmp_path: Path
):
    database, workers = shared
    prefix = tmp_path.name
    stored: list[str] = []
    with key_program() as keys:
        secrets = {name: keys.run(database, "create", f"{prefix}-{name}")["secret"] for name in ("rotate", "revoke")}
        with serving(vendor, database, tmp_path, workers=workers) as server, ExitStack() as stack:
            clients = clients_of(server, stack)
            check(clients, stored, server)
            assert statuses(clients, secrets["revoke"]) == {404}  # which they take as valid for 5 seconds
            for command in COMMANDS:
                changed = keys.run(database, command, f"{prefix}-{command}")
                check(clients, stored, server)
                if command in secrets:
                    assert wait_until(lambda secret=secrets[command]: statuses(clients, secret) == {401})
                if "secret" in changed:
                    assert statuses(clients, changed["secret"]) == {404}
        states = {each["name"]: each["state"] for each in keys.run(database, "list")["keys"]}
    assert [states[f"{prefix}-{name}"] for name in ("create", "rotate", "revoke")] == ["valid", "valid", "revoked"]
    with opened(database) as store:
        conversations = Conversations(store, 1e9)
        assert all(conversations.find(f"name:{prefix}-admin", id) for id in stored)


def test_servers_that_begin_and_end_beside_others(shared: tuple[str, int], vendor: ScriptedServer, tmp_path: Path):
    database, workers = shared

    def begun(stack: ExitStack) -> tuple[Served, Clients]:
        folder = tmp_path / f"{tmp_path.name}-{next(numbers)}"
        folder.mkdir()
        server = stack.enter_context(serving(vendor, database, folder, workers=workers))
        return server, clients_of(server, stack)

    numbers, stored = itertools.count(), list[str]()
    with ExitStack() as first, ExitStack() as second, ExitStack() as third:
        ends_first, its_clients = begun(first)
        check(its_clients, [], ends_first)
        goes_on, clients = begun(second)
        check(its_clients, [], ends_first)
        check(clients, stored, ends_first, goes_on)
        first.close()
        check(clients, stored, goes_on)
        last, its_clients = begun(third)
        with opened(database) as store:
            keys = Keys(store)
            secrets = [keys.create(f"{tmp_path.name}-{name}").secret for name in ("valid", "revoked")]
            keys.revoke(f"{tmp_path.name}-revoked")
        check(clients, stored, goes_on, last)
        second.close()
        check(its_clients, [], last)
        assert [statuses(its_clients, secret) for secret in secrets] == [{404}, {401}]


def test_every_two_commands_for_keys_at_once(tmp_path: Path):
    """Begun by two processes at once, on a database that is missing unless a command needs a key."""
    pairs = list(itertools.product(COMMANDS, repeat=2))
    with key_program() as first, key_program() as second:
        for pair in pairs:
            folder = tmp_path / "-".join(pair)
            folder.mkdir()
            database = f"sqlite:///{folder}/server.db"
            for number, command in enumerate(pair):
                if command in ("rotate", "revoke"):
                    first.run(database, "create", f"{command}-{number}")
            for number, (program, command) in enumerate(zip((first, second), pair, strict=True)):
                program.begin(database, command, f"{command}-{number}")
            first.end()
            second.end()
            states = {each["name"]: each["state"] for each in first.run(database, "list")["keys"]}
            changed = {f"{command}-{number}": command for number, command in enumerate(pair) if command != "list"}
            assert states == {name: "revoked" if command == "revoke" else "valid" for name, command in changed.items()}
            assert [(file.name, stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()] == [
                ("server.db", 0o600)
            ]
    assert len(pairs) == 16
