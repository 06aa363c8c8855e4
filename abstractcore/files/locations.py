"""Which URLs and stored files an endpoint reads itself, and which are downloaded here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..ports import ModelProfile
from ..schema import MediaPart, ModelCall
from .refusals import not_at_hand, refused

if TYPE_CHECKING:
    from ..schema import MediaDecision

_DOWNLOADED = ("http", "https")
"""The schemes of URLs that can be downloaded here."""


def lower_location(
    decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile, *, is_cut: bool = False
) -> MediaDecision:
    """Returns the decision with who downloads the file, if it is a URL. Pure. One that `is_cut` is downloaded here, if
    that is possible and its user does not say otherwise.

    Raises `UnsupportedContentError` for a file that is sent natively and that the endpoint cannot read where it is, and
    `MediaError` for one that must be converted and cannot be downloaded here.
    """
    form = part.blob.form
    if form == "provider_file":
        return _stored(decision, part, call, profile)
    return _at_url(decision, part, call, profile, is_cut) if form == "url" else decision


def _stored(decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile) -> MediaDecision:
    if decision.route != "native":
        raise not_at_hand(decision, call)
    if not profile.accepts_id(decision.kind, part.blob.media_type):
        why = f"requests to {call.provider or call.model} cannot name a stored file of this type"
        raise refused(decision, call, why, ["pass the file itself"])
    return decision


def _at_url(
    decision: MediaDecision, part: MediaPart, call: ModelCall, profile: ModelProfile, is_cut: bool
) -> MediaDecision:
    wanted = part.controls.fetch if part.controls is not None else None
    url = part.blob.location or ""
    if decision.route == "native":
        is_read = profile.reads_url(decision.kind, part.blob.media_type, url)
        is_cut = is_cut and _scheme(url) in _DOWNLOADED
        if is_read and (wanted == "vendor" or not (wanted == "us" or is_cut)):
            return replace(decision, fetch="vendor")
        if is_read and wanted is None:
            decision = replace(decision, reason=f"{decision.reason}; it is downloaded here, to send a part of it")
        elif wanted != "us":
            why = f"{call.provider or call.model} does not read {_scheme(url)} URLs of {part.blob.media_type}"
            if wanted == "vendor":
                raise refused(decision, call, why, ["leave fetch='vendor' out: it is then downloaded here"])
            decision = replace(decision, reason=f"{decision.reason}; it is downloaded here, since {why}")
    elif wanted == "vendor":
        raise not_at_hand(decision, call)
    if _scheme(url) not in _DOWNLOADED:
        why = f"{_scheme(url)} URLs cannot be downloaded here"
        raise refused(decision, call, why, ["pass the file itself", "pass an https:// URL"])
    return replace(decision, fetch="us")


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()
