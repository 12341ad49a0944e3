"""Names of attributes in XML, beside what condor_transform_ads writes and reads."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.classad.forms_xml import parse_xml_ads, to_xml


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ('a"b', r"a\"b"),
        ("a\\b", r"a\\b"),
        ("a\tb", r"a\tb"),
        ("é", r"\303\251"),
        ("x<y>&z", "x&lt;y&gt;&amp;z"),
    ],
)
def test_names_in_xml_have_the_escapes_of_strings(name: str, written: str) -> None:
    """Source: condor_transform_ads of 25.14.1, which reads them so as well."""
    ad = ClassAd({name: 1})
    text = to_xml(ad)
    assert f'<a n="{written}"><i>1</i></a>' in text
    (back,) = parse_xml_ads(text)
    assert back.names() == [name]
