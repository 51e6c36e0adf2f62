from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.page import language
from lycosa.page.language import detect_language

TEXTS = {
    "en": "The bicycle was invented in the nineteenth century, and by the end of it more than a million of them "
    "were on the roads of Europe. It is the most common vehicle in the world today.",
    "de": "Das Fahrrad wurde im neunzehnten Jahrhundert erfunden, und schon am Ende war es in vielen Städten so "
    "verbreitet, dass man an manchen Tagen kaum noch über die Straße gehen konnte.",
    "fr": "La bicyclette a été inventée au dix-neuvième siècle, et il y en avait déjà plus d'un million sur les "
    "routes de l'Europe. C'est aujourd'hui le véhicule le plus répandu dans le monde.",
    "nl": "De fiets is in de negentiende eeuw uitgevonden, en was aan het einde daarvan al over heel Europa "
    "verspreid. In Nederland is het of een vervoermiddel of een manier van leven, zo zeggen we vaak.",
    "da": "Cyklen blev opfundet i det nittende århundrede, og ved slutningen af det var der mere end en million "
    "under vejs. For at cykle over en bro skal man have lov, og det er ikke altid let at få.",
    "it": "La bicicletta è stata inventata nel diciannovesimo secolo, e per molti anni è stata il mezzo più usato "
    "in Italia per andare al lavoro. Oggi si usa soprattutto per il tempo libero, in città e in campagna.",
    "ru": "Велосипед был изобретён в девятнадцатом веке, и к концу его на дорогах Европы было уже больше "
    "миллиона машин. Сегодня это самое распространённое средство передвижения.",
}


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_texts(code, text):
    assert detect_language(text) == code


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_text_is_believed_more_than_a_declaration(code, text):
    assert detect_language(text * 3, declared="fi") == code


def test_english_is_settled_without_the_model(monkeypatch):
    monkeypatch.setattr(language, "label_of", None)
    assert detect_language(TEXTS["en"]) == "en"
    with pytest.raises(TypeError):
        detect_language(TEXTS["nl"])


@pytest.mark.parametrize("text", ["", "Home", "12 34 56 78 90 " * 100, "— • — " * 50])
def test_too_little_to_say(text):
    assert detect_language(text) == ""


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("de", "de"),
        ("pt-BR", "pt"),
        ("EN_us", "en"),
        (" fr ", "fr"),
        ("", ""),
        ("x", ""),
        ("deu", ""),
        ("1a", ""),
        ("éé", ""),
    ],
)
def test_a_declaration_speaks_where_the_text_does_not(declared, code):
    assert detect_language("Kontakt", declared=declared) == code


def test_a_list_of_names_is_in_no_language(monkeypatch):
    names = "Inari Päijänne Oulujärvi Saimaa Höytiäinen Kallavesi Näsijärvi Orivesi Pielinen Puula Keitele " * 4
    monkeypatch.setattr(language, "label_of", lambda text: "fi")
    assert detect_language(names) == ""
    monkeypatch.setattr(language, "label_of", lambda text: "la")  # whose stop words are not known
    assert detect_language(names) == "la"


def test_words_that_english_has_too_bear_nothing_out(monkeypatch):
    monkeypatch.setattr(language, "label_of", lambda text: "pt")
    assert detect_language("as do no me Lexmark Epson Canon Brother Kyocera Ricoh Xerox Sharp " * 4) == ""


def test_menus_at_the_top_do_not_decide():
    menu = "Home About us Contact Sign in Search the site and more of the same for all of you " * 4
    assert detect_language(menu + TEXTS["de"] * 6) == "de"


def test_labels_beyond_iso_639_1_are_widened_or_left_out(monkeypatch):
    monkeypatch.setattr(language, "label_of", lambda text: "arz")
    monkeypatch.setattr(language, "_is_borne_out", lambda text, label: True)
    assert detect_language(TEXTS["de"]) == "ar"
    monkeypatch.setattr(language, "label_of", lambda text: "zxx")
    assert detect_language(TEXTS["de"]) == ""


@given(st.text(max_size=300), st.text(max_size=20))
def test_always_two_letters_or_none(text, declared):
    code = detect_language(text, declared=declared)
    assert code == "" or (len(code) == 2 and code.isascii() and code.isalpha() and code.islower())
