"""Scenes without a model: rules find motifs, colours and settings among the English words of a prompt."""

from __future__ import annotations

from .changing import change_scene
from .composing import ComposedScene, compose_scene

__all__ = ["ComposedScene", "change_scene", "compose_scene"]
