"""The processor time that a reader is allowed: for each page anew, and asked of the system when it changes."""

from __future__ import annotations

import resource
import time

import pytest

from lycosa.crawl import reader_limits
from lycosa.crawl.reader_limits import ProcessorTime


@pytest.fixture
def system(monkeypatch):
    """What has been used, and the limits that were asked for."""

    class System:
        used = 0.0
        limits: list[int]

    told = System()
    told.limits = []
    monkeypatch.setattr(time, "process_time", lambda: told.used)
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: told.limits.append(limits[0]))
    return told


def test_no_page_has_less_than_it_is_allowed(system):
    processor = ProcessorTime(2.5)
    for page in range(500):
        system.used = page * 0.0137
        processor.allow()
        assert 2.5 < system.limits[-1] - system.used <= 2.5 + 2


def test_the_system_is_asked_once_a_second_of_its_time(system):
    processor = ProcessorTime(1.0)
    for page in range(1_000):
        system.used = page * 0.003
        processor.allow()
    assert system.limits == sorted(set(system.limits))
    assert len(system.limits) <= 4


def test_a_lower_limit_of_somebody_else_stays(system, monkeypatch):
    def refused(*_):
        raise ValueError("not above the hard limit")

    monkeypatch.setattr(reader_limits.resource, "setrlimit", refused)
    ProcessorTime(1.0).allow()
