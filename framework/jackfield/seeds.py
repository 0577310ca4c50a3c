"""Random seeds as a function of what is being drawn, never of when or where it is drawn."""

from __future__ import annotations

import hashlib


def derive(*parts: int | str) -> int:
    """A 63-bit seed from a path of names, e.g. ``derive(run_seed, step, task_id, member)``.

    The same parts give the same seed on every machine and in every order of execution. Parts are length-prefixed,
    so ``("ab", "c")`` and ``("a", "bc")`` differ; an int and its decimal string differ.
    """
    digest = hashlib.sha256()
    for part in parts:
        text = f"{type(part).__name__}:{part}".encode()
        digest.update(len(text).to_bytes(8, "big"))
        digest.update(text)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
