"""Firefox without a window, driven by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/): Playwright drives only a
Firefox of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from websockets.sync.client import ClientConnection, connect

from tests.chaos_server import PATIENCE_SECONDS

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
_ADDRESS = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
_SCHEMES: Final = {"dark": 0, "light": 1}
_KEYS: Final = {"Tab": "\ue004", "Enter": "\ue007", "Shift+Tab": "\ue008\ue004"}
_UNTIL = """(condition) => new Promise((resolve) => {
    const look = () => (condition() ? resolve(true) : requestAnimationFrame(look));
    look();
})"""


class Firefox:
    """A window of Firefox. `messages` are those of its console, `asked` the addresses that it asked."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._count = 0
        self.messages: list[str] = []
        self.asked: list[str] = []
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        # In the first tab the address bar has the focus: keys would press no buttons of a page.
        self._context = self.command("browsingContext.create", type="tab")["context"]

    def command(self, method: str, **parameters: Any) -> Any:
        """Sends a command; returns its result."""
        self._count += 1
        self._connection.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(4 * PATIENCE_SECONDS))
            if message.get("id") == self._count:
                assert message["type"] == "success", message
                return message["result"]
            if message.get("method") == "log.entryAdded":
                self.messages.append(message["params"]["text"])
            elif message.get("method") == "network.beforeRequestSent":
                self.asked.append(message["params"]["request"]["url"])

    def show(self, url: str, width: int, height: int) -> None:
        """Opens an address in a window of a size."""
        self.command("browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height})
        self.command("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def reload(self) -> None:
        """Loads the page anew, as a reader does."""
        self.command("browsingContext.reload", context=self._context, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression, or what its promise resolves to."""
        result = self.command(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))",
            target={"context": self._context},
            awaitPromise=True,
        )
        assert result["type"] == "success", result
        return json.loads(result["result"]["value"])

    def wait_until(self, condition: str) -> None:
        """Waits until an expression is true."""
        assert self.evaluate(f"({_UNTIL})(() => {condition})")

    def press(self, *keys: str) -> None:
        """Presses keys: characters, "Tab", "Enter" or "Shift+Tab"."""
        actions: list[dict[str, str]] = []
        for key in keys:
            values = _KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value} for value in values]
            actions += [{"type": "keyUp", "value": value} for value in reversed(values)]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.command("input.performActions", context=self._context, actions=[source])


@contextmanager
def firefox(profile: Path, scheme: Literal["light", "dark"] = "light") -> Generator[Firefox]:
    """Starts Firefox with an empty profile and a color scheme, and ends it."""
    assert FIREFOX is not None
    (profile / "user.js").write_text(
        f'user_pref("layout.css.prefers-color-scheme.content-override", {_SCHEMES[scheme]});\n'
        'user_pref("app.update.disabledForTesting", true);\n'
        'user_pref("remote.prefs.recommended", true);\n'
    )
    command = [FIREFOX, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    environment = {**os.environ, "HOME": str(profile)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        reading = threading.Thread(target=process.stderr.read)  # a full pipe would stop it
        try:
            address = next((match[1] for line in process.stderr if (match := _ADDRESS.search(line))), None)
            assert address is not None, "Firefox ended before it listened"
            reading.start()
            with connect(f"{address.decode()}/session", max_size=None) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()
            process.wait()
            if reading.ident:
                reading.join()
