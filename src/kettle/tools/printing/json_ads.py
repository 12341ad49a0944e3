"""Many ads as JSON, one after the other, for little more than copying their texts.

What is written is `classad.forms.to_json`'s, attribute by attribute; most attributes of a queue or
a pool are the same in ad after ad, so what one was rendered as is remembered.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.classad.forms_json import to_json
from kettle.patterns import late_pattern

# Limit: values remembered of one attribute, sets of attributes, and those of one parent.
_MOST_VALUES = 1000
_MOST_PLANS = 1000

# Texts that are the same in JSON.
_AS_IT_IS = late_pattern(r'(?:0|-?[1-9]\d{0,17}|"[^"\\\x00-\x1f]*"|true|false)\Z')

_Fragments = dict[str, str]
_Template = tuple[list[tuple[str, str, str, _Fragments]], str]


class JsonAds:
    """Renders ads with their attributes in the order of their names."""

    def __init__(self) -> None:
        # Names as they come in an ad → key, name and remembered values, in the order of output.
        self._plans: dict[tuple[str, ...], list[tuple[str, str, _Fragments]]] = {}
        self._fragments: dict[str, _Fragments] = {}
        # The parent of the last ad, and for the names that its ads have of their own what stands
        # before each of those attributes: with the text after the last, a template.
        self._parent: ClassAd | None = None
        self._templates: dict[tuple[str, ...], _Template] = {}

    def render(self, ad: ClassAd) -> str:
        """Return an ad as `to_json(ad, sort=True)` does.

        Ads with the same parent are taken to see the same in it, one after the other.
        """
        if ad.parent is not None:
            return self._render_upon(ad, ad.parent)
        table = ad.table
        names = tuple(ad.own_names())
        plan = self._plans.get(names)
        if plan is None:
            plan = self._plan(tuple(table), names)
        parts = []
        for key, name, fragments in plan:
            raw = table[key]
            if isinstance(raw, str):
                parts.append(fragments.get(raw) or _render(name, raw, fragments))
            else:
                one = ClassAd()
                one.insert(name, raw)
                parts.append(to_json(one)[2:-2])
        return "{\n" + ",\n".join(parts) + ("\n" if parts else "") + "}"

    def _render_upon(self, ad: ClassAd, parent: ClassAd) -> str:
        """Return an ad most of which is its parent's."""
        if parent is not self._parent:
            self._parent = parent
            self._templates.clear()
        names = tuple(ad.own_names())
        template = self._templates.get(names)
        if template is None:
            template = self._make_template(names, parent)
        table = ad.table
        own, rest = template
        parts: list[str] = []
        for before, key, name, fragments in own:
            raw = table[key]
            if type(raw) is not str:
                return to_json(ad, sort=True)
            parts += before, fragments.get(raw) or _render(name, raw, fragments)
        parts.append(rest)
        return "".join(parts)

    def _make_template(self, names: tuple[str, ...], parent: ClassAd) -> _Template:
        """Render what ads with these names of their own show of their parent."""
        own = {name.lower(): name for name in names}
        others = {name.lower(): name for name in parent.names()}
        steps = []
        before = "{\n"
        for key in sorted({*own, *others}):
            if key in own:
                fragments = self._fragments.setdefault(own[key], {})
                steps.append((before, key, own[key], fragments))
                before = ",\n"
            else:
                one = ClassAd()
                expression = parent.lookup(key)
                assert expression is not None
                one.insert(others[key], expression)
                before += to_json(one)[2:-2] + ",\n"
        template = steps, before.removesuffix(",\n") + ("\n}" if own or others else "}")
        if len(self._templates) < _MOST_PLANS:
            self._templates[names] = template
        return template

    def _plan(
        self, keys: tuple[str, ...], names: tuple[str, ...]
    ) -> list[tuple[str, str, _Fragments]]:
        """Choose the order in which ads of these attributes are written."""
        plan = [
            (key, name, self._fragments.setdefault(name, {}))
            for key, name in sorted(zip(keys, names, strict=True))
        ]
        if len(self._plans) < _MOST_PLANS:
            self._plans[names] = plan
        return plan


def _render(name: str, text: str, fragments: _Fragments) -> str:
    if _AS_IT_IS.match(text) is not None and name.isidentifier():
        fragment = f'  "{name}": {text}'
    else:
        one = ClassAd()
        one.insert_text(name, text)
        fragment = to_json(one)[2:-2]
    if len(fragments) < _MOST_VALUES:
        fragments[text] = fragment
    return fragment
