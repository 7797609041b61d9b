"""Surfaces, gathered texels, derivatives and layers in machine code of three architectures, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.code.table import Space
from warploom.compiler.sass.module import SassModule, from_cuda
from warploom.emulator.trace.format import MOST_RECORDS, SPACE_MASK, SPACE_SHIFT
from warploom.programs.device import Device

SOURCE = """
extern "C" {
__global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    float v;
    surf2Dread(&v, from, threadIdx.x * 4, blockIdx.x);
    surf2Dwrite(2 * v, to, threadIdx.x * 4, blockIdx.x);
}
__global__ void edges(cudaSurfaceObject_t from, cudaSurfaceObject_t to, float2* out) {
    int x = (int)threadIdx.x - 4, y = (int)blockIdx.x - 1;
    float clamped, zero;
    surf2Dread(&clamped, from, x * 4, y, cudaBoundaryModeClamp);
    surf2Dread(&zero, from, x * 4, y, cudaBoundaryModeZero);
    out[blockIdx.x * blockDim.x + threadIdx.x] = make_float2(clamped, zero);
    surf2Dwrite(clamped + 1, to, x * 4, y, cudaBoundaryModeZero);
}
__global__ void vectors(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    float4 v;
    surf3Dread(&v, from, threadIdx.x * 16, blockIdx.x, blockIdx.y);
    v.x += 1; v.w *= 3;
    surf3Dwrite(v, to, threadIdx.x * 16, blockIdx.x, blockIdx.y);
}
__global__ void bytes(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int offset) {
    unsigned char b;
    surf1Dread(&b, from, threadIdx.x + offset);
    surf1Dwrite((unsigned char)(b + 1), to, threadIdx.x + offset);
}
__global__ void gather(cudaTextureObject_t t, float4* out, float dx, float dy) {
    float x = threadIdx.x * dx, y = blockIdx.x * dy;
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * at] = tex2Dgather<float4>(t, x, y, 0);
    out[2 * at + 1] = tex2Dgather<float4>(t, x, y, 3);
}
__global__ void slopes(cudaTextureObject_t t, float2* out, float d) {
    float x = threadIdx.x * 0.37f, y = threadIdx.x * 0.21f;
    float sloped = tex2DGrad<float>(t, x, y, make_float2(d, 0), make_float2(0, d));
    out[threadIdx.x] = make_float2(sloped, tex2D<float>(t, x, y));
}
__global__ void chosen(const cudaTextureObject_t* many, float* out) {
    int i = threadIdx.x;
    out[2 * i] = tex2D<float>(many[i % 3], 1.5f, 0.5f) + tex1Dfetch<float>(many[3], i);
    out[2 * i + 1] = tex2D<float>(many[1], i % 4 + 0.5f, 1.5f);
}
__global__ void layers(cudaTextureObject_t t, float* out) {
    out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % 5 + 0.5f, 1.5f, threadIdx.x / 5);
}
__global__ void apart(cudaTextureObject_t t, float4* out) {
    out[threadIdx.x] = tex3D<float4>(t, 8 * (threadIdx.x % 8) + 4, 16 * (threadIdx.x / 8) + 8, 4);
}
}
"""


@pytest.fixture(scope="module", params=["sm_75", "sm_80", "sm_90"])
def device(request: pytest.FixtureRequest) -> Device:
    module: SassModule = from_cuda(SOURCE, "images.cu", request.param)
    return Device(lambda name, _shape: module.kernel(name), record=None)


def test_a_surface_is_read_and_written(device: Device) -> None:
    image = np.arange(96, dtype=np.float32).reshape(4, 24)
    source, target = device.array(image), device.array(np.zeros_like(image))
    device.launch("move", (4,), (24,), device.surface(source), device.surface(target))
    assert np.array_equal(target.get(), 2 * image)


def test_outside_of_a_surface(device: Device) -> None:
    image = np.arange(1, 13, dtype=np.float32).reshape(2, 6)
    source, target = device.array(image), device.array(np.zeros_like(image))
    out = device.array(np.zeros((4, 14, 2), np.float32))
    device.launch("edges", (4,), (14,), device.surface(source), device.surface(target), out)
    y, x = np.mgrid[-1:3, -4:10]
    clamped = image[y.clip(0, 1), x.clip(0, 5)]
    inside = (y >= 0) & (y < 2) & (x >= 0) & (x < 6)
    assert np.array_equal(out.get(), np.stack([clamped, np.where(inside, clamped, 0)], axis=-1))
    assert np.array_equal(target.get(), image + 1)


def test_a_trap_names_the_place(device: Device) -> None:
    surface = device.surface(device.array(np.zeros(40, np.uint8)))
    with pytest.raises(WarploomError, match=r"kernel bytes, block \(0, 0, 0\), thread \(8, 0, 0\): 'SULD.*surface"):
        device.launch("bytes", (1,), (32,), surface, surface, np.int32(32))


def test_vectors_and_bytes(device: Device) -> None:
    volume = np.arange(2 * 3 * 5 * 4, dtype=np.float32).reshape(2, 3, 5, 4)
    source, target = device.array(volume), device.array(np.zeros_like(volume))
    device.launch("vectors", (3, 2), (5,), device.surface(source), device.surface(target))
    assert np.array_equal(target.get(), volume * [1, 1, 1, 3] + [1, 0, 0, 0])
    row = np.arange(250, 282).astype(np.uint8)
    source, target = device.array(row), device.array(np.zeros_like(row))
    device.launch("bytes", (1,), (32,), device.surface(source), device.surface(target), np.int32(0))
    assert np.array_equal(target.get(), row + np.uint8(1))


def test_four_texels_are_gathered_around_a_place(device: Device) -> None:
    image = np.arange(6 * 7 * 4, dtype=np.float32).reshape(6, 7, 4)
    out = device.array(np.zeros((5, 9, 2, 4), np.float32))
    device.launch("gather", (5,), (9,), device.texture(image), out, np.float32(0.75), np.float32(1.25))
    for y in range(5):
        for x in range(9):
            left, below = int(np.floor(x * 0.75 - 0.5)), int(np.floor(y * 1.25 - 0.5))
            rows, columns = np.clip([below + 1, below + 1, below, below], 0, 5), np.clip([left, left + 1, left + 1, left], 0, 6)
            assert np.array_equal(out.get()[y, x], image[rows, columns][:, [0, 3]].T)


def test_derivatives_do_not_matter_with_one_level(device: Device) -> None:
    image = np.random.default_rng(3).random((9, 13)).astype(np.float32)
    out = device.array(np.zeros((32, 2), np.float32))
    device.launch("slopes", (1,), (32,), device.texture(image, linear=True), out, np.float32(4.0))
    assert np.array_equal(out.get()[:, 0], out.get()[:, 1]) and len(np.unique(out.get())) > 20


def test_every_lane_may_choose_its_texture(device: Device) -> None:
    images = np.random.default_rng(5).random((3, 2, 5)).astype(np.float32)
    row = np.arange(32, dtype=np.float32)
    handles = [device.texture(image).handle for image in images] + [device.texture(row).handle]
    out = device.array(np.zeros((32, 2), np.float32))
    device.launch("chosen", (1,), (32,), device.array(np.array(handles, np.uint64)), out)
    expected = [(images[i % 3, 0, 1] + row[i], images[1, 1, i % 4]) for i in range(32)]
    assert np.array_equal(out.get(), np.array(expected, np.float32))


def test_layers_are_not_mixed(device: Device) -> None:
    image = np.random.default_rng(4).random((3, 4, 5)).astype(np.float32)
    out = device.array(np.zeros(20, np.float32))
    device.launch("layers", (1,), (20,), device.texture(image, linear=True, layered=True), out)
    assert np.array_equal(out.get().reshape(4, 5), image[[0, 1, 2, 2], 1])


@pytest.mark.parametrize("lanes", [31, 32])
def test_a_fetch_of_256_sectors_is_one_of_255(lanes: int) -> None:
    """The trace has eight bits for the sectors of an access: one more made it an access of another space, without sectors."""
    image = np.random.default_rng(5).random((8, 64, 64, 4)).astype(np.float32)
    module = from_cuda(SOURCE, "images.cu", "sm_90")
    device = Device(lambda name, _shape: module.kernel(name))
    device.launch("apart", (1,), (lanes,), device.texture(image, linear=True), device.array(np.zeros((32, 4), np.float32)))
    trace = device.launches[-1].trace
    assert trace is not None
    spaces = trace.memory >> SPACE_SHIFT & SPACE_MASK
    fetch = trace.memory[spaces == Space.TEXTURE] & MOST_RECORDS
    assert fetch.tolist() == [min(8 * lanes, MOST_RECORDS)]
    assert int((trace.memory[spaces == Space.GLOBAL] & MOST_RECORDS).sum()) == -(-lanes // 2)
    assert len(trace.sector) == int((trace.memory & MOST_RECORDS).sum())
