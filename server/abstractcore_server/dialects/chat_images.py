"""Images of answers in chat completions: the field `images` of messages and deltas.

OpenAI's API has no such field; clients know it from other gateways
(https://openrouter.ai/docs/features/multimodal/image-generation,
https://vercel.com/docs/ai-gateway/openai-compat/image-generation).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from abstractcore.ports import Transpiler
from abstractcore.schema import ImagePart, ModelReply, Part, Rendered


def rendered_with_images(transpiler: Transpiler, reply: ModelReply) -> Rendered:
    """Returns a `chat.completion` whose message has the images of the reply."""
    images = [part for part in reply.parts if is_shown(part)]
    if not images:
        return transpiler.render(reply)
    others = tuple(part for part in reply.parts if not is_shown(part))
    rendered = transpiler.render(replace(reply, parts=others))
    data = json.loads(rendered.body)
    data["choices"][0]["message"]["images"] = images_field(images)
    return replace(rendered, body=json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


def is_shown(part: Part) -> TypeGuard[ImagePart]:
    """Whether a part is an image that a client can be given: those that a provider stores are not."""
    return isinstance(part, ImagePart) and part.blob.form in ("bytes", "file", "url")


def images_field(images: Sequence[ImagePart], first: int = 0) -> list[dict[str, object]]:
    """Returns images as the field has them, each as a data URL, or at its own URL, and with its index from `first`."""
    return [
        {"type": "image_url", "image_url": {"url": _url(image)}, "index": index}
        for index, image in enumerate(images, first)
    ]


def _url(image: ImagePart) -> str:
    blob = image.blob
    if blob.form == "url":
        return blob.location or ""
    return f"data:{blob.media_type};base64,{base64.b64encode(blob.read()).decode()}"
