"""What a person presses: single keys in a terminal, lines where the input is piped."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

END = ""
"""No more will come: Ctrl-D, or the end of the input."""
CTRL_D, ESCAPE = "\x04", "\x1b"
LOOK_EVERY = 0.2
"""Seconds between two looks whether to give up waiting."""


class Keys(Protocol):
    def read(self) -> str:
        """The next key or word, in lower case; END if there is none."""
        ...


class PressedKeys:
    """Keys of a terminal, each as soon as it is pressed; none is shown. Ctrl-C interrupts as ever."""

    def __init__(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """`is_over`: whether to wait no longer. Only within `pressed` do keys come one by one."""
        self._is_over = is_over
        self._input = sys.stdin.fileno()
        self._pressed: list[str] = []

    def read(self) -> str:
        while not self._pressed and not self._is_over():
            if select.select([self._input], [], [], LOOK_EVERY)[0]:
                found = os.read(self._input, 64).decode("utf-8", "replace").lower()
                # An arrow key sends several characters, which must not be taken for answers.
                self._pressed = [found] if found.startswith(ESCAPE) else list(found) or [END]
        key = self._pressed.pop(0) if self._pressed else END
        return END if key == CTRL_D else key


def keys_pressed() -> str:
    """What has been pressed since the last look, without waiting."""
    terminal = sys.stdin.fileno()
    if not select.select([terminal], [], [], 0)[0]:
        return ""
    return os.read(terminal, 64).decode("utf-8", "replace").lower()


class TypedLines:
    """Lines of an input that is no terminal."""

    def read(self) -> str:
        line = sys.stdin.readline()
        return (line.strip() or " ").lower() if line else END


@contextmanager
def pressed() -> Iterator[None]:
    """Until the block ends, keys come one by one from the terminal, without Enter, and are not shown."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
