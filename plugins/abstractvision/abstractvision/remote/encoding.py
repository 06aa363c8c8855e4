"""Pictures in requests: in base64, and as files of forms."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from abstractcore.mediajobs import FormFile

from .requests import InputPicture


def data_url(picture: InputPicture) -> str:
    """Returns a picture as a `data:` URL."""
    return f"data:{picture.media_type};base64,{base64_of(picture)}"


def base64_of(picture: InputPicture) -> str:
    """Returns the content of a picture in base64."""
    return base64.b64encode(picture.content).decode()


def form_files(pictures: Sequence[tuple[str, InputPicture]]) -> list[tuple[str, FormFile]]:
    """Returns pictures, with the names of their fields, as files of a form."""
    return [
        (name, FormFile(f"image{index}.{picture.ending}", picture.media_type, picture.content))
        for index, (name, picture) in enumerate(pictures)
    ]
