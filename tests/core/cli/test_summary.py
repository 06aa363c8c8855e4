"""The summary below an answer."""

from __future__ import annotations

from pathlib import Path

from abstractcore import Services, create_llm
from abstractcore.cli.summary import summary
from tests.page_images import page_images, registry

TIFF = Path(__file__).parents[2] / "media" / "files" / "multipage.tif"


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
