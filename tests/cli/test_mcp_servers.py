"""`abstractcore mcp list` and `mcp call`, on a real server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from tests.core.mcp.conftest import SHOP, shops_start_quickly  # noqa: F401 - a fixture of this module
from tests.leftovers import _module_leaves_nothing  # noqa: F401 - a fixture of this module

pytestmark = pytest.mark.process


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_list_prints_a_table_or_json(tmp_path: Path):
    listed = invoke("mcp", "list", "--", *SHOP)
    assert listed.exit_code == 0
    assert "shop\tprice\tread-only\tThe price of an item in cents.\n" in listed.stdout
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"tea": {"command": SHOP[0], "args": SHOP[1:], "only": ["price"]}}}))
    [tool] = json.loads(invoke("mcp", "list", "--config", str(path), "--json").stdout)["tools"]
    assert (tool["server"], tool["name"], tool["read_only"]) == ("tea", "price", True)


def test_call_prints_the_result():
    called = invoke("mcp", "call", "price", '{"item": "tea"}', "--", *SHOP)
    assert (called.exit_code, called.stdout) == (0, "300\n")
    step = json.loads(invoke("mcp", "call", "price", '{"item": "tea"}', "--json", "--", *SHOP).stdout)
    assert (step["outcome"], step["result"], step["data"]["structuredContent"]) == ("done", "300", {"result": 300})
    failed = invoke("mcp", "call", "fail", "--", *SHOP)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert re.fullmatch("error: .*sold out\n", failed.stderr)


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["list"], 2, "Give --url URL, --config FILE, or -- COMMAND"),
        (["list", "--url", "http://127.0.0.1:1/mcp"], 4, "cannot be reached"),
        (["list", "--config", "/no/such.json"], 2, "cannot be read"),
        (["list", "--url", "http://a", "--header", "k"], 2, "expected --header NAME=VARIABLE"),
        (["list", "--url", "http://a", "--header", "k=NO_SUCH"], 2, "variable NO_SUCH of --header k is not set"),
        (["call", "price", "[1]", "--url", "http://a"], 2, "the arguments are not a JSON object"),
        (["call", "price", "item=tea", "--", *SHOP], 2, """--: '{"item": "tea"}' -- COMMAND"""),
        (["call", "price", "item=tea", "n=3", "--", *SHOP], 2, """'{"item": "tea", "n": 3}' -- COMMAND"""),
        (["call", "price", "{}", "python", "shop.py"], 2, "Give one JSON object, and a program after --"),
        (["call", "price", "{", "--url", "http://a"], 2, "the arguments are not JSON"),
        (["call", "price", "--", "/no/such"], 4, "No such file"),
        (["call", "prise", "--", *SHOP], 2, "error: there is no tool 'prise'. Did you mean price?"),
        (["call", "xyzzy", "--", *SHOP], 2, "error: there is no tool 'xyzzy'. The tools are: die, die_once, fail"),
        (["list", "--url", "http://127.0.0.1:1/mcp"], 4, "Nothing has answered at 127.0.0.1:1. Start the server there"),
        (["call", "order", '{"item": "tea"}', "--", *SHOP], 1, "When do you need the tea?"),
    ],
)
def test_error_is_a_line_with_hint_and_exit_code(arguments: list[str], code: int, problem: str):
    result: Any = invoke("mcp", *arguments)
    assert (result.exit_code, "Traceback" in result.output) == (code, False)
    assert problem in " ".join(result.output.split())


def test_servers_that_cannot_be_reached_are_reported_beside_the_others(tmp_path: Path):
    servers = {"shop": {"command": SHOP[0], "args": SHOP[1:], "only": ["price"]}, "gone": {"command": "/no/such"}}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    result = invoke("mcp", "list", "--config", str(path))
    assert (result.exit_code, "price" in result.stdout, "gone cannot be reached" in result.stderr) == (4, True, True)
    called = invoke("mcp", "call", "price", "--config", str(path))
    assert (called.exit_code, "Add --server NAME" in called.stderr) == (2, True)
    assert invoke("mcp", "list", "--config", str(path), "--server", "shop").exit_code == 0
