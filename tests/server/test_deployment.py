"""The files for nginx, systemd and Docker: linters read them, and a real nginx passes a stream on."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import trustme
from websockets.sync.client import unix_connect

from abstractcore_server import ServerLimits, ServerSettings, Settings
from abstractcore_server.process import IDLE_SECONDS
from tests.chaos_server import LAST_CHUNK, PATIENCE_SECONDS, chunk, completion, delta, stream_head
from tests.server.serving import Served, serving
from tests.server.test_process import ASK, LAST_PIECE

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
DEPLOYMENT = ROOT / "deployment"
NAME = "llm.example.com"
BODY_BYTES = 10_000


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    settings = Settings(ServerSettings(hosts=(NAME,)), ServerLimits(body_bytes=BODY_BYTES))
    with serving(settings) as served:
        yield served


@pytest.fixture(scope="module")
def served_by_nginx(running: Served) -> Iterator[tuple[Path, ssl.SSLContext]]:
    """The socket of an nginx in front of the server, and what its clients trust."""
    authority = trustme.CA()
    with nginx(running.url, authority, {}) as address:
        yield address, ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())


@pytest.fixture(scope="module")
def proxied(running: Served) -> Iterator[httpx2.Client]:
    """A client that reaches the server through nginx."""
    with through_nginx(running.url) as client:
        yield client


@contextmanager
def through_nginx(url: str, changes: Mapping[str, str] | None = None) -> Generator[httpx2.Client]:
    """Runs nginx during `with`, with texts of its file replaced as `changes` says; yields a client that it serves."""
    authority = trustme.CA()
    with nginx(url, authority, changes or {}) as address:
        context = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
        transport = httpx2.HTTPTransport(uds=str(address), verify=context)
        with httpx2.Client(transport=transport, base_url=f"https://{NAME}", timeout=PATIENCE_SECONDS) as client:
            yield client


@contextmanager
def nginx(url: str, authority: trustme.CA, changes: Mapping[str, str]) -> Generator[Path]:
    """Runs nginx with the file of the deployment during `with`; yields its Unix socket."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    # The name of a socket is short: not in pytest's folder.
    with tempfile.TemporaryDirectory(prefix="nginx-") as name:
        folder = Path(name)
        configuration = _configuration(folder, url, authority, changes)
        command = [program, "-p", name, "-c", configuration, "-e", folder / "errors.log"]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        assert "warn" not in checked.stderr
        subprocess.run(command, check=True, timeout=PATIENCE_SECONDS)  # returns when it listens
        try:
            yield folder / "nginx.sock"
        finally:
            subprocess.run([*command, "-s", "stop"], check=True, timeout=PATIENCE_SECONDS)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while (folder / "pid").exists():
                assert time.monotonic() < deadline, "nginx did not end"


def _configuration(folder: Path, url: str, authority: trustme.CA, changes: Mapping[str, str]) -> Path:
    """Writes the configuration, with addresses and files of the test in place of those of the deployment."""
    certificate = authority.issue_cert(NAME)
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    site = (DEPLOYMENT / "nginx.conf").read_text()
    for written, ours in {
        "127.0.0.1:8000": url.removeprefix("http://"),
        "listen 443 ssl": f"listen unix:{folder}/nginx.sock ssl",
        f"/etc/ssl/certs/{NAME}.pem": str(folder / "cert.pem"),
        f"/etc/ssl/private/{NAME}.key": str(folder / "key.pem"),
        **changes,
    }.items():
        assert written in site
        site = site.replace(written, ours)
    (folder / "site.conf").write_text(site)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""  # who may open the socket's folder
    main = folder / "main.conf"
    main.write_text(
        f"{user}pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}include {folder}/site.conf;\n}}\n"
    )
    return main


@pytest.mark.parametrize(
    "buffering",
    ["proxy_buffering off; proxy_ignore_headers X-Accel-Buffering;", "proxy_buffering on;"],
    ids=["by the configuration alone", "by the server's header alone"],
)
def test_stream_goes_through_nginx_as_it_comes(served: Served, buffering: str):
    """Each of the two is enough: with neither, nginx keeps the first piece until the stream ends."""
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
    with (
        through_nginx(served.url, {"proxy_buffering off;": buffering}) as proxied,
        proxied.stream("POST", "/v1/chat/completions", json=ASK) as response,
    ):
        pieces = response.iter_bytes()
        seen = next(pieces)
        assert b"Bon" in seen  # though the vendor has not sent the rest
        gate.open()
        assert b"jour" in seen + b"".join(pieces)


def test_nginx_lets_the_largest_form_in(proxied: httpx2.Client):
    content = b"x" * (BODY_BYTES - len("vision"))
    assert proxied.post("/v1/files", data={"purpose": "vision"}, files={"file": content}).json()["bytes"] == len(
        content
    )


def test_websocket_connection_goes_through_nginx(served: Served, served_by_nginx: tuple[Path, ssl.SSLContext]):
    path, context = served_by_nginx
    served.script("Bonjour.")
    with unix_connect(str(path), f"wss://{NAME}/v1/responses", ssl=context, proxy=None) as connection:
        connection.send(json.dumps({"type": "response.create", "model": "scripted", "input": "hi"}))
        while json.loads(connection.recv(PATIENCE_SECONDS))["type"] != "response.completed":
            pass


def test_errors_through_nginx_are_those_of_the_server(served: Served, proxied: httpx2.Client):
    served.vendor.script(completion("hi"))
    whole = {**ASK, "stream": False}
    assert proxied.post("/v1/chat/completions", json=whole).json()["choices"][0]["message"]["content"] == "hi"
    for size in (BODY_BYTES + 1, 100 * BODY_BYTES, 1000 * BODY_BYTES):  # also of those that are still being sent
        large = proxied.post("/v1/chat/completions", content=b" " * size)
        assert (large.status_code, large.json()["error"]["type"]) == (413, "invalid_request_error")
    other = proxied.post("/v1/chat/completions", json=whole, headers={"host": "other.example.com"})
    assert other.status_code == 403


def test_counts_are_not_shown_to_other_machines(served: Served, proxied: httpx2.Client):
    assert proxied.get("/metrics").status_code == 403


def test_nginx_closes_connections_before_the_server_does():
    seconds = re.search(r"keepalive_timeout (\d+)s;", (DEPLOYMENT / "nginx.conf").read_text())
    assert seconds
    assert int(seconds[1]) < IDLE_SECONDS


def test_unit_of_systemd_is_valid(tmp_path: Path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed: apt-get install systemd")
    unit = tmp_path / "abstractcore.service"
    text = (DEPLOYMENT / unit.name).read_text()
    assert "/opt/abstractcore/bin/abstractcore" in text
    unit.write_text(text.replace("/opt/abstractcore/bin/abstractcore", str(Path(sys.executable).resolve())))
    checked = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    ours = [line for line in checked.stderr.splitlines() if unit.name in line]
    assert (checked.returncode, ours) == (0, [])


def test_image_is_built_of_extras_and_files_that_exist():
    extras = re.search(r"^ARG EXTRAS=(\S+)$", (DEPLOYMENT / "Dockerfile").read_text(), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extras
    assert {*extras[1].split(",")} <= {*project["optional-dependencies"]}
    context = re.findall(r"^!(.+)$", (DEPLOYMENT / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    files = [project["readme"], *project["license-files"]]
    assert [each for each in files if not {each, each.partition("/")[0]} & {*context}] == []
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {package.partition("/")[0] for package in wheel["packages"]} <= {*context}
    assert all(next(ROOT.glob(pattern), None) for pattern in context)


def test_dockerfile_passes_its_linter():
    linter = Path(sys.executable).parent / "hadolint"
    if not linter.exists():
        pytest.skip("hadolint is not installed: it comes with the group dev")
    command = [linter, "--no-color", DEPLOYMENT / "Dockerfile"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, "")
