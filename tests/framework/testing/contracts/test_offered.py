"""Everything that installed plugins register is found and checked by its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.errors import UserError
from jackfield.testing.contracts import check_offered, offered

PLUGIN = """
from attrs import frozen
from jackfield.component import option
from jackfield.loss_batch import LossTerms
from jackfield.types import Verdict

@hookimpl
def jackfield_rewards(register):
    register("acme_wants", f"{__name__}:Wants", "1 if one word is said.")

@hookimpl
def jackfield_losses(register):
    register("acme_mean", f"{__name__}:Mean", "Averages.")

@hookimpl
def jackfield_data(register):
    register("acme_data", f"{__name__}:Wants", "Of a kind without a check.")

@frozen(kw_only=True)
class Wants:
    word: str = option(help="what must be said")

    def judge(self, rollout):
        return Verdict.score(self.word in rollout.completion)

@frozen(kw_only=True)
class Mean:
    unit = "token"

    def terms(self, batch):
        return LossTerms(term=-batch.logp_N / len(batch.logp_N))
"""


def test_a_plugins_components_are_checked(install: Callable[..., Path]) -> None:
    """Only those asked for; keys without a default are given."""
    install("acme", PLUGIN)
    reward, loss = offered("acme")
    assert (reward.qualified, loss.qualified) == ("acme:acme_wants", "acme:acme_mean")
    assert {reward, loss} < set(offered())
    check_offered(reward, word="please")
    with pytest.raises(AssertionError, match="never divide"):
        check_offered(loss)


def test_a_plugin_that_fails_is_no_pass(install: Callable[..., Path]) -> None:
    """Neither one that does not load nor one that is not there leaves the list empty in silence."""
    install("broken", "import a_module_that_is_not_there\n")
    with pytest.raises(AssertionError, match="a_module_that_is_not_there"):
        offered("broken")
    with pytest.raises(UserError, match="no such plugin"):
        offered("brokn")
