"""Everything Lycosa raises on purpose.

    LycosaError                 a person can read the message and act on it; exit code 2
    ├── ConfigError             a setting is wrong: which, where, and what would be right
    ├── InputError              a file, URL or directory given by the user cannot be used
    │   └── SeedError           no usable seed, or an unreadable seeds file
    ├── WorkspaceError          the crawl directory cannot be used
    │   └── WorkspaceBusy       another process holds it (its pid is named)
    ├── StoreError              the database is damaged, too new, or cannot be written
    └── ArchiveError            a WARC file cannot be written or read

What the web does (a 404, a refused address, a robots rule) is never an exception: it is an
`Outcome`, stored and countable. Exceptions are faults.
"""


class LycosaError(Exception):
    """Base of all errors that are meant for a person."""


class ConfigError(LycosaError):
    """A setting is unknown, of the wrong kind, or out of range."""


class InputError(LycosaError):
    """A file, URL or directory given by the user cannot be used."""


class SeedError(InputError):
    """There is nothing to start from, or the seeds cannot be read."""


class WorkspaceError(LycosaError):
    """The crawl directory cannot be used."""


class WorkspaceBusy(WorkspaceError):
    """Another process is crawling in this directory."""


class StoreError(LycosaError):
    """The database is damaged, too new, or cannot be written."""


class ArchiveError(LycosaError):
    """A WARC file cannot be written or read."""
