"""What this machine can do at best: matrix products by shape and precision, and reading memory.

    python benchmarks/ceilings.py --out ceilings.json

The products are those of SmolLM2-135M's layers and head unless other sizes are given; every figure is the best of several tries, because
what disturbs a measurement only ever slows it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jackfield import machine

ROWS = (1, 8, 64, 512)
"""Tokens computed at once: a decode step of so many rollouts, and more than which make products no faster."""
NUMBERS = 2**28
"""What is read to measure reading, 1 GiB: more than any cache holds."""
SECONDS = 0.5
"""Of tries of one product."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=576, help="width of the model")
    parser.add_argument("--inner", type=int, default=1536, help="width of its feed-forward layers")
    parser.add_argument("--vocabulary", type=int, default=49152)
    parser.add_argument("--out", type=Path, help="where the JSON goes; left out: only printed")
    asked = parser.parse_args()
    machine.prepare_allocator()
    found = measured(asked.hidden, asked.inner, asked.vocabulary)
    print(as_table(found))
    if asked.out is not None:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured(hidden: int, inner: int, vocabulary: int) -> dict[str, Any]:
    """``gemm``: operations a second by dtype, layer and rows; ``read``: bytes a second; and where this was."""
    import torch

    layers = {"feed-forward": (hidden, inner), "head": (hidden, vocabulary)}
    products = [
        {"dtype": name, "layer": layer, "rows": rows, "per_second": _gemm(rows, *sizes, getattr(torch, name))}
        for name in ("float32", "bfloat16")
        for layer, sizes in layers.items()
        for rows in ROWS
    ]
    return {"machine": about(), "gemm": products, "read": _read()}


def about() -> dict[str, Any]:
    """Processor, threads, versions."""
    import platform
    from importlib.metadata import version

    import torch

    names = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    flags = machine.cpu_flags() & {"amx_bf16", "avx512_bf16", "avx512f", "avx2"}
    return {
        "processor": names[0] if names else platform.processor(),
        "flags": sorted(flags),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("torch", "transformers", "jackfield")},
        "date": time.strftime("%Y-%m-%d"),
    }


def _gemm(rows: int, inputs: int, outputs: int, dtype: Any) -> float:
    import torch

    left, right = torch.randn(rows, inputs).to(dtype), torch.randn(outputs, inputs).to(dtype)
    return 2 * rows * inputs * outputs / _seconds(lambda: torch.nn.functional.linear(left, right))


def _read() -> float:
    import torch

    data = torch.ones(NUMBERS)
    return data.numel() * data.element_size() / _seconds(data.sum)


def _seconds(work: Callable[[], object]) -> float:
    """Of one call: the best of as many tries as SECONDS hold, and of two at least."""
    work()
    tries: list[float] = []
    while len(tries) < 2 or sum(tries) < SECONDS:
        start = time.perf_counter()
        work()
        tries.append(time.perf_counter() - start)
    return min(tries)


def as_table(found: dict[str, Any]) -> str:
    """GFLOP/s by dtype and layer, a column for every number of rows."""
    lines = [f"{'GFLOP/s, rows:':26}" + "".join(f"{rows:>8}" for rows in ROWS)]
    for dtype, layer in dict.fromkeys((p["dtype"], p["layer"]) for p in found["gemm"]):
        own = [p["per_second"] / 1e9 for p in found["gemm"] if (p["dtype"], p["layer"]) == (dtype, layer)]
        lines.append(f"{dtype:9} {layer:16}" + "".join(f"{value:8.0f}" for value in own))
    return "\n".join([*lines, f"memory read, GB/s: {found['read'] / 1e9:.1f}"])


if __name__ == "__main__":
    main()
