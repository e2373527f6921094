# SPDX-License-Identifier: Apache-2.0
"""Events joined by operators: 'BpBWrong + BpJWrong', '(A & B) | C'.

All operators bind alike, so two different ones want parentheses. A tree is an Event, or a Join of
at least two trees; since all four operators are associative, a Join has no Join of its own operator
inside.
"""
import dataclasses
import re

SIGNS = {"|": "OR", "&": "AND", "^": "XOR", "+": "ADD"}
OPERATORS = {word: sign for sign, word in SIGNS.items()}
# A name may hold dots and minus signs; GROUP: may stand before it.
TOKEN = re.compile(r"\s*(?:([A-Za-z0-9_][\w.\-]*(?::[A-Za-z0-9_][\w.\-]*)?)|([|&^+()]))", re.A)
DEEPEST = 20


class ExpressionError(Exception):
    """It is no expression, or the selector cannot express it."""


@dataclasses.dataclass(frozen=True)
class Join:
    """Events or joins of them, joined by one operator."""
    operator: str
    parts: tuple


def join(operator, parts):
    """A Join without one of the same operator inside."""
    flat = []
    for part in parts:
        if isinstance(part, Join) and part.operator == operator:
            flat.extend(part.parts)
        else:
            flat.append(part)
    return flat[0] if len(flat) == 1 else Join(operator, tuple(flat))


def parse(text, find):
    """The tree of a text; find(NAME) gives the event of a name, or raises ExpressionError."""
    tokens, at = [], 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if not found:
            raise ExpressionError(f"'{text[at:].strip()[0]}' belongs to no expression; events are "
                                  "joined by | & ^ +, or by OR AND XOR ADD")
        tokens.append(found[1] or found[2])
        at = found.end()
    if not tokens:
        raise ExpressionError("there is no event in it")
    tree = whole(tokens, find, 0)
    if tokens:
        raise ExpressionError(f"'{tokens[0]}' follows what is complete")
    return tree


def whole(tokens, find, depth):
    """A row of parts, joined by one operator."""
    if depth > DEEPEST:
        raise ExpressionError("has too many parentheses")
    parts, operator = [one(tokens, find, depth)], None
    while tokens and (tokens[0] in SIGNS or tokens[0] in OPERATORS):
        word = SIGNS.get(tokens[0], tokens[0])
        tokens.pop(0)
        if operator not in (None, word):
            raise ExpressionError(f"{operator} and {word} side by side want parentheses")
        operator = word
        parts.append(one(tokens, find, depth))
    return join(operator, parts)


def one(tokens, find, depth):
    """An event, or what stands in parentheses."""
    if not tokens:
        raise ExpressionError("ends where an event is wanted")
    token = tokens.pop(0)
    if token == "(":
        tree = whole(tokens, find, depth + 1)
        if not tokens or tokens.pop(0) != ")":
            raise ExpressionError("has a parenthesis that is not closed")
        return tree
    if token == ")" or token in SIGNS or token in OPERATORS:
        raise ExpressionError(f"has '{token}' where an event is wanted")
    return find(token)


def events(tree):
    """All events of a tree, from left to right."""
    if isinstance(tree, Join):
        return [event for part in tree.parts for event in events(part)]
    return [tree]


def text(tree, inner=False):
    """An expression that parse() takes."""
    if not isinstance(tree, Join):
        return tree.id
    row = f" {OPERATORS[tree.operator]} ".join(text(part, True) for part in tree.parts)
    return f"({row})" if inner else row


def word(tree):
    """A name for it in letters that perf takes, without its parentheses."""
    if not isinstance(tree, Join):
        return tree.id
    return f"-{tree.operator}-".join(word(part) for part in tree.parts)


def same(tree):
    """A key that is equal for trees that differ in the order of their parts only."""
    if not isinstance(tree, Join):
        return ("", tree.id)
    return (tree.operator, tuple(sorted((same(part) for part in tree.parts), key=repr)))
