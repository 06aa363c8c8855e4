"""Pipelines of diffusers: loaded once, and turned into those for other tasks, which share their weights."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from abstractcore import CallWarning, MissingExtraError, ModelStoreError, UnsupportedContentError
from abstractcore.schema import install_hint

from ..problems import shortened
from ..remote.requests import PictureRequest, Task

_INSTALL = install_hint("diffusers", "torch", "transformers", "accelerate")


class DiffusionPipelines:
    """The pipelines of one model: a folder in the layout of diffusers, or a name on the Hugging Face hub.

    `device` is a name of torch, such as "cpu", "cuda" or "mps"; `dtype` a type of torch, such as "bfloat16".
    """

    def __init__(self, source: str, device: str | None, dtype: str | None, threads: int) -> None:
        self._source = source
        self._device = device
        self._dtype = dtype
        self._threads = threads
        self._made: dict[str, Any] = {}
        self._lock = threading.Lock()

    def for_request(self, request: PictureRequest) -> Any:
        """Returns the pipeline for a task; loads the model at first use, which blocks."""
        with self._lock:
            if "base" not in self._made:
                self._made["base"] = self._loaded()
            kind = "inpaint" if request.mask is not None else request.task
            if kind not in self._made:
                self._made[kind] = _variant(self._made["base"], request.task, has_mask=request.mask is not None)
            return self._made[kind]

    def _loaded(self) -> Any:
        diffusers, torch = library("diffusers"), library("torch")
        device = self._device or _best_device(torch)
        if device == "cpu":
            torch.set_num_threads(self._threads)
        dtype = getattr(torch, self._dtype or ("float32" if device == "cpu" else "bfloat16"), None)
        if not isinstance(dtype, torch.dtype):
            raise ModelStoreError(
                f"torch has no type {self._dtype!r}", hint="Set vision_dtype='bfloat16', for example."
            )
        local = os.path.isdir(self._source)
        try:
            pipeline = diffusers.DiffusionPipeline.from_pretrained(
                self._source, torch_dtype=dtype, local_files_only=local
            )
        except Exception as error:  # of many libraries: no network, no such model, a damaged file
            why = shortened(str(error), 300) or type(error).__name__
            hint = (
                "vision_image_model is a folder with model_index.json, or the name of a model on the Hugging Face hub."
            )
            raise ModelStoreError(f"the model {shortened(self._source)} cannot be loaded: {why}", hint=hint) from None
        return pipeline.to(device)


def library(name: str) -> Any:
    """Returns a library; raises `MissingExtraError` with what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = error.name or name
        raise MissingExtraError(f"local models need the package {missing}", hint=_INSTALL) from None


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _variant(base: Any, task: Task, *, has_mask: bool) -> Any:
    """Returns the pipeline for a task, made of the components of the one that was loaded."""
    diffusers, name = library("diffusers"), type(base).__name__
    is_film = "Video" in name or "num_frames" in inspect.signature(base.__call__).parameters
    if is_film != (task in ("t2v", "i2v")):
        kind = "videos" if is_film else "pictures"
        raise UnsupportedContentError(f"{name} makes {kind}", hint="Choose another model: vision_image_model=...")
    try:
        if has_mask:
            return diffusers.AutoPipelineForInpainting.from_pipe(base)
        if task == "i2i":
            return diffusers.AutoPipelineForImage2Image.from_pipe(base)
        if task == "i2v" and "image" not in inspect.signature(base.__call__).parameters:
            other = getattr(diffusers, f"{name.removesuffix('Pipeline')}ImageToVideoPipeline")
            return other(**base.components)
    except Exception as error:  # there is no such pipeline, or it needs other components
        why = shortened(str(error), 200)
        raise UnsupportedContentError(f"{name} has no pipeline for {task}: {why}") from None
    return base


def accepted(pipeline: Any, given: Mapping[str, tuple[str, Any]]) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the arguments that a pipeline takes, and warnings for the others. `given` has, by the names of options,
    the name of the argument and its value.
    """
    known = inspect.signature(pipeline.__call__).parameters
    taken = {argument: value for argument, value in given.values() if argument in known and value is not None}
    name = type(pipeline).__name__
    warnings = [
        CallWarning("unsupported_option", option, f"{name} does not take {option!r}")
        for option, (argument, value) in given.items()
        if value is not None and argument not in known
    ]
    return taken, warnings
