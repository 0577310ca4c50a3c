"""Plugins for tests, installed as pip leaves them: a package beside a .dist-info folder on the import path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install("acme", source)`` puts the module ``acme_plugin`` there, with the entry point ``acme`` of distribution ``acme-dist`` 1.0."""
    before = set(sys.modules)

    def put(name: str, source: str, *, module: str | None = None, dist: str | None = None, version: str = "1.0") -> Path:
        module, dist = module or f"{name}_plugin", dist or f"{name}-dist"
        site = tmp_path / dist
        info = site / f"{dist.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[jackfield.plugins]\n{name} = {module}\n")
        (site / f"{module}.py").write_text("from __future__ import annotations\nfrom jackfield import hookimpl\n" + source)
        monkeypatch.syspath_prepend(str(site))
        return site

    yield put
    for module in set(sys.modules) - before:
        if module.endswith("_plugin") or module.startswith("jackfield_file_"):
            del sys.modules[module]
