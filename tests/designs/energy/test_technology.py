"""Technology tables say what the papers say, and scale as documented."""

import re
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.designs.energy import load_technology, technology_names

MINIMAL = """
title = "test"
node = { value = 40e-9, unit = "m", source = "here" }
voltage = { value = 0.9, unit = "V", source = "here" }
[register_file]
bytes = { value = 131072, unit = "B", source = "here" }
banks = { value = 32, unit = "1", source = "here" }
read = { value = 8e-12, unit = "J", source = "here" }
write = { value = 11e-12, unit = "J", source = "here" }
leakage = { value = 3e-3, unit = "W", source = "here" }
"""


def test_every_shipped_table_loads_and_every_number_has_a_source() -> None:
    assert {"common", "rfc", "warped-rf", "warped-rf-65", "warped-rf-90", "compression", "rfv"} <= set(technology_names())
    for name in technology_names():
        technology = load_technology(name)
        assert technology.sources["register_file.leakage"]
        # warped-rf, figure 4: below 10% at a margin of 250 mV; a chip of low voltage has less of it left
        assert 0 < technology.drowsy_ratio < (0.2 if name == "hopper" else 0.1)


def test_wire_energy_follows_from_capacitance_and_supply() -> None:
    millimetre = 1e-3
    assert load_technology("rfc").wire_energy * millimetre * 32 == pytest.approx(1.9e-12, rel=0.03)
    assert load_technology("compression").wire_energy * millimetre * 128 == pytest.approx(9.6e-12, rel=1e-9)


def test_register_cache_energy_is_bounded_as_the_paper_says() -> None:
    technology = load_technology("rfc")
    read, write = technology.register_cache_energy(8, 6)
    rf = technology.register_file
    # If every access hit a cache of 8 x 6, the paper saves 58%; its traces read about twice per write.
    assert 1 - (2 * read + write) / (2 * rf.read + rf.write) == pytest.approx(0.58, abs=0.015)
    smaller, larger = technology.register_cache_energy(8, 5)[0], technology.register_cache_energy(8, 7)[0]
    assert smaller < larger


# Hopper's file has banks of 32 KB, whose accesses cost more; a cache beside them does not grow.
@pytest.mark.parametrize("name", [name for name in technology_names() if name != "hopper"])
def test_a_cache_costs_the_share_of_its_main_file_that_the_paper_has(name: str) -> None:
    """Table 2 and 3 of the cache's paper: 2.2 of 8 pJ for a read and 6.7 of 11 pJ for a write, eight warps and six entries."""
    technology = load_technology(name)
    read, write = technology.register_cache_energy(8, 6)
    if technology.register_file.read:
        assert read / technology.register_file.read == pytest.approx(2.2 / 8, rel=1e-3)
        assert write / technology.register_file.write == pytest.approx(6.7 / 11, rel=1e-3)


def test_areas_follow_from_what_the_papers_give() -> None:
    """Leakage of a bit of rfv's renaming table beside one of a bank; compression's 0.07 mm^2 over warped-rf's cells."""
    rfv, common = load_technology("rfv"), load_technology("common")
    table, bank = rfv.renaming_table, rfv.register_file
    of_table, of_bank = table.leakage / (table.bytes / table.banks), bank.leakage / (bank.bytes / bank.banks)
    assert common.area.small_bit == pytest.approx(of_table / of_bank, rel=1e-3)
    cell = 146 * common.node**2
    assert (2 * common.area.compressor + 4 * common.area.decompressor) * cell == pytest.approx(0.07e-6, rel=2e-3)
    assert common.area.compressor / common.area.decompressor == pytest.approx(0.12 / 0.08, rel=1e-2)


@pytest.mark.parametrize("name", technology_names())
def test_areas_are_relative_and_so_of_no_node(name: str) -> None:
    assert load_technology(name).area == load_technology("common").area


def test_a_table_of_ones_own_has_areas_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    keys = {"small_bit": 2, "gate": 0, "compressor": 10, "decompressor": 5}
    lines = [f'{key} = {{ value = {value}, unit = "1", source = "here" }}' for key, value in keys.items()]
    path.write_text(MINIMAL + "[area]\n" + "\n".join(lines))
    assert vars(load_technology(path).area) == keys
    path.write_text(MINIMAL + "[area]\n" + "\n".join(lines[1:]))
    with pytest.raises(WarploomError, match=r"area\.small_bit is missing"):
        load_technology(path)


def test_halving_the_file_saves_as_figure_7_of_rfv() -> None:
    whole = load_technology("rfv")
    half = whole.scaled(bytes=65536)
    dynamic = half.access("read", 1e-9) / whole.access("read", 1e-9)
    leakage = half.register_file.leakage_total / whole.register_file.leakage_total
    assert dynamic == pytest.approx(0.8)
    assert leakage == pytest.approx(0.5)
    assert (2 * dynamic + leakage) / 3 == pytest.approx(0.7)


def test_more_banks_make_an_access_cheaper_and_leak_alike() -> None:
    base = load_technology("common")
    banked = base.scaled(banks=64)
    assert banked.access("write", 1e-9) < base.access("write", 1e-9)
    assert banked.register_file.leakage_total == pytest.approx(base.register_file.leakage_total)


def test_access_quoted_in_leakage_scales_like_any_other() -> None:
    whole = load_technology("warped-rf")
    assert whole.access("read", 1e-9) == pytest.approx(2 * 5.6e-3 * 1e-9)
    assert whole.scaled(bytes=65536).access("read", 1e-9) / whole.access("read", 1e-9) == pytest.approx(0.8)


def test_node_scaling_hits_the_published_nodes() -> None:
    table = load_technology("warped-rf")
    for node, leakage in ((90e-9, 2.9e-3), (65e-9, 3.5e-3), (32e-9, 5.6e-3)):
        assert table.scaled(node=node).register_file.leakage == pytest.approx(leakage)
    assert load_technology("common").scaled(node=32e-9).access("read", 1e-9) < load_technology("common").access("read", 1e-9)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('unit = "W"', 'unit = "mW"', "register_file.leakage must be in W"),
        ('value = 8e-12, unit = "J", source = "here"', 'value = 8e-12, unit = "J"', "needs a source"),
        ("read =", "reed =", "did you mean 'read'"),
        ("leakage = {", "# {", "register_file.leakage is missing"),
        ("value = 8e-12", "value = -1", "must be zero or more"),
        ("[register_file]", "[register_fil]", "did you mean 'register_file'"),
        ("40e-9", "40", "between 3e-9 and 180e-9"),
        ("title", "title = ", "not valid TOML"),
        ("8e-12", "9" * 5000, "not valid TOML"),
        ("8e-12", "1e999", "read must be zero or more and at most 1e"),
        ("title =", "title = 1 #", "the title must be text"),
        ("title =", "wire = 1\ntitle =", "wants its values under"),
        ("title =", "register_cache = 1\ntitle =", "is written as rows"),
        ("title =", "register_cache = []\ntitle =", "rows of two capacities"),
        ("title =", "register_cache = [{ active = 0, entries = 1 }]\ntitle =", "active must be a whole number from 1"),
        ("title =", "register_cache = [{ active = 1, entries = 1, red = 1 }]\ntitle =", "did you mean 'read'"),
    ],
)
def test_a_wrong_table_is_refused_in_one_sentence(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL)
    assert load_technology(path).register_file.read == 8e-12
    path.write_text(MINIMAL.replace(old, new, 1))
    with pytest.raises(WarploomError, match=complaint):
        load_technology(path)


def test_what_is_divided_by_is_above_zero(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for key in ("bytes", "banks"):
        text = re.sub(rf"^{key} = \{{ value = [^,]*", f"{key} = {{ value = 0", MINIMAL, flags=re.MULTILINE)
        assert text != MINIMAL
        path.write_text(text)
        with pytest.raises(WarploomError, match=rf"register_file.{key} must be above 0"):
            load_technology(path)


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(WarploomError, match="not valid TOML"):
        load_technology(path)


def test_an_unknown_technology_names_the_nearest() -> None:
    with pytest.raises(WarploomError, match="did you mean 'compression'"):
        load_technology("compresion")
