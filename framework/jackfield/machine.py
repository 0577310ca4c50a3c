"""What this machine is good at, and the one setting of it that training needs. No torch here: both are asked before torch allocates."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_BFLOAT16_FLAGS = frozenset({"amx_bf16", "avx512_bf16"})

# Parameters of mallopt(3), from glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4
_NEVER, _PAD_BYTES = 2**31 - 1, 256 * 2**20


def prepare_allocator() -> bool:
    """Let glibc keep freed memory instead of giving it back to the kernel; True if that was done, False where there is no glibc.

    A training step frees and takes the same large tensors again and again; by default each of them is mapped anew and its pages
    are faulted in and zeroed one by one. The price of the setting: a process's memory never shrinks below its peak.
    Affects what is allocated from now on, so call it before torch is imported.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version"):
        return False
    settings = [(_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, _NEVER), (_M_TOP_PAD, _PAD_BYTES)]
    return all(libc.mallopt(parameter, value) == 1 for parameter, value in settings)


def cpu_flags() -> frozenset[str]:
    """The instruction sets the kernel lists for the first core; empty where it lists none (not Linux, not x86)."""
    if not _CPUINFO.exists():
        return frozenset()
    lines = (line.partition(":") for line in _CPUINFO.read_text().splitlines())
    return frozenset(next((flags.split() for name, _, flags in lines if name.strip() == "flags"), ()))


def cpu_multiplies_bfloat16() -> bool:
    """The CPU has bfloat16 matrix or vector products (AMX, AVX-512 BF16), so that computing in bfloat16 is faster than in float32."""
    return not _BFLOAT16_FLAGS.isdisjoint(cpu_flags())
