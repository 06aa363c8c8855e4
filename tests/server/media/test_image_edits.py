"""`/v1/images/edits` by real backends: drawings changed by rules, and images sent to a vendor, with the openai package
as the client.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from PIL import Image, ImageDraw

from abstractcore import create_llm
from tests.chaos_server import answer
from tests.server.multipart import form
from tests.server.serving import VENDOR_KEY, Served


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def pixels(images: openai.types.ImagesResponse) -> Image.Image:
    """The only image of a response."""
    assert images.data is not None
    (item,) = images.data
    return Image.open(io.BytesIO(base64.b64decode(item.b64_json or ""))).convert("RGB")


PHOTO = png(Image.effect_noise((64, 48), 40).convert("RGB"))


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    services = served.application.state.services
    options: dict[str, Any] = {"replies": [], "services": services, "vision_scene": "rules"}
    rules = create_llm("scripted", **options)
    vars(served.application.state.backend_models)["_made"]["vision", "drawing"] = rules  # the embedded model takes long
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def drawn(client: openai.OpenAI, prompt: str) -> bytes:
    """A drawing of the backend, with its scene in the file."""
    (image,) = client.images.generate(model="drawing", prompt=prompt, size="160x120").data or []
    return base64.b64decode(image.b64_json or "")


@pytest.mark.process
def test_drawing_is_changed_as_the_prompt_says(client: openai.OpenAI):
    first = drawn(client, "a red boat on the sea")
    raw = client.images.with_raw_response.edit(
        model="drawing", image=("boat.png", first), prompt="make it night", size="160x120"
    )
    night, day = pixels(raw.parse()), Image.open(io.BytesIO(first)).convert("RGB")
    assert night.size == day.size == (160, 120)
    assert brightness(night) < brightness(day) * 0.9
    assert raw.headers["x-abstractcore-model"] == "abstractvision:drawing/abstractvision:drawing"
    assert raw.headers["x-abstractcore-cost"] == "0"
    assert "x-abstractcore-warnings" not in raw.headers
    again = client.images.edit(model="drawing", image=first, prompt="a green boat", size="160x120")
    assert count(pixels(again), "g") > count(day, "g")
    jpeg = client.images.edit(model="drawing", image=first, prompt="a green boat", output_format="jpeg")
    assert base64.b64decode((jpeg.data or [])[0].b64_json or "").startswith(b"\xff\xd8")


def brightness(image: Image.Image) -> float:
    values = list(image.convert("L").tobytes())
    return sum(values) / len(values)


def count(image: Image.Image, channel: str) -> int:
    """How many pixels have most of one channel, by far."""
    red, green, blue = (band.tobytes() for band in image.split())
    mine, *others = (green, red, blue) if channel == "g" else (red, green, blue)
    return sum(a > max(b, c) + 40 for a, b, c in zip(mine, *others, strict=True))


def test_what_rules_cannot_change_is_refused(client: openai.OpenAI):
    with pytest.raises(openai.BadRequestError, match="only pictures that this backend drew can be changed"):
        client.images.edit(model="drawing", image=PHOTO, prompt="make it night")
    with pytest.raises(openai.BadRequestError, match="the rules know no word of this change"):
        client.images.edit(model="drawing", image=drawn(client, "a red boat"), prompt="mehr Licht")
    with pytest.raises(openai.BadRequestError, match="does not take 'mask'"):
        client.images.edit(model="drawing", image=drawn(client, "a red boat"), mask=PHOTO, prompt="make it night")
    with pytest.raises(openai.BadRequestError, match="image"):
        client.images.edit(model="drawing", image=b"no image", prompt="make it night")


def test_vendor_gets_the_image_and_the_mask(served: Served, client: openai.OpenAI):
    mask = Image.new("RGBA", (64, 48), "white")
    ImageDraw.Draw(mask).rectangle((0, 0, 31, 47), fill=(0, 0, 0, 0))
    usage = {"input_tokens": 20, "output_tokens": 30, "total_tokens": 50}
    made = {"created": 1, "data": [{"b64_json": base64.b64encode(PHOTO).decode()}], "usage": usage}
    served.vendor.script(answer(made))
    edited = client.images.edit(
        model="gpt-image-1.5", image=("photo.png", PHOTO), mask=png(mask), prompt="a boat", size="1024x1024", n=1
    )
    assert pixels(edited).size == (64, 48)
    assert edited.usage is not None
    assert (edited.usage.input_tokens, edited.usage.output_tokens) == (20, 30)
    (request,) = served.vendor.requests
    assert request.target == "/v1/images/edits"
    assert request.headers["authorization"] == f"Bearer {VENDOR_KEY}"
    assert PHOTO in request.body
    for field in (b'name="image"', b'name="mask"', b"gpt-image-1.5", b"a boat", b"1024x1024"):
        assert field in request.body


@pytest.mark.process
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "expected one file, got 0"),
        ([("image", "a.png", PHOTO), ("image", "b.png", PHOTO)], "expected one file, got 2"),
        ([("image", "a.png", PHOTO), ("size", None, b"big")], "1024x1024"),
        ([("image", "a.png", PHOTO), ("n", None, b"none")], "positive"),
    ],
)
def test_broken_forms_are_named(http: Any, parts: list[tuple[str, str | None, bytes]], message: str):
    body, kind = form([("model", None, b"drawing"), ("prompt", None, b"a boat"), *parts])
    response = http.post("/v1/images/edits", content=body, headers={"content-type": kind})
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]
