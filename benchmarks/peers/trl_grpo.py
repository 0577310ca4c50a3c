"""The peer's side of grpo_step.py: TRL's GRPOTrainer on a CPU, in pure bfloat16 and with the allocator set. Prints one line of JSON.

Runs in an environment of its own (trl.txt), where Jackfield is not installed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import sys
from pathlib import Path
from statistics import mean
from typing import Any

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # of mallopt(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="transformers folder")
    parser.add_argument("--rows", type=Path, required=True, help='JSONL with "prompt"')
    parser.add_argument("--prompts", type=int, required=True)
    parser.add_argument("--group", type=int, required=True)
    parser.add_argument("--new", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--precision", choices=("bfloat16", "autocast", "float32"), required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for what the trainer writes")
    asked = parser.parse_args()
    libc = ctypes.CDLL(None)
    for parameter, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 2**28)):
        libc.mallopt(parameter, value)
    os.environ["HF_HUB_OFFLINE"] = "1"
    print(json.dumps(measured(asked)))


def measured(asked: argparse.Namespace) -> dict[str, Any]:
    """Seconds of every step, whole and of generation; tokens of a completion; peak memory; versions."""
    import time

    import torch
    import transformers
    import trl
    from datasets import Dataset

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from length import score

    def reward(completions: list[Any], **_: Any) -> list[float]:
        return [score(completion[0]["content"]) for completion in completions]

    generated: list[float] = []

    class Timed(trl.GRPOTrainer):  # type: ignore[misc]
        def _generate(self, *given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return super()._generate(*given, **named)
            finally:
                generated.append(time.perf_counter() - start)

    rows = [json.loads(line) for line in asked.rows.read_text(encoding="utf-8").splitlines()]
    trainer = Timed(
        model=asked.model,
        reward_funcs=reward,
        train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": row["prompt"]}]} for row in rows]),
        processing_class=transformers.AutoTokenizer.from_pretrained(asked.model),
        args=trl.GRPOConfig(
            output_dir=str(asked.out),
            per_device_train_batch_size=asked.prompts * asked.group,
            num_generations=asked.group,
            max_completion_length=asked.new,
            max_steps=asked.steps,
            learning_rate=1e-6,
            beta=0.0,
            temperature=1.0,
            use_cpu=True,
            bf16=asked.precision == "autocast",
            model_init_kwargs={"dtype": "bfloat16" if asked.precision == "bfloat16" else "float32"},
            gradient_checkpointing=False,
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            seed=asked.seed,
        ),
    )
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "step_time" in entry]
    return {
        "step_s": [entry["step_time"] for entry in logged],
        "generate_s": generated,
        "tokens": mean(entry["completions/mean_length"] for entry in logged),
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "versions": {module.__name__: module.__version__ for module in (torch, transformers, trl)},
    }


if __name__ == "__main__":
    main()
