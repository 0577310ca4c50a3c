"""Published test sets, for evaluation only: their training split refuses."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("mmath", "jackfield_benchmarks.mmath:Mmath", "374 problems of AIME, CNMO and MATH-500 in ten languages; test only.")
    register("gsm8k_test", "jackfield_benchmarks.gsm8k:Gsm8kTest", "GSM8K's 1,319 test questions; test only.")
