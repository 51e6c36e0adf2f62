"""Which host may be contacted next: ready hosts, cooling hosts, and gates for shared addresses.

A host with waiting links is in exactly one state:

    READY     in a heap ordered by the key of its best link
    PARKED    at the gate of its address, in a heap with the same order
    COOLING   in a heap ordered by the time at which it is ready again
    BUSY      has the maximum number of links in flight
    ASIDE     set aside: its links keep waiting, but none is handed out

An address may serve very many hosts. A ready host that reaches the top of the heap while its address is closed (busy or
cooling) is parked at the gate. When the gate opens, only its best entry is put into the heap of ready hosts, as a
marker; when the marker reaches the top, that one host becomes ready and the next marker follows. So a hundred thousand
hosts behind one address cost O(log n) per fetch instead of a stampede.

Hosts whose names have not been resolved share a gate, too (UNRESOLVED), with slots of its own: a page that links to
thousands of names that do not exist must not take all the room there is from hosts that are known.

The heaps are lazy. An entry is valid if its host is still in that state with that bound; invalid entries are discarded
when they reach the top, or all at once when a heap has grown to twice its needed size. The bound of a host is never
worse than its best key: a better key moves the host up at once, whereas the loss of its best link is only noticed when
its entry reaches the top. Hence the first entry that is valid, exact and has an open gate is the best ready link of
all.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace

from lycosa.frontier.host_queue import HostQueue
from lycosa.frontier.keys import WORST

EMPTY, READY, PARKED, COOLING, BUSY, ASIDE = range(6)

HOST_BITS = 32
HOST_MASK = (1 << HOST_BITS) - 1
NEVER = float("-inf")
"""Earlier than any time: a clock that has not been set."""
UNRESOLVED = "unresolved"
"""In place of the address of a host whose name has not been resolved."""
UNRESOLVED_SLOTS = 64
"""Number of such hosts whose names may be resolved at a time."""
SLACK = 1024
"""Size below which a heap is not worth cleaning."""


class Gate:
    """An address: the number of its links in flight, and the hosts that wait for it."""

    __slots__ = ("address", "alarm", "hosts", "in_flight", "marker", "parked", "parked_limit", "slots", "until")

    def __init__(self, address: str, slots: int) -> None:
        self.address = address
        self.slots = slots
        self.until = NEVER
        self.in_flight = 0
        self.hosts = 0
        self.parked: list[int] = []
        self.parked_limit = SLACK
        self.marker: int | None = None
        """The entry that represents this gate in the heap of ready hosts."""
        self.alarm: float | None = None
        """The time at which this gate is entered in the heap of gates that will open."""


class ScheduledHost(HostQueue):
    __slots__ = ("bound", "gate", "in_flight", "is_aside", "number", "state", "until")

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.state = EMPTY
        self.bound = WORST
        """A key smaller than this changes the position of the host in its heap."""
        self.until = NEVER
        self.in_flight = 0
        self.is_aside = False
        self.gate: Gate | None = None

    def entry(self) -> int:
        """The bound and the number of the host as one integer, as stored in the heaps."""
        return self.bound << HOST_BITS | self.number


class Schedule:
    """All hosts. Time passes only with `advance` and never goes back."""

    def __init__(self, *, slots_per_host: int, slots_per_address: int) -> None:
        if slots_per_host < 1 or slots_per_address < 1:
            raise ValueError("a host and an address need at least one slot each")
        self._slots_per_host = slots_per_host
        self._slots_per_address = slots_per_address
        self.now = NEVER
        self.hosts: list[ScheduledHost | None] = []
        """Hosts by number; the store numbers them without gaps."""
        self._gates: dict[str, Gate] = {}
        self._gates_limit = SLACK
        self._census = [0] * 6
        self._ready: list[int] = []
        self._ready_limit = SLACK
        self._cooling: list[tuple[float, int]] = []
        self._cooling_limit = SLACK
        self._opening: list[tuple[float, str]] = []
        self._opening_limit = SLACK

    def count(self, *states: int) -> int:
        return sum(self._census[state] for state in states)

    def host(self, number: int) -> ScheduledHost:
        """The host with that number, created if necessary."""
        if not 0 <= number < HOST_MASK >> 1:
            raise ValueError(f"the number of a host must be in 0 … {(HOST_MASK >> 1) - 1}, not {number}")
        if number >= len(self.hosts):
            self.hosts.extend([None] * (number + 1 - len(self.hosts)))
        host = self.hosts[number]
        if host is None:
            host = self.hosts[number] = ScheduledHost(number)
        return host

    def advance(self, now: float) -> None:
        """Set the time to `now`: hosts and addresses that have cooled long enough become ready."""
        if now <= self.now:
            return
        self.now = now
        while self._cooling and self._cooling[0][0] <= now:
            host = self._at(heappop(self._cooling)[1])
            if host.state == COOLING:
                self.settle(host)
        while self._opening and self._opening[0][0] <= now:
            gate = self._take_alarm()
            if gate is not None:
                self._watch(gate)

    def best(self) -> ScheduledHost | None:
        ready = self._ready
        while ready:
            entry = ready[0]
            host = self._at(entry & HOST_MASK)
            if host.state == READY and host.bound == entry >> HOST_BITS:
                if host.head[0] != host.bound:
                    host.bound = host.head[0]
                    heapreplace(ready, host.entry())
                elif host.gate is None or self._is_open(host.gate):
                    return host
                else:
                    heappop(ready)
                    self._park(host, host.gate)
            else:
                heappop(ready)
                gate = host.gate
                if gate is not None and gate.marker == entry:
                    gate.marker = None
                    self._let_in(gate)
        return None

    def next_time(self) -> float | None:
        """The earliest time at which a host or an address has cooled, if `best` finds nothing now.

        Never too late, but too early if the address of that host is still busy or cooling then.
        """
        while self._cooling:
            until, number = self._cooling[0]
            host = self._at(number)
            if host.state == COOLING and host.until == until:
                break
            heappop(self._cooling)
        while self._opening:
            until, address = self._opening[0]
            gate = self._gates.get(address)
            if gate is not None and gate.until == until and self._front(gate) is not None:
                break
            self._take_alarm()
        times = [heap[0][0] for heap in (self._cooling, self._opening) if heap]
        return min(times, default=None)

    def may_start(self, host: ScheduledHost) -> bool:
        return host.state in (READY, PARKED) and (host.gate is None or self._is_open(host.gate))

    def start(self, host: ScheduledHost) -> None:
        """One of the host's links, already removed from its queue, is in flight."""
        host.in_flight += 1
        if host.gate is not None:
            host.gate.in_flight += 1
        self.settle(host)

    def end(self, host: ScheduledHost) -> None:
        """One of the host's links in flight has been returned."""
        host.in_flight -= 1
        if host.gate is not None:
            host.gate.in_flight -= 1
            self._watch(host.gate)
        self.settle(host)

    def cool(self, host: ScheduledHost, until: float) -> None:
        host.until = until
        if host.state == COOLING:
            self._enter(host, EMPTY)
        self.settle(host)

    def set_aside(self, host: ScheduledHost, is_aside: bool) -> None:
        host.is_aside = is_aside
        self.settle(host)

    def set_address(self, host: ScheduledHost, address: str) -> None:
        """Change the address of a host. Its links in flight then count for the new address."""
        old = host.gate
        if address == (old.address if old else ""):
            return
        host.gate = self._gate(address) if address else None
        if host.gate is not None:
            host.gate.hosts += 1
            host.gate.in_flight += host.in_flight
        if host.state == PARKED:
            self._enter(host, EMPTY)
            self.settle(host)
        if old is not None:
            old.hosts -= 1
            old.in_flight -= host.in_flight
            old.marker = None  # it may have been the entry of this host, which no longer belongs to the old gate
            self._watch(old)

    def cool_address(self, address: str, until: float) -> None:
        gate = self._gate(address)
        gate.until = until
        self._watch(gate)

    def settle(self, host: ScheduledHost) -> None:
        """Update the state of a host after something about it has changed."""
        was = host.state
        if not host.head:
            state = EMPTY
        elif host.is_aside:
            state = ASIDE
        elif host.in_flight >= self._slots_per_host:
            state = BUSY
        elif host.until > self.now:
            state = COOLING
        else:
            state = PARKED if was == PARKED else READY
        if state != was:
            self._enter(host, state)
        elif state in (READY, PARKED) and host.head[0] < host.bound:
            host.bound = host.head[0]
            if state == READY:
                self._offer(host.entry())
            else:
                assert host.gate is not None
                self._queue_up(host, host.gate)

    def settle_all(self) -> None:
        """Rebuild all heaps after every queue has changed."""
        self._census = [0] * 6
        self._ready.clear()
        self._cooling.clear()
        for gate in self._gates.values():
            gate.parked.clear()
            gate.marker = None
        for host in self.hosts:
            if host is not None:
                host.state = EMPTY
                host.bound = WORST
                self.settle(host)

    def _at(self, number: int) -> ScheduledHost:
        host = self.hosts[number]
        assert host is not None
        return host

    def _enter(self, host: ScheduledHost, state: int) -> None:
        self._census[host.state] -= 1
        self._census[state] += 1
        host.state = state
        if state == READY:
            host.bound = host.head[0]
            self._offer(host.entry())
        elif state == EMPTY:
            host.bound = WORST
        else:
            host.bound = 0  # no link, however good, changes its position
            if state == COOLING:
                self._wait_for_host(host)

    def _offer(self, entry: int) -> None:
        heappush(self._ready, entry)
        if len(self._ready) > self._ready_limit:
            kept = [host.entry() for host in self.hosts if host is not None and host.state == READY]
            kept += [gate.marker for gate in self._gates.values() if gate.marker is not None]
            heapify(kept)
            self._ready[:] = kept
            self._ready_limit = 2 * len(kept) + SLACK

    def _wait_for_host(self, host: ScheduledHost) -> None:
        heappush(self._cooling, (host.until, host.number))
        if len(self._cooling) > self._cooling_limit:
            self._cooling = [(h.until, h.number) for h in self.hosts if h is not None and h.state == COOLING]
            heapify(self._cooling)
            self._cooling_limit = 2 * len(self._cooling) + SLACK

    def _wait_for_gate(self, gate: Gate) -> None:
        if gate.alarm == gate.until:
            return
        gate.alarm = gate.until
        heappush(self._opening, (gate.until, gate.address))
        if len(self._opening) > self._opening_limit:
            self._opening = [(g.alarm, g.address) for g in self._gates.values() if g.alarm is not None]
            heapify(self._opening)
            self._opening_limit = 2 * len(self._opening) + SLACK

    def _gate(self, address: str) -> Gate:
        gate = self._gates.get(address)
        if gate is None:
            if len(self._gates) >= self._gates_limit:
                # A name server can invent addresses without end; unused ones are discarded.
                self._gates = {g.address: g for g in self._gates.values() if g.hosts or g.until > self.now}
                self._gates_limit = 2 * len(self._gates) + SLACK
            slots = max(UNRESOLVED_SLOTS, self._slots_per_address) if address == UNRESOLVED else self._slots_per_address
            gate = self._gates[address] = Gate(address, slots)
        return gate

    def _is_open(self, gate: Gate) -> bool:
        return gate.in_flight < gate.slots and gate.until <= self.now

    def _park(self, host: ScheduledHost, gate: Gate) -> None:
        bound = host.bound
        self._enter(host, PARKED)
        host.bound = bound
        self._queue_up(host, gate)

    def _queue_up(self, host: ScheduledHost, gate: Gate) -> None:
        heappush(gate.parked, host.entry())
        if len(gate.parked) > gate.parked_limit:
            gate.parked = [entry for entry in set(gate.parked) if self._is_parked(entry, gate)]
            heapify(gate.parked)
            gate.parked_limit = 2 * len(gate.parked) + SLACK
        self._watch(gate)

    def _is_parked(self, entry: int, gate: Gate) -> bool:
        host = self._at(entry & HOST_MASK)
        return host.state == PARKED and host.gate is gate and host.bound == entry >> HOST_BITS

    def _front(self, gate: Gate) -> ScheduledHost | None:
        """The parked host with the best bound, whose entry is then gate.parked[0]."""
        while gate.parked:
            entry = gate.parked[0]
            if self._is_parked(entry, gate):
                return self._at(entry & HOST_MASK)
            heappop(gate.parked)
        return None

    def _watch(self, gate: Gate) -> None:
        """Ensure that a gate with parked hosts is noticed: now if it is open, otherwise when it opens."""
        if not gate.parked or gate.in_flight >= gate.slots:
            return
        if gate.until > self.now:
            self._wait_for_gate(gate)
        elif self._front(gate) is not None:
            entry = gate.parked[0]
            if gate.marker is None or entry < gate.marker:
                gate.marker = entry
                self._offer(entry)

    def _take_alarm(self) -> Gate | None:
        until, address = heappop(self._opening)
        gate = self._gates.get(address)
        if gate is not None and gate.alarm == until:
            gate.alarm = None
        return gate

    def _let_in(self, gate: Gate) -> None:
        """The gate's marker has reached the top: its best host becomes ready if the gate is open."""
        if not self._is_open(gate):
            return
        host = self._front(gate)
        if host is not None:
            heappop(gate.parked)
            self._enter(host, READY)
            self._watch(gate)
