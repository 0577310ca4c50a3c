from __future__ import annotations

import os
import subprocess
import sys

import pytest

from jackfield import machine


def test_reads_the_flags_of_the_first_core(tmp_path, monkeypatch):
    """Only the flags line counts, and only whole words of it."""
    cpuinfo = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "_CPUINFO", cpuinfo)
    cpuinfo.write_text(
        "processor\t: 0\nmodel name\t: amx_bf16 lookalike\nflags\t\t: fpu avx512_bf16 sse\n\nprocessor\t: 1\nflags\t\t: fpu\n"
    )
    assert machine.cpu_flags() == {"fpu", "avx512_bf16", "sse"}
    assert machine.cpu_multiplies_bfloat16()


@pytest.mark.parametrize("content", ["flags : fpu avx2 xamx_bf16\n", "Features : fp asimd\n", "", None])
def test_without_bfloat16_products(tmp_path, monkeypatch, content):
    """A CPU without AMX or AVX-512 BF16, an ARM listing and a missing listing all mean float32."""
    cpuinfo = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "_CPUINFO", cpuinfo)
    if content is not None:
        cpuinfo.write_text(content)
    assert not machine.cpu_multiplies_bfloat16()


def test_other_systems_are_left_alone(monkeypatch):
    """Nothing is set where there is no glibc."""
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    assert machine.prepare_allocator() is False


GLIBC = sys.platform == "linux" and "glibc" in str(
    os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else ""
)


@pytest.mark.skipif(not GLIBC, reason="only glibc has mallopt")
def test_freed_memory_is_kept():
    """After the setting a large block that was freed comes back without new page faults, and torch is not imported."""
    script = (
        "import resource, sys, ctypes\n"
        "from jackfield import machine\n"
        "assert machine.prepare_allocator() is True and 'torch' not in sys.modules\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "block = bytearray(64 << 20); del block\n"
        "before = faults(); block = ctypes.create_string_buffer(64 << 20); ctypes.memset(block, 1, 64 << 20)\n"
        "print(faults() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1000  # 64 MiB are 16,384 pages
