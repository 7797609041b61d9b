"""Loads, stores and atomics of a warp: bounds and alignment first, then the lanes, then the trace."""

from __future__ import annotations

import numpy as np

from warploom.base.records import Lanes, int64
from warploom.compiler.code.lanes import FULL
from warploom.compiler.code.table import Space
from warploom.emulator.clusters import OFFSET, RANK_AT
from warploom.emulator.half_numbers import add_bf16_pairs, add_f16_pairs
from warploom.emulator.pointers import (
    bits_from_double,
    bits_from_float,
    copy_row,
    count_ones,
    double_from_bits,
    fill_row,
    first_lane,
    float_from_bits,
    gather_words,
    get8,
    get16,
    get32,
    get64,
    lane_addresses,
    put8,
    put16,
    put32,
    put64,
    scatter_words,
    survey_addresses,
)
from warploom.emulator.records import (
    AtomicOperation,
    AtomicType,
    EmulatedMachine,
    EncodedInstruction,
    Fault,
    Kind,
    ResidentCta,
    ResidentWarp,
)
from warploom.emulator.trace.format import MOST_ABOUT, MOST_EMPTY, MOST_RECORDS, PARALLEL_SHIFT, SPACE_MASK, SPACE_SHIFT
from warploom.emulator.watch.events import equal_lanes, note_access
from warploom.jit import callee

FAULT_READ_ONLY, FAULT_UNRECORDED = int(Fault.READ_ONLY), int(Fault.UNRECORDED)
WINDOW_BYTES = 0x0800_0000
MOST_ADDRESS = 1 << 62  # beyond it sums of addresses and sizes could not be trusted
CANONICAL_NAN = np.uint32(0x7FFFFFFF)

GLOBAL, LOCAL, SHARED, CONST = int(Space.GLOBAL), int(Space.LOCAL), int(Space.SHARED), int(Space.CONST)
PARAM, GENERIC = int(Space.PARAM), int(Space.GENERIC)
LOAD, STORE = int(Kind.LOAD), int(Kind.STORE)
BOUNDS, ALIGNMENT = int(Fault.BOUNDS), int(Fault.ALIGNMENT)
_ADD, _MIN, _MAX, _AND, _OR = (int(AtomicOperation[name]) for name in ("ADD", "MIN", "MAX", "AND", "OR"))
_XOR, _EXCH, _CAS, _INC = (int(AtomicOperation[name]) for name in ("XOR", "EXCH", "CAS", "INC"))
_U32, _S32, _F32, _U64, _S64, _F64 = (int(AtomicType[name]) for name in ("U32", "S32", "F32", "U64", "S64", "F64"))
_F16X2, _BF16X2 = int(AtomicType.F16X2), int(AtomicType.BF16X2)


@callee
def _address_of(machine: EmulatedMachine, lane: int) -> int:
    return int64(get64(machine.addresses + 8 * lane))


@callee
def fail(machine: EmulatedMachine, fault: int, lane: int, address: int, space: int) -> bool:
    """Note what went wrong; the place in the program is noted by the caller's caller."""
    machine.fault = fault
    machine.fault_lane = lane
    machine.fault_address = np.uint64(address)
    machine.fault_space = space
    return False


@callee
def allocated(machine: EmulatedMachine, low: int, size: int) -> bool:
    """Whether so many bytes lie in one allocation. The allocation found last is tried first."""
    if low < 0 or low > MOST_ADDRESS:
        return False
    high = low + size - 1
    at = machine.allocations + 16 * machine.hint
    if machine.hint < machine.allocation_count and int64(get64(at)) <= low and high < int64(get64(at + 8)):
        return True
    first, last = 0, machine.allocation_count
    while first < last:  # the first allocation that begins after `low`
        middle = (first + last) // 2
        if int64(get64(machine.allocations + 16 * middle)) <= low:
            first = middle + 1
        else:
            last = middle
    if first == 0:
        return False
    machine.hint = first - 1
    return high < int64(get64(machine.allocations + 16 * (first - 1) + 8))


@callee
def _check_lanes(machine: EmulatedMachine, mask: Lanes, size: int, space: int, limit: int) -> bool:
    """Find the lane that is to blame, if any; device memory is checked against the allocations, others against a limit."""
    for lane in range(32):
        if (mask >> np.uint32(lane)) & 1:
            address = _address_of(machine, lane)
            if limit < 0:
                inside = allocated(machine, address, size)
            else:
                inside = 0 <= address <= MOST_ADDRESS and address + size <= limit
            if not inside:
                return fail(machine, BOUNDS, lane, address, space)
            if address & (size - 1):
                return fail(machine, ALIGNMENT, lane, address, space)
    return True


@callee
def _limit(machine: EmulatedMachine, space: int) -> int:
    if space == SHARED:
        return machine.shared_bytes
    if space == LOCAL:
        return machine.local_bytes
    return machine.parameter_bytes if space == PARAM else -1


@callee
def _base(machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, space: int) -> int:
    """What to add to an address in its space to get an address of the host. Local memory is interleaved, see `_local_place`."""
    if space == SHARED:
        return cta.shared
    if space == LOCAL:
        return warp.local
    return machine.parameters if space == PARAM else machine.arena - machine.arena_start


@callee
def _local_place(base: int, address: int, lane: int) -> int:
    """Words of the lanes lie side by side, as hardware lays local memory out."""
    return base + ((address >> 2) * 32 + lane) * 4 + (address & 3)


@callee
def _place(base: int, space: int, address: int, lane: int) -> int:
    return _local_place(base, address, lane) if space == LOCAL else base + address


@callee
def _read(base: int, space: int, address: int, lane: int, size: int, signed: bool) -> np.uint64:
    """One element, extended to 64 bits."""
    place = _place(base, space, address, lane)
    if size == 4:
        value = get32(place)
        return np.uint64(int64(np.int32(value))) if signed else np.uint64(value)
    if size == 8:
        high = get32(_place(base, space, address + 4, lane))
        return np.uint64(get32(place)) | (np.uint64(high) << np.uint64(32))
    if size == 2:
        half = get16(place)
        return np.uint64(int64(np.int16(half))) if signed else np.uint64(half)
    byte = get8(place)
    return np.uint64(int64(np.int8(byte))) if signed else np.uint64(byte)


@callee
def _write(base: int, space: int, address: int, lane: int, size: int, value: np.uint64) -> None:
    place = _place(base, space, address, lane)
    if size == 4:
        put32(place, np.uint32(value))
    elif size == 8:
        put32(place, np.uint32(value))
        put32(_place(base, space, address + 4, lane), np.uint32(value >> np.uint64(32)))
    elif size == 2:
        put16(place, np.uint16(value))
    else:
        put8(place, np.uint8(value))


@callee
def _load(
    machine: EmulatedMachine,
    instruction: EncodedInstruction,
    rows: int,
    mask: Lanes,
    base: int,
    space: int,
    sequential: bool,
    uniform: bool,
) -> None:
    size, wide = instruction.size, instruction.wide_registers != 0
    if size == 4 and instruction.elements == 1 and not wide and space != LOCAL:
        row = rows + instruction.rows[0]
        if mask == FULL and sequential:
            copy_row(row, base + _address_of(machine, 0))
            return
        if mask == FULL and uniform:
            fill_row(row, get32(base + _address_of(machine, 0)))
            return
        gather_words(row, base, machine.addresses, mask)
        return
    signed = instruction.signed != 0
    for element in range(instruction.elements):
        row = rows + instruction.rows[element]
        left = mask
        while left != 0:
            lane = first_lane(left)
            left &= left - np.uint32(1)
            value = _read(base, space, _address_of(machine, lane) + element * size, lane, size, signed)
            put32(row + 4 * lane, np.uint32(value))
            if wide:
                put32(row + 128 + 4 * lane, np.uint32(value >> np.uint64(32)))


@callee
def _store(
    machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, mask: Lanes, base: int, space: int, sequential: bool
) -> None:
    size, wide = instruction.size, instruction.wide_registers != 0
    if size == 4 and instruction.elements == 1 and space != LOCAL:
        row = rows + instruction.rows[0]
        if mask == FULL and sequential:
            copy_row(base + _address_of(machine, 0), row)
            return
        scatter_words(row, base, machine.addresses, mask)
        return
    for element in range(instruction.elements):
        row = rows + instruction.rows[element]
        left = mask
        while left != 0:
            lane = first_lane(left)
            left &= left - np.uint32(1)
            value = np.uint64(get32(row + 4 * lane))
            if wide:
                value |= np.uint64(get32(row + 128 + 4 * lane)) << np.uint64(32)
            _write(base, space, _address_of(machine, lane) + element * size, lane, size, value)


@callee
def _flushed(bits: np.uint32) -> np.uint32:
    """A subnormal number as zero of its sign."""
    return bits & np.uint32(0x80000000) if bits & np.uint32(0x7F800000) == 0 else bits


@callee
def updated32(operation: int, kind: int, old: np.uint32, operand: np.uint32, other: np.uint32, flush: bool) -> np.uint32:
    """What an atomic operation leaves of a word."""
    if operation == _ADD:
        if kind == _F32:
            if flush:  # as the units beside the L2 cache do
                old, operand = _flushed(old), _flushed(operand)
            total = float_from_bits(old) + float_from_bits(operand)
            if np.isnan(total):
                return CANONICAL_NAN
            return _flushed(bits_from_float(total)) if flush else bits_from_float(total)
        if kind == _F16X2:
            return add_f16_pairs(old, operand)
        if kind == _BF16X2:
            return add_bf16_pairs(old, operand)
        return np.uint32(old + operand)
    if operation in (_MIN, _MAX):
        less = np.int32(operand) < np.int32(old) if kind == _S32 else operand < old
        return operand if less == (operation == _MIN) else old
    if operation == _AND:
        return old & operand
    if operation == _OR:
        return old | operand
    if operation == _XOR:
        return old ^ operand
    if operation == _EXCH:
        return operand
    if operation == _CAS:
        return other if old == operand else old
    if operation == _INC:
        return np.uint32(0) if old >= operand else np.uint32(old + np.uint32(1))
    return operand if old == 0 or old > operand else np.uint32(old - np.uint32(1))


@callee
def updated64(operation: int, kind: int, old: np.uint64, operand: np.uint64, other: np.uint64) -> np.uint64:
    if operation == _ADD:
        if kind == _F64:
            return bits_from_double(double_from_bits(old) + double_from_bits(operand))
        return old + operand
    if operation in (_MIN, _MAX):
        less = int64(operand) < int64(old) if kind == _S64 else bool(operand < old)
        return operand if less == (operation == _MIN) else old
    if operation == _AND:
        return old & operand
    if operation == _OR:
        return old | operand
    if operation == _XOR:
        return old ^ operand
    if operation == _EXCH:
        return operand
    return other if old == operand else old


@callee
def _atomic_vectors(machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, mask: Lanes, base: int) -> None:
    """Several words for each lane: added one by one, or exchanged all at once (`_EXCH`, `_CAS`)."""
    operation, kind, result = instruction.operation, instruction.type, instruction.rows[0]
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        place = base + _address_of(machine, lane)
        at = rows + 4 * lane
        swaps = True
        if operation == _CAS:
            for word in range(instruction.elements):
                swaps = swaps and get32(place + 4 * word) == get32(at + instruction.rows[1] + 128 * word)
        for word in range(instruction.elements):
            old, value = get32(place + 4 * word), get32(at + instruction.rows[1] + 128 * word)
            if operation == _CAS:
                value = get32(at + instruction.rows[2] + 128 * word)
                put32(place + 4 * word, value if swaps else old)
            else:
                put32(place + 4 * word, updated32(operation, kind, old, value, np.uint32(0), True))
            if result >= 0:
                put32(at + result + 128 * word, old)


@callee
def _atomic(machine: EmulatedMachine, instruction: EncodedInstruction, rows: int, mask: Lanes, base: int, space: int) -> None:
    """Lanes take their turn in order. Rows: the result (or -1), the operand, the value to swap in."""
    result, operand, other = instruction.rows[0], rows + instruction.rows[1], rows + instruction.rows[2]
    operation, kind = instruction.operation, instruction.type
    if instruction.elements > 1:
        _atomic_vectors(machine, instruction, rows, mask, base)
        return
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        place = base + _address_of(machine, lane)
        at = 4 * lane
        if instruction.size == 8:
            old = get64(place)
            value = np.uint64(get32(operand + at)) | (np.uint64(get32(operand + 128 + at)) << np.uint64(32))
            swap = np.uint64(get32(other + at)) | (np.uint64(get32(other + 128 + at)) << np.uint64(32))
            put64(place, updated64(operation, kind, old, value, swap))
            if result >= 0:
                put32(rows + result + at, np.uint32(old))
                put32(rows + result + 128 + at, np.uint32(old >> np.uint64(32)))
        elif instruction.size == 4:
            word = get32(place)
            put32(place, updated32(operation, kind, word, get32(operand + at), get32(other + at), space != SHARED))
            if result >= 0:
                put32(rows + result + at, word)
        else:
            half = np.uint32(get16(place))
            wanted, swap16 = get32(operand + at) & np.uint32(0xFFFF), get32(other + at)
            put16(place, np.uint16(updated32(operation, kind, half, wanted, swap16, False)))
            if result >= 0:
                put32(rows + result + at, half)


@callee
def _ask(machine: EmulatedMachine, word: int, serialise: bool) -> int:
    """Ask a bank for a word; returns how many different words (with `serialise`, how many at all) it has been asked for."""
    bank = word & 31
    counter, list_of_words = machine.banks + bank, machine.banks + 32 + 128 * bank
    count = int64(get8(counter))
    if not serialise:
        for other in range(count):
            if get32(list_of_words + 4 * other) == np.uint32(word):
                return count
    put32(list_of_words + 4 * count, np.uint32(word))
    put8(counter, np.uint8(count + 1))
    return count + 1


@callee
def bank_passes(machine: EmulatedMachine, mask: Lanes, size: int, serialise: bool, groups: int) -> int:
    """How many passes shared memory needs: lanes that want different words of one bank wait for each other.

    The warp is served in so many `groups` of lanes. With `serialise` (atomics), lanes that want the same word wait as well.
    """
    words = max(1, size >> 2)
    group = 32 // groups
    total = 0
    for start in range(0, 32, group):
        for byte in range(0, 32, 8):
            put64(machine.banks + byte, np.uint64(0))  # how many words each bank was asked for; the words lie after that
        most = 0
        previous = -1
        for lane in range(start, start + group):
            if (mask >> np.uint32(lane)) & 1:
                first = _address_of(machine, lane) >> 2
                if first == previous and not serialise:
                    continue
                previous = first
                for word in range(first, first + words):
                    most = max(most, _ask(machine, word, serialise))
        total += most
    return total


@callee
def _shared_by(machine: EmulatedMachine, mask: Lanes, apart: int) -> bool:
    """Whether the lanes of a mask want what the lane so far beside them wants; one that is not there does not matter."""
    for lane in range(32):
        other = lane ^ apart
        both = np.uint32(1) << np.uint32(lane) | np.uint32(1) << np.uint32(other)
        if mask & both == both and _address_of(machine, lane) != _address_of(machine, int64(other)):
            return False
    return True


@callee
def _passes_of_pairs(machine: EmulatedMachine, mask: Lanes, size: int, groups: int, load: bool) -> int:
    """Passes where a group of lanes takes one even if none of them is there, and where two groups of a load are served as one if
    lanes share in pairs all over the warp.
    """
    if load and groups > 1 and (_shared_by(machine, mask, 1) or _shared_by(machine, mask, 2)):
        groups >>= 1
    return bank_passes(machine, mask, size, False, groups) + _empty_groups(mask, groups)


@callee
def _empty_groups(mask: Lanes, groups: int) -> int:
    """How many of the groups of a warp have no lane of the mask."""
    lanes = 32 // groups
    empty = 0
    for start in range(0, 32, lanes):
        if int64(mask) >> start & ((1 << lanes) - 1) == 0:
            empty += 1
    return empty


@callee
def _different(machine: EmulatedMachine, mask: Lanes) -> int:
    """How many different addresses the lanes of a mask have."""
    different = 0
    left = mask
    while left != 0:
        different += 1
        address = _address_of(machine, first_lane(left))
        for lane in range(first_lane(left), 32):
            if _address_of(machine, lane) == address:
                left &= ~(np.uint32(1) << np.uint32(lane))
    return different


@callee
def _what_a_load_takes(machine: EmulatedMachine, mask: Lanes, space: int, size: int, groups: int) -> int:
    """One less than the passes of a load in L1, whose banks are like shared memory's; of constants, than its addresses."""
    if mask == 0:
        return 0
    if space in (CONST, PARAM):
        return _different(machine, mask) - 1
    if space == LOCAL:  # each lane has a bank of its own
        return groups - 1
    return _passes_of_pairs(machine, mask, size, groups, True) - 1


@callee
def add_sector(machine: EmulatedMachine, count: int, sector: np.uint32, lane_mask: Lanes, before: int) -> int:
    """Put a sector into the list that the current access appends to the log, in ascending order. Returns the new count.

    Beyond `MOST_RECORDS` a sector is left out. `before` is how many records of the sector the lane must come after: those of
    lanes whose atomics are done before its own.
    """
    end = machine.n_sector + count
    at = end
    while at > machine.n_sector and get32(machine.log_sector + 4 * (at - 1)) >= sector:
        at -= 1
    at += before
    if at < end and get32(machine.log_sector + 4 * at) == sector:
        place = machine.log_lanes + 4 * at
        put32(place, get32(place) | lane_mask)
        return count
    if count == MOST_RECORDS:
        return count
    for index in range(end, at, -1):
        put32(machine.log_sector + 4 * index, get32(machine.log_sector + 4 * (index - 1)))
        put32(machine.log_lanes + 4 * index, get32(machine.log_lanes + 4 * (index - 1)))
    put32(machine.log_sector + 4 * at, sector)
    put32(machine.log_lanes + 4 * at, lane_mask)
    return count + 1


@callee
def _lanes_before(machine: EmulatedMachine, mask: Lanes, lane: int) -> int:
    """How many lower lanes of the mask have the address of a lane."""
    address, found = _address_of(machine, lane), 0
    for lower in range(lane):
        if mask >> np.uint32(lower) & np.uint32(1) and _address_of(machine, lower) == address:
            found += 1
    return found


@callee
def log_access(machine: EmulatedMachine, space: int, count: int, about: int) -> None:
    """One entry of the trace's memory column; sectors, if any, have been put into place. What has no room in it is a fault."""
    if not (0 <= count <= MOST_RECORDS and 0 <= space <= SPACE_MASK and 0 <= about <= MOST_ABOUT):
        fail(machine, FAULT_UNRECORDED, 0, count, space)
        return
    entry = count | (space << SPACE_SHIFT) | (about << PARALLEL_SHIFT)
    put16(machine.log_memory + 2 * machine.n_memory, np.uint16(entry))
    machine.n_memory += 1
    if space != SHARED:
        machine.n_sector += count


@callee
def _log_regular(machine: EmulatedMachine, mask: Lanes, space: int, size: int, groups: int, stores: bool) -> bool:
    """The short way for a whole warp that accesses successive elements, or for lanes that all access the same one."""
    first, last = _address_of(machine, first_lane(mask)), _address_of(machine, 31)
    if mask == FULL and last - first == 31 * size:
        about = 31 if space in (CONST, PARAM) else groups - 1
        if stores:
            about = int64((first | last + size) & 31 != 0)
        sector, end = first >> 5, (last >> 5) + 1
        for index in range(sector, end):
            begin = max(0, ((index << 5) - first + size - 1) // size)
            after = min(32, (((index + 1) << 5) - first + size - 1) // size)
            lanes = ((1 << after) - 1) & ~((1 << begin) - 1)
            put32(machine.log_sector + 4 * (machine.n_sector + index - sector), np.uint32(index))
            put32(machine.log_lanes + 4 * (machine.n_sector + index - sector), np.uint32(lanes))
        log_access(machine, space, end - sector, about)
        return True
    if mask == FULL and last == first:
        put32(machine.log_sector + 4 * machine.n_sector, np.uint32(first >> 5))
        put32(machine.log_lanes + 4 * machine.n_sector, mask)
        log_access(machine, space, 1, int64(size < 32) if stores else groups >> 1)
        return True
    return False


@callee
def _writes_parts(machine: EmulatedMachine, count: int, size: int) -> int:
    """1 if a store leaves bytes of a sector as they are; lanes that write the same bytes are not looked for."""
    for index in range(machine.n_sector, machine.n_sector + count):
        if count_ones(get32(machine.log_lanes + 4 * index)) * size < 32:
            return 1
    return 0


@callee
def _log(machine: EmulatedMachine, mask: Lanes, space: int, size: int, kind: int, regular: bool) -> None:
    """Append the access to the trace."""
    serialise = kind != LOAD and kind != STORE
    groups = max(1, size >> 2)  # accesses of 8 and 16 bytes are served in halves and quarters of a warp
    about = 0
    if space == SHARED:
        simple = regular and not serialise and size == 4
        passes = 1 if simple else bank_passes(machine, mask, size, serialise, groups)
        if serialise and mask != 0:
            about = bank_passes(machine, mask, size, False, groups) - 1
        elif groups > 1 and mask != 0:
            about = passes - _passes_of_pairs(machine, mask, size, groups, kind == LOAD) + MOST_EMPTY
        else:
            about = MOST_EMPTY
        log_access(machine, space, passes, about)
        return
    in_banks = groups if space == GLOBAL else 1
    if regular and space != LOCAL and not serialise and _log_regular(machine, mask, space, size, in_banks, kind == STORE):
        return
    if kind == LOAD:
        about = _what_a_load_takes(machine, mask, space, size, groups)
    count = 0
    left = mask
    while left != 0:
        lane = first_lane(left)
        left &= left - np.uint32(1)
        bit = np.uint32(1) << np.uint32(lane)
        address = _address_of(machine, lane)
        if space == LOCAL:
            for word in range(address >> 2, (address + size + 3) >> 2):
                count = add_sector(machine, count, np.uint32(word * 4 + (lane >> 3)), bit, 0)
        else:
            before = _lanes_before(machine, mask, lane) if serialise else 0
            count = add_sector(machine, count, np.uint32(address >> 5), bit, before)
    if kind == STORE:
        about = _writes_parts(machine, count, min(size, 4) if space == LOCAL else size)
    log_access(machine, space, count, about)


@callee
def _within(
    machine: EmulatedMachine,
    cta: ResidentCta,
    warp: ResidentWarp,
    instruction: EncodedInstruction,
    rows: int,
    mask: Lanes,
    space: int,
    base: int,
    log: bool,
) -> bool:
    """An access of lanes whose addresses all lie in one space, which begins at an address of the host."""
    size = instruction.size * instruction.elements
    survey_addresses(machine.addresses, mask, int64(size), machine.survey)
    low, high = int64(get64(machine.survey)), int64(get64(machine.survey + 8))
    bits, sequential = int64(get64(machine.survey + 16)), get64(machine.survey + 24) != 0
    limit = _limit(machine, space)
    if low < 0 or high < low or high > MOST_ADDRESS:  # they are surveyed without a sign, so that the greatest may be negative
        fine = False
    elif limit < 0:
        fine = allocated(machine, low, high - low + size)
    else:
        fine = high + size <= limit
    if (not fine or bits & (size - 1)) and not _check_lanes(machine, mask, size, space, limit):
        return False
    watched = machine.events != 0 and space in (SHARED, GLOBAL, LOCAL)
    unchanged = lost = np.uint32(0)
    if watched and instruction.kind == STORE and space != LOCAL:
        unchanged = equal_lanes(machine, instruction, rows, mask, base)
    if instruction.kind == LOAD:
        _load(machine, instruction, rows, mask, base, space, sequential, low == high)
    elif instruction.kind == STORE:
        if space in (CONST, PARAM):
            return fail(machine, FAULT_READ_ONLY, first_lane(mask), low, space)
        _store(machine, instruction, rows, mask, base, space, sequential)
    elif space == LOCAL:
        return fail(machine, FAULT_READ_ONLY, first_lane(mask), low, space)
    elif space != SHARED or not instruction.device_only:
        _atomic(machine, instruction, rows, mask, base, space)
    if watched:
        if instruction.kind == STORE and space != LOCAL:
            lost = mask & ~equal_lanes(machine, instruction, rows, mask, base)
        slot = (base - machine.shared) // machine.shared_stride if space == SHARED else cta.slot
        note_access(machine, cta, warp, instruction, instruction.kind, mask, space, slot, unchanged, lost)
    if log and machine.tracing:
        regular = sequential or low == high
        _log(machine, mask, space, size, instruction.kind, regular)
    return True


@callee
def _shift_addresses(machine: EmulatedMachine, by: int) -> None:
    for lane in range(32):
        put64(machine.addresses + 8 * lane, np.uint64(_address_of(machine, lane) - by))


@callee
def _shared_of_cluster(
    machine: EmulatedMachine,
    cta: ResidentCta,
    warp: ResidentWarp,
    instruction: EncodedInstruction,
    rows: int,
    mask: Lanes,
    first: Lanes,
) -> bool:
    """An access to the shared memory of CTAs of the cluster, one after the other; addresses keep their ranks."""
    if machine.cluster_size == 1:
        return _within(machine, cta, warp, instruction, rows, mask, SHARED, cta.shared, mask & first != 0)
    left = mask
    while left != 0:
        rank = _address_of(machine, first_lane(left)) >> RANK_AT
        if rank >= machine.cluster_size:
            return fail(machine, BOUNDS, first_lane(left), _address_of(machine, first_lane(left)), SHARED)
        group = np.uint32(0)
        for lane in range(32):
            bit = np.uint32(1) << np.uint32(lane)
            if left & bit and _address_of(machine, lane) >> RANK_AT == rank:
                group |= bit
        left &= ~group
        _shift_addresses(machine, rank << RANK_AT)
        base = machine.shared + (cta.leader + rank) * machine.shared_stride
        if not _within(machine, cta, warp, instruction, rows, group, SHARED, base, group & first != 0):
            return False
        _shift_addresses(machine, -(rank << RANK_AT))
    return True


@callee
def _generic(
    machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, instruction: EncodedInstruction, rows: int, mask: Lanes
) -> bool:
    """A generic access: the lanes of each space in turn. The trace shows the space of the first lane."""
    shared, local = np.uint32(0), np.uint32(0)
    shared_window, local_window = machine.shared_window, machine.local_window
    for lane in range(32):
        bit = np.uint32(1) << np.uint32(lane)
        address = _address_of(machine, lane)
        if mask & bit and address >= local_window and address < local_window + machine.window_bytes:
            local |= bit
        elif mask & bit and address >= shared_window and address < shared_window + machine.window_bytes:
            shared |= bit
    first = np.uint32(1) << np.uint32(first_lane(mask))
    rest = mask & ~(shared | local)
    if shared != 0:
        _shift_addresses(machine, shared_window)
        if not _shared_of_cluster(machine, cta, warp, instruction, rows, shared, first):
            machine.fault_address += np.uint64(shared_window)
            return False
        _shift_addresses(machine, -shared_window)
    if local != 0:
        _shift_addresses(machine, local_window)
        if not _within(machine, cta, warp, instruction, rows, local, LOCAL, warp.local, local & first != 0):
            machine.fault_address += np.uint64(local_window)
            return False
        _shift_addresses(machine, -local_window)
    return rest == 0 or _within(
        machine, cta, warp, instruction, rows, rest, GLOBAL, _base(machine, cta, warp, GLOBAL), rest & first != 0
    )


@callee
def access_memory(
    machine: EmulatedMachine, cta: ResidentCta, warp: ResidentWarp, instruction: EncodedInstruction, rows: int, mask: Lanes
) -> bool:
    """Execute a load, store or atomic for the lanes of the mask. False if a lane must not do what it tries."""
    space = int64(instruction.space)
    if mask == 0:
        if machine.tracing and instruction.accesses:
            log_access(machine, GLOBAL if space == GENERIC else space, 0, 0)
        return True
    lane_addresses(rows + instruction.address, int64(instruction.wide_address), instruction.offset, machine.addresses)
    if space == GENERIC:
        return _generic(machine, cta, warp, instruction, rows, mask)
    if space == SHARED and machine.cluster_size > 1:  # an address of one's own, whatever rank it has
        for lane in range(32):
            put64(machine.addresses + 8 * lane, np.uint64(_address_of(machine, lane) & OFFSET))
    return _within(machine, cta, warp, instruction, rows, mask, space, _base(machine, cta, warp, space), True)
