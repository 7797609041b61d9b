"""Named tuples passed by reference: to Numba a tuple is as many arguments as it has values, and every call copies them all.

The context of the timing core (machine, six policies with their parameters, tables) is some forty values that nearly every
function takes. `by_reference` puts it into memory once; functions then take one pointer, and an attribute is read when it is
asked for. Named tuples inside it, as the design and its policies, are references as well.
"""

from __future__ import annotations

from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, models, register_model, type_callable


class Reference(types.Type):
    """The type of a reference to a named tuple."""

    def __init__(self, referred: Any) -> None:
        self.referred = referred
        self.instance_class = referred.instance_class
        super().__init__(f"Reference({referred})")

    @property
    def key(self) -> Any:
        """What makes two references the same: not their names, for two classes of tuples may have one."""
        return self.referred


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    """A pointer."""

    def __init__(self, manager: Any, kind: Reference) -> None:
        super().__init__(manager, kind, manager.lookup(kind.referred).get_value_type().as_pointer())


def _attribute_type(reference: Reference, attribute: str) -> tuple[int, Any]:
    """The place of an attribute and its type, as it is read through a reference."""
    place = reference.referred.fields.index(attribute)
    kind = reference.referred[place]
    return place, Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@infer_getattr
class _ReferenceAttribute(AttributeTemplate):
    key = Reference

    def generic_resolve(self, value: Any, attr: str) -> Any:  # type: ignore[override]
        """The type of an attribute; None: there is none of that name."""
        return _attribute_type(value, attr)[1] if attr in value.referred.fields else None


@lower_getattr_generic(Reference)
def _read_attribute(context: Any, builder: Any, reference: Reference, pointer: Any, attribute: str) -> Any:
    place, kind = _attribute_type(reference, attribute)
    member = builder.gep(pointer, [ir.Constant(ir.IntType(32), number) for number in (0, place)], inbounds=True)
    if isinstance(kind, Reference):
        return member
    return impl_ret_borrowed(context, builder, kind, builder.load(member))  # the tuple keeps its own count of an array


Values = TypeVar("Values")


def by_reference(values: Values) -> Values:
    """A reference to a named tuple, for as long as the function runs that asks for it; in plain Python the tuple itself."""
    return values


@type_callable(by_reference)
def _type_of_reference(_context: Any) -> Any:
    def kind(values: Any) -> Reference:
        return Reference(values)

    return kind


@lower_builtin(by_reference, types.BaseNamedTuple)
def _refer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return cgutils.alloca_once_value(builder, args[0])
