from __future__ import annotations

import pytest

from jackfield_judge.template import QUESTION, Template, wrong_template


def test_places_are_filled_once_and_what_is_put_in_is_data():
    """Braces in a completion are no places, whichever they name; doubled braces of the template are braces."""
    asked = Template.parse("{{q}} {question} | {answers} | {completion}")
    filled = asked.filled(question="{answers}", answers="{0}", completion="{completion} {question!r} {{}} {")
    assert filled == "{q} {answers} | {0} | {completion} {question!r} {{}} {"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{completion} {anwser}", r"\{question\}, \{answers\}, \{completion\} .* found \{anwser\}"),
        ("{completion:>9}", "found {completion:>9}"),
        ("{completion!r}", "nothing in them"),
        ("{completion.__class__}", "found"),
        ("{}", "found"),
        ("no place: {question}", r"no place \{completion\}"),
        ("{completion", "expected '}'"),
    ],
)
def test_a_wrong_template_is_told(text, says):
    """At construction: unknown, formatted, computed or missing places, and braces that do not close."""
    with pytest.raises(ValueError, match=says):
        Template.parse(text)
    assert wrong_template(text)


def test_the_default_is_sound():
    """It shows all three."""
    assert wrong_template(QUESTION) is None
    filled = Template.parse(QUESTION).filled(question="Q?", answers="A\nB", completion="C.")
    assert filled.index("Q?") < filled.index("A\nB") < filled.index("C.")
    assert Template.parse(QUESTION).reads_answers
    assert not Template.parse("{completion}").reads_answers
