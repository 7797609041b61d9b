"""A run as a trace for Perfetto: launches, SMs, schedulers, CTAs and warps as tracks, what the chip does as counters.

A nanosecond of the trace is one cycle, so that the viewer's times are whole numbers of cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, Any

from warploom.base.extras import imported
from warploom.compiler.code.instruction import Code
from warploom.runs.result import Result

CHIP = 1  # track; those of SMs follow from their numbers
_PER_SM = 1 << 16
_SEQUENCE = 1
_COUNTERS = {  # of `Result.states` and `Result.power`
    "ipc": ("IPC", "warp instructions per cycle"),
    "on": ("entries on", "% of all"),
    "drowsy": ("entries drowsy", "% of all"),
    "allocated": ("registers allocated", "% of entries"),
    "live": ("registers live", "% of entries"),
    "total": ("power of the register file", "mW"),
}


def _protocol() -> Any:
    return imported("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "a timeline needs", "looking")


class TimelineWriter:
    """Writes the spans of the timeline observer as they come, and the counters at the end."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.pb = _protocol()
        self.file = file
        self.tracks: set[int] = set()
        self.warps: dict[tuple[int, int], list[Any]] = {}  # resident CTAs by SM and number: first cycle, first warp, warps, left
        self.cta_of: dict[tuple[int, int], int] = {}  # of an SM's warp
        self.resident: dict[int, int] = {}  # warps, by SM
        self.open_stalls: dict[tuple[int, int], list[Any]] = {}  # by SM and scheduler: begin, end, reason
        self.texts: dict[int, list[str]] = {}
        self._track(CHIP, name, 0)

    def receive(self, code: Code, spans: Sequence[tuple[int, str, int, int, int, Any, int]]) -> None:
        """Write spans, which are in order of their first cycles."""
        texts = self.texts.setdefault(id(code), [str(instruction) for instruction in code.instructions()])
        for sm, kind, begin, end, who, what, pc in spans:
            if kind == "warp":
                about = f"pc {pc}: {texts[pc]}" if pc >= 0 else ""
                self._slice(self._of_sm(sm, "warp", who), begin, end, what, about)
            elif kind == "scheduler":
                self._stall(sm, who, begin, end, what)
            elif kind == "launched":
                self._launched(sm, who, what, begin)
            else:
                self._exited(sm, who, begin)

    def finish(self, result: Result) -> None:
        """Write what is known at the end: launches, and counters over time."""
        for (sm, scheduler), (begin, end, reason) in self.open_stalls.items():
            self._slice(self._of_sm(sm, "scheduler", scheduler), begin, min(end, result.cycles), reason)
        launches, at = self._track(2, "launches", CHIP), 0
        for launch in result.launches:
            self._slice(launches, at, at + launch.cycles, launch.kernel)
            at += launch.cycles
        cycles_per_second = result.spec.machine.chip.clock_energy_mhz * 1e6
        for place, (name, (title, unit)) in enumerate(_COUNTERS.items()):
            rows = result.power if name == "total" else result.states
            scale = 1e3 if name == "total" else 1.0 if name == "ipc" else 100.0
            points = [(round(row["seconds"] * cycles_per_second), row[name] * scale) for row in rows]
            self._counter(10 + place, title, unit, points)

    def _counter(self, track: int, name: str, unit: str, points: Iterable[tuple[int, float]]) -> None:
        """A row's value is true of the time before it; a counter of Perfetto's keeps its value until the next."""
        self._track(track, name, CHIP, unit)
        before = 0
        for cycle, value in points:
            self._count(track, before, value)
            before = cycle
        self._count(track, before, 0.0)

    def _launched(self, sm: int, warp: int, cta: int, cycle: int) -> None:
        entry = self.warps.setdefault((sm, cta), [cycle, warp, 0, 0])
        entry[1] = min(entry[1], warp)
        entry[2] += 1
        entry[3] += 1
        self.cta_of[sm, warp] = cta
        self._occupancy(sm, cycle, 1)

    def _exited(self, sm: int, warp: int, cycle: int) -> None:
        cta = self.cta_of.pop((sm, warp))
        entry = self.warps[sm, cta]
        entry[3] -= 1
        if entry[3] == 0:
            begin, first, warps, _ = self.warps.pop((sm, cta))
            self._slice(self._of_sm(sm, "CTA slot", first // warps), begin, cycle, f"CTA {cta}", f"{warps} warps")
        self._occupancy(sm, cycle, -1)

    def _occupancy(self, sm: int, cycle: int, change: int) -> None:
        self.resident[sm] = self.resident.get(sm, 0) + change
        self._count(self._of_sm(sm, "resident warps", 0, "warps"), cycle, float(self.resident[sm]))

    def _stall(self, sm: int, scheduler: int, begin: int, end: int, reason: str) -> None:
        """Spans that follow each other without a gap are one; an SM goes on idly for some cycles after the end of a launch."""
        known = self.open_stalls.get((sm, scheduler))
        if known is not None:
            known[1] = min(known[1], begin)
        if known is not None and known[1] == begin and known[2] == reason:
            known[1] = end
            return
        if known is not None and known[0] < known[1]:
            self._slice(self._of_sm(sm, "scheduler", scheduler), *known)
        self.open_stalls[sm, scheduler] = [begin, end, reason]

    def _of_sm(self, sm: int, kind: str, number: int, unit: str = "") -> int:
        """The track of a part of an SM."""
        parent = (sm + 1) * _PER_SM
        self._track(parent, f"SM {sm}", CHIP)
        place = ("resident warps", "scheduler", "CTA slot", "warp").index(kind)
        return self._track(parent + 1 + 1024 * place + number, kind if unit else f"{kind} {number}", parent, unit)

    def _track(self, number: int, name: str, parent: int, unit: str = "") -> int:
        if number not in self.tracks:
            self.tracks.add(number)
            packet = self.pb.TracePacket()
            track = packet.track_descriptor
            track.uuid, track.name = number, name
            if parent:
                track.parent_uuid = parent
            if unit:
                track.counter.unit_name = unit
            self._write(packet)
        return number

    def _slice(self, track: int, begin: int, end: int, name: str, about: str = "") -> None:
        for kind, at in ((self.pb.TrackEvent.TYPE_SLICE_BEGIN, begin), (self.pb.TrackEvent.TYPE_SLICE_END, end)):
            packet = self.pb.TracePacket(timestamp=at, trusted_packet_sequence_id=_SEQUENCE)
            event = packet.track_event
            event.type, event.track_uuid = kind, track
            if kind == self.pb.TrackEvent.TYPE_SLICE_BEGIN:
                event.name = name
                if about:
                    event.debug_annotations.add(name="instruction", string_value=about)
            self._write(packet)

    def _count(self, track: int, cycle: int, value: float) -> None:
        packet = self.pb.TracePacket(timestamp=cycle, trusted_packet_sequence_id=_SEQUENCE)
        packet.track_event.type = self.pb.TrackEvent.TYPE_COUNTER
        packet.track_event.track_uuid, packet.track_event.double_counter_value = track, value
        self._write(packet)

    def _write(self, packet: Any) -> None:
        self.file.write(self.pb.Trace(packet=[packet]).SerializeToString())
