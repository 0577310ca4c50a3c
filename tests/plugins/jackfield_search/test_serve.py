"""The command, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

PROGRAM = """
import argparse, sys
import jackfield_search
from jackfield.errors import UserError
from jackfield.plugins import Plugins, Source
from jackfield_search.serve import serve

plugins = Plugins()
plugins.add(Source(name="search", value="jackfield_search"), lambda: jackfield_search)
plugins.add_file(sys.argv[1])
parser = argparse.ArgumentParser()
jackfield_search._arguments(parser)
parser.set_defaults(plugins=plugins)
try:
    sys.exit(serve(parser.parse_args(sys.argv[2:])))
except UserError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""

PLUGIN = """
from __future__ import annotations

import json
from pathlib import Path

from attrs import frozen

from jackfield import hookimpl
from jackfield.component import option
from jackfield.types import Passage


@frozen(kw_only=True)
class Lines:
    path: Path = option(help="the file")

    def passages(self):
        return [Passage(**json.loads(line)) for line in self.path.read_text().splitlines()]

    @property
    def fingerprint(self):
        return self.path.read_text()


@frozen
class Tiny:
    fingerprint = "tiny"

    def passages(self):
        return [Passage(id="a", title="Paris", text="Capital of France.")]


@hookimpl
def jackfield_corpora(register):
    register("jsonl", f"{__name__}:Lines", "Lines.")
    register("tiny", f"{__name__}:Tiny", "Tiny.")
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "mine.py").write_text(PLUGIN)
    return [sys.executable, "-c", PROGRAM, str(tmp_path / "mine.py")]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize("source", ["name", "file"])
def test_serves_until_ctrl_c(command: list[str], tmp_path: Path, source: str) -> None:
    """Says where, answers, and ends cleanly on Ctrl-C, with an idle connection open."""
    file = tmp_path / "my.jsonl"
    file.write_text(json.dumps({"id": "a", "title": "Paris", "text": "Capital of France."}))
    arguments = ["--corpus", "tiny" if source == "name" else str(file), "--port", "0"]
    with subprocess.Popen(
        [*command, *arguments], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        said = running.stdout.readline()
        found = re.fullmatch(r"serving 1 passages \(bm25\) at (http://127\.0\.0\.1:\d+)/retrieve; Ctrl-C ends it\n", said)
        assert found, (said, running.stderr and running.stderr.read())
        with urllib.request.urlopen(f"{found[1]}/health", timeout=5) as response:
            assert json.load(response)["passages"] == 1
        port = int(found[1].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)):
            running.send_signal(signal.SIGINT)
            rest, errors = running.communicate(timeout=10)
    assert (running.returncode, rest, errors) == (0, "ended\n", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--corpus", "tinny"], "'tinny' is unknown among corpora; did you mean 'tiny'?"),
        (["--corpus", "nowhere.jsonl"], "nowhere.jsonl: --corpus: there is no such file"),
        (["--corpus", "jsonl"], "jsonl: cannot be used from the command line"),
        (["--corpus", "tiny", "--retriever", "dense"], "--embedder: retriever dense needs one"),
        (["--corpus", "tiny", "--embedder", "wordllama"], "--embedder: retriever bm25 needs no embedder"),
        (["--corpus", "tiny", "--top-k", "0"], "--top-k: must be at least 1, found 0"),
        (["--corpus", "tiny", "--port", "70000"], "--port: must lie between 0 and 65535"),
    ],
)
def test_what_cannot_be_served(command: list[str], arguments: list[str], says: str) -> None:
    """One clean message and exit code 2."""
    done = subprocess.run([*command, *arguments], env=environment(), capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use(command: list[str]) -> None:
    """The address is named, and the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*command, "--corpus", "tiny", "--port", port],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 2
    assert f"127.0.0.1:{port}: cannot listen there" in done.stderr
