"""Many sentences, files and machines: jobs that read shards, write shards, survive a kill, and leave out no sentence silently."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy

if TYPE_CHECKING:
    from zerogap.batch.job import Job, load_job
    from zerogap.batch.running import Summary, run

__all__ = ["Job", "Summary", "load_job", "run"]

__getattr__, __dir__ = lazy(__name__, {"Job": ".job", "load_job": ".job", "Summary": ".running", "run": ".running"})
