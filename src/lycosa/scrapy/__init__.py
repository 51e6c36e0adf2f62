"""Lycosa inside Scrapy: the hunter orders the requests of any spider (pip install 'lycosa[scrapy]').

    ADDONS = {"lycosa.scrapy.Addon": 500}
    LYCOSA_TOPIC = "recreational cycling"

    addon        sets both of the following, where a project has nothing else in their place
    scheduler    Scrapy's scheduler: which request is sent next
    middleware   reads and judges what comes back, and tells which requests a page has led to
    hunt         the hunter, its queue and its judge: knows nothing of Scrapy
    priorities   the queue: Scrapy's priorities first, then the hunter's scores
    job          what is kept in JOBDIR from one run to the next

Scrapy fetches, by its own settings: robots.txt, delays, depth limits, filters of duplicates and retries are as in any
project. docs/scrapy.md is the user's page.
"""

from lycosa.scrapy.addon import Addon
from lycosa.scrapy.middleware import JudgeMiddleware
from lycosa.scrapy.scheduler import Scheduler

__all__ = ["Addon", "JudgeMiddleware", "Scheduler"]
