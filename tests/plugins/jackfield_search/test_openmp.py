"""FAISS and torch in one process (F5). Each brings an OpenMP runtime; a clash is a crash, so it is tried in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, threading
for module in sys.argv[1].split(","):
    __import__(module)
import numpy as np, torch
from pathlib import Path
from jackfield.types import Passage
from jackfield_search.dense import DenseIndex, build

torch.set_num_threads(4)
rng = np.random.default_rng(0)

class Random:
    fingerprint = "random"
    def embed(self, texts, kind):
        rows = torch.randn(len(texts), 64, generator=torch.Generator().manual_seed(0))
        return (rows @ torch.eye(64)).numpy()

folder = Path(sys.argv[2])
build(folder, [Passage(id=str(i), title="", text="") for i in range(2000)], Random())
index = DenseIndex(folder, Random())
matrix = torch.randn(400, 400)

def learn():
    for _ in range(5):
        (matrix @ matrix).softmax(-1).sum().item()

def search():
    for _ in range(20):
        assert index.search("q", 3)[0][0] == 0

threads = [threading.Thread(target=search), threading.Thread(target=learn)]
[thread.start() for thread in threads]
learn(); search()
[thread.join() for thread in threads]
assert torch.get_num_threads() == 4
print("done")
"""


@pytest.mark.parametrize("order", ["torch,faiss", "faiss,torch"])
def test_either_may_be_imported_first(tmp_path: Path, order: str) -> None:
    """F5: index, search and multiply matrices with four threads, in one thread and in two at once, whichever came first."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"} | {
        "PYTHONPATH": os.pathsep.join(sys.path)
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_component_modules_import_nothing_heavy() -> None:
    """Listing and checking must stay quick: torch, faiss, bm25s, httpx and transformers are imported when they are used."""
    program = (
        "import sys, jackfield_search, jackfield_search.tool, jackfield_search.wordllama, jackfield_search.transformer, "
        "jackfield_search.serve; print({'torch', 'faiss', 'bm25s', 'httpx', 'transformers', 'safetensors', 'tokenizers'} & set(sys.modules))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
