"""What the README, the pages, the help and the demo claim in numbers and about keys, compared with the code.

A claim is computed, names the document with its measurement, or names the test that runs it; every one is found here.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename
from typer.main import get_command

from abstracta2a.addresses import MOST_CARD_BYTES
from abstracta2a.agent import _MAX_MESSAGE_BYTES as A2A_MESSAGE_BYTES
from abstractcore import Services, create_llm
from abstractcore.catalogue.documents import MAX_BYTES
from abstractcore.catalogue.updates import _MOST_BYTES as CATALOGUES_BYTES
from abstractcore.embeddings.caching import _MAX_BYTES as CACHED_VECTORS_BYTES
from abstractcore.embeddings.vector_math import _MOST_NUMBERS as BLOCK_NUMBERS
from abstractcore.files.loading import MAX_FILE_BYTES
from abstractcore.mcp.server.calls import MCPServerLimits as MCPLimits
from abstractcore.mcp.server.model_tools import _LONGEST as SCHEMA_CHARACTERS
from abstractcore.mcp.tools import _MAX_MESSAGE_BYTES as MCP_MESSAGE_BYTES
from abstractcore.ports import HasOperations
from abstractcore.registry import Registry
from abstractcore.schema.displays import _MOST_EMBEDDED as SHOWN_BYTES
from abstractcore.schema.displays import _MOST_EMBEDDED_FILE as SHOWN_FILE_BYTES
from abstractcore.stores.models import PACKAGED_MODELS, shown_size
from abstractcore.traces.keeping import MOST_BYTES_WAITING, MOST_WAITING
from abstractcore_cli.app import app
from abstractcore_cli.sessions.last import _MOST_BYTES as LAST_CONVERSATION_BYTES
from abstractcore_media.audio.converting import _MAX_WHOLE_BYTES as WHOLE_RECORDING_BYTES
from abstractcore_media.audio.converting import MAX_BYTES as RECORDING_BYTES
from abstractcore_providers.common.google_files import CHUNK_BYTES
from abstractcore_server.files.stored_files import _MOST_BYTES as UPLOAD_BYTES
from abstractvision.drawing.motifs import motif_rows
from abstractvoice.speakers.voices import voices
from abstractvoice.speakers.weights import packaged_models
from tests.documents import PAGES, ROOT

TEXTS = (*PAGES, ROOT / "Makefile", ROOT / "examples" / "demo.py")
WEIGHTS = {model.name: model.size for model in (*PACKAGED_MODELS, *packaged_models())}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


def normal(text: str) -> str:
    """A text with one space in place of each line break and indentation."""
    return re.sub(r"\s+", " ", text)


def weights(*names: str) -> str:
    """The size of models, as all texts have it."""
    return shown_size(sum(WEIGHTS[name] for name in names))


def mebibytes(size: int) -> str:
    """A limit, as the pages have it."""
    whole, unit = (size >> 30, "GiB") if size >= 1 << 30 else (size >> 20, "MiB")
    return f"{whole} {unit}"


def packages() -> str:
    """The size of all locked packages for Python 3.11 on Linux, as all texts have it: one wheel of each."""
    best = {tag: rank for rank, tag in enumerate(cpython_tags((3, 11), platforms=_PLATFORMS))}
    best |= {tag: len(best) + rank for rank, tag in enumerate(compatible_tags((3, 11), "cp311", _PLATFORMS))}
    sizes = list[int]()
    for package in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]:
        ranked = [
            (min(best[tag] for tag in tags & best.keys()), wheel["size"])
            for wheel in package.get("wheels", ())
            for tags in [parse_wheel_filename(wheel["url"].rpartition("/")[2].replace("%2B", "+"))[3]]
            if tags & best.keys()
        ]
        sizes += [min(ranked)[1]] if ranked else []
    return f"{sum(sizes) / 1e9:.1f} GB"


_PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(36, 4, -1)]
_PLATFORMS += [f"manylinux{name}_x86_64" for name in ("2014", "2010", "1")]

# Sizes

SMALL, LARGE, WHISPER = "smollm2-135m-instruct", "qwen2.5-coder-1.5b", "whisper-base"
VECTORS = "all-minilm-l6-v2"
COMPUTED = (
    ("README.md", f"{packages()} of packages, downloaded once"),
    ("README.md", f"also downloads {weights(SMALL, WHISPER)} of weights"),
    ("Makefile", f"(once): {packages()} of packages"),
    ("README.md", f"{weights(LARGE)} to download"),
    (
        "installing.md",
        f"{weights(SMALL)} for the embedded model, {weights(LARGE)} for `{LARGE}`, "
        f"{weights(WHISPER)} for transcription, {weights(VECTORS)} for embeddings",
    ),
    ("local-models.md", f"| `{SMALL}` (default) | {weights(SMALL)} |"),
    ("local-models.md", f"| `{LARGE}` | {weights(LARGE)} |"),
    ("local-models.md", f"| `{VECTORS}` | {weights(VECTORS)} |"),
    ("embeddings.md", f"by a model of {weights(VECTORS)} on this machine"),
    ("embeddings.md", f"beyond `max_bytes` ({mebibytes(CACHED_VECTORS_BYTES)}) the oldest vectors"),
    ("embeddings.md", f"in blocks of {4 * BLOCK_NUMBERS // 1_000_000} MB"),
    ("testing.md", f"downloads the {weights(LARGE)} of the largest one, `{LARGE}`"),
    ("Makefile", f"download the {weights(LARGE)} that tests of the larger embedded model need"),
    ("demo.py", f"download its weights ({weights(SMALL, WHISPER)}, once)"),
    ("voice.md", f"`piper-joe`, {weights('piper-joe')}"),
    ("voice.md", f"`kokoro-82m`, {weights('kokoro-82m')}"),
    ("abstractvoice", f"`piper-joe`, {weights('piper-joe')}"),
    ("abstractvoice", f"`kokoro-82m`, {weights('kokoro-82m')}"),
    ("catalogue.md", f"provider file is at most {mebibytes(MAX_BYTES)}, and all of them {mebibytes(CATALOGUES_BYTES)}"),
    ("catalogue.md", f"{mebibytes(MAX_FILE_BYTES)} and takes at most 30 minutes"),
    ("mcp.md", f"`max_message_bytes`, {mebibytes(MCP_MESSAGE_BYTES)} unless given"),
    ("mcp.md", f"| a request, and a result | {mebibytes(MCPLimits().request_bytes)} |"),
    ("mcp.md", f"| a file of `--files` | {mebibytes(MCPLimits().file_bytes)} |"),
    ("mcp.md", f"schemas for `extract` | {SCHEMA_CHARACTERS >> 10} KiB"),
    ("media.md", f"up to {mebibytes(MAX_FILE_BYTES)}, five redirects and two minutes"),
    ("media.md", f"a video is sent in pieces of {mebibytes(CHUNK_BYTES)}"),
    ("media.md", f"Up to {mebibytes(WHOLE_RECORDING_BYTES)}, WAV"),
    ("media.md", f"above {mebibytes(RECORDING_BYTES)}, some 40 minutes"),
    ("notebooks.md", f"{mebibytes(SHOWN_BYTES)} of files, each of {mebibytes(SHOWN_FILE_BYTES)} at most"),
    ("observability.md", f"{MOST_WAITING:,} records or {mebibytes(MOST_BYTES_WAITING)} wait for it"),
    ("sessions.md", f"with its files up to {mebibytes(LAST_CONVERSATION_BYTES)}"),
    ("server-routes.md", f"takes files of up to {mebibytes(UPLOAD_BYTES)} in parts"),
    ("abstracta2a", f"a card to {mebibytes(MOST_CARD_BYTES)}"),
    ("abstracta2a", f"`max_message_bytes`, {mebibytes(A2A_MESSAGE_BYTES)}"),
)
"""Where a size is claimed, and the words of the claim, by the code."""
MEASURED = (
    ("README.md", "2 GB of memory", "0005-embedded-model.md", "1.98 GB"),
    ("local-models.md", f"| {weights(SMALL)} | 0.3 GB |", "0005-embedded-model.md", "337 MB"),
    ("local-models.md", f"| {weights(LARGE)} | 2 GB |", "0005-embedded-model.md", "1.98 GB"),
    ("local-models.md", f"| {weights(VECTORS)} | 0.3 GB |", "0138-embedded-embedding-model.md", "309 MB"),
    ("local-models.md", "needs 2.7 GB", "0005-embedded-model.md", "2.65 GB"),
    ("search.md", "150 MB for 100,000 chunks", "0139-search.md", "150 MB"),
    ("server-setup.md", "need 130 MB in one process, 48 MB more than none", "0103-speed-of-the-server.md", "130 MB"),
)
"""The same for sizes that were measured, with the decision that has the measurement, and its number there."""
SIZE = re.compile(r"\b\d[\d.,]* ?[KMG]i?B\b")


def place(text: Path) -> str:
    """The name of a text: that of its folder for the README of a package."""
    return text.parent.name if text.parent.parent.name in ("packages", "plugins") else text.name


def test_every_size_is_that_of_the_code_or_of_a_measurement():
    claims = [*COMPUTED, *((where, words) for where, words, _, _ in MEASURED)]
    walked = 0
    for text in TEXTS:
        content = normal(text.read_text(encoding="utf-8"))
        spans = [found.span() for where, words in claims if where == place(text) for found in _all(words, content)]
        for size in SIZE.finditer(content):
            shown = content[max(0, size.start() - 60) : size.end() + 30]
            assert any(begin <= size.start() and size.end() <= end for begin, end in spans), f"{text.name}: {shown}"
            walked += 1
    for where, words in claims:
        assert any(words in normal(text.read_text(encoding="utf-8")) for text in TEXTS if place(text) == where), words
    for *_, decision, number in MEASURED:
        assert number in (ROOT / "docs" / "decisions" / decision).read_text(encoding="utf-8"), (decision, number)
    assert walked == 47


def _all(words: str, content: str) -> Iterator[re.Match[str]]:
    return re.finditer(re.escape(words), content)


# Speeds

SPEED = re.compile(r"\btimes as fast\b|\bof the CPU time\b|\| [\d. to]+ s \|")
SPEEDS = (
    ("installing.md", "about a third of the CPU time", "0030-http-stacks.md", "**0.34**"),
    ("README.md", "takes 118 ms of processor time", "0111-exported-names.md", "117.4 and 117.9 ms of processor time"),
    ("media.md", "about three times as fast", "0053-sound.md", "about three times"),
    ("options.md", "three times as fast", "0053-sound.md", "about three times"),
    ("local-models.md", f"| {weights(SMALL)} | 0.3 GB | 40 |", "0005-embedded-model.md", "about 40 tokens a second"),
    ("local-models.md", f"| {weights(LARGE)} | 2 GB | 12 |", "0005-embedded-model.md", "12 tokens a second"),
    ("voice.md", "| 0.15 s |", "0074-voices-on-this-machine.md", "1.11 s for 7.6 s of sound"),
    ("voice.md", "| 0.8 to 1.5 s |", "0074-voices-on-this-machine.md", "0.8 to 1.5 s"),
    ("abstractvoice", "| 0.15 s |", "0074-voices-on-this-machine.md", "1.11 s for 7.6 s of sound"),
    ("abstractvoice", "| 0.8 to 1.5 s |", "0074-voices-on-this-machine.md", "0.8 to 1.5 s"),
)
"""Where a speed is claimed, the words, and the decision with its measurement."""


def test_every_speed_has_a_measurement():
    walked = 0
    for text in TEXTS:
        content = normal(text.read_text(encoding="utf-8"))
        spans = [found.span() for where, words, *_ in SPEEDS if where == place(text) for found in _all(words, content)]
        for claim in SPEED.finditer(content):
            shown = content[max(0, claim.start() - 60) : claim.end() + 30]
            assert any(begin <= claim.start() and claim.end() <= end for begin, end in spans), f"{text.name}: {shown}"
            walked += 1
    for where, words, decision, number in SPEEDS:
        assert any(words in normal(text.read_text(encoding="utf-8")) for text in TEXTS if place(text) == where), words
        assert number in normal((ROOT / "docs" / "decisions" / decision).read_text(encoding="utf-8")), (words, number)
    assert walked == 7


# Counts


def required(name: str, *extras: str) -> set[str]:
    """The distributions that are installed with one, itself included."""
    found, waiting = set[tuple[str, tuple[str, ...]]](), [(name, extras)]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            needs = map(Requirement, requires(each[0]) or ())
            waiting += [
                (canonicalize_name(need.name), tuple(sorted(need.extras)))
                for need in needs
                if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *each[1]))
            ]
    return {each for each, _ in found}


COUNTS = (
    ("README.md", "three clients ask it", len([*(ROOT / "examples/server_clients").glob("*.py")]), 3),
    ("README.md", "for 53 providers", len(Registry.from_entry_points().providers), 53),
    ("README.md", "which of the 53 are ready here", len(Registry.from_entry_points().providers), 53),
    ("README.md", "| 23 distributions, itself included", len(required("abstractcore")), 23),
    ("README.md", "with the embedded model 32", len(required("abstractcore", "local")), 32),
    ("README.md", "| installs | 23 |", len(required("abstractcore")), 23),
    ("vision.md", "66 pictures of common things", len(motif_rows()), 66),
    ("voice.md", "29 English voices", len(voices()), 29),
    ("abstractvoice", "29 English voices", len(voices()), 29),
)


@pytest.mark.parametrize(("where", "words", "counted", "claimed"), COUNTS)
def test_counts_are_those_of_the_code(where: str, words: str, counted: int, claimed: int):
    (text,) = (text for text in TEXTS if place(text) == where)
    assert words in normal(text.read_text(encoding="utf-8"))
    assert counted == claimed


# Extras, and what providers have


def test_table_of_extras_names_what_each_installs():
    page = ROOT / "docs" / "installing.md"
    table = page.read_text(encoding="utf-8").split("| extra | for | installs |\n|---|---|---|\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    claimed = {name.strip("`"): re.findall(r"[\w.-]+", installs.split(";")[0]) for name, _, installs in rows}
    assert claimed.keys() == EXTRAS.keys() - {"test"}
    for extra, names in claimed.items():
        if extra != "all":
            packages = [re.split(r"[^\w.-]", each)[0] for each in EXTRAS[extra]]
            named = [name for name in names if name not in ("with", "cryptography")]
            assert sorted(named) == sorted(packages), extra
    everything = {each for extra, each_of in EXTRAS.items() if extra not in ("all", "heic", "test") for each in each_of}
    assert {*EXTRAS["all"]} == everything
    assert len(claimed) == 17


OPTIONS = {
    "azure": {"resource": "r"},
    "openai-compatible": {"base_url": "http://localhost:1/v1"},
    **{name: {"project": "p"} for name in ("vertex", "vertex-anthropic", "vertex-openai")},
}
ENVIRONMENT = {"AWS_REGION": "us-east-1", "CLOUDFLARE_ACCOUNT_ID": "a", "DATABRICKS_HOST": "https://d.example"}
"""What addresses are made of."""


def test_keys_of_the_provider_table_are_read():
    page = ROOT / "docs" / "providers.md"
    table = page.read_text(encoding="utf-8").split("| provider | API, and where its key")[1].split("\n\n")[0]
    walked = 0
    for provider, told in re.findall(r"^\| `([\w-]+)` \| (.*) \|$", table, re.MULTILINE):
        for variable in re.findall(r"`([A-Z_]+(?:KEY|TOKEN\w*))`", told):
            with closing(Services(environment={**ENVIRONMENT, variable: "k"})) as services:
                create_llm(provider, "m", services=services, **OPTIONS.get(provider, {}))
            walked += 1
    assert walked == 40


def test_providers_that_count_tokens_are_named():
    services = Services(environment=ENVIRONMENT)
    counting: list[str] = []
    remote = {*Registry.from_entry_points().providers} - {"local", "scripted"}
    for provider in sorted(remote):
        llm = create_llm(provider, "m", api_key="k", services=services, **OPTIONS.get(provider, {}))
        if isinstance(llm.transpiler, HasOperations) and "count_tokens" in llm.transpiler.operations:
            counting.append(provider)
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    claim = page.partition("## Counting tokens\n")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w-]+)`", claim.partition("| the provider's endpoint")[0].splitlines()[-1])
    assert named == counting
    assert len(remote) == 51


# Keys and networks

ABOUT_KEYS = re.compile(
    r"\b(no (API )?key|without a key|no network|without a network|without network or key|offline|any machine)\b", re.I
)
_REPLAYED = "tests/core/middleware/cassettes/test_replaying.py::test_recorded_exchange_is_replayed_without_a_server"
_EMBEDDED = "tests/providers/local/test_stronger_model.py::test_answers_in_english_at_no_cost"
_DEMO = "tests/examples/test_examples.py::test_demo_answers_about_a_recording_two_documents_a_photo_and_a_video"
_SEARCHED = "tests/core/search/test_questions.py::test_the_first_hits_are_in_the_right_file_at_the_right_place"
_SPEECH = "tests/plugins/voice/test_local.py::test_text_is_spoken_with_times_and_places"
_OWN_SERVER = "tests/plugins/voice/remote/test_speaking.py::test_server_of_ones_own_needs_no_key"
_MUSIC = "tests/plugins/music/test_package.py::test_example_writes_plays_and_saves_a_song"
_LAYERS = "tests/test_layers.py::test_imports_respect_the_layers"
_PLAN = "tests/cli/test_media.py::test_table_has_a_line_for_each_file"
_LISTED = "tests/cli/test_models.py::test_list_of_a_provider_without_one_is_that_of_the_catalogue"
_BLOCKS = "tests/test_installed_docs.py::test_blocks_of_a_page_print_the_shown_output"
_CHOICES = "tests/plugins/test_choices.py::test_methods_that_the_default_backend_lacks_name_the_choices"
_VERIFIED = "tests/runtime/test_exports.py::test_the_script_inside_verifies_with_python_alone"
RUN = (
    ("README.md", "a photo and a video: no key", _DEMO),
    ("README.md", "works offline** | answers, speech, transcripts, vectors, drawings and music on this machine, "
     "without a key", _CHOICES),
    ("README.md", "The next member answers for one without a key", "tests/core/client/test_groups.py"
     "::test_member_without_a_key_is_left_out_with_a_warning"),
    ("start.md", "answers from that file, without network or key", _REPLAYED),
    ("architecture.md", "It uses no network and no clock", _LAYERS),
    ("architecture.md", "`formats/` is pure: no network, clock or environment", _LAYERS),
    ("catalogue.md", "without one, without a network and at providers without a list", _LISTED),
    *((f"from-{name}.md", "Tests without a network", _BLOCKS) for name in ("langchain", "litellm", "pydantic-ai")),
    ("from-llm.md", "without a key by the embedded model", _EMBEDDED),
    ("glossary.md", "`replay` answers without a network", _REPLAYED),
    ("mcp.md", "Without a key the server listens at addresses of its own machine", "tests/core/mcp/server/test_http.py"
     "::test_server_without_a_key_serves_this_machine_only"),
    ("media.md", "it needs no key and sends nothing", _PLAN),
    ("local-models.md", "on this machine, without a key, and without a network after the download", _EMBEDDED),
    ("music.md", "which needs no key and no network", _MUSIC),
    ("music.md", "elevenlabs: no key for elevenlabs", _BLOCKS),
    ("notebooks.md", "No network is used: a picture at a URL is named", "tests/core/schema/test_reprs.py"
     "::test_too_large_or_unsafe_media_are_named_and_not_embedded"),
    ("routing.md", "A member without a key is left out with a warning", "tests/core/client/test_groups.py"
     "::test_member_without_a_key_is_left_out_with_a_warning"),
    ("server-setup.md", "with or without a key. `origins`", "tests/server/access/test_origins.py"
     "::test_foreign_pages_are_refused_on_every_route"),
    ("server-setup.md", "no content, no key", "tests/server/test_no_key_shows.py"
     "::test_failures_of_each_provider_show_no_key_anywhere"),
    ("search.md", "with the embedded model no key and no network", _SEARCHED),
    ("tools.md", "so that each block runs without a key", _BLOCKS),
    ("testing.md", "An LLM that replays needs no API key", _REPLAYED),
    ("vision.md", "If the next one has no key, the error names", _CHOICES),
    ("vision.md", "fal: no key for fal", _BLOCKS),
    ("voice.md", "and needs no key; Whisper", _SPEECH),
    ("voice.md", "which needs no key. `voice_default=`", _OWN_SERVER),
    ("abstractvoice", "29 English voices, which need no key", _SPEECH),
    ("abstractvoice", "which needs no key. `voice_default=`", _OWN_SERVER),
    ("Makefile", "run the demo: no key, no server", _DEMO),
    ("demo.py", "on this machine: no key, and a network only to download its weights", _DEMO),
    *((where, "nothing is sent, and no key is needed", _PLAN) for where in ("help", "commands.md")),
    ("help", "--offline List what the catalogue has", _LISTED),
    ("commands.md", "--offline List what the catalogue has", _LISTED),
    *((where, "models list -p openai --offline", _LISTED) for where in ("help", "commands.md")),
    *((where, "a file that can be verified offline, by the", _VERIFIED) for where in ("help", "commands.md")),
)  # fmt: skip
"""Where it is claimed that no key or no network is needed, the words, and the test that runs it."""


def help_pages(command: Any, path: str = "abstractcore") -> Iterator[str]:
    """The help of a command, and of those that it has."""
    yield normal(command.get_help(command.make_context(path, [], resilient_parsing=True)))
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from help_pages(each, f"{path} {name}")


def test_every_claim_about_keys_and_networks_names_the_test_that_runs_it():
    pages = [("help", page) for page in help_pages(get_command(app))]
    texts = [(place(text), normal(text.read_text(encoding="utf-8"))) for text in TEXTS]
    walked, used = 0, set[str]()
    for where, content in (*texts, *pages):
        spans = [(found.span(), words) for each, words, _ in RUN if each == where for found in _all(words, content)]
        used |= {words for _, words in spans}
        for claim in ABOUT_KEYS.finditer(content):
            shown = content[max(0, claim.start() - 60) : claim.end() + 30]
            assert any(begin <= claim.start() and claim.end() <= end for (begin, end), _ in spans), f"{where}: {shown}"
            walked += 1
    assert used == {words for _, words, _ in RUN}
    assert (walked, len(pages)) == (46, 78)
    for _, _, test in RUN:
        module, name = test.split("::")
        tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test
