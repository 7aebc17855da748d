"""Hostile files are read in a child process: what crashes, hangs or asks for too much there ends nothing here."""

import ctypes
import time

import pytest

from incrowd._support.limited_process import ChildError, call_limited
from incrowd.errors import ColumnNotFoundError, InputError


def take_memory(size):
    return len(bytearray(size))


def crash():
    ctypes.string_at(0)


def hang():
    end = time.process_time() + 60
    while time.process_time() < end:
        pass


def panic():
    raise KeyboardInterrupt


def refuse(kind):
    raise {"input": InputError, "column": ColumnNotFoundError}[kind]("so it is", hint=("memory", "sheet"))


def ask(function, *arguments, seconds=20):
    return call_limited(f"tests.support.test_limited_process:{function}", *arguments, memory=10**8, seconds=seconds)


def test_arguments_and_answers_pass_both_ways():
    assert ask("take_memory", 10**6) == 10**6


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [("take_memory", [10**9], "memory"), ("crash", [], "crash"), ("panic", [], "crash"), ("hang", [], "time")],
)
def test_a_child_that_ends_badly_says_why(function, arguments, reason):
    with pytest.raises(ChildError) as ended:
        ask(function, *arguments, seconds=2)
    assert ended.value.reason == reason


def test_an_error_in_words_is_the_same_error_here():
    with pytest.raises(InputError, match="so it is") as refused:
        ask("refuse", "input")
    assert refused.value.hint == ("memory", "sheet")
    with pytest.raises(ColumnNotFoundError, match="so it is"):
        ask("refuse", "column")
