"""Registers are mapped when they are written and given back when the compiler says that they are dead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from warploom.code.instruction import Code
from warploom.code.lifetimes import choose_exempt, exempt_first
from warploom.code.release_flags import (
    FLAG_BITS,
    LOW_OPCODE_BITS,
    NO_REGISTER,
    NUMBER_BITS,
    NUMBERS,
    PAYLOAD_BITS,
    decode_pbr,
    is_release,
    payload,
    value_operands,
)
from warploom.code.release_flags import Opcode as Release
from warploom.code.release_points import decoded_flags, describe_releases, release_points, with_release_flags
from warploom.core.occupancy import occupancy, rounded
from warploom.errors import WarploomError
from warploom.machines import Machine
from warploom.machines.schema import MAX_CTAS, MAX_RF_BANKS, MAX_WARP_REGISTERS, MAX_WARPS
from warploom.policies import policy
from warploom.policies.bits import NOTHING, bit, count, has, lowest, without_lowest
from warploom.policies.renaming import (
    NEUTRAL,
    allocation_counters,
    allocation_summary,
    entry_bits,
    find_entry,
    find_entry_anywhere,
    table_conflicts,
    table_energy,
)
from warploom.policies.services import REFILL, SPILL, allocate, free_entry, group_of, inject, inlined, release, stage, wake

WARP = 32
USUAL_THREADS = 256  # of a CTA, where no launch says it
WHOLE_CTA, ONLY_NEEDY = 0, 1  # who is held back when registers run short
MAX_FLAG_CACHE = 64
REGISTER_WORDS = 8
MARGIN = 8  # registers that one instruction writes at most: left to the others when a warp comes back from memory
PBR = np.uint64(Release.PBR >> LOW_OPCODE_BITS)  # the upper part of its opcode
OPCODE_AT = np.uint64(LOW_OPCODE_BITS + PAYLOAD_BITS)
NUMBER_MASK = np.uint64(NO_REGISTER)
INSTRUCTION_BITS = 64
COUNTED = (
    "renames",
    "releases_pir",
    "releases_pbr",
    "releases_exit",  # what no flag has released
    "flag_fetches",
    "flag_cache_hits",
    "throttled_cycles",
    "borrowed",  # entries taken in another bank than the compiler's
)


# --- the balance of registers, and who may take more of them ----------------------------------------------------------------


@inlined
def _balance(sm: Any, cta: int) -> int:
    """Registers that a CTA may still need."""
    return sm.allocation.need - sm.allocation.mapped_of[cta]


@stage
def _choose_leader(sm: Any) -> None:
    """The CTA with the smallest balance: the one that is let on when registers run short. It stays as long as none is smaller."""
    state = sm.allocation
    leader = state.leader
    if leader < 0 or not has(state.ctas, leader):
        leader = -1
    rest = state.ctas
    while rest != NOTHING:
        cta = lowest(rest)
        rest = without_lowest(rest)
        if leader < 0 or state.mapped_of[cta] > state.mapped_of[leader]:
            leader = cta
    if leader != state.leader:
        state.leader = leader
        if leader >= 0:
            state.to_wake |= sm.cta[leader].warps


@inlined
def _spare(sm: Any) -> int:
    """Entries that nobody's name is mapped to; those still being read or written for the last time are among them."""
    return sm.allocation.room - sm.allocation.mapped


@stage
def _rename(ctx: Any, sm: Any, cycle: int, warp: int, register: int, entry: int) -> None:
    """Map a register, and account for it."""
    state = sm.allocation
    allocate(ctx, sm, cycle, warp, register, entry)
    state.mapped += 1
    state.mapped_of[sm.warp[warp].cta] += 1
    if state.scarce:
        _choose_leader(sm)
        _let_on(sm, cycle)


@stage
def _unname(sm: Any, cycle: int, warp: int) -> None:
    """Account for a register of a warp that is not mapped any more."""
    state = sm.allocation
    state.mapped -= 1
    state.mapped_of[sm.warp[warp].cta] -= 1
    if state.scarce:
        _choose_leader(sm)
        if state.leader >= 0 and _spare(sm) > _balance(sm, state.leader):
            state.to_wake |= state.throttled
        _let_on(sm, cycle)


@stage
def _give_back(ctx: Any, sm: Any, cycle: int, warp: int, register: int) -> bool:
    """Release a register that is dead; False if there is nothing to release."""
    state = sm.allocation
    word, place = register >> 6, register & 63
    if has(state.in_memory[warp, word], place):
        state.in_memory[warp, word] &= ~bit(place)
        return True
    if sm.map[warp, register] < 0 or register < state.exempt:
        return False
    release(ctx, sm, cycle, warp, register)
    _unname(sm, cycle, warp)
    return True


# --- warps that wait for registers ------------------------------------------------------------------------------------------


@inlined
def _hold(sm: Any, cycle: int) -> None:
    """Note when the first warp is held back."""
    if (sm.allocation.throttled | sm.allocation.starved) == NOTHING:
        sm.allocation.held_since = cycle


@stage
def _let_on(sm: Any, cycle: int) -> None:
    """Let the warps in `to_wake` ask again."""
    state = sm.allocation
    chosen = state.to_wake & (state.throttled | state.starved)
    state.to_wake = NOTHING
    if chosen == NOTHING:
        return
    state.throttled &= ~chosen
    state.starved &= ~chosen
    for group in range(MAX_RF_BANKS):
        state.wanting[group] &= ~chosen
    if (state.throttled | state.starved) == NOTHING:
        state.throttled_cycles += cycle - state.held_since
    wake(sm, chosen)


@stage
def _find(ctx: Any, sm: Any, warp: int, register: int) -> int:
    """An entry in the bank that the compiler meant; the leading CTA takes one elsewhere rather than wait."""
    group = group_of(ctx, warp, register)
    entry = find_entry(ctx, sm, group)
    if entry < 0 and sm.warp[warp].cta == sm.allocation.leader:
        entry = find_entry_anywhere(ctx, sm, group)
        sm.allocation.borrowed += 1
    return entry


@stage
def _entries_for(ctx: Any, sm: Any, warp: int, row: Any) -> bool:
    """Whether there is an entry for every register that an instruction would map; notes the banks that lack one."""
    state = sm.allocation
    leads = sm.warp[warp].cta == state.leader
    free = 0
    for group in range(ctx.info.groups):
        state.free_in[group] = 0
        for word in range(ctx.info.row_words):
            state.free_in[group] += count(sm.free_rows[group, word])
        free += state.free_in[group]
    enough = True
    for number in range(row.n_writes):
        register = int(row.writes[number])
        if sm.map[warp, register] >= 0:
            continue
        group = group_of(ctx, warp, register)
        free -= 1
        state.free_in[group] -= 1
        if free < 0 or (state.free_in[group] < 0 and not leads):
            enough = False
            state.wanting[group] |= bit(warp)
    return enough


# --- a CTA that is larger than the file: registers in reserved memory -------------------------------------------------------


@stage
def _names_of(ctx: Any, sm: Any, warp: int) -> int:
    """How many renamed registers of a warp are mapped."""
    mapped = 0
    for register in range(sm.allocation.exempt, ctx.info.registers):
        if sm.map[warp, register] >= 0:
            mapped += 1
    return mapped


@stage
def _spill_other(ctx: Any, sm: Any, cycle: int, kept: int) -> bool:
    """Store all registers of one warp other than `kept`: the youngest outside of the leading CTA, else the youngest."""
    state = sm.allocation
    victim = -1
    rest = sm.resident & ~state.spilled & ~bit(kept)
    while rest != NOTHING:
        warp = lowest(rest)
        rest = without_lowest(rest)
        if sm.warp[warp].in_flight > 0 or _names_of(ctx, sm, warp) == 0:
            continue
        if victim < 0:
            victim = warp
            continue
        outside, best = sm.warp[warp].cta != state.leader, sm.warp[victim].cta != state.leader
        if outside != best:
            if outside:
                victim = warp
        elif sm.warp[warp].age > sm.warp[victim].age:
            victim = warp
    if victim < 0:
        return False
    state.spilled |= bit(victim)
    for register in range(state.exempt, ctx.info.registers):
        entry = sm.map[victim, register]
        if entry >= 0 and inject(sm, SPILL, victim, register, entry):
            state.moving[victim] += 1
            state.spilled_registers += 1
    return state.moving[victim] > 0


@stage
def _refill(ctx: Any, sm: Any, cycle: int, warp: int) -> None:
    """Bring a warp's registers back; it goes on when the last of them has arrived."""
    state = sm.allocation
    state.returning |= bit(warp)
    for register in range(state.exempt, ctx.info.registers):
        word, place = register >> 6, register & 63
        if has(state.in_memory[warp, word], place):
            state.in_memory[warp, word] &= ~bit(place)
            entry = find_entry_anywhere(ctx, sm, group_of(ctx, warp, register))
            _rename(ctx, sm, cycle, warp, register, entry)
            inject(sm, REFILL, warp, register, entry)
            state.moving[warp] += 1
    if state.moving[warp] == 0:
        _returned(sm, warp)


@stage
def _returned(sm: Any, warp: int) -> None:
    sm.allocation.spilled &= ~bit(warp)
    sm.allocation.returning &= ~bit(warp)
    wake(sm, bit(warp))


@stage
def _oldest(sm: Any, warps: Any) -> int:
    oldest = -1
    while warps != NOTHING:
        warp = lowest(warps)
        warps = without_lowest(warps)
        if oldest < 0 or sm.warp[warp].age < sm.warp[oldest].age:
            oldest = warp
    return oldest


@stage
def _waiting_in_memory(sm: Any) -> int:
    """The oldest warp that wants to go on and has its registers in memory; -1: none. One at a barrier can wait there."""
    state = sm.allocation
    stored = NOTHING
    rest = state.spilled & ~state.returning & sm.held
    while rest != NOTHING:
        warp = lowest(rest)
        rest = without_lowest(rest)
        if state.moving[warp] == 0:
            stored |= bit(warp)
    return _oldest(sm, stored)


@inlined
def _in_memory(sm: Any, warp: int) -> int:
    stored = 0
    for word in range(REGISTER_WORDS):
        stored += count(sm.allocation.in_memory[warp, word])
    return stored


@policy
class Rfv(NamedTuple):
    """Registers are renamed to physical ones when written, and released at last reads as metadata instructions say."""

    CHOICE = "allocation"
    NAME = "rfv"
    SOURCE = "Jeon, Ravi, Kim, Annavaram: GPU Register File Virtualization, MICRO 2015, sections 6 to 8"
    LIMITS = {
        "shrink": (0.01, 1.0),
        "table_bytes": (0, 65536),
        "flag_cache": (0, MAX_FLAG_CACHE),
        "rename_cycles": (0, 4),
        "divergence": ("analysed", "assumed"),
        "throttle": ("cta", "needy"),
        "resident": (1.0, 64.0),
    }
    MEANING = {
        "shrink": "physical registers as a share of the architected file, which occupancy goes by (section 8.1)",
        "table_bytes": "renaming table of an SM; registers that do not fit are exempt, the longest-lived first (section 7.1)",
        "flag_cache": "entries of the release flag cache; 0: none (section 7.2)",
        "rename_cycles": "pipeline stages of renaming (section 7.1: one)",
        "divergence": "which branches the compiler takes for divergent: those that its analysis finds, or all",
        "throttle": "who waits when registers run short: every warp of other CTAs (section 8.1), or those that need a register",
        "spill": "store a warp's registers in memory when a CTA needs more than there are (section 8.1)",
        "resident": "architected registers as a multiple of the machine's: CTAs beyond its register file become resident",
    }
    COMPILED_BY = ("table_bytes", "divergence", "resident")
    STATE = (
        ("exempt", "i8"),  # registers below are not renamed
        ("room", "i8"),  # entries for renaming
        ("need", "i8"),  # renamed registers of one CTA at most
        ("most_ctas", "i8"),
        ("scarce", "?"),  # the resident CTAs may need more than there is
        ("ctas", "u8"),  # resident
        ("mapped", "i8"),  # names mapped at the moment, of all CTAs and of each
        ("mapped_of", "i8", (MAX_CTAS,)),
        ("leader", "i8"),
        ("throttled", "u8"),  # warps held back for the sake of the leading CTA
        ("starved", "u8"),  # warps that found no free entry
        ("wanting", "u8", (MAX_RF_BANKS,)),  # of these, who waits for which bank
        ("to_wake", "u8"),
        ("free_in", "i8", (MAX_RF_BANKS,)),  # scratch
        ("held_since", "i8"),
        ("spilled", "u8"),  # warps with registers in memory or on the way
        ("returning", "u8"),
        ("in_memory", "u8", (MAX_WARPS, REGISTER_WORDS)),
        ("moving", "i4", (MAX_WARPS,)),  # stores or loads of a warp under way
        ("tag", "i4", (MAX_FLAG_CACHE,)),  # pc + 1 of the pir in an entry of the flag cache
        ("probed_from", "i8", (MAX_WARPS,)),
        ("probed_pc", "i4", (MAX_WARPS,)),
        ("missed_pc", "i4", (MAX_WARPS,)),
        ("touched", "u1", (MAX_WARP_REGISTERS,)),
        ("warps_peak", "i8"),
        ("table_accesses", "i8"),
        ("spilled_registers", "i8"),
        *((name, "i8") for name in COUNTED),
    )
    NOTES = (
        ("dead", "u1"),  # a bit for each 32-bit register read: it is released
        ("lookups", "u1"),  # accesses of the renaming table
        ("conflicts", "u1"),  # cycles that they take beyond the first
        ("exempt", "u1"),
    )

    shrink: float = 1.0
    table_bytes: int = 1024
    flag_cache: int = 10
    rename_cycles: int = 1
    divergence: str = "analysed"
    throttle: str = "cta"
    spill: bool = True
    resident: float = 1.0

    # The compile-time half.

    def compile(policy, code: Code, machine: Machine) -> Code:
        if code.literal:
            raise WarploomError(f"kernel {code.name}: allocation=rfv needs allocated registers, which literal code has not")
        warps_per_cta = -(-(code.threads or USUAL_THREADS) // WARP)
        warps = occupancy(code, machine, policy, warps_per_cta).ctas * warps_per_cta
        exempt = choose_exempt(code, 8 * policy.table_bytes // entry_bits(machine) // warps)
        numbered = replace(exempt_first(code, exempt), exempt_registers=len(exempt))
        points = release_points(numbered, len(exempt), assume_divergent=policy.divergence == "assumed")
        return with_release_flags(numbered, points)

    def annotate(policy, code: Code, table: np.ndarray, machine: Machine) -> np.ndarray:
        notes = np.zeros(len(table), np.dtype(list(Rfv.NOTES), align=True))
        instructions = list(code.instructions())
        for pc, row in enumerate(table):
            reads, writes = (row[name][: row[count_]].tolist() for name, count_ in (("reads", "n_reads"), ("writes", "n_writes")))
            renamed = [register for register in (*reads, *writes) if register >= code.exempt_registers]
            notes[pc]["lookups"] = len(renamed)
            notes[pc]["conflicts"] = table_conflicts(reads, code.exempt_registers)
        for pc, flags, _ in decoded_flags(code):
            place = 0
            for operand, register in enumerate(value_operands(instructions[pc])):
                words = len(register.words)
                if operand < FLAG_BITS and flags >> operand & 1:
                    notes[pc]["dead"] |= ((1 << words) - 1) << place
                place += words
        notes["exempt"] = code.exempt_registers
        return notes

    def registers_per_warp(policy, code: Code, machine: Machine) -> int:
        return rounded(code.registers, machine)

    def resident_limit(policy, code: Code, machine: Machine, warps_per_cta: int) -> int:
        return int(machine.warp_registers * policy.resident) // (rounded(code.registers, machine) * warps_per_cta)

    def describe(policy, code: Code) -> dict[int, str]:
        return describe_releases(code)

    # The hardware half: mapping.

    def reset(policy, ctx: Any, sm: Any, cycle: int) -> None:
        state, info = sm.allocation, ctx.info
        state.exempt = min(ctx.code[0].allocation.exempt, info.registers)
        state.need = (info.registers - state.exempt) * info.warps_per_cta
        state.most_ctas = info.cta_limit
        direct = state.exempt * info.warps_per_cta
        if direct > 0:  # leave one CTA the registers that it may need
            state.most_ctas = min(state.most_ctas, max(1, (info.entries - state.need) // direct))
        reserved = min(direct * state.most_ctas, info.entries)
        state.room = info.entries - reserved
        state.scarce = state.room < state.need * state.most_ctas
        state.leader = -1
        for entry in range(reserved):
            row = entry // info.groups
            sm.free_rows[entry % info.groups, row >> 6] &= ~bit(row & 63)

    def can_launch(policy, ctx: Any, sm: Any, cycle: int) -> bool:
        return sm.ctas_resident + sm.pending_count < sm.allocation.most_ctas

    def on_cta_launch(policy, ctx: Any, sm: Any, cycle: int, cta: int) -> None:
        sm.allocation.ctas |= bit(cta)
        sm.allocation.mapped_of[cta] = 0
        _choose_leader(sm)

    def on_cta_exit(policy, ctx: Any, sm: Any, cycle: int, cta: int) -> None:
        sm.allocation.ctas &= ~bit(cta)
        _choose_leader(sm)
        _let_on(sm, cycle)

    def on_warp_launch(policy, ctx: Any, sm: Any, cycle: int, warp: int) -> None:
        state = sm.allocation
        state.warps_peak = max(state.warps_peak, count(sm.resident))
        state.probed_from[warp] = -1
        for word in range(REGISTER_WORDS):
            state.in_memory[warp, word] = NOTHING
        for register in range(state.exempt):
            allocate(ctx, sm, cycle, warp, register, state.exempt * warp + register)

    def freed_with_cta(policy) -> bool:
        return True  # the exempt ones; all others go with their warp at the latest

    def on_warp_exit(policy, ctx: Any, sm: Any, cycle: int, warp: int) -> None:
        for register in range(sm.allocation.exempt, ctx.info.registers):
            if _give_back(ctx, sm, cycle, warp, register):
                sm.allocation.releases_exit += 1

    def map_write(policy, ctx: Any, sm: Any, cycle: int, warp: int, register: int, pc: int, index: int) -> int:
        entry = sm.map[warp, register]
        if entry < 0:
            entry = _find(ctx, sm, warp, register)
            if entry >= 0:
                _rename(ctx, sm, cycle, warp, register, entry)
                sm.allocation.renames += 1
        return entry

    def issue_delay(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int) -> int:
        return policy.rename_cycles + ctx.code[pc].allocation.conflicts

    def issue_stages(policy) -> int:
        return policy.rename_cycles

    # Release.

    def on_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> None:
        row = ctx.code[pc]
        sm.allocation.table_accesses += row.allocation.lookups
        dead = row.allocation.dead
        if dead != 0:
            for operand in range(row.n_reads):
                if dead >> operand & 1 != 0 and _give_back(ctx, sm, cycle, warp, int(row.reads[operand])):
                    sm.allocation.releases_pir += 1
                    sm.allocation.table_accesses += 1

    def on_metadata(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, bits: Any) -> None:
        state = sm.allocation
        if bits >> OPCODE_AT != PBR:
            if policy.flag_cache > 0:
                state.tag[pc % policy.flag_cache] = pc + 1
            return
        for place in range(NUMBERS):
            number = (bits >> np.uint64(LOW_OPCODE_BITS + NUMBER_BITS * place)) & NUMBER_MASK
            if number != NUMBER_MASK:
                state.table_accesses += 1
                if _give_back(ctx, sm, cycle, warp, int(number)):
                    state.releases_pbr += 1

    def metadata_cached(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int) -> bool:
        state = sm.allocation
        is_pir = ctx.code[pc].payload >> OPCODE_AT != PBR
        hit = policy.flag_cache > 0 and is_pir and state.tag[pc % max(1, policy.flag_cache)] == pc + 1
        start = sm.warp[warp].decoded
        if start == state.probed_from[warp] and pc <= state.probed_pc[warp]:  # tried again: its line was missing
            if hit and state.missed_pc[warp] == pc:  # and another warp has fetched the flags meanwhile
                state.missed_pc[warp] = -1
                state.flag_fetches -= 1
                state.flag_cache_hits += 1
            return hit
        state.probed_from[warp] = start
        state.probed_pc[warp] = pc
        if hit:
            state.flag_cache_hits += 1
        else:
            state.flag_fetches += 1
            state.missed_pc[warp] = pc
        return hit

    # Too few registers.

    def may_issue(policy, ctx: Any, sm: Any, cycle: int, warp: int, pc: int, index: int) -> bool:
        state = sm.allocation
        if has(state.spilled, warp):
            return False
        row = ctx.code[pc]
        needed = 0
        for number in range(row.n_writes):
            if sm.map[warp, row.writes[number]] < 0:
                needed += 1
        if state.scarce and sm.warp[warp].cta != state.leader and (needed > 0 or policy.throttle == WHOLE_CTA):
            spare, balance = _spare(sm), _balance(sm, state.leader)
            if spare - needed < balance or spare <= balance:
                _hold(sm, cycle)
                state.throttled |= bit(warp)
                return False
        if needed > 0 and not _entries_for(ctx, sm, warp, row):
            _hold(sm, cycle)
            state.starved |= bit(warp)
            return False
        return True

    def on_allocate(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        sm.allocation.touched[entry] = 1

    def on_free(policy, ctx: Any, sm: Any, cycle: int, entry: int) -> None:
        state = sm.allocation
        group, row = entry % ctx.info.groups, entry // ctx.info.groups
        if entry < ctx.info.entries - state.room:  # mapped directly: for nobody else
            sm.free_rows[group, row >> 6] &= ~bit(row & 63)
            return
        if state.starved != NOTHING:
            state.to_wake |= state.wanting[group]
            if state.leader >= 0:
                state.to_wake |= state.starved & sm.cta[state.leader].warps
            _let_on(sm, cycle)
        elif state.spilled != NOTHING:
            stored = _waiting_in_memory(sm)
            if stored >= 0 and ctx.info.entries - sm.allocated > _in_memory(sm, stored) + MARGIN:
                _refill(ctx, sm, cycle, stored)

    def on_stuck(policy, ctx: Any, sm: Any, cycle: int) -> bool:
        state = sm.allocation
        if not policy.spill or sm.injected_count + sm.injected_in_flight > 0:
            return False
        hungry = state.starved
        if state.leader >= 0 and (hungry & sm.cta[state.leader].warps) != NOTHING:
            hungry &= sm.cta[state.leader].warps
        urgent = _oldest(sm, hungry)
        if urgent >= 0:
            return _spill_other(ctx, sm, cycle, urgent)
        stored = _waiting_in_memory(sm)
        if stored < 0:
            return False
        if ctx.info.entries - sm.allocated >= _in_memory(sm, stored):
            _refill(ctx, sm, cycle, stored)
            return True
        return _spill_other(ctx, sm, cycle, stored)

    def on_injected(policy, ctx: Any, sm: Any, cycle: int, warp: int, register: int, entry: int, kind: int) -> None:
        state = sm.allocation
        state.moving[warp] -= 1
        if kind == SPILL:
            if sm.map[warp, register] == entry:
                sm.map[warp, register] = -1
                state.in_memory[warp, register >> 6] |= bit(register & 63)
                _unname(sm, cycle, warp)
                free_entry(ctx, sm, cycle, entry)
        elif state.moving[warp] == 0:
            _returned(sm, warp)

    # Accounts.

    def finish(policy, ctx: Any, sm: Any, cycle: int) -> None:
        state = sm.allocation
        if (state.throttled | state.starved) != NOTHING:
            state.throttled_cycles += cycle - state.held_since
            state.held_since = cycle

    def counters(policy, states: Any, run: Any) -> dict[str, Any]:
        code = run.code
        metadata = [one for one in code.instructions() if is_release(one)]
        lists = [decode_pbr(payload(one)) for one in metadata if one.op.name == "pbr"]
        warps = run.occupancy.ctas * run.occupancy.warps_per_cta
        bits = (code.registers - code.exempt_registers) * warps * entry_bits(run.machine)
        names = (*COUNTED, "table_accesses", "spilled_registers")
        return {
            **{name: int(states[name].sum()) for name in names},
            **allocation_counters(states, code),
            "static_metadata": len(metadata),
            "static_pbr": len(lists),
            "static_pbr_registers": sum(map(len, lists)),
            "static_instructions": len(code) - len(metadata),
            "exempt_registers_peak": code.exempt_registers,
            "table_bytes_peak": -(-bits // 8),
        }

    def summary(policy, counters: dict[str, Any]) -> dict[str, Any]:
        return {
            **{name: value for name, value in NEUTRAL.items() if name not in counters},
            **allocation_summary(counters),
            "static_code_increase": counters["static_metadata"] / counters["static_instructions"],
            "dynamic_code_increase": counters["flag_fetches"] / max(1, counters["warp_instructions"]),
            "exempt_registers": counters["exempt_registers_peak"],
            "table_bytes": counters["table_bytes_peak"],
        }

    def energy(policy, counters: dict[str, Any], technology: Any, run: Any) -> Iterator[tuple[str, str, float]]:
        yield from table_energy(counters["table_accesses"], policy.table_bytes, technology, run)
        # From an instruction cache of 2 KB; decoding is taken to cost what fetching does.
        fetch, _ = technology.small_array(8 * 2048, INSTRUCTION_BITS, run.cycle_time)
        yield "flag instructions fetched and decoded", "overhead", counters["flag_fetches"] * 2 * fetch
        if policy.flag_cache:
            bit_read, leakage = technology.small_array(policy.flag_cache * PAYLOAD_BITS, 1, run.cycle_time)
            accessed = PAYLOAD_BITS * (counters["flag_fetches"] + counters["flag_cache_hits"])
            accessed += FLAG_BITS * counters["warp_instructions"]
            yield "release flag cache", "overhead", accessed * bit_read
            yield "release flag cache leakage", "overhead", leakage * run.seconds * run.sms

    def storage_bits(policy, machine: Machine) -> int:
        balances = machine.sm.ctas_per_sm * entry_bits(machine) if policy.shrink < 1 else 0
        return 8 * policy.table_bytes + machine.warp_registers + policy.flag_cache * PAYLOAD_BITS + balances

    def conflict(policy, design: Any) -> str | None:
        if policy.spill and policy.shrink * policy.resident != 1 and type(design.hierarchy).NAME != "none":
            return "a spilled register could have its newest value in the upper level; write spill=false"
        return None
