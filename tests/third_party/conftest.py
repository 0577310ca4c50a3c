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
Jackfield = Callable[..., "subprocess.CompletedProcess[str]"]

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
def jackfield(tmp_path_factory: pytest.TempPathFactory) -> Jackfield:
    """Runs ``python -m jackfield`` where the third parties' plugins are installed."""
    folder = tmp_path_factory.mktemp("third_party")
    home = folder / "venv"
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
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
        str(python),
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    done = subprocess.run([*install, *map(str, projects)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        command = [str(python), "-m", "jackfield", *argv]
        return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)

    return run


def write_project(folder: Path, name: str, version: str, files: dict[str, str]) -> Path:
    """``folder/jackfield-NAME``, as its author would keep it in a repository of its own."""
    project = folder / f"jackfield-{name}"
    package = project / f"jackfield_{name}"
    package.mkdir(parents=True)
    (project / "pyproject.toml").write_text(PYPROJECT.format(name=name, version=version))
    for file, text in files.items():
        (package / file).write_text(dedent(text).lstrip())
    return project
