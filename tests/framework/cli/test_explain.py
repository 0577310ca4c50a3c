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


LONG = """
from attrs import frozen
from jackfield.component import option

TEXT = "  Two spaces, then \\n\\n" + "a word and a \\"quote\\" \\\\ " * 20 + "end "

@hookimpl
def jackfield_tools(register):
    register("long", "acme_plugin:Long", "Talks.")

@frozen(kw_only=True)
class Long:
    text: str = option(TEXT, help="what is said")
    short: int = option(1, help="how often")
"""


def test_long_defaults_are_cut_in_the_table_and_whole_in_the_example(install: Install, capsys: Captured) -> None:
    """A table as wide as a prompt cannot be read; the example is the same text over several lines."""
    install("acme", LONG)
    text = explain("long", capsys)
    assert max(map(len, text.splitlines())) <= 120
    row = next(line for line in text.splitlines() if line.startswith("  text "))
    assert "…  what is said" in row
    ours = "  Two spaces, then \n\n" + 'a word and a "quote" \\ ' * 20 + "end "
    assert recipe(text) == {"tools": [{"use": "long", "text": ours, "short": 1}]}


def test_a_table_of_the_core_is_explained(capsys: Captured) -> None:
    """By its name, or by that of a key in it; those at the top by their keys."""
    text = explain("learn", capsys)
    assert text.startswith("[learn]: how a step's rollouts become optimizer updates.")
    assert "tokens_per_microbatch  int = 4096" in text
    assert recipe(text)["learn"]["epochs"] == 1  # type: ignore[index]
    assert explain("learn.epochs", capsys) == explain("epochs", capsys) == text
    assert "\n  group_size      int = 1 " in explain("tasks_per_step", capsys)


def test_a_component_is_found_by_its_place_too(capsys: Captured) -> None:
    """As a recipe writes it, and by its kind."""
    assert explain("advantage.gae", capsys) == explain("advantages.gae", capsys) == explain("gae", capsys)
    assert explain("advantage.credit:gae", capsys) == explain("gae", capsys)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("rollout.max_turns", "environments.tagged_tools int = 4 turns that may call a tool"),
        ("environments.max_turns", "environments.tagged_tools int = 4 turns that may call a tool"),
        ("tagged_tools.max_turns", "environments.tagged_tools int = 4 turns that may call a tool"),
        ("max_turns", "environments.tagged_tools int = 4 turns that may call a tool"),
        ("optimizer.lr", "optimizers.adamw float, required peak learning rate"),
        ("losses.0.clip_low", "losses.ppo_clip float = 0.2 the ratio is clipped"),
        ("corpora.path", "corpora.jsonl Path, required "),
        ("losses.weight", "every one of losses float = 1.0 factor"),
        ("gate", "every one of rewards bool = false where it"),
        ("model.from", "components with a key path str path or name of the recipe"),
        ("use", "every component str, required its name"),
    ],
)
def test_a_key_is_explained_with_who_has_it(capsys: Captured, name: str, row: str) -> None:
    """By itself, or after a place, a kind or a component."""
    first, *rows = explain(name, capsys).splitlines()
    assert first == f"{name.rpartition('.')[2]}, a key of"
    assert any(" ".join(line.split()).startswith(row) for line in rows)


def test_a_key_is_told_only_of_the_owner_asked_for(capsys: Captured) -> None:
    """A weight of losses is none of rewards, and of tools there is none."""
    assert "rewards" not in explain("losses.weight", capsys)
    assert "tools" not in explain("losses.clip_low", capsys)
    assert main(["explain", "tools.weight"]) == 2


def test_keys_that_are_read_first_are_told_with_those_at_the_top(capsys: Captured) -> None:
    """They have no settings class."""
    text = explain("extends", capsys)
    assert text == explain("requires", capsys) == explain("plugins", capsys) == explain("title", capsys)
    assert any(line.startswith("  extends ") for line in text.splitlines())


def test_an_example_says_what_its_defaults_lack(capsys: Captured) -> None:
    """Where no key by itself is required, but one of two is."""
    assert "\n  # needs either a 'corpus' to search here or the 'url' of a server, found neither\n" in explain(
        "tools.search", capsys
    )


def test_a_component_with_the_name_of_a_key_comes_first(install: Install, capsys: Captured) -> None:
    """And the key is told too."""
    install("acme", PLUGIN.replace('"plain", "acme_plugin:Plain"', '"epochs", "acme_plugin:Library"'))
    text = explain("epochs", capsys)
    assert text.startswith("tools.acme:epochs: ")
    assert "\nalso a key of [learn]\n  epochs  int = 1  passes over" in text
    assert "also a key" not in explain("tools.epochs", capsys)


@pytest.mark.parametrize(
    ("name", "first", "row"),
    [
        ("optimizer", "[optimizer]: one of", "adamw optim AdamW"),
        ("losses", "[[losses]]: any of", "ppo_clip ppo Clipped"),
        ("corpora", "corpora, held by other components: one of", "smoke smoke"),
        ("ppo", "plugin ppo (jackfield ", "losses.ppo_clip Clipped"),
        ("search", "tools.search:search: ", "keys"),  # a plugin too, but the component comes first
    ],
)
def test_places_of_a_recipe_and_plugins_are_explained(capsys: Captured, name: str, first: str, row: str) -> None:
    """What may stand there, and what it offers."""
    text = explain(name, capsys)
    assert text.startswith(first)
    assert any(" ".join(line.split()).startswith(row) for line in text.splitlines())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("polite", "'polite' is the name of more than one component; write tools.polite or losses.polite"),
        ("asekr", "'asekr' is unknown among all components and keys; did you mean 'asker'?"),
        ("lern", "'lern' is unknown among all components and keys; did you mean 'learn'?"),
        ("xyzzy", "'xyzzy' is unknown among all components and keys; jackfield components lists them"),
        ("learn.epoch", "'learn.epoch' is unknown among all components and keys; did you mean 'learn.epochs'?"),
        ("rollout.max_trns", "'max_trns' is unknown among the keys of rollout; did you mean 'max_turns'?"),
        ("gae.lma", "'lma' is unknown among the keys of gae; did you mean 'lam'?"),
        ("critic.xyzzy", "'xyzzy' is unknown among critics; choose from: value_head"),
        ("tools.asekr", "'asekr' is unknown among tools; did you mean 'asker'?"),
        ("plain", "tools.acme:plain: acme_plugin:Plain is not an attrs class, so it is no component"),
    ],
)
def test_refusals(install: Install, capsys: Captured, name: str, message: str) -> None:
    """A clean line with what to write."""
    install("acme", PLUGIN)
    assert main(["explain", name]) == 2
    assert message in capsys.readouterr().err
