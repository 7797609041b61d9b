from support.assembler import assemble
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.ranges import LiveRanges
from warploom.compiler.code.slots import bits
from warploom.compiler.code.values import value_instances

REUSED = """
    mov.u32 R0 = %tid.x
    add.u32 R1 = R0, 1
    mov.u32 R0 = 5
    add.u32 R1 = R1, R0
    setp.lt.s32 P0 = R1, 9
    @P0 bra join
    mov.u32 R0 = 6
join:
    st.global.u32 [64], R0
    exit
"""


def test_one_register_holds_several_values() -> None:
    values = value_instances(assemble(REUSED, allocated=True))
    of_r0 = [value for value in values if value.slot == 0]
    assert [(value.definitions, value.uses) for value in of_r0] == [([0], [1]), ([2, 6], [3, 7])]
    of_r1 = [value for value in values if value.slot == 1]
    assert [(value.definitions, value.uses) for value in of_r1] == [([1], [3]), ([3], [4])]
    assert values.used[7, 0] is values.defined[6, 0]


def test_a_pair_is_two_values() -> None:
    code = assemble(
        "ld.global.u64 D0 = [64]\nmov.u32 R2 = R1\nst.global.u64 [72], D0\nst.global.u32 [80], R2\nexit", allocated=True
    )
    values = value_instances(code)
    assert values.defined[0, 0].uses == [2]
    assert values.defined[0, 1].uses == [1, 2]


def test_a_read_without_a_definition_is_a_value_of_its_own() -> None:
    values = value_instances(assemble("st.global.u32 [64], R5\nexit", allocated=True))
    assert [(value.slot, value.definitions, value.uses) for value in values] == [(5, [], [0])]


def test_ranges_and_last_uses() -> None:
    code = assemble(REUSED, allocated=True)
    ranges = LiveRanges(code)
    first, merged = [extent for extent in ranges if extent.value.slot == 0]
    assert list(bits(first.before)) == [1] and first.last_uses == [1]
    assert list(bits(merged.before)) == [3, 4, 5, 7] and merged.last_uses == [7]
    assert merged.length == 4
    # In a warp whose lanes part at the branch, the value stays while some wait at the join.
    warp = LiveRanges(code, analyse_divergence(code))
    held = warp[merged.value]
    assert list(bits(held.before)) == [3, 4, 5, 6, 7] and held.last_uses == [7]


def test_a_value_read_in_one_arm_ends_at_the_join_for_a_warp() -> None:
    code = assemble(
        """
        mov.u32 R0 = %tid.x
        mov.u32 R1 = 3
        setp.lt.s32 P0 = R0, 9
        @P0 bra join
        st.global.u32 [64], R1
        mov.u32 R2 = 4
        st.global.u32 [68], R2
    join:
        exit
        """,
        allocated=True,
    )
    thread, warp = LiveRanges(code), LiveRanges(code, analyse_divergence(code))
    value = next(value for value in thread.values if value.slot == 1)
    assert thread[value].last_uses == [4]
    again = next(extent for extent in warp if extent.value.slot == 1)
    assert again.last_uses == [] and list(bits(again.before)) == [2, 3, 4, 5, 6]
    by_arm = LiveRanges(code, analyse_divergence(code), by_arm=True)
    finer = next(extent for extent in by_arm if extent.value.slot == 1)
    assert finer.last_uses == [4] and list(bits(finer.before)) == [2, 3, 4], "lanes that skip the arm do not need it"
