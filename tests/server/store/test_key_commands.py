"""`abstractcore keys`: the real command, and its other uses in this process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore import Price, create_llm
from abstractcore.budgets import DatabaseLedger
from abstractcore_cli.app import app
from abstractcore_server.access.stored_keys import key_budgets
from abstractcore_server.store import Keys, Store
from tests.documents import ROOT

PAGE = ROOT / "docs" / "server-setup.md"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ABSTRACTCORE_SERVER_DATABASE", raising=False)
    return tmp_path


def json_of(*arguments: str) -> Any:
    """Returns what a command prints with `--json`."""
    result = CliRunner().invoke(app, ["keys", *arguments, "--json"])
    data = json.loads(result.stdout)
    assert data["exit_code"] == result.exit_code
    return data


@pytest.mark.process
def test_key_is_printed_once_and_found_by_its_name_and_prefix(data: Path):
    arguments = ["create", "alice", "--model", "openai/*", "--tag", "team=a", "--expires", "30d"]
    command = [sys.executable, "-m", "abstractcore", "keys", *arguments]
    created = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    secret = created.stdout.strip()
    assert "not shown again" in created.stderr
    assert "restart servers that were started without keys" in created.stderr
    (file,) = data.rglob("server.db")
    keys = Keys(Store(file))
    found = keys.find(secret)
    assert found is not None
    assert (found.name, found.models, found.tags) == ("alice", ("openai/*",), {"team": "a"})
    listed = CliRunner().invoke(app, ["keys", "list"])
    assert "alice" in listed.stdout
    assert found.prefixes[0] in listed.stdout
    rotated = json_of("rotate", "alice")["secret"]
    as_data = json_of("list")
    assert [key["name"] for key in as_data["keys"]] == ["alice"]
    assert secret not in listed.output + json.dumps(as_data)
    assert keys.find(secret) is None
    assert keys.find(rotated) is not None
    assert json_of("revoke", "alice")["key"]["state"] == "revoked"
    assert keys.find(rotated) is None
    named = CliRunner().invoke(app, ["keys", "create", "bob", "--database", f"sqlite:///{data}/named.db"])
    assert "restart" not in named.output  # a server with this database asks for keys already


def test_limits_of_dollars_are_kept_and_listed(data: Path):
    plain = CliRunner().invoke(app, ["keys", "create", "plain"])
    assert plain.exit_code == 0
    assert CliRunner().invoke(app, ["keys", "list"]).stdout.endswith("\tvalid\n")
    made = json_of("create", "ann", "--usd-per-day", "0.1", "--usd-per-month", "2.50")["key"]["limits"]
    assert (made["usd_per_day"], made["usd_per_month"]) == ("0.1", "2.5")
    rotated = json_of("rotate", "ann")["key"]["limits"]
    assert rotated == made
    listed = CliRunner().invoke(app, ["keys", "list"]).stdout.splitlines()
    assert [line.split("\t")[-5:] for line in listed] == [["valid", "0.1", "0", "2.5", "0"], ["valid", *"----"]]
    limits = {key["name"]: key["limits"] for key in json_of("list")["keys"]}
    assert limits == {"ann": made, "plain": dict.fromkeys(made)}
    store = Store(f"sqlite:///{data}/abstractcore/server.db")
    (per_day, _) = key_budgets(Keys(store).all()[0], DatabaseLedger(store))
    with per_day:
        create_llm("scripted", replies=["Yes."], price=Price(1, 1)).generate("Is it counted?")
    cost = f"{per_day.state().spent:f}"
    store.close()
    assert Decimal(cost) > 0
    assert [key["spent"] for key in json_of("list")["keys"]] == [{"day": cost, "month": "0"}, {}]
    assert CliRunner().invoke(app, ["keys", "list"]).stdout.splitlines()[0].endswith(f"\t0.1\t{cost}\t2.5\t0")
    refused = json_of("create", "bob", "--usd-per-day", "0")["error"]
    assert refused["message"].startswith("usd_per_day: expected US dollars above 0")
    assert json_of("create", "bob", "--usd-per-month", "nan")["exit_code"] != 0


def test_command_of_the_page_makes_a_key_with_limits(data: Path):
    (line,) = re.findall(r"^\$ abstractcore (keys create .*--usd.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    limits = json_of(*line.split()[1:])["key"]["limits"]
    assert (limits["usd_per_day"], limits["usd_per_month"]) == ("5", "50")


def test_errors_say_what_to_type(data: Path):
    date = json_of("create", "alice", "--expires", "soon")
    assert date["error"]["hint"] == "Write --expires 90d, 12h, 30m or 60s, or a date such as 2027-01-31."
    assert "in the past" in json_of("create", "alice", "--expires", "2001-01-01")["error"]["message"]
    assert "NAME=VALUE" in json_of("create", "alice", "--tag", "x")["error"]["hint"]
    assert "no key with the name" in json_of("revoke", "bob")["error"]["message"]
    nowhere = json_of("list", "--database", "sqlite:////nowhere/server.db")
    assert "cannot be used" in nowhere["error"]["message"]
