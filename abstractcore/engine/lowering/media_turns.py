"""Which files of a call are of earlier turns."""

from __future__ import annotations

from ...schema import ModelCall


def turn_start(call: ModelCall, added: int = 0) -> int:
    """Returns the index of the message that begins the current turn: the last one of the user, or the first of several
    that follow each other. The last `added` messages, such as corrections, were added since, and begin none.
    """
    index = len(call.messages) - added - 1
    while index > 0 and call.messages[index].role != "user":
        index -= 1
    while index > 0 and call.messages[index - 1].role == "user":
        index -= 1
    return max(0, index)


def message_index(part_path: str) -> int:
    """Returns the index of the message that a file is in."""
    return int(part_path.removeprefix("messages[").partition("]")[0])
