"""The errors for optional libraries that are not installed."""

from __future__ import annotations

from abstractcore.errors import MissingExtraError
from abstractcore.schema.base_error import install_hint


def missing_extra(purpose: str, package: str, extra: str) -> MissingExtraError:
    """Returns the error for `package`, which `extra` of this distribution installs, if it cannot be imported."""
    return MissingExtraError(
        f"{purpose} needs the package {package}, which cannot be imported.",
        hint=install_hint(*package.split(" and "), extra=extra),
    )


def missing_module(error: ImportError, purpose: str, extra: str) -> MissingExtraError:
    """Returns the error for the module that an import did not find, which `extra` installs."""
    module = (error.name or str(error)).partition(".")[0]
    return missing_extra(purpose, {"PIL": "pillow"}.get(module, module), extra)
