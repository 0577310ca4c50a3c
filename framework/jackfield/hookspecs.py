"""Every hook: the plugin writer's manual.

A plugin is a module (or any object) with functions marked ``@jackfield.hookimpl``, found through the entry-point group
``jackfield.plugins``. A whole plugin::

    # jackfield_acme/__init__.py
    from jackfield import hookimpl

    @hookimpl
    def jackfield_rewards(register):
        register("politeness", "jackfield_acme.politeness:Politeness", "1 if the answer says please.")

    # pyproject.toml
    [project.entry-points."jackfield.plugins"]
    acme = "jackfield_acme"

Names are given as import strings and imported on first use, so that listing plugins stays instant: keep ``__init__.py`` free of
heavy imports, and component modules free of torch at import time (import it inside the method that computes).

There is no order between plugins and no way to override another one's component: two plugins that offer one name both stay, and a
recipe says which it means (``use = "acme:politeness"``). Installing a plugin never changes a run that does not name it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pluggy import HookspecMarker

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from jackfield.recipe import Recipe
    from jackfield.report import RunInfo, StepReport

hookspec = HookspecMarker("jackfield")


class Register(Protocol):
    """What a component hook receives, bound to the plugin being asked."""

    def __call__(self, name: str, target: str, summary: str, *, extra: str | None = None) -> None:
        """Offer a component.

        name: what recipes write after ``use =``; lower case with underscores.
        target: ``"package.module:Class"``; imported when a recipe first uses it.
        summary: one line for ``jackfield components``.
        extra: the pip extra it needs (``"tensorboard"``), for the message when its import fails.
        """
        ...


class AddCommand(Protocol):
    """What ``jackfield_commands`` receives."""

    def __call__(self, name: str, summary: str, arguments: Callable[[argparse.ArgumentParser], None], target: str) -> None:
        """Add ``jackfield NAME``.

        arguments: adds the command's arguments to its parser.
        target: ``"package.module:function"``, called with the parsed namespace; returns the exit code.
        """
        ...


# ------------------------------------------------------------------------------------------------- kinds of component
# One hook a kind. What a component of the kind must do is written in jackfield.stages, under the protocol named here.


@hookspec
def jackfield_data(register: Register) -> None:
    """Sources of tasks (``stages.Data``); recipe table ``[data]``."""


@hookspec
def jackfield_corpora(register: Register) -> None:
    """Passages to search (``stages.Corpus``); a search tool's key ``corpus``."""


@hookspec
def jackfield_environments(register: Register) -> None:
    """What follows a policy turn (``stages.Environment``); recipe table ``[rollout]``."""


@hookspec
def jackfield_tools(register: Register) -> None:
    """What rollouts may call (``stages.Tool``); recipe list ``[[tools]]``."""


@hookspec
def jackfield_rewards(register: Register) -> None:
    """Judges of a rollout (``stages.Reward``); recipe list ``[[rewards]]``."""


@hookspec
def jackfield_filters(register: Register) -> None:
    """What leaves scored rollouts out of the rest of a step (``stages.Filter``); recipe list ``[[filters]]``."""


@hookspec
def jackfield_penalties(register: Register) -> None:
    """Costs per token that depend on the models (``stages.Penalty``); recipe list ``[[penalties]]``."""


@hookspec
def jackfield_advantages(register: Register) -> None:
    """Ways to assign credit (``stages.Advantage``); recipe table ``[advantage]``."""


@hookspec
def jackfield_losses(register: Register) -> None:
    """Terms of the objective (``stages.Loss``); recipe list ``[[losses]]``."""


@hookspec
def jackfield_models(register: Register) -> None:
    """Where the language model comes from (``stages.ModelSource``); recipe table ``[model]``."""


@hookspec
def jackfield_critics(register: Register) -> None:
    """Value functions (``stages.Critic``); recipe table ``[critic]``."""


@hookspec
def jackfield_engines(register: Register) -> None:
    """What makes tokens (``stages.Engine``); recipe table ``[engine]``."""


@hookspec
def jackfield_optimizers(register: Register) -> None:
    """Optimizers with their schedule (``stages.Optimizer``); recipe table ``[optimizer]``."""


@hookspec
def jackfield_embedders(register: Register) -> None:
    """Text to vectors for dense retrieval; a search tool's key ``embedder``."""


@hookspec
def jackfield_trackers(register: Register) -> None:
    """Show or save what happened (``stages.Tracker``); recipe list ``[[trackers]]``."""


# ------------------------------------------------------------------------------------------------------------ observers
# They watch, and may raise jackfield.errors.UserError to refuse a recipe or StopRun to end a run early. They change no number.


@hookspec
def jackfield_check(recipe: Recipe) -> None:
    """Called by ``check`` and before every run, after the recipe itself was found sound. Raise UserError to refuse it."""


@hookspec
def jackfield_run_start(run: RunInfo) -> None:
    """Called before the first step."""


@hookspec
def jackfield_step_end(run: RunInfo, report: StepReport) -> None:
    """Called after every step and every evaluation. Raise ``jackfield.errors.StopRun`` to end the run cleanly with a checkpoint."""


@hookspec
def jackfield_run_end(run: RunInfo, error: BaseException | None) -> None:
    """Called once a run ended, with what ended it if it was an error."""


@hookspec
def jackfield_commands(add: AddCommand) -> None:
    """Add commands to the command line."""
