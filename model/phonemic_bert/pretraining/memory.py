"""The memory of a step on a CPU, kept for the next one."""

from __future__ import annotations

import ctypes

#: Parameters of glibc's ``mallopt`` (malloc.h).
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def keep_freed_memory() -> bool:
    """Makes the C library keep freed memory for what is allocated next, in this process, from now on.

    The scores of a batch take tens of megabytes. glibc gets that much from the system each time and gives it back at
    once, and then every page is made anew: a tenth to a fifth of a step with the joint head in Vietnamese.

    Returns:
        Whether it does: other C libraries have no such setting.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(set_option(_MMAP_MAX, 0) and set_option(_TRIM_THRESHOLD, -1))
