from __future__ import annotations

from jackfield_champ.build import Problem
from jackfield_champ.split import five_grams, held_out, held_out_of_all


def problem(name: str, text: str, gold: int) -> Problem:
    return Problem(id=name, text=text, category="", gold=gold, answers=())


def test_five_grams() -> None:
    """By hand: six words have two."""
    assert five_grams("Find 3^105 + 4^105 mod 7.") == {
        ("find", "3", "105", "4", "105"), ("3", "105", "4", "105", "mod"), ("105", "4", "105", "mod", "7"),
    }  # fmt: skip
    assert five_grams("too short") == frozenset()


def test_twins_stay_together() -> None:
    """Problems alike in words or in a telling gold answer are on one side, through a chain too; others are drawn on their own."""
    count = 60
    words = [
        problem(f"w{n:02d}{kind}", f"find the number w{n} of ways to fill box w{n} {kind}", n % 9)
        for n in range(count)
        for kind in "ab"
    ]
    golds = [problem(f"g{n:02d}{kind}", f"{kind} g{n}", 100 + n) for n in range(count) for kind in "ab"]
    small = [problem(f"s{n:02d}", f"s{n}", 1) for n in range(count)]
    tested = held_out([*words, *golds, *small])
    for family in ("w", "g"):
        for n in range(count):
            assert (f"{family}{n:02d}a" in tested) == (f"{family}{n:02d}b" in tested)
    assert 5 <= sum(p.id in tested for p in small) <= 25
    assert held_out(list(reversed([*words, *golds, *small]))) == tested


def test_the_whole_set_follows_its_integer_problems() -> None:
    """What is like a test problem is held out, what is like a training problem is not; the rest is drawn on its own."""
    integer = [problem(f"i{n:02d}", f"how many ways are there to fill box number i{n}", 0) for n in range(40)]
    tested = held_out(integer)
    proofs = {f"p{n:02d}": f"prove how many ways are there to fill box number i{n}" for n in range(40)}
    alone = {f"z{n:02d}": f"z{n}" for n in range(40)}
    found = held_out_of_all({p.id: p.text for p in integer} | proofs | alone, integer)
    assert {name for name in found if name[0] == "i"} == tested
    assert {f"i{name[1:]}" for name in found if name[0] == "p"} == tested
    assert 2 <= sum(name[0] == "z" for name in found) <= 20
