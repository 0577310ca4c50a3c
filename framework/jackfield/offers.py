"""What a plugin offers while it is being asked: collected and checked here; registries take it over only if all of it is sound."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from jackfield.errors import Problem
from jackfield.hookspecs import Register
from jackfield.registry import Entry

if TYPE_CHECKING:
    import argparse

COMPONENT_NAME = re.compile(r"[a-z][a-z0-9_]*")
COMMAND_NAME = re.compile(r"[a-z][a-z0-9-]*")
TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@frozen
class Command(Entry):
    """A command that a plugin offers. ``target`` names a function of the parsed arguments that returns the exit code."""

    arguments: Callable[[argparse.ArgumentParser], None] = field(kw_only=True)
    """Adds the command's arguments to its parser."""

    def function(self) -> Callable[[argparse.Namespace], int]:
        """What the command runs, imported now."""
        found: Callable[[argparse.Namespace], int] = self._import()
        return found


@define
class Offers:
    """What one plugin has registered so far, and everything wrong with it."""

    plugin: str
    label: str
    distribution: str | None
    version: str | None
    entries: list[Entry] = field(init=False, factory=list)
    commands: list[Command] = field(init=False, factory=list)
    problems: list[Problem] = field(init=False, factory=list)

    def registrar(self, kind: str) -> Register:
        """What the plugin's hook of this kind receives."""

        def register(name: str, target: str, summary: str, *, extra: str | None = None) -> None:
            subject = f"{kind}.{name}"
            self._check(subject, name, COMPONENT_NAME, "lower case with underscores, e.g. 'ppo_clip'", target, summary)
            if any((entry.kind, entry.name) == (kind, name) for entry in self.entries):
                self.problems.append(Problem(self.label, subject, "offered twice by the same plugin"))
            self.entries.append(Entry(kind, name, target, summary, self.plugin, extra, **self._brought_by()))

        return register

    def add_command(self, name: str, summary: str, arguments: Callable[[argparse.ArgumentParser], None], target: str) -> None:
        """What the plugin's ``jackfield_commands`` receives."""
        subject = f"commands.{name}"
        self._check(subject, name, COMMAND_NAME, "lower case with dashes, e.g. 'serve-search'", target, summary)
        if any(command.name == name for command in self.commands):
            self.problems.append(Problem(self.label, subject, "offered twice by the same plugin"))
        self.commands.append(Command("commands", name, target, summary, self.plugin, arguments=arguments, **self._brought_by()))

    def _check(self, subject: str, name: str, pattern: re.Pattern[str], like: str, target: str, summary: str) -> None:
        wrong = []
        if not _matches(pattern, name):
            wrong.append(f"the name must be {like}, found {name!r}")
        if not _matches(TARGET, target):
            wrong.append(f"the target must be an import string 'package.module:Name', found {target!r}")
        if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
            wrong.append(f"the summary must be one line of text, found {summary!r}")
        self.problems += [Problem(self.label, subject, message) for message in wrong]

    def _brought_by(self) -> dict[str, Any]:
        return {"distribution": self.distribution, "version": self.version}


def _matches(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None
