"""Machine files: what they say, what is refused, and that a wrong key is named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.base.records import field_names
from warploom.chip.machines import MACHINE_DTYPE, MachineRecord, load_machine, machine_names
from warploom.chip.machines.loader import NOT_SET
from warploom.chip.machines.memory_tables import MemoryModel
from warploom.chip.machines.schema import KEYS, OF_PORTS, TABLES
from warploom.chip.machines.sm_tables import BankMapping
from warploom.chip.memory import new_memory
from warploom.compiler.code.classes import OpClass

NAMES = (
    "ada",
    "ampere",
    "ampere-collectors",
    "hopper",
    "compression",
    "gpgpusim-gtx480",
    "gtx480",
    "regmutex",
    "rfc",
    "rfc-alu4",
    "rfv",
    "warped-rf",
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text('base = "gtx480"\n[sources]\ndefault = "a test"\n' + text)
    return path


def test_all_machines_are_there() -> None:
    assert set(NAMES) <= set(machine_names())


@pytest.mark.parametrize("name", NAMES)
def test_every_machine_loads_and_every_number_has_a_source(name: str) -> None:
    machine = load_machine(name)
    new_memory(machine)
    plain = machine.to_dict()
    keys = {f"{table}.{key}" for table, values in plain.items() if isinstance(values, dict) for key in values}
    assert keys == set(machine.sources)
    assert all(len(source) > 5 for source in machine.sources.values())


def test_published_numbers() -> None:
    gtx480 = load_machine("gtx480")
    assert (gtx480.chip.sms, gtx480.sm.warps_per_sm, gtx480.sm.registers_per_sm) == (15, 48, 32768)
    assert gtx480.l2.slices * gtx480.l2.sets * gtx480.l2.ways * 128 == 786432
    assert gtx480.latency[OpClass.F32_MAD] == gtx480.latency[OpClass.INT_MAD] == 5
    assert [load_machine(name).chip.sms for name in ("rfc", "warped-rf", "rfv", "compression", "regmutex")] == [1, 16, 16, 15, 15]
    rfc = load_machine("rfc")
    assert rfc.fixed_memory
    assert (rfc.latency[OpClass.F32_MAD], rfc.latency[OpClass.SFU], rfc.initiation[OpClass.SFU]) == (8, 20, 4)
    assert (rfc.register_file.banks, rfc.register_file.entry_bytes, rfc.sm.schedulers, rfc.sm.warps_per_sm) == (32, 16, 1, 32)
    rfv = load_machine("rfv")
    assert (rfv.register_file.banks, rfv.register_file.entries_per_bank) == (4, 256)
    ampere = load_machine("ampere")
    assert (ampere.sm.sub_cores, ampere.sm.registers_per_sm, ampere.register_file.banks) == (4, 65536, 8)


def test_a_machine_names_its_usual_code(tmp_path: Path) -> None:
    assert load_machine("gtx480").code == load_machine("rfv").code == "ptx"
    assert load_machine("ampere").code == "sm_86"
    own = tmp_path / "own.toml"
    own.write_text('base = "ampere"\n')
    assert load_machine(own).code == "sm_86"
    own.write_text('base = "ampere"\ncode = "ptx"\n')
    assert load_machine(own).code == "ptx"
    own.write_text('base = "ampere"\ncode = "sm_12"\n')
    with pytest.raises(WarploomError, match="`code` 'sm_12' is unknown"):
        load_machine(own)


def test_dram_bandwidth_is_the_cards() -> None:
    """177 GB/s on a GTX480, 448 GB/s on an RTX 3070, 4.8 TB/s on an H200."""
    for name, published in (("gtx480", 177.4e9), ("ampere", 448e9), ("ada", 716.8e9), ("hopper", 4.8e12)):
        machine = load_machine(name)
        dram = machine.dram
        bandwidth = dram.channels * dram.burst_bytes / dram.burst_cycles * machine.chip.clock_dram_mhz * 1e6
        assert bandwidth == pytest.approx(published, rel=0.01)


def test_compatibility_changes_only_what_it_names() -> None:
    honest, compatible = load_machine("gtx480"), load_machine("gpgpusim-gtx480")
    one, other = honest.to_dict(), compatible.to_dict()
    assert {table for table in one if one[table] != other[table]} == {"name", "title", "compatibility"}
    assert honest.record().latency[OpClass.F32_MAD] == 5
    assert compatible.record().latency[OpClass.F32_MAD] == 1
    assert compatible.latency_of(OpClass.F32_MAD, "fma") == 1
    assert compatible.latency_of(OpClass.F32_MAD, "mad") == 5  # that simulator's table lists mad, but not fma
    assert compatible.record().latency[OpClass.INT_MAD] == 5
    assert compatible.record().latency[OpClass.INT_ADD] == 4


def test_the_record_holds_every_number() -> None:
    machine = load_machine("rfc")
    record = machine.record()
    assert record.dtype == MACHINE_DTYPE
    assert MACHINE_DTYPE.isalignedstruct
    for name, table in machine.tables().items():
        for key in fields(table):
            assert record[name][key.name] == getattr(table, key.name), (name, key.name)
    assert (record.sm.warps_per_sm, record.register_file.banks, record.banks_per_register) == (32, 32, 8)
    assert record.memory.model == MemoryModel.FIXED and not record.register_file.single_ported
    np.testing.assert_array_equal(record.initiation, machine.initiation)
    assert load_machine("gtx480").record().register_file.mapping == BankMapping.REGISTER_PLUS_WARP


def test_the_record_has_a_table_for_every_table_of_a_file_and_a_field_for_every_key() -> None:
    derived = ["latency", "initiation", "banks_per_register", "flits"]
    assert list(field_names(MachineRecord)) == list(TABLES) + derived
    for table in TABLES.values():
        assert list(field_names(table)) == [key.name for key in fields(table)]


def test_overrides() -> None:
    machine = load_machine("gtx480", **{"sm.registers_per_sm": 16384, "register_file.entries_per_bank": 32})
    assert machine.warp_registers == 512
    assert machine.sources["sm.registers_per_sm"] == "set by the caller"


def test_a_share_of_the_chip() -> None:
    machine = load_machine("gtx480")
    dram = machine.dram
    for sms in range(1, 16):
        part = machine.scaled(sms)
        share = sms / 15
        lines = machine.l2.slices * machine.l2.sets * machine.l2.ways
        assert part.chip.sms == sms
        bus = max(part.dram.burst_cycles, part.dram.ccd)  # whichever is slower
        assert part.dram.channels / bus == pytest.approx(share * dram.channels / max(dram.burst_cycles, dram.ccd))
        assert part.dram.channels / part.dram.rrd == pytest.approx(share * dram.channels / dram.rrd, rel=0.08)  # activations
        assert part.l2.slices == pytest.approx(share * machine.l2.slices, rel=0.3)
        assert part.l2.slices * part.l2.sets * part.l2.ways == pytest.approx(share * lines, rel=0.1)
    assert machine.scaled(15) == machine
    with pytest.raises(WarploomError, match="1 to 15 SMs, not 16"):
        machine.scaled(16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sm]\nwarps_per_smm = 4", "unknown key `sm.warps_per_smm`; did you mean 'warps_per_sm'"),
        ("[registers]\nbanks = 4", "unknown table `registers`"),
        ("[latency]\nfma = 4", "unknown key `latency.fma`"),
        ("[sm]\nwarps_per_sm = 65", "`sm.warps_per_sm` must be a whole number from 1 to 64, not 65"),
        ("[sm]\nwarps_per_sm = 4.5", "`sm.warps_per_sm` must be a whole number"),
        ("[sm]\nwarps_per_sm = true", "`sm.warps_per_sm` must be a whole number"),
        ('[sm]\nwarps_per_sm = "48"', "`sm.warps_per_sm` must be a whole number"),
        ("[register_file]\nsingle_ported = 1", "`register_file.single_ported` must be true or false"),
        ('[register_file]\nmapping = "random"', "must be one of register_plus_warp, register, not 'random'"),
        ("[register_file]\nbanks = 8", "`register_file` holds 65536 bytes"),
        ("[register_file]\nentry_bytes = 48", "power of two"),
        ("[l1]\nsets = 33", "`l1.sets` must be a power of two"),
        ("[l1]\nsets = 64\nways = 64", "`l1` has 4096 lines"),
        ("[l2]\nslices = 13", "multiple of `dram.channels`"),
        ("[l2]\nslices = 24", "one or two per channel"),
        ("[chip]\nquantum = 200", "`chip.quantum` must not exceed"),
        ("[chip]\nclock_core_mhz = 0", "`chip.clock_core_mhz` must be a number from 1"),
        ("[sm]\nthreads_per_sm = 2048", "must not exceed 32 x `sm.warps_per_sm`"),
        ("[sm]\nsub_cores = 3", "must divide evenly among `sm.sub_cores`"),
        ("[latency]\nint_add = 0", "`latency.int_add` must be a whole number from 1"),
        ("[sm]\nwarps_per_sm = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WarploomError) as caught:
        load_machine(write(tmp_path, text))
    assert message in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_table_given_as_a_value(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "gtx480"\nsm = 4\n')
    with pytest.raises(WarploomError, match=r"wants its values under \[sm\]"):
        load_machine(path)


def test_a_number_without_a_source_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "gtx480"\n[sm]\nwarps_per_sm = 4\nthreads_per_sm = 128\n')
    with pytest.raises(WarploomError, match=r"`sm.warps_per_sm` has no source"):
        load_machine(path)
    path.write_text('base = "gtx480"\n[sources]\ndefault = "x"\n"sm.warps" = "y"\n')
    with pytest.raises(WarploomError, match=r"\[sources\] names `sm.warps`"):
        load_machine(path)


def test_a_base_lies_beside_the_file_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    head = "[sources]\ndefault = 'a test'\n"
    (tmp_path / "folder" / "a.toml").write_text(f"base = 'gtx480'\n{head}[chip]\nsms = 3\n")
    for number, base in enumerate(("a.toml", "a")):
        path = tmp_path / "folder" / f"b{number}.toml"
        path.write_text(f"base = '{base}'\n{head}[sm]\nctas_per_sm = 5\n")
        machine = load_machine(path)
        assert (machine.chip.sms, machine.sm.ctas_per_sm) == (3, 5)
    path.write_text("base = 'gone.toml'\n")
    with pytest.raises(WarploomError, match=r"b1.toml: its `base` 'gone.toml' is not there"):
        load_machine(path)


def test_unknown_machines_and_endless_bases(tmp_path: Path) -> None:
    with pytest.raises(WarploomError, match="did you mean 'gtx480'"):
        load_machine("gtx48")
    with pytest.raises(WarploomError, match="no such machine file"):
        load_machine(tmp_path / "none.toml")
    (tmp_path / "a.toml").write_text('base = "b"\n')
    (tmp_path / "b.toml").write_text('base = "a"\n')
    with pytest.raises(WarploomError, match="never ends"):
        load_machine(tmp_path / "a.toml")


def test_a_file_that_sets_nothing_of_its_own_is_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text('[sources]\ndefault = "x"\n[chip]\nsms = 1\n')
    with pytest.raises(WarploomError, match=r"`chip.clock_core_mhz` is missing"):
        load_machine(path)


def test_unknown_override() -> None:
    with pytest.raises(WarploomError, match=r"machine gtx480: there is no key 'sm.warps'; did you mean 'sm.warps_per_sm'"):
        load_machine("gtx480", **{"sm.warps": 4})
    with pytest.raises(WarploomError, match="there is no key 'warps'"):
        load_machine("gtx480", warps=4)


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WarploomError, match="not valid TOML"):
        load_machine(write(tmp_path, f"[l1]\nmshrs = {'9' * 5000}\n"))


def test_every_key_has_a_unit_and_a_sentence_and_says_what_is_allowed() -> None:
    for name, key in KEYS.items():
        assert key.unit and key.allowed, name
        assert not key.meaning[0].islower() and key.meaning.endswith("."), name
    assert len(KEYS) == sum(len(fields(table)) for table in TABLES.values()) + 2 * len(OpClass)


def test_machines_with_collectors_have_no_tables_of_read_ports() -> None:
    for name in machine_names():
        plain, ports = load_machine(name).to_dict(), load_machine(name).stages.operands.name == "PORTS"
        assert [table in plain for table in OF_PORTS] == [ports] * len(OF_PORTS), name


def test_a_table_of_read_ports_is_refused_beside_collectors(tmp_path: Path) -> None:
    with pytest.raises(WarploomError, match=r"\[bulk\] is for machines whose `stages.operands` is `ports`; take it out"):
        load_machine(write(tmp_path, "[bulk]\nlines = 4\n"))
    with pytest.raises(WarploomError, match=r"`sub_core.control_cycles` is missing: Time from the issue"):
        load_machine(write(tmp_path, '[stages]\noperands = "ports"\n'))


def test_a_key_that_changes_nothing_need_not_be_set(tmp_path: Path) -> None:
    machine = load_machine(write(tmp_path, ""))
    assert (machine.l2.far_cycles, machine.dram.rfc, machine.sm.lone_warps) == (0, 0, False)
    assert machine.sources["l2.far_cycles"] == NOT_SET
    far = load_machine(write(tmp_path, "[l2]\nfar_cycles = 7\n"))
    assert (far.l2.far_cycles, far.sources["l2.far_cycles"]) == (7, "a test")


def test_the_near_cache_has_whole_sets() -> None:
    with pytest.raises(WarploomError, match=r"`l0i.near_lines` must be a multiple of `l0i.near_ways`"):
        load_machine("hopper", **{"l0i.near_ways": 3})
