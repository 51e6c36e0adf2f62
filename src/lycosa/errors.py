"""The exceptions Lycosa raises on purpose.

    LycosaError                 the message is meant for a person, who can act on it; exit code 2
    ├── ConfigError             a setting is wrong: which one, where, and what would be right
    ├── InputError              a file, URL or directory given by the user cannot be used
    │   └── SeedError           a seed or bookmarks file cannot be used, or there is no seed
    ├── WorkspaceError          the crawl directory cannot be used
    │   └── WorkspaceBusy       another process holds it (its pid is named)
    ├── ProxyError              the proxy through which a crawl goes cannot be used
    ├── StoreError              the database is damaged, too new, or cannot be written
    └── ArchiveError            a WARC file cannot be written or read

What the web does (a 404, a refused address, a robots.txt rule) is never an exception: it is an `Outcome`, which is
stored and can be counted. Exceptions are faults.
"""


class LycosaError(Exception):
    """Base class of all errors whose message is meant for a person."""


class ConfigError(LycosaError):
    """A setting is unknown, of the wrong type, or out of range."""


class InputError(LycosaError):
    """A file, URL or directory given by the user cannot be used."""


class SeedError(InputError):
    """A seed, or a file of seeds or bookmarks, cannot be used; or there is nothing to start from."""


class WorkspaceError(LycosaError):
    """The crawl directory cannot be used."""


class WorkspaceBusy(WorkspaceError):
    """Another process is crawling in this directory."""


class ProxyError(LycosaError):
    """The proxy through which a crawl goes cannot be used."""


class StoreError(LycosaError):
    """The database is damaged, too new, or cannot be written."""


class ArchiveError(LycosaError):
    """A WARC file cannot be written or read."""


class ArchiveAway(ArchiveError):
    """A file of the archive is elsewhere, and cannot be reached now: nothing is wrong with it as far as is known."""
