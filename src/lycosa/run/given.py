"""What a crawl hands to a run of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lycosa.config import Config
from lycosa.crawl.refresh import RefreshPlan
from lycosa.crawl.shard import Shard, SharedStore
from lycosa.crawl.visits import Fetcher
from lycosa.judges.protocol import Judge
from lycosa.store.protocol import Reports
from lycosa.strategies.protocol import Strategy
from lycosa.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    config: Config
    workspace: Workspace
    store: Reports
    shared: SharedStore | None
    """The same store, if other shards of a cluster's crawl use it, too."""
    shard: Shard | None
    judge_for: Callable[[float | None], Judge]
    """The judge, by the threshold that the start pages have decided; None: they have not."""
    strategy: Strategy | Callable[..., Strategy] | None
    """One of a person's own; None: by its name in the settings. So is the fetcher."""
    fetcher: Fetcher | None
    answers: Mapping[str, bool]
    plan: RefreshPlan | None
    """What to look at again, if that is what this run is for."""
    teach: Callable[[], object]
    """A judge of the crawl's own book learns what people have said."""
    begun_with: str
    """The strategy of the last run."""
    has_text: bool
    """Somebody wants the texts of pages."""
