"""Scenes without a model: rules find motifs, colours and settings among the English words of a prompt."""

from __future__ import annotations

from .changing import change_scene
from .composing import ComposedScene, compose_scene
from .words import LONGEST_PROMPT

__all__ = ["LONGEST_PROMPT", "ComposedScene", "change_scene", "compose_scene"]
