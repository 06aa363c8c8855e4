"""Texts that say no more than their text are one where they follow one another, and a string where they are alone."""

from __future__ import annotations

from typing import Any

from abstractcore_providers.common.conversations import append_block, as_content


def blocks_of(*given: dict[str, Any]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for block in given:
        append_block(blocks, dict(block))
    return blocks


def test_plain_texts_and_thoughts_are_joined_with_their_own_kind():
    text, thought = {"type": "text", "text": "a"}, {"type": "thinking", "thinking": "t"}
    assert blocks_of(text, text) == [{"type": "text", "text": "aa"}]
    assert blocks_of(thought, thought, text) == [{"type": "thinking", "thinking": "tt"}, text]


def test_what_says_more_stays_apart():
    text, noted = {"type": "text", "text": "a"}, {"type": "text", "text": "a", "note": 1}
    image = {"type": "image_url", "image_url": {"url": "u"}}
    for blocks in ((text, noted), (noted, noted), (image, image), (text, image, text)):
        assert blocks_of(*blocks) == list(blocks)


def test_a_lone_plain_text_is_a_string():
    text = {"type": "text", "text": "a"}
    assert as_content([text]) == "a"
    for blocks in ([], [text, text], [{**text, "note": 1}]):
        assert as_content(blocks) == blocks
