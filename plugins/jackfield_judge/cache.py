"""Answers on disk, by what was asked: a question that was answered once costs nothing again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

_log = logging.getLogger(__name__)


@frozen
class AnswerCache:
    """One small file an answer. Several processes may share the folder: a file is there whole or not at all."""

    folder: Path

    def get(self, request: Mapping[str, Any]) -> str | None:
        """The answer to this very request; None if there is none, or its file is damaged."""
        path = self._path(request)
        try:
            answer = json.loads(path.read_text(encoding="utf-8"))["answer"]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            _log.warning("%s is damaged; the judge is asked again", path)
            return None
        return answer if isinstance(answer, str) else None

    def put(self, request: Mapping[str, Any], answer: str) -> None:
        """Keep an answer."""
        path = self._path(request)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix="partial-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"answer": answer}, file)
        Path(partial).replace(path)

    def _path(self, request: Mapping[str, Any]) -> Path:
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        return self.folder / digest[:2] / f"{digest}.json"
