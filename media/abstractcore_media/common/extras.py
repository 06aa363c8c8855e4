"""The error for an optional library that is not installed."""

from __future__ import annotations

from abstractcore.errors import MissingExtraError


def missing_extra(purpose: str, package: str, extra: str) -> MissingExtraError:
    """Returns the error for `package`, which `extra` of this distribution installs, if it cannot be imported."""
    return MissingExtraError(
        f"{purpose} needs the package {package}, which cannot be imported.",
        hint=f"Install it with: pip install {package} (part of the extra {extra!r}).",
    )
