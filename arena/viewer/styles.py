"""Resolves the style sheet of drawings for programs without one: each element gets its properties as attributes.

Renderers of SVG know neither variables of CSS nor mixed colours.
"""

import re
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element

import tinycss2
from cssselect2 import ElementWrapper, Matcher, SelectorError, compile_selector_list
from msgspec import Struct
from tinycss2.color4 import parse_color

PROPERTIES = frozenset(
    {
        "color", "display", "dominant-baseline", "fill", "fill-opacity", "fill-rule", "font-size", "font-style",
        "font-weight", "letter-spacing", "opacity", "paint-order", "stop-color", "stop-opacity", "stroke",
        "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-opacity",
        "stroke-width", "text-anchor", "visibility",
    }
)  # fmt: skip
"""Properties that become attributes; all others concern a page's layout."""
ROOT_PIXELS = 16
MOST_REPLACED = 8
"""Maximum depth of variables within variables."""
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,\s*([^()]*))?\)")
_MIX = re.compile(r"color-mix\(\s*in srgb\s*,\s*([^,]+?)\s+([\d.]+)%\s*,\s*([^,]+?)\s*\)")
_REM = re.compile(r"([\d.]+)rem\b")
_BY_SIBLINGS = re.compile(r"[+~]|:(?:nth|first|last|only|empty|has)")
_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)")


class _Style(Struct, frozen=True):
    """Resolved style of elements that no selector tells apart."""

    variables: dict[str, str]
    attributes: dict[str, str]


class StyleSheet:
    """The style sheet of drawings in its light colours.

    Rules within `@media`, and those that depend on an element's siblings, do not apply.
    """

    def __init__(self, css: str) -> None:
        self._matcher = Matcher()
        names = {"class", "id"}
        for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
            if rule.type != "qualified-rule":
                continue
            prelude = tinycss2.serialize(rule.prelude)
            if _BY_SIBLINGS.search(prelude):
                continue
            declared = _declarations(rule.content)
            try:
                selectors = compile_selector_list(rule.prelude)
            except SelectorError:
                continue
            for selector in selectors:
                self._matcher.add_selector(selector, declared)
            names |= set(_ATTRIBUTE.findall(prelude))
        self._names = sorted(names)
        """Attributes on which selectors depend."""
        self._numbers: dict[tuple[int, tuple[str | None, ...]], int] = {}
        """Index of each style, by that of the parent's style and the element's own name and attributes."""
        self._styles = [_Style({}, {})]

    def apply(self, root: Element) -> None:
        """Set the attributes of an element and of all elements in it."""
        self._apply(ElementWrapper.from_html_root(root), 0)

    def _apply(self, wrapper: ElementWrapper, parent: int) -> None:
        element = wrapper.etree_element
        key = (parent, (element.tag, *map(element.get, self._names)))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._styles)
            self._styles.append(self._resolved(wrapper, self._styles[parent]))
        element.attrib.update(self._styles[number].attributes)
        for child in wrapper.iter_children():
            self._apply(child, number)

    def _resolved(self, wrapper: ElementWrapper, parent: _Style) -> _Style:
        declared: dict[str, str] = {}
        for _, _, pseudo, values in sorted(self._matcher.match(wrapper), key=lambda match: match[:2]):
            if pseudo is None:
                declared |= values
        variables = dict(parent.variables)
        for name, value in declared.items():
            if name.startswith("--"):
                variables[name] = _without_variables(value, variables)
        attributes = {}
        for name, value in declared.items():
            if name in PROPERTIES:
                shown = _plain(_without_variables(value, variables))
                if "(" not in shown or shown.startswith(("rgb", "hsl", "url")):
                    attributes[name] = shown
        return _Style(variables, attributes)


def root_variables(css: str) -> dict[str, str]:
    """Return the variables that a style sheet sets for the whole page in its light colours, by name."""
    found: dict[str, str] = {}
    for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule" and tinycss2.serialize(rule.prelude).strip() == ":root":
            found |= {name: value for name, value in _declarations(rule.content).items() if name[:2] == "--"}
    return found


def _declarations(content: Iterable[Any]) -> dict[str, str]:
    """Return the declared values by property, variables as well."""
    found = {}
    for each in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if each.type == "declaration":
            found[each.name] = tinycss2.serialize(each.value).strip()
    return found


def _without_variables(value: str, variables: dict[str, str]) -> str:
    """Replace the variables in a value; unknown ones without a default are "none"."""
    for _ in range(MOST_REPLACED):
        if "var(" not in value:
            break
        value = _VARIABLE.sub(lambda found: variables.get(found[1], found[2] or "none"), value)
    return value


def _plain(value: str) -> str:
    """Replace mixed colours and root-relative lengths."""
    value = _MIX.sub(lambda found: _mixed(found[1], float(found[2]) / 100, found[3]), value)
    return _REM.sub(lambda found: f"{float(found[1]) * ROOT_PIXELS:g}px", value)


def _mixed(one: str, share: float, other: str) -> str:
    first, second = parse_color(one), parse_color(other)
    if first is None or second is None:
        return "none"
    pairs = zip(first.to("srgb").coordinates, second.to("srgb").coordinates, strict=True)
    levels = [round(255 * (share * a + (1 - share) * b)) for a, b in pairs]
    return f"rgb({', '.join(map(str, levels))})"
