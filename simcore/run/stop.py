"""A polite end: SIGTERM stops a sweep as Ctrl-C does, so that what it has is kept and it can say how to go on."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["stopping_politely"]


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def stopping_politely() -> Iterator[None]:
    """Let SIGTERM raise `KeyboardInterrupt` inside the block.

    A program that handles the signal itself keeps its own way, and only the main thread can be interrupted.
    """
    is_ours = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    )
    if not is_ours:
        yield
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
