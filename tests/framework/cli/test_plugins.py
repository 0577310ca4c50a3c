"""``jackfield plugins``: everything found, whole lines, failures in full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.cli.main import main

PLUGIN = """
@hookimpl
def jackfield_rewards(register):
    register("a", "acme_plugin:A", "A.")
    register("b", "acme_plugin:B", "B.")

@hookimpl
def jackfield_check(recipe): ...
"""


def test_what_it_offers(install: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by kind, and observers by name."""
    install("acme", PLUGIN)
    assert main(["plugins"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("acme"))
    assert line.split(maxsplit=3) == ["acme", "acme-dist", "1.0", "rewards: 2, jackfield_check"]


def test_failures_are_shown(install: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """What happened by default, the whole traceback with --verbose; nothing on stderr twice."""
    install("acme", "import no_such_module\n")
    assert main(["plugins"]) == 0
    captured = capsys.readouterr()
    assert (
        "failed to load: plugin 'acme' (acme-dist 1.0)\n  ModuleNotFoundError: No module named 'no_such_module'\n" in captured.out
    )
    assert "Traceback" not in captured.out
    assert "warning" not in captured.err
    assert main(["plugins", "--verbose"]) == 0
    assert "    import no_such_module" in capsys.readouterr().out
