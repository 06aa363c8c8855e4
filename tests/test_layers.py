"""The architecture's layers, as import-linter's contracts in pyproject.toml state them."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "abstractcore": ".",
    "abstractcore_cli": "cli",
    "abstractcore_media": "media",
    "abstractcore_providers": "providers",
    "abstractcore_server": "server",
}
STRAY_IMPORTS = {
    "abstractcore.schema.stray_up": "abstractcore.ports",
    "abstractcore.schema.stray_library": "pydantic",
    "abstractcore.stray_http": "httpx2",
    "abstractcore.stray_loop": "asyncio",
    "abstractcore.stray_protocol": "mcp",
    "abstractcore.stray_terminal": "typer",
    "abstractcore.stray_test": "hypothesis",
    "abstractcore.stray_telemetry": "opentelemetry",
    "abstractcore.stray_database": "sqlalchemy",
    "abstractcore.stray_door": "abstractcore",
    "abstractcore.stray_adapter": "abstractcore_media",
    "abstractcore_providers.stray_kernel": "abstractcore.stray_http",
    "abstractcore_providers.stray_sibling": "abstractcore_media",
    "abstractcore_providers.formats.stray_vendor": "abstractcore_providers.vendors.presets",
    "abstractcore_media.stray_kernel": "abstractcore.stray_http",
    "abstractcore_media.stray_sibling": "abstractcore_providers",
    "abstractcore_cli.stray_private": "abstractcore.client",
    "abstractcore_server.stray_private": "abstractcore.client",
}


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    paths = [root / parent for parent in PACKAGES.values()]
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports; exit(lint_imports(cache_dir=None))"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.process
def test_imports_respect_the_layers():
    result = lint_imports(ROOT)
    assert result.returncode == 0, f"\n{result.stdout}{result.stderr}"


@pytest.mark.process
def test_each_contract_catches_a_stray_import(tmp_path: Path):
    for package, parent in PACKAGES.items():
        folder = Path(parent, package)
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, imported in STRAY_IMPORTS.items():
        package, name = module.rsplit(".", 1)
        folder = tmp_path / PACKAGES[package.split(".")[0]] / package.replace(".", "/")
        (folder / f"{name}.py").write_text(f"import {imported}\n")

    report = lint_imports(tmp_path).stdout

    assert "Contracts: 0 kept," in report, f"\n{report}"
    missed = [module for module, imported in STRAY_IMPORTS.items() if f"{module} -> {imported} (" not in report]
    assert missed == [], f"\n{report}"


def test_page_and_picture_name_every_package_of_the_kernel():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("| package | what is in it |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])))
    packages = {path.parent.name for path in (ROOT / "abstractcore").glob("*/__init__.py")} | {"errors"}
    assert named == packages
    drawn = set(re.findall(r">([a-z]+)</text>", (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8")))
    assert packages <= drawn


def test_modules_named_on_the_pages_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    page += (ROOT / "docs" / "finding-things.md").read_text(encoding="utf-8").partition("## Where to add what")[2]
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", page)
    places = (
        "",
        "abstractcore",
        "cli/abstractcore_cli",
        "providers/abstractcore_providers",
        "media/abstractcore_media",
        "server/abstractcore_server",
    )
    missing = [path for path in paths if not any((ROOT / place / path).exists() for place in places)]
    assert len(paths) > 15
    assert missing == []


def test_the_kernel_has_at_most_65_000_lines_of_code():
    """Docstrings, comments and blank lines are not counted: they are written to be read, not to be kept few."""
    lines = sum(lines_of_code(path.read_text(encoding="utf-8")) for path in (ROOT / "abstractcore").rglob("*.py"))
    assert 40_000 < lines <= 65_000


def lines_of_code(source: str) -> int:
    """Returns how many lines of a module are neither blank nor comments nor texts that stand alone."""
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(source.splitlines(), 1)
    return sum(
        1 for number, line in lines if line.strip() and not line.lstrip().startswith("#") and number not in texts
    )
