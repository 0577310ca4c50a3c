"""A tiny wheel with the members the real one has."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

EXERCISES = {
    "functions/functions3": (
        "# Exercise: Functions 3\n# --------\n# I AM NOT DONE\n#\n# Define `double` so that\n#   it doubles.\n\ndef double():\n    return n * 2\n",
        '# checks\nassert double(3) == 6, "twice"\nresult = double(0)\nassert result == 0\nprint("functions3 ✓")\n',
        "def double(n):\n    return n * 2\n",
    ),
    "async/async9": ("# Exercise: Async 9\n# Double it.\nx = ???\n", "assert double(1) == 2\n", "def double(value):\n    return 2 * value\n"),
    "testing/testing3": ("# Exercise: T\n# Test.\n???\n", "import inspect\nassert inspect.getsource(f)\n", "def f(): pass\n"),
    "modules/modules6": ("# Exercise: M\n# Name it.\n???\n", "assert name == '__main__'\n", "name = __name__\n"),
    "file_io/file_io1": ("# Exercise: F\n# Write.\n???\n", "assert open(path).read()\n", "path = 1\n"),
}  # fmt: skip


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path, root = tmp_path / "pythonlings.whl", "pythonlings/curriculum"
    names = {place: place.split("/")[1] for place in EXERCISES}
    with ZipFile(path, "w") as archive:
        listed = "".join(
            f'[[exercises]]\nname = "{name}"\npath = "exercises/{place}.py"\nhint = ""\n' for place, name in names.items()
        )
        archive.writestr(f"{root}/info.toml", f"format_version = 1\n{listed}")
        answers = {names[place]: solution for place, (_, _, solution) in EXERCISES.items()}
        archive.writestr(
            f"{root}/solutions/_answers.py", f"import os\nANSWERS: dict[str, str] = {answers!r}\nraise RuntimeError('never run')\n"
        )
        for place, (source, check, _) in EXERCISES.items():
            archive.writestr(f"{root}/exercises/{place}.py", source)
            archive.writestr(f"{root}/checks/{place}.py", check)
    return path
