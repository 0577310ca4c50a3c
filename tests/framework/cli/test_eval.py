"""``jackfield eval``: a tiny model, evaluated in every way that the command knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from jackfield.cli.main import main
from jackfield.result import read

RECIPE = """
title = "tiny"
steps = 1
tasks_per_step = 2
group_size = 2
model = "tiny_random"
data = "smoke"
rollout = {use = "single_turn", max_new_tokens = 8}
rewards = ["smoke", "exact_match"]
advantage = "group_norm"
losses = ["ppo_clip"]
optimizer = {lr = 1e-3}
trackers = ["metrics_jsonl", "rollouts_jsonl"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    torch.set_num_threads(1)
    there = tmp_path_factory.mktemp("eval")
    (there / "tiny.toml").write_text(RECIPE)
    assert main(["run", str(there / "tiny.toml"), "--out", str(there / "run")]) == 0
    return there / "run"


def test_greedy_is_what_the_run_itself_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same numbers, task by task, so that the paired comparison with the run's own last evaluation has no difference; kept in the
    run's folder."""
    assert main(["eval", str(folder), "--against", str(folder)]) == 0
    printed = capsys.readouterr().out
    found = read(folder / "evaluations/step-000001-greedy.json")
    last = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()][-1]
    assert last["kind"] == "evaluation"
    assert found.metrics == last["metrics"]
    assert (found.samples, found.temperature, found.step, len(found.tasks)) == (1, 0.0, 1, 2)
    assert "overlap with 6 training questions: 0 the same" in printed
    (row,) = [line.split() for line in printed.splitlines() if line.startswith("smoke") and "bootstrap" in line]
    assert row[1] == "2"
    assert row[4] == "+0.000"


def test_samples(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So many of each task, seeded; pass@k of what is right or wrong, mean@k of everything, by label too."""
    asked = ["eval", str(folder), "--samples", "3", "--temperature", "1.0", "--json"]
    assert main([*asked, str(tmp_path / "one.json")]) == 0
    printed = capsys.readouterr().out
    assert main([*asked, str(tmp_path / "two.json"), "--against", str(tmp_path / "one.json")]) == 0
    one, two = read(tmp_path / "one.json"), read(tmp_path / "two.json")
    assert one.scores == two.scores
    assert [len(scores) for scores in one.scores["smoke"].values()] == [3, 3]
    assert len({score for scores in one.scores["smoke"].values() for score in scores}) > 2
    assert read(folder / "evaluations/step-000001-t1x3.json").scores == one.scores
    written = json.loads((tmp_path / "one.json").read_text())
    lines = {(line["label"], line["source"]): line for line in written["summary"]}
    assert set(lines["", "exact_match"]["pass_at"]) == {"1", "2"}
    assert lines["hops=1", "smoke"]["pass_at"] == {}
    assert "mean@3" in printed
    assert "pass@2" in printed


def test_an_overlap_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Questions that the run was trained on are no test, whatever --set makes the test split; unless one says that it is known."""
    rows = [{"id": "x", "prompt": "What is the capital of France?", "answers": ["Paris"]}]
    data = tmp_path / "test.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    other = ["--set", "data.use=jsonl", "--set", f"data.train={data}", "--set", f"data.test={data}"]
    assert main(["eval", str(folder), *other]) == 2
    assert "task jsonl/test-x: its question is that of training task smoke/train-0" in capsys.readouterr().err
    assert main(["eval", str(folder), *other, "--overlap", "report"]) == 0
    assert "overlap with 6 training questions: 1 the same" in capsys.readouterr().out
    assert main(["eval", str(folder), *other, "--overlap", "ignore"]) == 0
    assert "overlap" not in capsys.readouterr().out
    assert len(list((folder / "evaluations").glob("step-000001-greedy-*.json"))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--samples", "4"], "--samples: 4: greedy samples are all alike; add --temperature 1.0"),
        (["--samples", "0"], "--samples: 0: expected 1 or more"),
        (["--samples", "4", "--temperature", "1", "--k", "2,8"], "--k: 8: expected 1 to 4, the number of samples"),
        (["--k", "one"], "--k: one: expected whole numbers"),
        (["--temperature", "0.5", "--against", "RUN"], "made in the same way; make one first: jackfield eval"),
    ],
)
def test_what_does_not_go_together(folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Is said before anything loads."""
    assert main(["eval", str(folder), *(str(folder) if word == "RUN" else word for word in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_what_a_reward_is_chained_from_is_put_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a run, whose frozen recipe has it under another name, and for weights: eval finds what the run itself found. The critic, which
    no evaluation asks, stays as it is."""
    monkeypatch.chdir(tmp_path)
    scorer = RECIPE.replace('"group_norm"', '"pairs"').replace('"ppo_clip"', '"bradley_terry"')
    Path("scorer.toml").write_text(f'{scorer}critic = {{use = "value_head", init_std = 0.05}}')
    judged = RECIPE.replace('["smoke", "exact_match"]', '[{use = "reward_model", from = "scorer.toml"}]')
    judged = judged.replace('"group_norm"', '{use = "gae", bootstrap_truncated = false}')
    judged = judged.replace('"ppo_clip"', '"ppo_clip", "value_clip"')
    Path("judged.toml").write_text(f'{judged}critic = {{use = "value_head", from = "scorer.toml"}}')
    assert main(["run", "judged.toml", "--out", "run"]) == 0
    assert main(["eval", "run"]) == 0
    assert "overlap with 6 training questions" in capsys.readouterr().out
    last = [json.loads(line) for line in Path("run/metrics.jsonl").read_text().splitlines()][-1]
    assert read(Path("run/evaluations/step-000001-greedy.json")).metrics == last["metrics"]
    assert main(["eval", "judged.toml", "--model", "run/checkpoints/step-000001/model", "--json", "m.json"]) == 0
    assert read(Path("m.json")).metrics == last["metrics"]
    assert len(list(Path("runs").iterdir())) == 1
    assert "starts from scorer.toml: its result is there" in capsys.readouterr().out


def test_rows_out_of_another_run_count_as_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The overlap is looked for in the rollouts that they were made of; where those are gone, it says whose they were."""
    monkeypatch.chdir(tmp_path)
    sampled = RECIPE.replace("max_new_tokens = 8", "max_new_tokens = 200").replace("tasks_per_step = 2", "tasks_per_step = 6")
    Path("policy.toml").write_text(sampled)
    rows = 'data = {use = "sampled_best", from = "policy.toml", threshold = -1.0}'
    imitation = RECIPE.replace('data = "smoke"', rows).replace('"group_norm"', '"constant"').replace("ppo_clip", "cross_entropy")
    imitation = imitation.replace("group_size = 2", "group_size = 1").replace("max_new_tokens = 8", "max_new_tokens = 600")
    Path("imitation.toml").write_text(f'{imitation}engine = "recorded"\nevaluate = {{enabled = false}}\n')
    assert main(["run", "imitation.toml", "--out", "run"]) == 0
    asked = ["eval", "run", "--set", "engine.use=torch", "--set", "data.use=smoke", "--set", "rollout.max_new_tokens=8"]
    assert main([*asked, "--overlap", "report"]) == 0
    assert "training questions: " in capsys.readouterr().out
    Path("runs").rename("moved")
    assert main(asked) == 2
    assert (
        "data.from: the rows that were trained on cannot be read again: their run of tiny is not in runs" in capsys.readouterr().err
    )
