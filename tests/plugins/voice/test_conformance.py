"""All backends keep the rules of the conformance suite; the command skips those without a key."""

from __future__ import annotations

import os
import sys

import pytest

from abstractcore.stores.models import FileModelStore
from abstractcore.testing.http_server import ScriptedServer
from abstractcore.testing.plugin import check_backends
from abstractvoice.plugin import register
from tests.packages import run
from tests.plugins.voice.remote.fakes import BASES, FAKES, KEY

LOCAL = "abstractvoice:local"


@pytest.mark.process
@pytest.mark.weights
def test_package_passes_the_command_for_authors(models: FileModelStore):
    env = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}
    env["ABSTRACTCORE_CACHE"] = str(models.root.parent.resolve())
    command = ["-W", "error", "-m", "abstractcore.testing.plugin", "abstractvoice", LOCAL, "abstractvoice:deepgram"]
    lines = run(sys.executable, *command, env=env).splitlines()
    checks = [(line.split()[0], line.split()[1].rstrip(":")) for line in lines[:-1]]
    assert [line for line in lines[:-1] if f"{LOCAL}: tts" in line and not line.startswith("ok ")] == []
    assert ("skipped", "abstractvoice:deepgram") in checks
    assert " 0 failed, " in lines[-1]


@pytest.mark.parametrize("name", FAKES)
def test_backends_of_vendors_pass_at_their_servers(name: str, server: ScriptedServer):
    server.always_by(FAKES[name]().script)
    options = {"voice_base_url": server.url + BASES.get(name, ""), "voice_api_key": KEY}
    checks = check_backends(register, options=options, backends=[f"abstractvoice:{name}"])
    assert [check.what for check in checks if check.outcome != "ok"] == []
    assert len(checks) >= 5
