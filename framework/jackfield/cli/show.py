"""``jackfield show RUN``: a run's rollouts in the terminal, from the files that the tracker ``rollouts_jsonl`` writes.

Every line of a rollout's text has a margin: who wrote it (``T`` task, ``P`` policy, ``E`` environment) and whether it carries loss
(``x``) or not (``.``), so that a rollout can be read without colours too.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jackfield.errors import Problem, UserError
from jackfield.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from jackfield.plugins import Plugins

Record = Mapping[str, Any]

MARGIN = {"task": "T .", "policy": "P x", "environment": "E ."}
STYLE = {"task": "dim", "policy": "bold", "environment": "on blue"}
VISIBLE_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
VISIBLE_CONTROLS |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
"""What a policy or a document wrote must not steer the terminal: control characters are shown as symbols."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("run", metavar="RUN", type=Path, help="the run's folder")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--step", metavar="N", type=int, help="rollouts of training step N (default: the last step there is)")
    which.add_argument("--evaluation", metavar="N", type=int, help="rollouts of the evaluation after step N")
    parser.add_argument("--task", metavar="ID", help="only this task")
    parser.add_argument("--limit", metavar="N", type=int, default=4, help="at most so many rollouts (default 4; 0: all)")
    parser.add_argument(
        "--agreement",
        action="store_true",
        help="instead, how far the reward sources agree, over all training rollouts (or those of --step or --evaluation)",
    )
    parser.add_argument("--threshold", type=float, default=0.5, help="with --agreement: a score above it counts as right (0.5)")
    outcome = parser.add_mutually_exclusive_group()
    outcome.add_argument("--right", action="store_true", help="only rollouts that the recipe's first reward scores above 0")
    outcome.add_argument("--wrong", action="store_true", help="only rollouts that it scores 0 or less")


def run(args: argparse.Namespace, plugins: Plugins) -> int:  # noqa: ARG001
    """Print them."""
    from rich.console import Console

    if args.agreement:
        return _show_agreement(args)
    path = _file(args.run, args.step, args.evaluation)
    console = Console(highlight=False)
    shown = found = 0
    for record in _chosen(path, args):
        found += 1
        if not args.limit or shown < args.limit:
            shown += 1
            _print(console, path.stem, record)
    if not found:
        raise UserError(Problem(str(path), "", "no rollout here is " + _wanted(args)))
    if shown < found:
        console.print(f"{shown} of {counted(found, 'rollout')} shown; --limit 0 shows all", style="dim", soft_wrap=True)
    return 0


def _show_agreement(args: argparse.Namespace) -> int:
    """A table for every two sources."""
    from jackfield.agreement import scored_only, tables
    from jackfield.cli.columns import columns

    newest = _file(args.run, args.step, args.evaluation)
    chosen = args.step is not None or args.evaluation is not None
    paths = [newest] if chosen else sorted(args.run.glob("rollouts/step-*.jsonl")) or [newest]
    found = tables((record for path in paths for record in _chosen(path, args)), args.threshold)
    if not found:
        raise UserError(Problem(str(args.run), "", "its rollouts were not judged by two reward sources; one may have weight 0"))
    for (first, second), table in found.items():
        print(f"{first} (rows) and {second} (columns), {counted(int(table.counts.sum()), 'rollout')}")
        rows = [["", *table.categories, ""]]
        rows += [[name, *map(str, counts), ""] for name, counts in zip(table.categories, table.counts.tolist(), strict=True)]
        print("\n".join(columns(rows, indent=2)))
        both = scored_only(table)
        if both is not None:
            kappa = "undefined, both always say the same" if both.kappa is None else f"{both.kappa:.3f}"
            print(f"  where both scored: agree on {both.observed:.3f}; Cohen's kappa {kappa}")
        print()
    return 0


def _file(folder: Path, step: int | None, evaluation: int | None) -> Path:
    """The file to read. UserError says which there are."""
    there = {path.stem: path for path in sorted(folder.glob("rollouts/*-*.jsonl"))}
    if not there:
        found = "has no rollouts" if folder.is_dir() else "is no folder"
        raise UserError(Problem(str(folder), "", f"{found}; give the folder of a run with the tracker 'rollouts_jsonl'"))
    kind, number = ("evaluation", evaluation) if evaluation is not None else ("step", step)
    if number is None:
        return there[max(there, key=lambda stem: (stem.startswith("step-"), stem))]
    wanted = f"{kind}-{number:06d}"
    if wanted not in there:
        numbers = [int(stem.rpartition("-")[2]) for stem in there if stem.startswith(f"{kind}-")]
        choice = f"there are {_ranges(numbers)}" if numbers else f"there are none of any {kind}"
        raise UserError(Problem(str(folder), f"--{kind} {number}", f"no rollouts of it; {choice}"))
    return there[wanted]


def _chosen(path: Path, args: argparse.Namespace) -> Iterator[Record]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if args.task not in (None, record["task"]):
                continue
            if (args.right or args.wrong) and _is_right(record) is not args.right:
                continue
            yield record


def _is_right(record: Record) -> bool | None:
    """By the recipe's first reward; None if it gave no score."""
    for verdict in islice(record["verdicts"].values(), 1):
        return bool(verdict["value"] > 0) if verdict["kind"] == "score" else None
    return None


def _wanted(args: argparse.Namespace) -> str:
    parts = ["right" if args.right else "wrong" if args.wrong else "", f"of task '{args.task}'" if args.task else ""]
    return " and ".join(filter(None, parts)) or "to be shown: the file is empty"


def _print(console: Console, place: str, record: Record) -> None:
    _say(console, f"── {place}  {record['task']}  member {record['member']} ──", "bold")
    for name, text in _facts(record):
        _say(console, f"{name:9} {text}", STYLE["policy"] if name == "reward" else None)
    for segment in record["segments"]:
        for line in _margined(segment, None if not console.is_terminal else console.width):
            _say(console, line, STYLE[segment["writer"]])
        if note := _learned(segment):
            _say(console, f"    └ {note}", "cyan")
    console.print()


def _say(console: Console, line: str, style: str | None) -> None:
    console.print(line.translate(VISIBLE_CONTROLS), style=style, markup=False, soft_wrap=True)


def _facts(record: Record) -> Iterator[tuple[str, str]]:
    """Name and text of what is known of a rollout before one reads it."""
    finish = record["finish"]
    yield "question", record["question"]
    if record["answers"]:
        yield "answers", " | ".join(record["answers"])
    if record["labels"]:
        yield "labels", "  ".join(f"{name}={value}" for name, value in record["labels"].items())
    yield "finish", "  ".join(filter(None, [finish["reason"], finish["detail"], _counters(record["counters"])]))
    yield "tokens", _tokens(record["segments"])
    reward = record["reward"]
    if reward is None:
        yield "reward", "none: it takes no part in learning"
    elif record["verdicts"]:  # else nobody was to judge it
        yield "reward", f"{reward:.3f}"
    for source, verdict in record["verdicts"].items():
        yield "", f"{source} {_verdict(verdict)}"


def _counters(counters: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:g}" for name, value in counters.items())


def _tokens(segments: Sequence[Record]) -> str:
    counts = {writer: sum(len(s["tokens"]) for s in segments if s["writer"] == writer) for writer in MARGIN}
    return f"{sum(counts.values())}: " + ", ".join(f"{count} {writer}" for writer, count in counts.items())


def _verdict(verdict: Record) -> str:
    score = f"{verdict['value']:.3f}" if verdict["kind"] == "score" else verdict["kind"]
    parsed = f"read '{verdict['parsed']}'" if verdict["parsed"] is not None else ""
    extras = _counters(verdict["extras"])
    return "  ".join(filter(None, [score, verdict["reason"], parsed, extras]))


def _margined(segment: Record, width: int | None) -> Iterator[str]:
    """The segment's text, every line with its margin; lines wider than the terminal go on under the margin."""
    margin = f"{MARGIN[segment['writer']]} │ "
    for line in segment["text"].split("\n"):
        text = line.expandtabs(4)
        wrapped = textwrap.wrap(text, max(width - len(margin), 20), drop_whitespace=False) if width else [text]
        for piece in wrapped or [""]:
            yield margin + piece


def _learned(segment: Record) -> str:
    """Advantages of the segment's tokens and what the sampler thought of them; "" if neither is known."""
    parts = []
    advantages = [a for a in segment.get("advantage") or () if a is not None]
    if advantages:
        low, high, mean = min(advantages), max(advantages), sum(advantages) / len(advantages)
        spread = f"{low:+.3f}" if low == high else f"{mean:+.3f} on average, {low:+.3f} to {high:+.3f}"
        parts.append(f"advantage {spread}")
    logps = [p for p in segment.get("logp") or () if p is not None]
    if logps:
        parts.append(f"log-prob {sum(logps) / len(logps):.3f} a token")
    count = len(segment["tokens"])
    return f"{', '.join(parts)}, {counted(count, 'token')}" if parts else ""


def _ranges(numbers: Sequence[int]) -> str:
    """``1-3, 7`` for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
