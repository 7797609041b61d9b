"""The timeline: spans that account for every cycle, and a trace that Perfetto's own protocol reads back."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as trace_pb2
from perfetto.trace_processor import TraceProcessor

from support.trace_processor import trace_processor_address
from support.watched_run import code_of, events_of
from warploom.runs.result import Result
from warploom.show.perfetto import TimelineWriter


class Track:
    """A track of a trace with what is on it."""

    def __init__(self, name: str, parent: int, unit: str) -> None:
        self.name, self.parent, self.unit = name, parent, unit
        self.slices: list[tuple[str, int, int]] = []  # name, begin, end
        self.points: list[tuple[int, float]] = []


def read_trace(data: bytes) -> dict[int, Track]:
    """The tracks of a trace, read with Perfetto's own classes; slices of a track must not overlap."""
    trace = trace_pb2.Trace.FromString(data)
    tracks: dict[int, Track] = {}
    events: dict[int, list[Any]] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            about = packet.track_descriptor
            assert about.uuid not in tracks and (not about.parent_uuid or about.parent_uuid in tracks)
            tracks[about.uuid] = Track(about.name, about.parent_uuid, about.counter.unit_name)
        else:
            assert packet.trusted_packet_sequence_id == 1
            events.setdefault(packet.track_event.track_uuid, []).append((packet.timestamp, packet.track_event))
    for number, found in events.items():
        begun = None
        for at, event in sorted(found, key=lambda pair: (pair[0], pair[1].type != pair[1].TYPE_SLICE_END)):
            if event.type == event.TYPE_COUNTER:
                tracks[number].points.append((at, event.double_counter_value))
            elif event.type == event.TYPE_SLICE_BEGIN:
                assert begun is None
                begun = event.name, at
            else:
                assert begun is not None
                tracks[number].slices.append((*begun, at))
                begun = None
        assert begun is None
    return tracks


@pytest.fixture(scope="module")
def trace(runs: tuple[Result, Result]) -> bytes:
    """The file that a run leaves."""
    _, watched = runs
    out = io.BytesIO()
    writer = TimelineWriter(out, "a run")
    spans = events_of(watched, "timeline")
    half = len(spans) // 2
    for part in (spans[:half], spans[half:]):
        writer.receive(code_of(watched), part)
    writer.finish(watched)
    return out.getvalue()


@pytest.fixture(scope="module")
def tracks(trace: bytes) -> dict[int, Track]:
    return read_trace(trace)


def named(tracks: dict[int, Track], beginning: str) -> list[Track]:
    return [track for track in tracks.values() if track.name.startswith(beginning)]


@pytest.fixture(scope="module")
def processor(trace: bytes) -> Iterator[TraceProcessor]:
    """Perfetto's own trace processor with the trace, asked by its own package."""
    with trace_processor_address() as address, TraceProcessor(trace=io.BytesIO(trace), addr=address) as processor:
        yield processor


def test_perfettos_own_trace_processor_reads_the_same(processor: TraceProcessor, tracks: dict[int, Track]) -> None:
    """Slices and counters by SQL, as its page asks for them: for each name of a track as many, and as long or large in sum."""
    slices = "select track.name as name, count(*) as number, sum(slice.dur) as total from slice join track on slice.track_id"
    points = "select track.name as name, count(*) as number, sum(value) as total from counter join track on counter.track_id"
    found = [
        {row.name: (row.number, row.total) for row in processor.query(f"{question} = track.id group by track.name")}
        for question in (slices, points)
    ]
    ours: list[dict[str, tuple[int, float]]] = [{}, {}]
    for track in tracks.values():
        lengths, values = [end - begin for _, begin, end in track.slices], [value for _, value in track.points]
        for sums, numbers in zip(ours, (lengths, values), strict=True):
            number, total = sums.get(track.name, (0, 0))
            if numbers:
                sums[track.name] = number + len(numbers), total + sum(numbers)
    assert found[0] == ours[0]
    assert found[1] == {name: (number, pytest.approx(total)) for name, (number, total) in ours[1].items()}


def test_sums_of_the_trace_processor_are_those_of_the_run(runs: tuple[Result, Result], processor: TraceProcessor) -> None:
    """Nothing was lost on its way in, and what it adds up is what the run counted."""
    _, watched = runs

    def asked(sql: str) -> Any:
        (row,) = processor.query(sql)
        return row.answer

    of = "from slice join track on slice.track_id = track.id where track.name"
    assert asked("select count(*) as answer from stats where severity in ('error', 'data_loss') and value > 0") == 0
    assert asked(f"select sum(dur) as answer {of} = 'launches'") == watched.cycles
    assert asked(f"select count(*) as answer {of} glob 'CTA slot *'") == watched.counters["ctas"]
    spent = {row.name: row.cycles for row in processor.query(
        f"select slice.name as name, sum(dur) as cycles {of} glob 'warp *' group by 1")}  # fmt: skip
    on_first_sm = Counter[str]()
    for sm, kind, begin, end, _, what, _ in events_of(watched, "timeline"):
        if sm == 0 and kind == "warp":
            on_first_sm[what] += end - begin
    assert spent == on_first_sm and spent["issuing"] > 0
    issued = asked(
        "select sum(value * (later - ts)) as answer from (select value, ts, lead(ts) over (order by ts) as later"
        " from counter join track on counter.track_id = track.id where track.name = 'IPC')"
    )
    assert issued == pytest.approx(watched.warp_instructions)


def test_launches_and_ctas_are_there(runs: tuple[Result, Result], tracks: dict[int, Track]) -> None:
    _, watched = runs
    (launches,) = named(tracks, "launches")
    assert [name for name, _, _ in launches.slices] == [launch.kernel for launch in watched.launches]
    assert launches.slices[-1][2] == watched.cycles
    ctas = [span for track in named(tracks, "CTA slot") for span in track.slices]
    assert len(ctas) == watched.counters["ctas"]
    assert {tracks[track.parent].name for track in named(tracks, "CTA slot")} == {"SM 0", "SM 1"}


def test_warps_and_schedulers_agree_with_the_counters(runs: tuple[Result, Result], tracks: dict[int, Track]) -> None:
    """One SM is watched: its spans are what hot-spots counted on it, at most what was counted on both."""
    _, watched = runs
    stalled = Counter[str]()
    for track in named(tracks, "scheduler"):
        for name, begin, end in track.slices:
            stalled[name] += end - begin
    assert stalled and all(cycles <= watched.counters["stall_cycles"][reason] for reason, cycles in stalled.items())
    assert sum(stalled.values()) > 0.3 * sum(watched.counters["stall_cycles"].values())
    spent = Counter[str]()
    for track in named(tracks, "warp"):
        for name, begin, end in track.slices:
            spent[name] += end - begin
    resident = 0
    began: dict[int, int] = {}
    for sm, kind, begin, _, who, _, _ in events_of(watched, "timeline"):
        if sm == 0 and kind == "launched":
            began[who] = begin
        elif sm == 0 and kind == "exited":
            resident += begin - began.pop(who)
    assert sum(spent.values()) == resident  # no cycle of a resident warp is missing or counted twice
    assert not began and spent["issuing"] > 0


def test_counters_have_units_and_integrate_to_the_result(runs: tuple[Result, Result], tracks: dict[int, Track]) -> None:
    _, watched = runs
    (ipc,) = named(tracks, "IPC")
    assert ipc.unit and len(ipc.points) > 16
    issued = sum(value * (end - begin) for (begin, value), (end, _) in zip(ipc.points, ipc.points[1:], strict=False))
    assert issued == pytest.approx(watched.warp_instructions)
    (power,) = named(tracks, "power")
    clock = watched.spec.machine.chip.clock_energy_mhz * 1e6
    millijoules = sum(v * (end - begin) for (begin, v), (end, _) in zip(power.points, power.points[1:], strict=False)) / clock
    assert millijoules * 1e9 == pytest.approx(watched.energy_pj["total"])
    for beginning in ("entries on", "registers allocated", "registers live"):
        (track,) = named(tracks, beginning)
        assert all(0 <= value <= 100.001 for _, value in track.points)
    occupancy = named(tracks, "resident warps")
    assert len(occupancy) == 2 and all(min(value for _, value in track.points) == 0 for track in occupancy)
