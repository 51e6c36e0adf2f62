"""What a crawl goes on from: its state, loaded from the store."""

from __future__ import annotations

from lycosa.fetch.robots import RobotsFile, RobotsState
from lycosa.store.protocol import Store


def known_robots(store: Store) -> list[RobotsFile]:
    return [
        RobotsFile(
            origin=row.origin,
            state=RobotsState(row.state),
            fetched_at=row.fetched_at,
            expires_at=row.expires_at,
            status=row.status,
            failure=row.failure,
            body=row.body,
            failures=row.failures,
        )
        for row in store.robots()
    ]
