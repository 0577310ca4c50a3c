"""Two sources on the same rollouts, in one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jackfield.agreement import scored_only, tables
from jackfield.cli.main import main


def verdict(said: float | str) -> dict[str, Any]:
    return {"kind": said, "value": None} if isinstance(said, str) else {"kind": "score", "value": said}


def rows(*pairs: tuple[float | str, float | str]) -> list[dict[str, Any]]:
    return [{"task": "t", "verdicts": {"rule": verdict(one), "judge": verdict(other)}} for one, other in pairs]


RECORDS = [
    *rows((1.0, 0.9), (1.0, 0.2), (0.0, 0.1), (0.0, 0.0), (0.0, 0.8), (1.0, "abstain"), ("error", 1.0)),
    {"task": "f", "verdicts": {}},
]


def test_table_by_hand() -> None:
    """Rows by the first, columns by the second; a failed rollout, judged by neither, is in none."""
    found = tables(RECORDS)["rule", "judge"]
    assert found.categories == ("right", "wrong", "abstain", "error")
    assert found.counts.tolist() == [[1, 1, 1, 0], [1, 2, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    both = scored_only(found)
    assert both is not None
    assert both.observed == pytest.approx(3 / 5)
    assert both.kappa == pytest.approx((3 / 5 - 13 / 25) / (1 - 13 / 25))


def test_threshold_and_lack_of_scores() -> None:
    """A score above the threshold is right; where the two never scored together there is no κ."""
    assert tables(rows((1.0, 0.9)), threshold=0.95)["rule", "judge"].counts[0, 1] == 1
    assert scored_only(tables(rows(("error", 1.0)))["rule", "judge"]) is None
    assert tables([{"verdicts": {"rule": verdict(1.0)}}]) == {}


def test_show_prints_it_over_all_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every training rollout of the run; only those of a step if asked."""
    (tmp_path / "rollouts").mkdir()
    for step, part in ((1, RECORDS[:4]), (2, RECORDS[4:]), (3, RECORDS[:0])):
        (tmp_path / f"rollouts/step-{step:06d}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    assert main(["show", str(tmp_path), "--agreement"]) == 0
    printed = capsys.readouterr().out
    assert "rule (rows) and judge (columns), 7 rollouts" in printed
    assert "where both scored: agree on 0.600; Cohen's kappa 0.167" in printed
    assert main(["show", str(tmp_path), "--agreement", "--step", "1"]) == 0
    assert "4 rollouts" in capsys.readouterr().out
    assert main(["show", str(tmp_path), "--agreement", "--step", "3"]) == 2
    assert "not judged by two reward sources" in capsys.readouterr().err
