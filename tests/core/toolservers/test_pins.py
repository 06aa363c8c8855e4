"""Files of pins that several servers, threads and processes write."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ConfigurationError, ToolSpec
from abstractcore.toolservers import Definition, definitions
from abstractcore.toolservers.definitions import Pins

SECONDS_FOR_THE_OTHER = 0.3


def definition(name: str, description: str = "") -> Definition:
    return Definition.of(name, ToolSpec(name, description, {"type": "object"}))


def test_pins_of_two_servers_at_once_are_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each reads the file and writes it back: the second begins while the first is between the two."""
    path, read = tmp_path / "pins.json", definitions._read
    is_between, has_ended = threading.Event(), threading.Event()
    first, second = Pins("shop", path), Pins("bank", path)

    def slow_read(path: Path) -> Any:
        found = read(path)
        if threading.current_thread() is not threading.main_thread():
            is_between.set()
            has_ended.wait(SECONDS_FOR_THE_OTHER)  # the other waits for the lock, and cannot end before
        return found

    monkeypatch.setattr(definitions, "_read", slow_read)
    thread = threading.Thread(target=first.pin, args=(definition("price"),))
    thread.start()
    is_between.wait()
    second.pin(definition("pay"))
    has_ended.set()
    thread.join()
    assert {server: list(tools) for server, tools in json.loads(path.read_text()).items()} == {
        "bank": ["pay"],
        "shop": ["price"],
    }


def test_pin_keeps_those_that_another_process_added(tmp_path: Path):
    path = tmp_path / "pins.json"
    first, second = Pins("shop", path), Pins("shop", path)
    first.pin(definition("price", "trusted since"))
    second.pin(definition("order"))
    assert list(json.loads(path.read_text())["shop"]) == ["order", "price"]
    assert Pins("shop", path).trusts(definition("price", "trusted since"))
    assert not Pins("shop", path).trusts(definition("price", "changed"))


def test_folder_that_does_not_exist_is_an_error(tmp_path: Path):
    path = tmp_path / "none" / "pins.json"
    with pytest.raises(ConfigurationError, match=r"the pins of tools cannot be written to .*pins\.json"):
        Pins("shop", path).pin(definition("price"))
