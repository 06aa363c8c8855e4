"""What `abstractcore serve` answers in a second beside LiteLLM's proxy: both in front of one vendor, in turns.

LiteLLM is installed for it, about 600 MB, in `.cache/litellm`: it is measured only if it is named.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import clients
import gateway
from rounds import Row, Setup

_FOLDER = Path(__file__).parent.parent / ".cache" / "litellm"
_REQUIREMENTS = Path(__file__).parent / "litellm.txt"
_START_SECONDS = 300
_TIMES_FASTER = 8
_AT_ONCE = 16
_VARIABLES = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
"""It fetches no prices, and needs no key, as the gateway."""
_CALLS = 15


def litellm(setup: Setup) -> list[Row]:
    """The throughput and the added time of whole answers, beside LiteLLM's."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        vendor = stack.enter_context(gateway.running_vendor())
        served, _ = stack.enter_context(gateway.running_gateway(vendor, folder))
        other = stack.enter_context(_proxy(vendor, folder))
        return asyncio.run(_rows({"direct": vendor, "gateway": served, "litellm": other}, 1 if setup.quick else 3))


async def _rows(urls: dict[str, str], rounds: int) -> list[Row]:
    single: dict[str, list[float]] = {name: [] for name in urls}
    seconds = dict.fromkeys(urls, 0.0)
    for url in urls.values():
        await gateway.load(url, 2, 20)
    for _ in range(rounds):
        for name, url in urls.items():
            single[name] += await gateway.load(url, 1, 30)
            start = time.perf_counter()
            await gateway.load(url, _AT_ONCE, _CALLS)
            seconds[name] += time.perf_counter() - start
    middle = {name: statistics.median(each) for name, each in single.items()}
    return [
        Row(
            f"seconds for calls / LiteLLM's proxy, {_AT_ONCE} at once",
            seconds["gateway"],
            seconds["litellm"],
            goal=1 / _TIMES_FASTER,
        ),
        Row(
            "added, median, 1 at once / LiteLLM's proxy",
            middle["gateway"] - middle["direct"],
            middle["litellm"] - middle["direct"],
        ),
    ]


@contextmanager
def _proxy(vendor: str, folder: Path) -> Generator[str]:
    """Yields the address of LiteLLM's proxy once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    model = {"model": f"openai/{clients.MODEL}", "api_base": f"{vendor}/v1", "api_key": clients.KEY}
    config = folder / "litellm.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": clients.MODEL, "litellm_params": model}]}))
    command = [_installed(), "--config", config, "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    log = folder / "litellm.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **_VARIABLES}) as process,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/health/liveliness", process, log)
            yield url
        finally:
            process.terminate()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
        else:
            return
    raise RuntimeError(f"LiteLLM's proxy did not start:\n{log.read_text()[-2000:]}")


def _installed() -> Path:
    """Returns LiteLLM's command, which is installed with the versions of `litellm.txt` if it is missing."""
    command = _FOLDER / "bin" / "litellm"
    if not command.exists():
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, _FOLDER], check=True)
        overrides = [line for line in _REQUIREMENTS.read_text().splitlines() if re.match("litellm-", line)]
        (_FOLDER / "overrides.txt").write_text("\n".join(overrides))
        into = ["--python", _FOLDER / "bin" / "python", "--override", _FOLDER / "overrides.txt"]
        subprocess.run([uv, "pip", "install", "--quiet", *into, "-r", _REQUIREMENTS], check=True)
    return command
