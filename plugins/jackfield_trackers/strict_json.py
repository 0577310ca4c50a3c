"""Records as lines of JSON that any reader takes: NaN and infinities, which JSON has not, become null."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def line(record: Mapping[str, Any]) -> str:
    """One line, with its newline."""
    return json.dumps(_finite(record), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def write(path: Path, lines: Iterable[str]) -> None:
    """The whole file or nothing of it: written beside and moved into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    unfinished.replace(path)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
