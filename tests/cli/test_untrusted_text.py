"""Names and messages of servers and files are printed without characters that control a terminal; JSON keeps them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from abstractcore.schema import visible, visible_json
from tests.catalogue_files import write_file
from tests.chaos_server import answer, failure

pytestmark = pytest.mark.process

COMMAND = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
DANGEROUS = "\x00\x07\x08\x1b\x7f\x85\x9b\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAME = f"a{DANGEROUS}b"
TEXTS = ("👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☀️", "می‌خواهم", "\u200fשלם\u200e", "क्‍ष", "ไทย\u200bไทย", "soft\u00adhyphen", "a\tb\nc")
linux = pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal")


def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    found = subprocess.run(
        [sys.executable, *COMMAND, *arguments],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        check=False,
    )
    return found.returncode, found.stdout.decode(), found.stderr.decode()


def on_screen(*arguments: str, **environment: str) -> str:
    from tests.terminal import Terminal

    with Terminal([*COMMAND, *arguments], {**os.environ, "PYTHONUTF8": "1", **environment}) as window:
        window.wait_for_end()
    return re.sub(r"\x1b\[[0-9;]*m", "", window.screen)


def dangerous_in(text: str) -> set[str]:
    """Returns the control characters, separators and bidirectional overrides in a text, without ends of lines."""
    kinds = {"Cc", "Zl", "Zp", "Cs"}
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return {
        each
        for each in text
        if (unicodedata.category(each) in kinds or unicodedata.bidirectional(each) in bidi) and each not in "\t\n\r"
    }


def test_every_control_and_bidirectional_character_of_unicode_is_replaced():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert dangerous_in(visible(every)) == set()
    assert dangerous_in(visible("a\rb")) == set()


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_all_languages_are_shown_as_they_are(text: str):
    assert visible(text) == text


def test_json_escapes_what_a_screen_does_not_show_and_keeps_its_value():
    value = {"name": f"{NAME}\ud800", "text": list(TEXTS)}
    text = visible_json(json.dumps(value, ensure_ascii=False))
    assert dangerous_in(text) == set()
    assert json.loads(text) == value


def scripted_list(server: Any) -> tuple[str, ...]:
    body = json.dumps({"data": [{"id": NAME}]}).encode()
    server.script(answer(body, content_type="application/json"))
    return ("models", "list", "-p", "openai", "--base-url", f"{server.url}/v1")


def test_names_of_a_server_are_printed_without_them(server: Any):
    _, out, err = run(*scripted_list(server), OPENAI_API_KEY="k")
    assert out.startswith("openai\ta")
    assert dangerous_in(out + err) == set()


def test_names_of_a_server_are_faithful_in_json(server: Any):
    code, out, _ = run(*scripted_list(server), "--json", OPENAI_API_KEY="k")
    assert (code, json.loads(out)["models"][0]["name"]) == (0, NAME)
    assert dangerous_in(out) == set()


@linux
def test_names_of_a_server_do_not_reach_a_terminal(server: Any):
    screen = on_screen(*scripted_list(server), OPENAI_API_KEY="k")
    assert "1 model listed by the provider" in screen
    assert dangerous_in(screen) == set()


@linux
def test_error_of_a_server_does_not_reach_a_terminal(server: Any):
    server.script(failure(400, f"wrong {NAME}"))
    screen = on_screen("models", "list", "-p", "openai", "--base-url", f"{server.url}/v1", OPENAI_API_KEY="k")
    assert "error: " in screen
    assert dangerous_in(screen) == set()


@linux
@pytest.mark.parametrize(
    "text",
    [
        '[[models]]\nprovider = "openai"\nmodel = "x"\n"a{}" = 1\n',
        '[[models]]\nprovider = "openai"\nmodel = "x"\nsource = "a{}"\n',
        '[[models]]\nprovider = "a{}"\nmodel = "x"\n',
        '[[models]]\nprovider = "openai"\nmodel = "x"\nsettings = {{"a{}" = "b"}}\n',
        '[[models]]\nprovider = "openai"\nmodel = "x"\nprices = [{{rates = {{input = "{}"}}}}]\n',
        "a{} = 1\n",
        "{}",
    ],
)
def test_texts_of_a_users_file_do_not_reach_a_terminal(tmp_path: Path, text: str):
    written = "".join(f"\\u{ord(each):04x}" for each in DANGEROUS) if '"a{}' in text or "prices" in text else DANGEROUS
    file = tmp_path / "models.toml"
    file.write_text(text.format(written), encoding="utf-8")
    for command in (("models", "info", "openai/x"), ("models", "search", "gpt-5")):
        screen = on_screen(*command, ABSTRACTCORE_MODELS=str(file), OPENAI_API_KEY="k")
        assert screen
        assert dangerous_in(screen) == set()


@linux
@pytest.mark.parametrize(
    "line", ['{"model": "a%s"}', '{"model": "a", "b%s": 1}', '{"model": "a", "source": "%s"}', "%s"]
)
def test_texts_of_an_update_do_not_reach_a_terminal(tmp_path: Path, line: str):
    escapes = "".join(f"\\u{ord(each):04x}" for each in DANGEROUS)
    (tmp_path / "new").mkdir()
    write_file(tmp_path / "new" / "openai.jsonl", line % escapes, provider="openai", as_of="2099-01-01")
    data = {"XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    screen = on_screen("catalogue", "update", str(tmp_path / "new"), **data)
    assert "error: " in screen
    assert dangerous_in(screen) == set()
    _, out, _ = run("catalogue", "update", str(tmp_path / "new"), "--json", **data)
    assert "error" in json.loads(out)
    assert dangerous_in(out) == set()
