"""Which documents are empty until their scripts have run."""

from __future__ import annotations

import pytest

from lycosa.page.scripted import is_scripted

SHELLS = {
    "react": '<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
    '<script src="/main.js"></script>',
    "angular": '<body><app-root class="x"></app-root><script src="/main.js" type="module"></script>',
    "next": '<body><div id="__next">\n</div><SCRIPT>start()</SCRIPT>',
    "no text": "<body><script>document.write('x')</script>",
}
PLAIN = {
    "a short page with a counter": "<body><p>Closed on Mondays.</p><script src='/counter.js'></script>",
    "no script": '<body><div id="root"></div>',
}


@pytest.mark.parametrize("name", SHELLS)
def test_an_empty_frame_with_scripts_needs_a_browser(name: str) -> None:
    words = 0 if name == "no text" else 8
    assert is_scripted(SHELLS[name].encode(), words=words, links=0)


@pytest.mark.parametrize("name", PLAIN)
def test_a_short_page_needs_none(name: str) -> None:
    assert not is_scripted(PLAIN[name].encode(), words=3, links=0)


@pytest.mark.parametrize(("words", "links"), [(40, 0), (0, 5)])
def test_neither_does_a_page_that_says_something_or_leads_somewhere(words: int, links: int) -> None:
    assert not is_scripted(SHELLS["react"].encode(), words=words, links=links)
