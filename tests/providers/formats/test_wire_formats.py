"""docs/wire-formats.md is up to date, and docs/adding-a-provider.md shows existing code."""

import re
from pathlib import Path

import pytest

from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.findings import found
from tests.providers.probes import probes
from tests.providers.published import provider_of
from tests.providers.wire_formats import PAGE, page

ROOT = Path(__file__).parents[3]


def test_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


def test_code_in_the_guide_exists_in_the_named_files():
    guide = (PAGE.parent / "adding-a-provider.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```py\n# (.+?)\n(.+?)```", guide, re.DOTALL)
    rows = re.findall(r"```json\n(.+?)```", guide, re.DOTALL)
    assert len(blocks) + len(rows) == guide.count("```") // 2
    for file, code in [*blocks, *(("catalogue/rows/claude.jsonl", row) for row in rows)]:
        assert code in (ROOT / file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_the_modules_named_in_the_guide(format: str):
    folder = ROOT / "providers" / "abstractcore_providers" / "formats" / format
    names = ["transpiler", "encode", "decode", "stream_decoder", "parse", "render", "stream_renderer", "vocabulary"]
    assert [name for name in names if not (folder / f"{name}.py").exists()] == []


@pytest.mark.parametrize("format", FORMATS)
def test_laws_hold_for_every_line_of_the_page(format: str):
    transpiler = FORMATS[format]()
    for probe in probes(format).values():
        call = probe.call.with_(provider=provider_of(format))
        check_call_losses(transpiler, call)
        check_encode_again(transpiler, call)


@pytest.mark.parametrize("format", FORMATS)
def test_every_refusal_names_its_path(format: str):
    for name, probe in probes(format).items():
        finding = found(format, probe)
        if finding.outcome == "refused":
            place = probe.path.removesuffix(".cache")
            assert place in finding.reasons[0], f"{name}: {finding.reasons[0]}"


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_supports_text_tools_and_common_options(format: str):
    made = probes(format)
    needed = ["user: text", "system: first", "assistant: text", "assistant: tool call", "tool: text"]
    needed += ["tools", "max_output_tokens", "temperature", "stream", "provider_options"]
    assert {name: found(format, made[name]).outcome for name in needed} == dict.fromkeys(needed, "native")
