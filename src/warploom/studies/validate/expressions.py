"""What the elements of an array are before a launch, as an expression of ``i``, without running anybody's Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

LONGEST = 400  # characters of an expression
_LARGEST_POWER = 64  # of whole numbers, and the furthest shift: Python's own know no bound
_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNBOUNDED = (ast.Pow, ast.LShift)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in ("abs", "ceil", "cos", "cumsum", "exp", "floor", "log", "log2", "maximum", "minimum", "sin", "sqrt", "where")
}


def elements(text: str, i: Any) -> Any:
    """The value of an expression such as ``(i % 23) * 0.5``. Raises `ValueError` for what cannot stand in one."""
    if not isinstance(text, str):
        raise ValueError(f"an expression is text, not {text!r}")
    if len(text) > LONGEST:
        raise ValueError(f"an expression of {len(text):,} characters is too long; {LONGEST} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"{text!r} is not an expression") from None
    with np.errstate(all="ignore"):  # what is not a number will not go unnoticed
        return _value(tree, i)


def _value(node: ast.AST, i: Any) -> Any:
    match node:
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name("i"):
            return i
        case ast.UnaryOp(ast.USub(), inner):
            return -_value(inner, i)
        case ast.BinOp(left, op, right) if type(op) in _OPERATIONS:
            return _operation(op, _value(left, i), _value(right, i))
        case ast.Compare(left, [op], [right]) if type(op) in _OPERATIONS:
            return _operation(op, _value(left, i), _value(right, i))
        case ast.Call(ast.Attribute(ast.Name("np"), name), arguments, []) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(argument, i) for argument in arguments))
    raise ValueError(f"{ast.unparse(node)!r} cannot stand in an expression of i; of NumPy there are np.{', np.'.join(FUNCTIONS)}")


def _operation(op: ast.operator | ast.cmpop, left: Any, right: Any) -> Any:
    if isinstance(op, _UNBOUNDED) and isinstance(left, int) and isinstance(right, int) and abs(right) > _LARGEST_POWER:
        raise ValueError(f"a power or a shift by {right} is more than by {_LARGEST_POWER}")
    return _OPERATIONS[type(op)](left, right)
