"""Third-party plugin projects, built and installed by pip into a virtual environment of their own."""

from __future__ import annotations

import os
import site
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]
Jackfield = Python = Callable[..., "subprocess.CompletedProcess[str]"]

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "jackfield-{name}"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["jackfield"]

[project.entry-points."jackfield.plugins"]
{name} = "jackfield_{name}"
"""

ACME = {
    "__init__.py": '''
        """Politeness for jackfield."""

        from __future__ import annotations

        from jackfield import hookimpl


        @hookimpl
        def jackfield_rewards(register):
            register("politeness", "jackfield_acme.politeness:Politeness", "1 if the answer says please.")


        @hookimpl
        def jackfield_tools(register):
            register("calculator", "jackfield_acme.calculator:Calculator", "Adds whole numbers.")


        @hookimpl
        def jackfield_data(register):
            register("polite_sums", "jackfield_acme.sums:PoliteSums", "Sums, answered politely or not.")


        @hookimpl
        def jackfield_filters(register):
            register("brief", "jackfield_acme.learning:Brief", "Leaves out who talks too much.")


        @hookimpl
        def jackfield_penalties(register):
            register("per_token", "jackfield_acme.learning:PerToken", "Every token costs.")


        @hookimpl
        def jackfield_advantages(register):
            register("centred", "jackfield_acme.learning:Centred", "Reward against the group's mean.")


        @hookimpl
        def jackfield_losses(register):
            register("plain", "jackfield_acme.learning:Plain", "The plain policy gradient.")
            register("careless", "jackfield_acme.learning:Careless", "The same, averaged.")
    ''',
    "learning.py": '''
        from __future__ import annotations

        import numpy as np
        from attrs import evolve, frozen

        from jackfield.component import option
        from jackfield.loss_batch import LossTerms
        from jackfield.types import Credited, promote


        @frozen(kw_only=True)
        class Brief:
            """Leaves out rollouts of many tokens."""

            most: int = option(4, help="tokens of the policy")

            def keep(self, groups):
                left = [evolve(g, members=tuple(r for r in g if r.num_policy_tokens <= self.most)) for g in groups]
                return [group for group in left if len(group)]


        @frozen(kw_only=True)
        class PerToken:
            """A price for every token."""

            price: float = option(help="reward per token")

            def penalty(self, rollout):
                return np.full(len(rollout.tokens), self.price)


        @frozen(kw_only=True)
        class Centred:
            """Reward less the group's mean."""

            smallest_group = 2
            uses_reward = True
            gives_returns = False

            def credit(self, groups):
                return [evolve(group, members=tuple(self.members(group))) for group in groups]

            def members(self, group):
                mean = np.mean([rollout.reward for rollout in group])
                return [promote(Credited, r, advantage=np.full(len(r.tokens), r.reward - mean)) for r in group]


        @frozen(kw_only=True)
        class Plain:
            """−advantage × log-prob."""

            unit = "token"

            def terms(self, batch):
                return LossTerms(term=-batch.advantage_N * batch.logp_N)


        @frozen(kw_only=True)
        class Careless:
            """Divides by the tokens it happens to see."""

            unit = "token"

            def terms(self, batch):
                return LossTerms(term=-batch.advantage_N * batch.logp_N / len(batch.logp_N))
    ''',
    "politeness.py": '''
        from __future__ import annotations

        from attrs import frozen

        from jackfield.component import option
        from jackfield.types import Rollout, Verdict


        @frozen(kw_only=True)
        class Politeness:
            """Looks for one word in what the policy wrote."""

            word: str = option("please", help="what must be said")

            def judge(self, rollout: Rollout) -> Verdict:
                said = self.word in rollout.completion.lower()
                return Verdict.score(float(said), reason=f"{'says' if said else 'never says'} {self.word}")
    ''',
    "sums.py": '''
        from __future__ import annotations

        from attrs import frozen

        from jackfield.types import Message, Task


        @frozen(kw_only=True)
        class PoliteSums:
            """Two plus a number. Of two recorded attempts, both of which calculate, the second is polite."""

            def tasks(self, split: str) -> list[Task]:
                return [self._task(split, number) for number in range(4)]

            def _task(self, split: str, number: int) -> Task:
                turns = (f"<add>2 + {number}</add>", f"<answer>{2 + number}</answer>")
                polite = (turns[0], f"<answer>Please: {2 + number}</answer>")
                prompt = (Message(role="user", content=f"2 + {number} = ?"),)
                return Task(id=f"acme/{split}-{number}", prompt=prompt, answers=(str(2 + number),), recorded=(turns, polite))
    ''',
    "calculator.py": '''
        from __future__ import annotations

        from attrs import frozen

        from jackfield.component import option
        from jackfield.types import Observation


        @frozen(kw_only=True)
        class Calculator:
            """Adds the whole numbers of ``2 + 2``."""

            name: str = option("calculator", help="what environments call it by")

            def prepare(self) -> None: ...

            async def call(self, text: str) -> Observation:
                try:
                    return Observation(parts=(str(sum(map(int, text.split("+")))),))
                except ValueError:
                    return Observation(failure=f"cannot add {text!r}")
    ''',
}
RIVAL = {
    "__init__.py": """
        from jackfield import hookimpl

        @hookimpl
        def jackfield_rewards(register):
            register("politeness", "jackfield_rival.reward:Politeness", "Another idea of politeness.", extra="manners")
    """,
    "reward.py": "import module_of_the_extra_manners\n",
}
BROKEN = {"__init__.py": "import a_module_that_is_not_there\n"}
MISSPELT = {
    "__init__.py": """
        from jackfield import hookimpl

        @hookimpl
        def jackfield_rewards(register):
            register("half", "jackfield_misspelt:Half", "Must not stay behind.")

        @hookimpl
        def jackfield_tolls(register): ...
    """
}


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Python:
    """Runs the interpreter where the third parties' plugins are installed."""
    folder = tmp_path_factory.mktemp("third_party")
    home = folder / "venv"
    venv.create(home, symlinks=True)
    interpreter = home / "bin" / "python"
    (packages,) = (home / "lib").glob("python*/site-packages")
    # What is installed here, editable installs included, and this working tree; the venv's own packages come first.
    here = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
    (packages / "here.pth").write_text("\n".join([str(ROOT / "framework"), str(ROOT / "plugins"), *here]) + "\n")
    projects = [
        write_project(folder, name, version, files)
        for name, version, files in (("acme", "1.2", ACME), ("rival", "0.3", RIVAL), ("broken", "1.0", BROKEN), ("misspelt", "1.0", MISSPELT))
    ]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "JACKFIELD", "PIP"))}
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(interpreter),
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    done = subprocess.run([*install, *map(str, projects)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        command = [str(interpreter), *argv]
        return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def jackfield(python: Python) -> Jackfield:
    """Runs ``python -m jackfield`` there."""
    return lambda *argv: python("-m", "jackfield", *argv)


def write_project(folder: Path, name: str, version: str, files: dict[str, str]) -> Path:
    """``folder/jackfield-NAME``, as its author would keep it in a repository of its own."""
    project = folder / f"jackfield-{name}"
    package = project / f"jackfield_{name}"
    package.mkdir(parents=True)
    (project / "pyproject.toml").write_text(PYPROJECT.format(name=name, version=version))
    for file, text in files.items():
        (package / file).write_text(dedent(text).lstrip())
    return project
