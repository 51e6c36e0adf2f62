"""Which pages say that their domain is parked."""

from __future__ import annotations

import pytest

from lycosa.model import Page
from lycosa.page.parked import LONGEST, MOST_WORDS, offer_of_domain


def offer(text: str, *, title: str = "", words: int = 40) -> str:
    page = Page("http://www.example-shop.test/", title, text, words=words)
    return offer_of_domain(page, lambda: "example-shop.test")


@pytest.mark.parametrize(
    "text",
    [
        "The domain example-shop.test is for sale! Related searches: bicycles, tents",
        "Example-Shop.test: this domain may be for sale by its owner",
        "Welcome to example-shop.test. Buy this domain.",
        "example-shop.test is a parked domain",
        "This domain is parked. example-shop.test was registered by a customer",
        "Diese Domain steht zum Verkauf: example-shop.test",
        "Le nom de domaine example-shop.test est à vendre",
        "El dominio example-shop.test está en venta",
        "Questo dominio example-shop.test è in vendita",
        "Домен example-shop.test продаётся",
        "example-shop.test 域名出售",
        "example-shop.test ドメイン販売中",
        "example-shop.test: O domínio está à venda",
        "example-shop.test, deze domeinnaam is te koop",
        "example-shop.test is parked by a registrar",
    ],
)
def test_a_parked_domain(text):
    assert offer(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bicycle is for sale; ask at example-shop.test",
        "Our domain is mathematics. example-shop.test",
        "Cars parked by the road, says example-shop.net",
        "The domain of the function is the set of all tents for sale at example-shop.test",
        "",
    ],
)
def test_other_pages(text):
    assert not offer(text)


def test_a_dealer_names_the_domains_of_others():
    assert not offer("The domain other.test is for sale, and so are many more")


def test_a_page_that_says_nothing_else_need_not_name_itself():
    assert offer("This domain is parked.", words=3)


def test_an_article_is_longer():
    text = "The domain example-shop.test is for sale"
    assert not offer(text, words=MOST_WORDS + 1)


def test_the_title_counts():
    assert offer("Related searches", title="example-shop.test: this domain is for sale")


def test_only_its_beginning_is_looked_at():
    assert not offer(f"{'x' * LONGEST} The domain example-shop.test is for sale")
