"""Reading and writing transformers folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jackfield.errors import Problem, RecipeError

if TYPE_CHECKING:
    import torch


def read_tokenizer(source: str, **options: Any) -> Any:
    """The transformers tokenizer of a folder or hub id. Raises RecipeError if it cannot be read."""
    from transformers import AutoTokenizer

    with _named(source):
        return AutoTokenizer.from_pretrained(source, **options)


def read_causal_lm(source: str, dtype: torch.dtype, **options: Any) -> Any:
    """The causal LM of a folder or hub id, on the CPU, in memory of its own. Raises RecipeError if it cannot be read."""
    from transformers import AutoModelForCausalLM

    with _named(source), quiet():
        module = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, **options)
    for weight in module.parameters():  # until here a view into the mapped file, unaligned, and gone wrong if the file is rewritten
        weight.data = weight.data.clone()
    return module


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
def _named(source: str) -> Iterator[None]:
    """transformers says OSError for what it cannot find or fetch and ValueError for what is no model: the user's path, or the network."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise RecipeError(Problem("", "model.path", f"cannot load {source!r}: {error}")) from error
