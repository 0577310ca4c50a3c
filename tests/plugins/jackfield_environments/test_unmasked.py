from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from jackfield.rollout import Players, play
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine, ScriptedTool
from jackfield.types import Message, Rollout, Task
from jackfield_environments.tagged_tools import TaggedTools
from jackfield_environments.unmasked import TaggedToolsUnmasked


def roll(environment: TaggedTools) -> Rollout:
    tokenizer = CharTokenizer()
    [group] = play(
        Players(
            environment=environment,
            engine=ScriptedEngine(tokenizer, ["<search>a</search>", "Paris</answer>", "<answer>Paris</answer>"]),
            tokenizer=tokenizer,
            tools={"search": ScriptedTool(parts=("<answer>Lyon</answer>",))},
            run_seed=0,
        ),
        [Task(id="q", prompt=(Message(role="user", content="Where?"),))],
        step=0,
        group_size=1,
        temperature=1.0,
    )
    return group.members[0]


def test_only_the_mask_differs() -> None:
    """The ablation plays the same tokens to the same end; the mask alone grows by the observation and the correction."""
    right, wrong = roll(TaggedTools(template="{question}")), roll(TaggedToolsUnmasked(template="{question}"))
    assert wrong.tokens.tolist() == right.tokens.tolist()
    assert wrong.finish == right.finish
    assert wrong.counters == right.counters
    environment = np.concatenate([np.full(len(s.tokens), s.writer == "environment") for s in right.segments])
    assert environment.any()
    assert (wrong.policy_mask == (right.policy_mask | environment)).all()
    np.testing.assert_array_equal(wrong.sampled_logp, right.sampled_logp)


def test_verifiers_read_the_same() -> None:
    """What the environment wrote is trained on but not judged: the completion stays what the policy wrote."""
    assert roll(TaggedToolsUnmasked()).completion == "<search>a</search>Paris</answer><answer>Paris</answer>"


def test_no_budget_of_sampled_tokens() -> None:
    """What it declares to be the policy's was not sampled, and would spend the budget."""
    corridors = [SimpleNamespace(run=SimpleNamespace(token_budget=budget)) for budget in (0, 1000)]
    found = [TaggedToolsUnmasked().check_recipe(corridor) for corridor in corridors]  # type: ignore[arg-type]
    assert [len(problems) for problems in found] == [0, 1]


def test_says_that_it_is_wrong_practice() -> None:
    """Nobody can take it for a feature: the words stand in its help."""
    assert "WRONG PRACTICE" in (TaggedToolsUnmasked.__doc__ or "")
