"""The summary below an answer."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import Services, create_llm
from abstractcore_cli.asking import summary
from tests.page_images import page_images, registry

TIFF = Path(__file__).parents[1] / "media" / "files" / "multipage.tif"


def test_file_converted_to_several_parts_is_reported_with_their_types():
    services = Services(registry=registry(), environment={})
    llm = create_llm("scripted", replies=["a"], accepts=["image/png"], services=services)
    response = llm.generate("What is on them?", media=[TIFF])
    services.close()
    size = response.media[0].sent.size
    assert size > sum(map(len, page_images(TIFF.read_bytes())))
    assert next(summary(response)) == (
        "multipage.tif: fallback, since scripted does not accept image/tiff, "
        "so the pages handler converts it to image/png; "
        f"sent 2 x text/plain, 2 x image/png, {size:,} bytes"
    )


@pytest.mark.parametrize(
    ("cost", "source", "reason", "shown"),
    [
        ("0", "computed", None, "$0"),
        ("0.0123456", "vendor", None, "$0.0123456"),
        ("0.0123456", "estimate", None, "about $0.0123456"),
        ("0.0000005", "computed", None, "$0.0000005"),
        ("1234.5", "computed", None, "$1,234.50"),
        (None, None, "no price is known", "unknown cost (no price is known)"),
        (None, None, None, "unknown cost"),
    ],
)
def test_cost_is_shown_with_what_is_known_of_it(cost, source, reason, shown):
    response = create_llm("scripted", replies=["a"]).generate("hi")
    cost = None if cost is None else Decimal(cost)
    *_, last = summary(replace(response, cost=cost, cost_source=source, cost_reason=reason))
    assert last.endswith(f" s, {shown}")
