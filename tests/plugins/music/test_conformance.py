"""All backends keep the rules of the conformance suite; those without a key, a server or weights are skipped."""

from __future__ import annotations

import os
import sys

import pytest

from abstractcore.testing.plugin import check_backends
from abstractmusic.plugin import register
from tests.packages import run
from tests.plugins.music.remote import fakes
from tests.plugins.music.remote.conftest import FAKES
from tests.plugins.vendor_server import VendorServer

USABLE = {"abstractmusic:score", "abstractmusic:rules"}
"""What works without a key, a server or weights."""


@pytest.mark.process
def test_package_passes_the_command_for_authors():
    hidden = ("_KEY", "_TOKEN")
    env = {name: value for name, value in os.environ.items() if not name.endswith(hidden)}
    chosen = ("abstractmusic", *sorted(USABLE), "abstractmusic:elevenlabs", "abstractmusic:musicgen")
    printed = run(sys.executable, "-W", "error", "-m", "abstractcore.testing.plugin", *chosen, env=env)
    assert printed.splitlines()[-1] == "16 ok, 0 failed, 8 skipped"
    assert {line.split()[1].rstrip(":") for line in printed.splitlines() if line.startswith("skipped")} == {
        "abstractmusic:elevenlabs",
        "abstractmusic:musicgen",
    }


@pytest.mark.parametrize("name", FAKES)
def test_backends_of_vendors_pass_at_their_servers(name: str):
    with VendorServer() as vendor:
        FAKES[name](vendor)
        options = {"music_base_url": vendor.url, "music_api_key": fakes.KEY}
        checks = check_backends(register, options=options, backends=[f"abstractmusic:{name}"])
    assert [check.what for check in checks if check.outcome != "ok"] == []
    assert len(checks) == 5
