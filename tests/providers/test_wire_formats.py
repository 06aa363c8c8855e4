"""docs/wire-formats.md says what the formats do."""

import pytest

from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore_providers.formats import FORMATS
from tests.providers.findings import found
from tests.providers.probes import probes
from tests.providers.published import provider_of
from tests.providers.wire_formats import PAGE, page


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


@pytest.mark.parametrize("format", FORMATS)
def test_the_laws_hold_for_every_line_of_the_page(format: str):
    transpiler = FORMATS[format]()
    for probe in probes(format).values():
        call = probe.call.with_(provider=provider_of(format))
        check_call_losses(transpiler, call)
        check_encode_again(transpiler, call)


@pytest.mark.parametrize("format", FORMATS)
def test_every_refusal_names_its_place(format: str):
    for name, probe in probes(format).items():
        finding = found(format, probe)
        if finding.outcome == "refused":
            place = probe.path.removesuffix(".cache")
            assert place in finding.reasons[0], f"{name}: {finding.reasons[0]}"


@pytest.mark.parametrize("format", FORMATS)
def test_text_tools_and_the_common_options_are_carried_by_every_format(format: str):
    made = probes(format)
    needed = ["user: text", "system: first", "assistant: text", "assistant: tool call", "tool: text"]
    needed += ["tools", "max_output_tokens", "temperature", "stream", "provider_options"]
    assert {name: found(format, made[name]).outcome for name in needed} == dict.fromkeys(needed, "native")
