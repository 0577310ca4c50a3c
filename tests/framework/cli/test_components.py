"""``jackfield components``: names as recipes write them, whole lines, no colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.cli.main import main

SUMMARY = "Long " * 60 + "end."
PLUGIN = f"""
@hookimpl
def jackfield_rewards(register):
    register("politeness", "acme_plugin:Politeness", "{SUMMARY}")
"""


def test_a_kind(install: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Only that kind is listed, and no line is cut."""
    install("acme", PLUGIN)
    assert main(["components", "rewards"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["KIND", "NAME", "PLUGIN", "WHAT", "IT", "IS"]
    assert {line.split()[0] for line in lines} == {"rewards"}
    (line,) = [line for line in lines if "politeness" in line]
    assert line.split(maxsplit=3) == ["rewards", "politeness", "acme", SUMMARY]
    assert "\x1b" not in line


def test_a_shared_name_is_listed_as_it_must_be_written(install: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Two offers of one name appear qualified."""
    install("acme", PLUGIN)
    install("beta", PLUGIN)
    assert main(["components"]) == 0
    out = capsys.readouterr().out
    assert " acme:politeness " in out
    assert " beta:politeness " in out
