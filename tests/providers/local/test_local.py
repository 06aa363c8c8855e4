"""The embedded model: real weights, real child processes, real deaths."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest

from abstractcore.errors import (
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    MissingExtraError,
    ModelCrashedError,
    ModelStoreError,
    StreamInterruptedError,
)
from abstractcore.ports import Address, ModelStore, ProviderConfig
from abstractcore.schema import WireRequest
from abstractcore.stores.models import FileModelStore
from abstractcore_providers.local import DEFAULT_MODEL, LocalProvider
from abstractcore_providers.local.endpoint import LocalEndpoint
from abstractcore_providers.local.servers import ServerPool
from tests.providers.sessions import Services

pytestmark = [pytest.mark.process, pytest.mark.weights]

pytest.importorskip("xllamacpp")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="watches processes through pidfd and /proc")

T = TypeVar("T")
CONTEXT = 512
DEADLINE = 30.0


class Inline:
    """The one method of a runtime that endpoints use."""

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        return function(*arguments)


def services_with(models: ModelStore) -> Any:
    return Services({}, models)


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    return caught.value.value


def opened(endpoint: LocalEndpoint) -> Address:
    return finish(endpoint.open(Inline()))  # type: ignore[arg-type]


def post(address: Address, prompt: str = "Say hi.", **extra: object) -> httpx2.Response:
    body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": 4, **extra}
    request = WireRequest(f"{address.url}/chat/completions", {}, json.dumps(body).encode())
    signed = address.auth.sign(request, 0.0)
    return httpx2.post(signed.url, content=signed.body, headers=dict(signed.headers), timeout=DEADLINE)


def pid_of(endpoint: LocalEndpoint) -> int:
    assert endpoint._server
    return endpoint._server.pid


def ends(pid: int) -> bool:
    """Whether the process, which need not be a child, ends before the deadline."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], DEADLINE)[0])
    finally:
        os.close(descriptor)


@pytest.fixture(scope="module")
def pool(models: FileModelStore) -> Iterator[ServerPool]:
    """With a user of the process that most tests share, which would end with each of them else."""
    pool = ServerPool()
    user = LocalEndpoint(DEFAULT_MODEL, CONTEXT, 1, services_with(models), pool)
    opened(user)
    yield pool
    pool.close()


@pytest.fixture
def make(models: FileModelStore, pool: ServerPool) -> Callable[..., LocalEndpoint]:
    def make(model: str = DEFAULT_MODEL, context: int = CONTEXT, pool: ServerPool = pool) -> LocalEndpoint:
        return LocalEndpoint(model, context, 1, services_with(models), pool)

    return make


@pytest.fixture
def endpoint(make: Callable[..., LocalEndpoint]) -> LocalEndpoint:
    return make()


@pytest.fixture
def weights(models: FileModelStore) -> Path:
    return models.path(DEFAULT_MODEL)


def test_reply_has_the_model_name_given_by_the_user(endpoint: LocalEndpoint) -> None:
    reply = post(opened(endpoint)).json()
    assert reply["choices"][0]["message"]["content"]
    assert reply["model"] == DEFAULT_MODEL
    assert reply["usage"]["completion_tokens"] <= 4


@pytest.mark.smoke
def test_streams(endpoint: LocalEndpoint) -> None:
    text = post(opened(endpoint), stream=True).text
    assert text.count("data: ") > 2
    assert text.endswith("data: [DONE]\n\n")


def test_requests_without_the_key_are_refused(endpoint: LocalEndpoint) -> None:
    address = opened(endpoint)
    assert address.url.startswith("http://127.0.0.1:")
    for path in ("/chat/completions", "/completions"):
        assert httpx2.post(address.url + path, json={"prompt": "x", "messages": []}).status_code == 401


@needs_linux
def test_key_is_not_in_arguments_environment_or_logs(endpoint: LocalEndpoint) -> None:
    opened(endpoint)
    assert endpoint._server
    key = endpoint._server.key.encode()
    process = Path(f"/proc/{pid_of(endpoint)}")
    assert key not in (process / "cmdline").read_bytes() + (process / "environ").read_bytes()


def test_equal_settings_share_a_process(make: Callable[..., LocalEndpoint]) -> None:
    first, second, other = make(), make(), make(context=1024)
    assert opened(first) == opened(second)
    assert pid_of(first) == pid_of(second)
    opened(other)
    assert pid_of(other) != pid_of(first)


def test_threads_that_start_concurrently_share_a_process(models: FileModelStore) -> None:
    pool = ServerPool()
    endpoints = [LocalEndpoint(DEFAULT_MODEL, CONTEXT, 1, services_with(models), pool) for _ in range(4)]
    with ThreadPoolExecutor() as threads:
        addresses = list(threads.map(opened, endpoints))
    assert len({address.url for address in addresses}) == 1
    assert len({pid_of(endpoint) for endpoint in endpoints}) == 1
    pool.close()


@pytest.mark.parametrize("context", [CONTEXT, 9000], ids=["fits the model", "more than the model was trained on"])
def test_too_long_prompt_is_refused_not_truncated(make: Callable[..., LocalEndpoint], context: int) -> None:
    response = post(opened(make(context=context)), "word " * 10_000)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["type"] == "exceed_context_size_error"
    assert error["n_ctx"] == min(context, 8192)


def test_full_context_ends_the_reply(make: Callable[..., LocalEndpoint]) -> None:
    reply = post(opened(make(context=256)), "word " * 215, max_tokens=500, ignore_eos=True).json()
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["total_tokens"] <= 256


def test_ctrl_c_is_left_to_the_parent(endpoint: LocalEndpoint) -> None:
    address = opened(endpoint)
    assert os.getsid(pid_of(endpoint)) != os.getsid(0)
    os.kill(pid_of(endpoint), signal.SIGINT)
    assert post(address).status_code == 200
    assert opened(endpoint) == address


@needs_linux
@pytest.mark.parametrize(
    ("number", "hint"), [(signal.SIGKILL, "ran out of memory"), (signal.SIGSEGV, "The next call starts a new one")]
)
def test_killed_child_is_named_and_the_next_call_works(
    endpoint: LocalEndpoint, number: signal.Signals, hint: str
) -> None:
    old = opened(endpoint)
    os.kill(pid_of(endpoint), number)
    assert ends(pid_of(endpoint))
    with pytest.raises(httpx2.TransportError):
        post(old)
    error = endpoint.diagnose(StreamInterruptedError("cut"))
    assert isinstance(error, ModelCrashedError)
    assert f"was killed by {number.name}" in str(error)
    assert hint in str(error)
    assert ("MiB are free" in str(error)) == (number == signal.SIGKILL)
    assert (error.provider, error.model, error.retryable) == ("local", DEFAULT_MODEL, False)
    new = opened(endpoint)
    assert new.url != old.url
    assert post(new).status_code == 200


def test_errors_of_a_live_child_are_unchanged(make: Callable[..., LocalEndpoint]) -> None:
    error = BadRequestError("no")
    endpoint = make()
    assert endpoint.diagnose(error) is error
    opened(endpoint)
    assert endpoint.diagnose(error) is error
    broken = ConnectionFailedError("reset")
    assert endpoint.diagnose(broken) is broken


def test_truncated_weights_are_an_error_with_the_log_of_llama_cpp(
    make: Callable[..., LocalEndpoint], tmp_path: Path, weights: Path
) -> None:
    cut = tmp_path / "cut.gguf"
    with weights.open("rb") as stream:
        cut.write_bytes(stream.read(20_000_000))
    with pytest.raises(ModelCrashedError, match=r"(?s)could not load the weights.*failed to load.*corrupt"):
        opened(make(str(cut)))


def test_missing_library_of_the_system_is_named(
    make: Callable[..., LocalEndpoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images such as python:3.13-slim have no libgomp."""
    cause = "libgomp.so.1: cannot open shared object file: No such file or directory"
    (tmp_path / "xllamacpp.py").write_text(f"raise ImportError({cause!r})")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelCrashedError, match=r"requires libgomp\.so\.1, which this system does not have") as raised:
        opened(make(context=CONTEXT + 256))
    assert "libgomp1" in str(raised.value.hint)


@needs_linux
def test_lack_of_memory_is_named_with_what_is_needed_and_free(weights: Path) -> None:
    # The context of 8192 tokens needs 180 MiB, which the limit does not allow.
    script = (
        "import resource, sys\n"
        "from abstractcore import ModelCrashedError, create_llm\n"
        "llm = create_llm('local', sys.argv[1], threads=1)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))\n"
        "try:\n"
        "    llm.generate('Hi.', max_output_tokens=1)\n"
        "except ModelCrashedError as error:\n"
        "    print(error.message, error.hint, sep='\\n')\n"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(weights)], capture_output=True, text=True, timeout=DEADLINE)
    assert ran.stdout.startswith("llama.cpp ran out of memory while it loaded the weights; its last log lines:\n"), ran
    assert ran.stdout.splitlines()[-1] == (
        "Use a smaller `context_size` or a smaller model, or end other programs. "
        "The model needs about 150 MiB of memory and its context more; 400 MiB are free."
    )


def test_file_that_is_not_a_model_is_refused(make: Callable[..., LocalEndpoint], tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"hello")
    with pytest.raises(ModelStoreError, match="is not a GGUF file"):
        opened(make(str(tmp_path / "x.gguf")))
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelCrashedError, match="could not load the weights"):
        opened(make(str(tmp_path / "x.gguf")))
    with pytest.raises(ModelStoreError, match=r"one GGUF file.* Name the file: .*/x\.gguf"):
        opened(make(str(tmp_path)))


def test_path_may_contain_spaces_and_unicode(make: Callable[..., LocalEndpoint], tmp_path: Path, weights: Path) -> None:
    link = tmp_path / "schön 模型" / "x, y.gguf"
    link.parent.mkdir()
    try:
        link.hardlink_to(weights)
    except OSError:
        link.write_bytes(weights.read_bytes())
    assert post(opened(make(str(link)))).json()["model"] == str(link)


def test_start_timeout_is_an_error(make: Callable[..., LocalEndpoint]) -> None:
    pool = ServerPool(start_limit=0.01)
    with pytest.raises(ModelCrashedError, match=r"timed out after 0\.01 s"):
        opened(make(pool=pool))


def test_missing_library_is_reported_before_any_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    endpoint = LocalEndpoint(DEFAULT_MODEL, CONTEXT, 1, services_with(FileModelStore(tmp_path / "store")), ServerPool())
    with pytest.raises(MissingExtraError, match="pip install xllamacpp"):
        opened(endpoint)
    assert not (tmp_path / "store").exists()


@needs_linux
def test_children_end_with_close_and_with_a_dropped_pool(make: Callable[..., LocalEndpoint]) -> None:
    pool = ServerPool()
    endpoint = make(pool=pool)
    opened(endpoint)
    first = pid_of(endpoint)
    pool.close()
    assert ends(first)
    opened(endpoint)
    second = pid_of(endpoint)
    assert second != first
    del pool, endpoint
    gc.collect()
    assert ends(second)


HELPER = """
import os, signal, sys, threading
from pathlib import Path
from abstractcore.stores.models import FileModelStore
from abstractcore_providers.local.process import ModelProcess, ServerKey
from abstractcore_providers.local.servers import ServerPool
pool = ServerPool()
key = ServerKey(Path(sys.argv[1]), 512, 1)
def start(): return pool.start(key, user, "x").process
user = pool.add_user(start)
def tell(*what): print(*what, flush=True)
"""


def helper(code: str, weights: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", HELPER + code, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )


@needs_linux
def test_never_closed_pool_exits_silently(weights: Path) -> None:
    process = helper("tell(start().pid)", weights)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (0, "")
    assert ends(int(out))


@needs_linux
def test_child_ends_when_its_parent_is_killed(weights: Path) -> None:
    process = helper("tell(start().pid); sys.stdin.read()", weights)
    assert process.stdout
    child = int(process.stdout.readline())
    process.kill()
    process.communicate()
    assert ends(child)


@needs_linux
def test_child_ends_when_its_parent_is_killed_while_it_loads(weights: Path) -> None:
    # The pid of the child is seen from outside, since `start` returns only when it is ready.
    code = """
start_process = ModelProcess.__init__
def noisy(self, process, *rest):
    start_process(self, process, *rest)
    tell(process.pid)
ModelProcess.__init__ = noisy
start()
"""
    process = helper(code, weights)
    assert process.stdout
    child = int(process.stdout.readline())
    maps = Path(f"/proc/{child}/maps")
    while weights.name not in maps.read_text():
        assert process.poll() is None
    process.kill()
    process.communicate()
    assert ends(child)


@needs_linux
def test_forked_process_leaves_the_parents_child_running(weights: Path) -> None:
    code = """
ours = start()
pid = os.fork()
if pid == 0:
    tell("forked", not ours.alive(), start().pid != ours.pid)
    sys.exit()
assert os.waitpid(pid, 0)[1] == 0
tell("parent", ours.alive(), start() is ours)
"""
    out, err = helper(code, weights).communicate(timeout=DEADLINE)
    assert out.splitlines() == ["forked True True", "parent True True"], err
    assert err == ""


@needs_linux
def test_fork_that_outlives_its_parent_does_not_keep_the_child(weights: Path) -> None:
    code = """
ours = start()
if os.fork():
    tell(ours.pid)
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
"""
    process = helper(code, weights)
    assert process.stdout
    assert ends(int(process.stdout.readline()))
    process.communicate(timeout=DEADLINE)


def connect(tmp_path: Path, **config: Any) -> Any:
    return LocalProvider().connect(ProviderConfig("local", **config), services_with(FileModelStore(tmp_path / "store")))


def test_connecting_does_no_io(tmp_path: Path) -> None:
    session = connect(tmp_path)
    assert session.model == DEFAULT_MODEL
    assert session.profile.context_tokens == 8192
    assert session.profile.accepts == frozenset()
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "config",
    [
        {"options": {"context_size": "big"}},
        {"options": {"context_size": 8}},
        {"options": {"threads": 0}},
        {"options": {"threads": True}},
        {"base_url": "http://localhost:1"},
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        connect(tmp_path, **config)
