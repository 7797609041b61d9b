"""Conditions on the points of a plan: ``allocation.shrink < 1 or design == "baseline"``, without running anybody's Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean

LONGEST = 400  # characters of a condition
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, several: one in several,
    ast.NotIn: lambda one, several: one not in several,
}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_CONSTANTS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Condition:
    """What points must fulfil. A comparison of size with a value that a point does not have is not fulfilled."""

    text: str
    tree: ast.expr
    place: str

    @property
    def names(self) -> set[str]:
        """The names that it asks for."""
        return set(_names(self.tree))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a point with these values fulfils it; a name that it has no value for is `none`."""
        return bool(self._value(self.tree, values))

    def _value(self, node: ast.AST, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.BoolOp(op, parts):
                wanted = isinstance(op, ast.Or)
                return wanted if any(bool(self._value(part, values)) is wanted for part in parts) else not wanted
            case ast.UnaryOp(ast.Not(), inner):
                return not self._value(inner, values)
            case ast.UnaryOp(ast.USub(), inner):
                return -self._number(inner, values)
            case ast.BinOp(left, op, right):
                return self._arithmetic(op, self._number(left, values), self._number(right, values))
            case ast.Compare(left, operators, others):
                terms = [self._value(term, values) for term in (left, *others)]
                return all(self._compare(op, *pair) for op, pair in zip(operators, pairwise(terms), strict=True))
            case ast.List(items) | ast.Tuple(items) | ast.Set(items):
                return [self._value(item, values) for item in items]
            case ast.Constant(value):
                return value
            case _:
                name = _dotted(node)
                assert name is not None  # `read_condition` has looked
                return _CONSTANTS[name] if name in _CONSTANTS else values.get(name)

    def _number(self, node: ast.AST, values: Mapping[str, Any]) -> Any:
        value = self._value(node, values)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WarploomError(
                f"{self.place}: in {self.text!r}, {ast.unparse(node)} is {value!r}, which cannot be used in arithmetic"
            )
        return value

    def _arithmetic(self, op: ast.operator, left: Any, right: Any) -> Any:
        try:
            return _ARITHMETIC[type(op)](left, right)
        except (ZeroDivisionError, OverflowError) as error:
            raise WarploomError(f"{self.place}: {self.text!r}: {error}") from None

    def _compare(self, op: ast.cmpop, left: Any, right: Any) -> bool:
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and (left is None or right is None):
            return False
        try:
            return bool(_COMPARISONS[type(op)](left, right))
        except TypeError:
            raise WarploomError(f"{self.place}: in {self.text!r}, {left!r} and {right!r} cannot be compared") from None


def read_condition(text: Any, place: str, known: set[str]) -> Condition:
    """A condition from its text; ``known`` are the names that points may have."""
    if not isinstance(text, str):
        raise WarploomError(f"{place}: a condition is text such as \"size == 'tiny'\", not {text!r}")
    if len(text) > LONGEST:
        raise WarploomError(f"{place}: the condition has {len(text):,} characters, more than {LONGEST}; make several of it")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise WarploomError(f"{place}: {text!r} is not a condition such as \"size == 'tiny' and seed < 3\"") from None
    for node in _unknown(tree):
        raise WarploomError(f"{place}: {text!r}: {ast.unparse(node)!r} cannot stand in a condition; it compares values")
    condition = Condition(text, tree, place)
    for name in sorted(condition.names):
        if name not in known:
            raise WarploomError(f"{place}: {text!r}: points have no {name!r}{did_you_mean(name, known)}")
    return condition


def _unknown(node: ast.AST) -> list[ast.AST]:
    """The parts of an expression that mean nothing here."""
    match node:
        case ast.BoolOp(values=inner) | ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner):
            pass
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            inner = [node.operand]
        case ast.Compare() if all(type(op) in _COMPARISONS for op in node.ops):
            inner = [node.left, *node.comparators]
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            inner = [node.left, node.right]
        case ast.Constant(value=str() | int() | float()):
            return []
        case _:
            return [] if _dotted(node) is not None else [node]
    return [found for part in inner for found in _unknown(part)]


def _names(node: ast.AST) -> list[str]:
    name = _dotted(node)
    if name is not None:
        return [] if name in _CONSTANTS else [name]
    return [found for part in ast.iter_child_nodes(node) for found in _names(part)]


def _dotted(node: ast.AST) -> str | None:
    """A name with dots, such as ``allocation.shrink``; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base is not None else None
    return None
