"""A step of GRPO, Jackfield beside TRL: one model, one set of prompts, answers of one length, in one run.

    python benchmarks/grpo_step.py --out grpo_step.json

Each repeat runs both, one after the other and each in a process of its own, in an order that alternates; the first step of a run is not
counted. TRL comes in an environment of its own, made on first use, in its fastest CPU setting: pure bfloat16, with the allocator set. Jackfield
runs as it would for anyone: float32 weights, computed in what the machine multiplies fastest.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ceilings import about

from jackfield.packages import cache_folder
from jackfield_transformers.conversion import PackageFile, converted

HERE = Path(__file__).parent
SUBJECTS = ("a fox", "the sea", "two brothers", "an old clock", "rain", "a lost key", "the moon", "a slow train")
PLACES = ("in winter", "by a river", "at night", "in a small town", "long ago", "on an island", "after the war", "in a garden")
FILLER = "What follows is the only thing you have to do; this sentence is there to be read and no more. "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=4, help="a step")
    parser.add_argument("--group", type=int, default=8, help="answers to a prompt")
    parser.add_argument("--new", type=int, default=64, help="tokens of an answer")
    parser.add_argument("--filler", type=int, default=0, help="sentences of about 20 tokens put before every prompt")
    parser.add_argument("--steps", type=int, default=4, help="of a run; the first is not counted")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--precision", choices=("bfloat16", "autocast", "float32"), default="bfloat16", help="of TRL")
    parser.add_argument("--out", type=Path, help="where the JSON goes; left out: only printed")
    asked = parser.parse_args()
    python = environment("trl")
    pairs = []
    for repeat in range(asked.repeats):
        with tempfile.TemporaryDirectory() as folder:
            pairs.append(pair(asked, python, Path(folder), repeat))
        print(f"repeat {repeat + 1}: " + ", ".join(f"{name} {typical(told):.2f} s" for name, told in pairs[-1].items()), flush=True)
    found = {"machine": about(), "asked": {**vars(asked), "out": None}, "pairs": pairs, "summary": summary(pairs)}
    print(json.dumps(found["summary"], indent=1))
    if asked.out is not None:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def pair(asked: argparse.Namespace, python: Path, folder: Path, repeat: int) -> dict[str, dict[str, Any]]:
    """Both sides on the same rows, in the order that is this repeat's."""
    write_rows(folder / "rows.jsonl", asked.filler)
    told: dict[str, dict[str, Any]] = {}
    for name in ("jackfield", "trl") if repeat % 2 == 0 else ("trl", "jackfield"):
        told[name] = jackfield(asked, folder, repeat) if name == "jackfield" else trl(asked, python, folder, repeat)
    return told


def write_rows(file: Path, filler: int) -> None:
    """64 prompts, each asking for more than any answer here may hold."""
    prompts = [f"{FILLER * filler}Tell me a long story about {who} {where}." for who in SUBJECTS for where in PLACES]
    file.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts), encoding="utf-8")


def jackfield(asked: argparse.Namespace, folder: Path, seed: int) -> dict[str, Any]:
    """What TRL's side tells, of a run of grpo_step.toml."""
    settings = {
        "steps": asked.steps,
        "tasks_per_step": asked.prompts,
        "group_size": asked.group,
        "rollout.max_new_tokens": asked.new,
        "data.train": folder / "rows.jsonl",
        "seed": seed,
    }
    chosen = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "jackfield", "run", str(HERE / "grpo_step.toml"), "--out", str(folder / "run"), *chosen]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    records = map(json.loads, (folder / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    steps = [record for record in records if record["kind"] == "step"]
    return {
        "step_s": [step["seconds"]["total"] for step in steps],
        "generate_s": [step["seconds"]["generate"] for step in steps],
        "tokens": sum(step["metrics"]["rollout/policy_tokens"] for step in steps) / len(steps),
        "peak_gib": max(step["metrics"]["memory/peak_gib"] for step in steps),
    }


def trl(asked: argparse.Namespace, python: Path, folder: Path, seed: int) -> dict[str, Any]:
    """Seconds of every step, whole and of generation; tokens of a completion; peak memory; versions."""
    address = tomllib.loads((HERE / "grpo_step.toml").read_text(encoding="utf-8"))["model"]["path"]
    own = {"model": converted(PackageFile.parse(address), None), "rows": folder / "rows.jsonl", "seed": seed, "out": folder / "trl"}
    given = {**own, **{key: getattr(asked, key) for key in ("prompts", "group", "new", "steps", "precision")}}
    command = [
        str(python),
        str(HERE / "peers" / "trl_grpo.py"),
        *(part for key, value in given.items() for part in (f"--{key}", str(value))),
    ]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(told.splitlines()[-1]))


def environment(peer: str) -> Path:
    """The Python of an environment with what ``peers/{peer}.txt`` lists."""
    wanted = HERE / "peers" / f"{peer}.txt"
    folder = cache_folder() / "peers" / peer
    python, ready = folder / "bin" / "python", folder / "ready.txt"
    if not ready.exists() or ready.read_text() != wanted.read_text():
        print(f"making an environment for {peer} in {folder}", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", wanted], check=True)
        ready.write_text(wanted.read_text())
    return python


def typical(told: Mapping[str, Any], key: str = "step_s") -> float:
    """Median over the steps but the first, in which caches are filled."""
    return float(median(told[key][1:] or told[key]))


def summary(pairs: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Medians over the repeats, and how many times as fast and what part of the memory, pair by pair: median, lowest, highest."""
    of = {
        name: {
            **{key: median(typical(pair[name], key) for pair in pairs) for key in ("step_s", "generate_s")},
            **{key: median(pair[name][key] for pair in pairs) for key in ("tokens", "peak_gib")},
        }
        for name in ("jackfield", "trl")
    }
    ratios = {
        "times_as_fast": [typical(pair["trl"]) / typical(pair["jackfield"]) for pair in pairs],
        "generates_times_as_fast": [
            typical(pair["trl"], "generate_s") / typical(pair["jackfield"], "generate_s") for pair in pairs
        ],
        "part_of_the_memory": [pair["jackfield"]["peak_gib"] / pair["trl"]["peak_gib"] for pair in pairs],
    }
    return {**of, **{key: [median(values), min(values), max(values)] for key, values in ratios.items()}}


if __name__ == "__main__":
    main()
