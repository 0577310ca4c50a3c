"""A class against the protocol of its kind, when a recipe names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jackfield.plugins import Plugins, load_plugins
from jackfield.recipe.contract import PROTOCOLS, misfits
from jackfield.registry import KINDS

HEAD = """\
import functools
from attrs import define, field, frozen
from jackfield import hookimpl, stages
from jackfield.component import option

@hookimpl
def jackfield_KIND(register):
    register("mine", f"{__name__}:Mine", "Mine.")

"""
"""The class after it stands in line 10, and its first line is line 12."""


def told(kind: str, body: str) -> list[str]:
    """What is wrong with a class ``Mine``, offered by mine.py as a component of this kind."""
    file = Path("mine.py")
    file.write_text(f"{HEAD.replace('KIND', kind)}{body}\n", encoding="utf-8")
    plugins = Plugins()
    plugins.add_file(file)
    assert not plugins.failures
    entry = plugins.registries[kind].find("mine")
    return list(misfits(entry, entry.load(), None))


@pytest.fixture(autouse=True)
def empty_desk(desk: Any) -> None:
    """With plugins of its own, for every test has another mine.py."""
    desk.plugins = Plugins()
    desk.plugins.add_file(Path(__file__).with_name("fakes.py"))


def mine(*lines: str) -> str:
    return "\n".join(["@frozen(kw_only=True)", "class Mine:", *(f"    {line}" for line in lines)])


@pytest.mark.parametrize(
    ("kind", "lines", "messages"),
    [
        ("rewards", ["pass"], ["Mine (mine.py:10) has no method judge(rollout), which the core asks of rewards"]),
        ("rewards", ["def jugde(self, rollout): ..."],
         ["Mine (mine.py:10) has no method judge(rollout), which the core asks of rewards; did you mean its 'jugde'?"]),
        ("losses", ["def terms(self, batch): ..."], ["Mine (mine.py:10) has no attribute unit, which the core asks of losses"]),
        ("losses", ["def unit(self): ...", "def terms(self): ..."],
         ["Mine.unit (mine.py:12) is read as a value, not called; write @property above it",
          "Mine.terms (mine.py:13) is called as terms(batch), and takes (self)"]),
        ("rewards", ["def judge(self, rollout, gold): ..."],
         ["Mine.judge (mine.py:12) is called as judge(rollout), and takes (self, rollout, gold)"]),
        ("rewards", ["@staticmethod", "def judge(): ..."], ["Mine.judge (mine.py:12) is called as judge(rollout), and takes ()"]),
        ("environments", ["def play(self, episode): ..."], ["Mine.play (mine.py:12) is awaited; write async def play"]),
        ("filters", ["async def keep(self, groups): ..."],
         ["Mine.keep (mine.py:12) is not awaited; write def keep, without async"]),
        ("rewards", ["def judge(self, rollout): ...", "def check_task(self, task): ...", "def check_recipe(self): ..."],
         ["Mine.check_recipe (mine.py:14) is called as check_recipe(corridor), and takes (self)",
          "Mine.check_task (mine.py:13) is called as check_task(task, tokenizer), and takes (self, task)"]),
        ("filters", ["def keep(self, groups): ...", "def state(self): ..."],
         ["Mine (mine.py:10) has a method state, and none called restore; a checkpoint needs both"]),
        ("engines", ["samples = True", "holds = ''", "def start(self, policy, tokenizer): ...", "def refresh(self, policy_version): ...",
                     "def open(self, prompt, task, member, prefix, seed): ..."],
         [("Mine.open (mine.py:16) is called as open(prompt, task=…, member=…, prefix=…, seed=…, temperature=…), "
           "and takes (self, prompt, task, member, prefix, seed)")]),
    ],
)  # fmt: skip
def test_what_a_class_lacks_is_told_with_its_file(kind: str, lines: list[str], messages: list[str]) -> None:
    """Missing, misspelt, of another shape, awaited or not: it would else fail in the middle of a run."""
    assert told(kind, mine(*lines)) == messages


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("rewards", mine("async def judge(self, rollout): ...")),
        ("rewards", mine("def judge_all(self, rollouts): ...")),
        ("rewards", mine("def judge(self, *args, **kwargs): ...")),
        ("rewards", mine("def judge(self, r, strict=False): ...")),
        ("rewards", mine("@classmethod", "def judge(cls, rollout): ...")),
        ("rewards", mine("judge = functools.partialmethod(print)")),
        ("rewards", mine("def __getattr__(self, name): ...")),
        ("losses", mine("unit: str = option('token', help='of what')", "def terms(self, batch): ...")),
        ("losses", mine("unit: str = field(init=False, default='token')", "def terms(self, batch): ...")),
        ("losses", mine("@functools.cached_property", "def unit(self): ...", "def terms(self, batch): ...")),
        ("environments", mine("def play(self, episode) -> 'Awaitable[Rollout]': ...")),
        ("embedders", mine("pass")),
    ],
)
def test_every_way_to_write_it_is_fine(kind: str, body: str) -> None:
    """Arguments may have other names, and an attribute may be a field, a property or a constant."""
    assert told(kind, body) == []


def test_inheriting_from_the_protocol_gives_nothing() -> None:
    """Its methods are only there to be read."""
    body = mine("pass").replace("class Mine:", "class Mine(stages.Reward):")
    assert told("rewards", body) == ["Mine (mine.py:10) has no method judge(rollout), which the core asks of rewards"]


def test_what_an_object_is_given_when_it_is_made_counts(desk: Any) -> None:
    """Of a class whose objects take any attribute."""
    body = (
        "@define(slots=False)\nclass Mine:\n    def __attrs_post_init__(self): self.unit = 'token'\n    def terms(self, batch): ..."
    )
    assert told("losses", body) == ["Mine (mine.py:10) has no attribute unit, which the core asks of losses"]
    assert desk.sound('plugins = ["mine.py"]\nlosses = ["mine"]', without=["losses"]).corridor.losses[0].part.unit == "token"


def test_a_recipe_is_refused_with_all_of_it(desk: Any) -> None:
    """At the line that names the component, beside what is wrong with its keys; nothing else is said of it."""
    told("advantages", mine("smallest_group = 2", "scale: float = option(1.0, help='how much')"))
    more = 'plugins = ["mine.py"]\n[advantage]\nuse = "mine"\nscael = 2'
    lacks = "r.toml:12: advantage.use: Mine (mine.py:10) has no {}, which the core asks of advantages"
    assert desk.problems(lambda: desk.sound(more, without=["advantage"])) == [
        lacks.format("attribute uses_reward"),
        lacks.format("attribute gives_returns"),
        lacks.format("method credit(groups)"),
        "r.toml:13: advantage.scael: unknown key; did you mean 'scale'?",
    ]


def test_every_kind_has_a_protocol_but_embedders() -> None:
    """Which only the search plugin uses."""
    assert {*KINDS} - {*PROTOCOLS} == {"embedders"}


def test_everything_that_comes_along_fits() -> None:
    """So that the protocols say what is so."""
    registries = load_plugins(environ={}).registries.values()
    assert [told for registry in registries for entry in registry.entries for told in misfits(entry, entry.load(), None)] == []
