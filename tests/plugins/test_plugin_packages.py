"""Plugins as users install them: wheels of their own beside ours, at work, in each other's way, and gone again."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.packages import ROOT, Environment, build_wheel, run

pytestmark = pytest.mark.process

HELLO = ROOT / "examples" / "plugin_hello"
HOOKS = {
    "provider": "register_providers",
    "media handler": "register_media_handlers",
    "capability": "register_capabilities",
    "tool source": "register_tools",
    "trace subscriber": "register_trace_subscribers",
}
GREETED = {
    "provider": "hello from the server",
    "media handler": "These people come: Ann Bob",
    "capability": "Hi, Ann!",
    "tool source": ["greet", "Hello, Ann!"],
    "trace subscriber": ["scripted/told: done"],
}
MISSING = {
    "provider": "UnknownProviderError",
    "media handler": "Ann Bob",
    "capability": "UnknownOptionError",
    "tool source": "InvalidInputError",
    "trace subscriber": [],
}
"""What using `plugin_hello` gives with it and without it."""

USE = """
import asyncio, json, logging, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from abstractcore import Services, ToolCall, create_llm

class Answers(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "hello from the server"}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments): ...

def provider():
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        llm = create_llm("hello/small", base_url=f"http://127.0.0.1:{server.server_port}/v1")
        return llm.generate("hi", timeout=30).content

def media_handler():
    Path("party.guests").write_text("Ann Bob")
    llm = create_llm("scripted", replies=["a"])
    llm.generate("Who comes?", media=["party.guests"])
    return llm.calls[0].messages[0].text.splitlines()[1]

def capability():
    return create_llm("scripted", replies=[], hello_word="Hi").capability("hello")("Ann")

def tool_source():
    services = Services()
    (spec,) = create_llm("scripted", replies=[], services=services).build("hi", tools=["greeters"]).tools
    result = asyncio.run(services.registry.tool_source("greeters").call(ToolCall("1", spec.name, '{"name": "Ann"}')))
    return spec.name, result.content[0].text

def trace_subscriber():
    services, lines = Services(), []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("hello").addHandler(handler)
    create_llm("scripted/told", replies=["a"], services=services).generate("hi")
    assert services.records.flush(30)
    return [line for line in lines if "told" in line]

def outcome(use):
    try:
        return use()
    except Exception as error:
        return type(error).__name__

logging.getLogger("hello").propagate = False
uses = [provider, media_handler, capability, tool_source, trace_subscriber]
print(json.dumps({use.__name__.replace("_", " "): outcome(use) for use in uses}))
"""


QUIET = """
from abstractcore.registry import hookimpl

@hookimpl
def register_tools():
    return """


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Our own wheel and what it needs, away from this checkout."""
    environment = Environment(tmp_path_factory.mktemp("plugins") / "venv")
    environment.install(build_wheel(ROOT, tmp_path_factory.mktemp("abstractcore")))
    folder = tmp_path_factory.mktemp("home")
    # Writes the bytecode of what the tests import: they write none, and would compile it again and again.
    run(environment.python, "-c", USE, cwd=folder, env={"HOME": str(folder), "PATH": os.defpath})
    return environment


@pytest.fixture
def installed(environment: Environment) -> Callable[..., AbstractContextManager[None]]:
    """`with installed(*wheels)`: they are there inside, and gone without a trace afterwards."""

    def files() -> set[Path]:
        return set(environment.python.parents[1].rglob("*"))

    @contextmanager
    def installed(*wheels: Path) -> Iterator[None]:
        before = files()
        environment.install(*wheels)
        try:
            yield
        finally:
            environment.uninstall(*(wheel.name.split("-")[0] for wheel in wheels))
        assert files() == before

    return installed


@pytest.fixture
def python(environment: Environment, tmp_path: Path) -> Callable[..., str]:
    """`python(*arguments)` runs it in an empty folder."""
    env = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"}

    def python(*arguments: str, code: int = 0) -> str:
        return run(environment.python, "-W", "error", *arguments, cwd=tmp_path, env=env, code=code)

    return python


@pytest.fixture
def use(python: Callable[..., str]) -> Callable[[], dict[str, Any]]:
    """What comes of using one thing of each kind."""
    return lambda: json.loads(python("-c", USE))


@pytest.fixture
def plugins(python: Callable[..., str]) -> Callable[..., dict[str, Any]]:
    """What `abstractcore plugins` prints, by the plugin's name."""

    def plugins(code: int = 0) -> dict[str, Any]:
        plugin_rows = json.loads(python("-m", "abstractcore", "plugins", "--json", code=code))
        return {row["name"]: row for row in plugin_rows["plugins"]}

    return plugins


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`make(name, code)` gives the wheel of a plugin, made once."""
    made: dict[str, Path] = {}

    def make(name: str, code: str, *, requires: str = "abstractcore>=0.1,<1") -> Path:
        if name not in made:
            source = tmp_path_factory.mktemp(name)
            project = (HELLO / "pyproject.toml").read_text().replace("plugin-hello", name).replace("plugin_hello", name)
            project = project.replace("hello = ", f"{name} = ").replace("abstractcore>=0.1,<1", requires)
            (source / "pyproject.toml").write_text(project)
            (source / f"{name}.py").write_text(code)
            made[name] = build_wheel(source, tmp_path_factory.mktemp(f"{name}-wheel"))
        return made[name]

    return make


def only(kind: str) -> str:
    """The code of `plugin_hello` with the hook for one kind."""
    module = ast.parse((HELLO / "plugin_hello.py").read_text())
    others = {hook for other, hook in HOOKS.items() if other != kind}
    module.body = [node for node in module.body if not isinstance(node, ast.FunctionDef) or node.name not in others]
    return ast.unparse(module)


def named(kind: str) -> str:
    return f"only_{kind.replace(' ', '_')}"


@pytest.mark.parametrize("kind", HOOKS)
def test_plugin_of_each_kind_works_from_its_wheel_and_can_be_uninstalled(kind, make, installed, use):
    with installed(make(named(kind), only(kind))):
        assert use() == {**MISSING, kind: GREETED[kind]}
    assert use() == MISSING


def test_example_plugin_has_five_kinds_in_under_eighty_lines(make, installed, use, plugins):
    lines = [line for file in HELLO.iterdir() if file.is_file() for line in file.read_text().splitlines()]
    assert len([line for line in lines if line.strip()]) < 80
    with installed(make("plugin_hello", (HELLO / "plugin_hello.py").read_text())):
        assert use() == GREETED
        hello = plugins()["plugin_hello"]
    assert (hello["distribution"], hello["error"]) == ("plugin_hello 1.0", None)
    assert [kind for kind, _ in hello["registered"]] == list(HOOKS)


def test_five_plugins_work_together_and_a_conflicting_one_is_refused(make, installed, use, plugins):
    wheels = [make(named(kind), only(kind)) for kind in HOOKS]
    with installed(*wheels, make("plugin_hello", (HELLO / "plugin_hello.py").read_text())):
        assert use() == GREETED
        plugin_rows = plugins(code=2)
    assert [plugin_rows[named(kind)]["error"] for kind in HOOKS] == [None] * 5
    assert plugin_rows["plugin_hello"]["registered"] == []
    assert plugin_rows["plugin_hello"]["error"] == (
        "two plugins register a provider called 'hello': plugin 'only_provider' of only_provider 1.0 and "
        "plugin 'plugin_hello' of plugin_hello 1.0. The first one is used. Uninstall one of them: pip uninstall PACKAGE"
    )


def test_broken_slow_and_newer_plugins_are_reported_without_affecting_others(make, installed, use, plugins):
    bad = {
        "a_broken": make("a_broken", "import no_such_library"),
        "a_exiting": make("a_exiting", "raise SystemExit('no')"),
        "a_newer": make("a_newer", only("provider"), requires="abstractcore>=99"),
        "a_rubbish": make("a_rubbish", f"{QUIET}[1]"),
        "a_slow": make("a_slow", f"import time\ntime.sleep(0.6)\n{QUIET}"),
    }
    with installed(*bad.values(), make("plugin_hello", (HELLO / "plugin_hello.py").read_text())):
        used, plugin_rows = use(), plugins(code=2)
    assert used == GREETED
    errors = {name: plugin_rows[name]["error"] for name in bad}
    assert errors.pop("a_slow") is None
    assert plugin_rows["a_slow"]["slow"] is True
    assert errors == {
        "a_broken": "ModuleNotFoundError: No module named 'no_such_library'",
        "a_exiting": "SystemExit: no",
        "a_newer": (
            "it is for another version: it requires abstractcore>=99, and this is 0.1.0. "
            "Install a release of a_newer for this version, or uninstall it: pip uninstall a_newer"
        ),
        "a_rubbish": "register_tools returns a int, not a tool source: it lacks name, summary, tools, call.",
    }
    assert [plugin_rows[name]["error"] for name in ("media", "providers", "plugin_hello")] == [None] * 3
