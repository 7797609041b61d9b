from support.assembler import assemble
from warploom.compiler.code.divergence import analyse_divergence


def divergent(text: str) -> set[int]:
    return set(analyse_divergence(assemble(text)).branches)


def branch_on(definition: str) -> str:
    return f"{definition}\nsetp.lt.s32 P0 = R0, 4\n@P0 bra end\nmov.u32 R1 = 1\nend:\nexit"


def test_where_values_come_from() -> None:
    for varying in ("mov.u32 R0 = %tid.x", "mov.u32 R0 = %laneid", "atom.global.add.u32 R0 = [64], 1", "ld.local.u32 R0 = [0]"):
        assert divergent(branch_on(varying)) == {0}, varying
    for uniform in ("mov.u32 R0 = %ctaid.x", "mov.u32 R0 = %ntid.x", "ld.param.u32 R0 = [0]", "ld.global.u32 R0 = [64]"):
        assert divergent(branch_on(uniform)) == set(), uniform
    assert divergent(branch_on("mov.u32 R2 = %tid.x\nld.global.u32 R0 = [R2+64]")) == {0}
    assert divergent(branch_on("mov.u32 R2 = %ctaid.x\nld.global.u32 R0 = [R2+64]")) == set()


def test_a_ballot_is_the_same_in_all_lanes() -> None:
    text = "mov.u32 R2 = %tid.x\nsetp.lt.s32 P1 = R2, 7\nvote.sync.ballot.b32 R0 = P1, 0xffffffff"
    assert divergent(branch_on(text)) == set()


def test_values_merged_after_a_divergent_branch_vary() -> None:
    merged = """
        mov.u32 R9 = %tid.x
        setp.lt.s32 P1 = R9, 3
        @P1 bra other
        mov.u32 R0 = 1
        bra join
    other:
        mov.u32 R0 = 2
    join:
        setp.lt.s32 P0 = R0, 2
        @P0 bra end
        mov.u32 R1 = 1
    end:
        exit
    """
    assert divergent(merged) == {0, 3}
    assert divergent(merged.replace("%tid.x", "%ctaid.x")) == set()


def test_a_guarded_definition_varies_with_its_guard() -> None:
    text = "mov.u32 R9 = %tid.x\nsetp.lt.s32 P1 = R9, 3\nmov.u32 R0 = 1\n@P1 mov.u32 R0 = 2"
    assert divergent(branch_on(text)) == {0}


def test_a_uniform_loop_inside_a_divergent_arm_is_uniform() -> None:
    text = """
        mov.u32 R9 = %tid.x
        setp.lt.s32 P1 = R9, 3
        @P1 bra end
        mov.u32 R0 = 8
    loop:
        sub.u32 R0 = R0, 1
        setp.gt.s32 P0 = R0, 0
        @P0 bra loop
    end:
        exit
    """
    assert divergent(text) == {0}


def test_leaving_a_loop_at_different_times_makes_its_counter_vary() -> None:
    text = """
        mov.u32 R9 = %tid.x
        mov.u32 R0 = 0
    loop:
        add.u32 R0 = R0, 1
        setp.lt.s32 P0 = R0, R9
        @P0 bra loop
        setp.lt.s32 P1 = R0, 5
        @P1 bra end
        mov.u32 R1 = 1
    end:
        exit
    """
    assert divergent(text) == {1, 2}
