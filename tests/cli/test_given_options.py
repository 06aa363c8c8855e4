"""Commands in hints look where the command that failed has looked."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstractcore import InvalidInputError
from abstractcore.traces import TraceStore
from abstractcore_cli.app import app
from abstractcore_cli.given_options import repeated_in_hints, with_option
from abstractruntime import Runtime


def error_of(typed: str, **environment: str) -> str:
    result = CliRunner(env=environment).invoke(app, shlex.split(typed))
    assert result.exit_code in (1, 2), result.output
    return result.stderr.rstrip().splitlines()[-1]


def test_listed_runs_are_those_of_the_given_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for file in ("team runs.db", "runs.db"):
        Runtime(f"sqlite:///{file}").close()
    hint = "List the runs: abstractcore runs list"
    assert error_of("runs show nope --store 'team runs.db'") == f"{hint} --store 'team runs.db'"
    assert error_of("runs show nope") == hint
    assert error_of("runs show nope", ABSTRACTRUNTIME_STORE="team runs.db") == hint


def test_listed_traces_are_those_of_the_given_store(tmp_path: Path):
    store = tmp_path / "traces.db"
    traces = TraceStore(store)
    assert traces.calls() == []
    traces.close()
    hint = error_of(f"traces show nope --store {store}", ABSTRACTCORE_TRACES_STORE="")
    assert hint == f"Run `abstractcore traces list --store {store}`."


def test_listed_keys_are_those_of_the_given_database(tmp_path: Path):
    database = f"sqlite:///{tmp_path}/server.db"
    hint = error_of(f"keys revoke nope --database {database}")
    assert hint == f"To see them: abstractcore keys list --database {database}."


def test_index_to_make_is_the_given_one(tmp_path: Path):
    index = tmp_path / "team.db"
    assert error_of(f"search hi --index {index}") == f"Make it: abstractcore index add FOLDER --index {index}."


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ("Run `abstractcore runs list`: it lists them.", "Run `abstractcore runs list --store a`: it lists them."),
        ("List them: abstractcore runs list", "List them: abstractcore runs list --store a"),
        ("abstractcore runs list --store b", "abstractcore runs list --store b"),
        ("Run `abstractcore doctor`.", "Run `abstractcore doctor`."),
    ],
)
def test_option_is_put_at_the_end_of_the_command(hint: str, expected: str):
    assert with_option(hint, "runs", "--store a") == expected


def test_password_of_a_database_is_not_repeated():
    with (
        pytest.raises(InvalidInputError) as caught,
        repeated_in_hints("runs", "--store", "postgresql://ann:secret@host/runs", "NO_SUCH_VARIABLE"),
    ):
        raise InvalidInputError("no", hint="abstractcore runs list")
    assert caught.value.hint == "abstractcore runs list --store URL"
