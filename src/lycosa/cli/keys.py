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
CTRL_D = "\x04"
LOOK_EVERY = 0.2
"""Seconds between two looks whether to give up waiting."""


class Keys(Protocol):
    def read(self) -> str:
        """The next key or word, in lower case; END if there is none."""
        ...


class PressedKeys:
    """Keys of a terminal, each as soon as it is pressed. Ctrl-C interrupts as ever."""

    def __init__(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """`is_over`: whether to wait no longer."""
        self._is_over = is_over
        self._input = sys.stdin.fileno()

    def read(self) -> str:
        with pressed(self._input):
            while not self._is_over():
                if select.select([self._input], [], [], LOOK_EVERY)[0]:
                    key = os.read(self._input, 32).decode("utf-8", "replace")
                    return END if key in ("", CTRL_D) else key.lower()
        return END


class TypedLines:
    """Lines of an input that is no terminal."""

    def read(self) -> str:
        line = sys.stdin.readline()
        return line.strip().lower() if line else END


@contextmanager
def pressed(terminal: int) -> Iterator[None]:
    """Keys come one by one, and are not shown, until the block ends."""
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
