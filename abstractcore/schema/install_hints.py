"""What to install, for errors and warnings. Texts elsewhere name no command that installs anything.

First-party packages are never named as requirements: package indexes have unrelated projects with their names.
"""

from __future__ import annotations


def install_hint(*packages: str, extra: str | None = None) -> str:
    """Returns a sentence with the command that installs packages of others, such as "websockets>=17.4,<18".

    `extra` is the extra of AbstractCore that they are part of.
    """
    import shlex

    hint = f"Install with: pip install {shlex.join(packages)}"
    if extra is None:
        return f"{hint}."
    return f"{hint} (part of the extra {extra!r}; in a checkout of AbstractCore: pip install '.[{extra}]')."


def checkout_hint(project: str) -> str:
    """Returns a sentence with the command that installs a project of this repository, such as "./plugins/voice"."""
    return f"In a checkout of AbstractCore: pip install {project}; elsewhere, install the wheel that is built from it."
