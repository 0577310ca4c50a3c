"""Reading and writing transformers folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jackfield.errors import Problem, RecipeError

if TYPE_CHECKING:
    import torch

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def folder_or_hub_id(path: str) -> str | None:
    """What transformers is asked for: a folder that exists, or a hub id; None if ``path`` is neither."""
    folder = Path(path).expanduser()
    if folder.is_dir():
        return str(folder)
    return path if _HUB_ID.fullmatch(path) else None


def read_tokenizer(source: str, *, subject: str = "model.path", **options: Any) -> Any:
    """The transformers tokenizer of a folder or hub id. Raises RecipeError about the recipe key ``subject`` if it cannot be read."""
    from transformers import AutoTokenizer

    with _named(source, subject):
        return AutoTokenizer.from_pretrained(source, **options)


def read_causal_lm(source: str, dtype: torch.dtype, *, subject: str = "model.path", **options: Any) -> Any:
    """The causal LM of a folder or hub id, on the CPU, in memory of its own. Raises RecipeError if it cannot be read."""
    from transformers import AutoModelForCausalLM

    with _named(source, subject), quiet():
        module = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, **options)
    _own_memory(module)
    return module


def read_classifier(source: str, dtype: torch.dtype, *, subject: str) -> Any:
    """The sequence classifier with one output of a folder or hub id, on the CPU. Raises RecipeError if it cannot be read, has
    several outputs, or was never trained as one (transformers would make up the weights that are missing)."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    with _named(source, subject), quiet():
        outputs = AutoConfig.from_pretrained(source).num_labels
        if outputs != 1:
            message = f"{source!r} is no reward model: expected a sequence classifier with one output, its config says {outputs}"
            raise RecipeError(Problem("", subject, message))
        module, told = AutoModelForSequenceClassification.from_pretrained(source, dtype=dtype, output_loading_info=True)
    if told["missing_keys"]:
        missing = ", ".join(sorted(told["missing_keys"]))
        raise RecipeError(Problem("", subject, f"{source!r} is no reward model: it lacks the weights {missing}"))
    _own_memory(module)
    return module


def _own_memory(module: Any) -> None:
    """Until here weights are views into the mapped file: unaligned, and gone wrong if the file is rewritten."""
    for weight in module.parameters():
        weight.data = weight.data.clone()


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' own progress bars, which would tear the console tracker's."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


@contextmanager
def _named(source: str, subject: str) -> Iterator[None]:
    """transformers says OSError for what it cannot find or fetch and ValueError for what is no model: the user's path, or the network."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise RecipeError(Problem("", subject, f"cannot load {source!r}: {error}")) from error
