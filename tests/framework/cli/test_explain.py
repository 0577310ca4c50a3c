"""``jackfield explain``: everything about one component, and TOML that can be pasted."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.cli.main import main

Install = Callable[..., Path]
Captured = pytest.CaptureFixture[str]

PLUGIN = """
from pathlib import Path
from typing import ClassVar, Literal
from attrs import frozen
from jackfield.component import option, part

Mode = Literal["fast", "slow"]

@hookimpl
def jackfield_losses(register):
    register("polite", "acme_plugin:Polite", "A polite loss.", extra="manners")

@hookimpl
def jackfield_tools(register):
    register("asker", "acme_plugin:Asker", "Asks.")
    register("polite", "acme_plugin:Asker", "Asks too.")
    register("plain", "acme_plugin:Plain", "No attrs class.")

@hookimpl
def jackfield_corpora(register):
    register("library", "acme_plugin:Library", "Books.")

@frozen(kw_only=True)
class Polite:
    '''Says please.

    Second paragraph.
    '''
    unit: ClassVar[str] = "token"
    scale: float = option(0.5, help="how much")
    note: str | None = option(None, help="a note")
    words: tuple[str, ...] = option(("please", "t\\"y"), help="what counts")

    @property
    def needs(self): return frozenset({"ref_logp"} if self.scale else ())

@frozen(kw_only=True)
class Asker:
    '''Asks.'''
    path: Path = option(help="where")
    top_k: int = option(help="how many")
    mode: Mode = option(help="how")
    corpus: object = part("corpora", help="what is searched")

@frozen(kw_only=True)
class Library:
    '''Books.'''
    path: Path = option(help="where")

class Plain: ...
"""


def explain(name: str, capsys: Captured) -> str:
    assert main(["explain", name]) == 0
    return capsys.readouterr().out


def recipe(text: str) -> dict[str, object]:
    return tomllib.loads("\n".join(line.strip() for line in text.partition("in a recipe\n")[2].splitlines()))


def test_everything_about_a_component(install: Install, capsys: Captured) -> None:
    """Docstring, keys with type, default and help, who brought it, where it is written, what it needs."""
    site = install("acme", PLUGIN)
    text = explain("losses.polite", capsys)
    assert text.startswith("losses.acme:polite: A polite loss.\n\nSays please.\n\nSecond paragraph.\n")
    lines = {" ".join(line.split()) for line in text.splitlines()}
    assert lines >= {
        "offered by plugin acme, acme-dist 1.0",
        "class acme_plugin:Polite",
        "pip extra acme-dist[manners]",
        "needs ref_logp (with the default keys)",
        "unit token",
        "scale float = 0.5 how much",
        "note str | None = (none) a note",
        'words tuple[str, ...] = ["please", "t\\"y"] what counts',
    }
    assert any(line.startswith("weight float = 1.0 ") for line in lines)
    assert f"{site / 'acme_plugin.py'}:" in text
    assert recipe(text) == {"losses": [{"use": "polite", "scale": 0.5, "words": ["please", 't"y']}]}


def test_required_keys_get_placeholders_of_their_type(install: Install, capsys: Captured) -> None:
    """What the user must decide is marked, and the block is TOML all the same."""
    install("acme", PLUGIN)
    text = explain("asker", capsys)
    assert recipe(text) == {"tools": [{"use": "asker", "path": "…", "top_k": 0, "mode": "fast", "corpus": "…"}]}
    assert text.count("# required") == 4
    assert "one of corpora, required" in text
    assert '"fast" or "slow", required' in text


def test_a_part_is_shown_as_a_value(install: Install, capsys: Captured) -> None:
    """Corpora have no table of their own in a recipe."""
    install("acme", PLUGIN)
    assert recipe(explain("library", capsys)) == {"key": {"use": "library", "path": "…"}}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("polite", "'polite' is the name of more than one component; write tools.polite or losses.polite"),
        ("asekr", "'asekr' is unknown among all components; did you mean 'asker'?"),
        ("tools.asekr", "'asekr' is unknown among tools; did you mean 'asker'?"),
        ("plain", "tools.acme:plain: acme_plugin:Plain is not an attrs class, so it is no component"),
    ],
)
def test_refusals(install: Install, capsys: Captured, name: str, message: str) -> None:
    """A clean line with what to write."""
    install("acme", PLUGIN)
    assert main(["explain", name]) == 2
    assert message in capsys.readouterr().err
