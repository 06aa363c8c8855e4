"""All backends keep the rules of the conformance suite; those without a key, a server or weights are skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.testing.plugin import check_backends
from abstractvision import Scene, render_scene
from abstractvision.plugin import register
from tests.plugins.vendor_server import VendorServer
from tests.plugins.vision import fakes
from tests.plugins.vision.conftest import FAKES


@pytest.mark.process
def test_backends_without_key_or_weights_are_skipped_and_the_others_pass():
    from abstractcore.testing.plugin import Inputs

    drawing = render_scene(Scene(background="red", items=[]), 32, 32).blob.read()
    checks = check_backends(register, inputs=Inputs(image=drawing), options={"vision_scene": "rules"})
    assert {check.backend_id for check in checks if check.outcome == "ok"} >= {"abstractvision:drawing"}
    assert not [check for check in checks if check.backend_id.endswith(":drawing") and check.outcome == "skipped"]


@pytest.mark.parametrize("name", ["openai", "sd-server", "gemini", "imagen"])
def test_backends_of_vendors_pass_at_their_servers(vendor: VendorServer, name: str):
    fake: Callable[..., Any] = FAKES[name][0]
    fake(vendor)
    options = {"vision_base_url": vendor.url, "vision_api_key": fakes.KEY, "vision_image_model": FAKES[name][1]}
    checks = check_backends(register, options=options, backends=[f"abstractvision:{name}"])
    assert not [check for check in checks if check.outcome == "skipped"]
