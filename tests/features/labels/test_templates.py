"""The template language: what it reads, and where it says that something is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import InputError
from zerogap.features.labels.templates import (
    FUNCTIONS,
    POSITIONS,
    Attribute,
    TemplateError,
    check_columns,
    parse_template,
    parse_templates,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("bias", ()),
        ("form[0]", ((Attribute("form", ()), 0),)),
        ("lower[-1]", ((Attribute("form", ("lower",)), -1),)),
        (" pos[-1] + pos[+2] ", ((Attribute("pos", ()), -1), (Attribute("pos", ()), 2))),
        ("suffix3(lemma)[0]", ((Attribute("lemma", ("suffix3",)), 0),)),
        ("suffix3(plain)[0]", ((Attribute("form", ("plain", "suffix3")), 0),)),
        ("prefix2(lower(tag-1.x))[1]", ((Attribute("tag-1.x", ("lower", "prefix2")), 1),)),
        ("column(lower)[0]", ((Attribute("lower", ()), 0),)),
        ("place[0]+kind[0]", ((Attribute("", ("place",)), 0), (Attribute("form", ("kind",)), 0))),
    ],
)
def test_reads(text, terms):
    assert parse_template(text).terms == terms


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "name of a column"),
        ("form", 4, "an offset such as"),
        ("form[x]", 5, "an offset, an integer"),
        ("form[0", 6, "']' after the offset"),
        ("form[0] pos[0]", 8, "'+' and another term"),
        ("form[0]+", 8, "name of a column"),
        ("sufix3(form)[0]", 0, "function 'sufix3' is not known. Did you mean 'suffix3'?"),
        ("form[0]+lower(place)[0]", 8, "was given a position"),
        ("lower(form[0]", 10, "')'"),
        ("column(3)[0]", 7, "name of a column"),
        ("form[999]", 5, "expected -100 to 100"),
    ],
)
def test_errors_say_where(text, position, message):
    with pytest.raises(TemplateError, match="expected|not known|was given") as caught:
        parse_template(text)
    assert caught.value.position == position
    assert message in str(caught.value)
    assert str(caught.value).splitlines()[-1] == "  " + " " * position + "^"


@given(st.text("form[]()+-0123 pos,#", max_size=20))
def test_any_text_is_a_template_or_an_error(text):
    position = 0
    try:
        parse_template(text)
    except TemplateError as error:
        position = error.position
    assert 0 <= position <= len(text)


def test_lists_of_templates():
    assert [t.text for t in parse_templates("bias\n\n# a comment\nform[0]  # the word\n")] == ["bias", "form[0]"]
    assert [t.text for t in parse_templates(["bias", "form[0]"])] == ["bias", "form[0]"]
    with pytest.raises(InputError, match="templates is empty"):
        parse_templates([])
    with pytest.raises(InputError, match="'form\\[0\\]' is given twice"):
        parse_templates(["form[0]", "form[0]"])
    with pytest.raises(InputError, match="a template is 3"):
        parse_templates([3])


def test_missing_columns_are_named():
    with pytest.raises(TemplateError, match="example 4 .* column 'poss' is not known. Did you mean 'pos'"):
        check_columns(parse_templates(["form[0]+poss[1]"]), {"form": ("a",), "pos": ("N",)}, "example 4")


@pytest.mark.parametrize(
    ("function", "value", "expected"),
    [
        ("plain", "(Computing,", "computing"),
        ("plain", "--", "--"),
        ("shape", "McDonald's", "XxXx'x"),
        ("shape", "Ärger99.", "Xx9."),
        ("digits", "12(3):45-67,", "99(9):99-99,"),
        ("digits", "pp.", "x."),
        ("kind", "(1992).", "year"),
        ("kind", "42,", "number"),
        ("kind", "pp.12–34.", "with digits"),
        ("kind", "12–34.", "range"),
        ("kind", "1(1),", "numbers"),
        ("kind", "J.-P.,", "initials"),
        ("kind", "http://x.org/", "address"),
        ("kind", "&", "punctuation"),
        ("kind", "a", "letter"),
        ("kind", "IEEE", "capitals"),
        ("kind", "Press.", "capitalised"),
        ("kind", "of", "lower"),
        ("kind", "iPhone", "mixed"),
        ("kind", "", "mixed"),
        ("ending", "Press.", "."),
        ("ending", "Press", ""),
        ("opening", "(a", "("),
        ("prefix2", "abc", "ab"),
        ("suffix2", "abc", "bc"),
        ("suffix9", "abc", "abc"),
    ],
)
def test_functions(function, value, expected):
    assert FUNCTIONS[function](value) == expected


@given(st.text(max_size=8))
def test_functions_take_any_text(value):
    for function in FUNCTIONS.values():
        assert isinstance(function(value), str)


@given(st.integers(1, 50), st.data())
def test_positions_are_small(n, data):
    t = data.draw(st.integers(0, n - 1))
    assert all(0 <= position(t, n) < 10 for position in POSITIONS.values())


def test_features_in_a_column():
    template = parse_template("feats:Case[0]+suffix1(feats:Number)[1]")
    (case, _), (number, offset) = template.terms
    assert (case.column, case.of("Case=Nom|Number=Sing"), case.of("Number=Sing"), case.of("_")) == ("feats", "Nom", "_", "_")
    assert (number.column, number.of("Case=Nom|Number=Sing"), offset) == ("feats", "g", 1)
