// One time step of fluid flow by the lattice Boltzmann method with 19 directions (D3Q19, BGK collision). A CTA of 120
// threads is one row of cells; every thread pulls the 19 densities that stream into its cell, and either relaxes them
// towards equilibrium or, in a solid cell, sends them back where they came from. Cells of a plane lie direction by
// direction, so that all accesses of a warp are to neighbouring words and every neighbour is a constant distance away.

#define NX 120
#define NY 24
#define DIRECTIONS 19
#define ROW (NX)
#define PLANE (DIRECTIONS * NX * NY)
#define OMEGA 1.2f

// Direction d comes from (x, y, z); its densities begin d * NX * NY words into a plane.
#define PULL(d, x, y, z) source[(d) * NX * NY - (x) - (y) * ROW - (z) * PLANE]
#define PUSH(d) target[(d) * NX * NY]

// Equilibrium for a direction with weight w and velocity e: w rho (1 + 3 eu + 4.5 eu^2 - 1.5 u^2); `still` is 1 - 1.5 u^2.
#define RELAX(d, f, w, eu) PUSH(d) = (1.0f - OMEGA) * (f) + OMEGA * (w) * density * (still + (eu) * (3.0f + 4.5f * (eu)))

extern "C" __global__ void __launch_bounds__(NX) lbm(const float* before, float* after, const unsigned char* solid)
{
    const int x = threadIdx.x;
    const int y = blockIdx.x;
    const int z = blockIdx.y;
    const int cell = (z + 1) * PLANE + y * ROW + x;  // a plane of margin lies before the first one
    const float* const source = before + cell;
    float* const target = after + cell;

    const float fc = PULL(0, 0, 0, 0);
    const float fe = PULL(1, 1, 0, 0);
    const float fw = PULL(2, -1, 0, 0);
    const float fn = PULL(3, 0, 1, 0);
    const float fs = PULL(4, 0, -1, 0);
    const float ft = PULL(5, 0, 0, 1);
    const float fb = PULL(6, 0, 0, -1);
    const float fne = PULL(7, 1, 1, 0);
    const float fsw = PULL(8, -1, -1, 0);
    const float fse = PULL(9, 1, -1, 0);
    const float fnw = PULL(10, -1, 1, 0);
    const float fet = PULL(11, 1, 0, 1);
    const float fwb = PULL(12, -1, 0, -1);
    const float feb = PULL(13, 1, 0, -1);
    const float fwt = PULL(14, -1, 0, 1);
    const float fnt = PULL(15, 0, 1, 1);
    const float fsb = PULL(16, 0, -1, -1);
    const float fnb = PULL(17, 0, 1, -1);
    const float fst = PULL(18, 0, -1, 1);

    if (solid[(z * NY + y) * NX + x]) {
        PUSH(0) = fc;
        PUSH(2) = fe;
        PUSH(1) = fw;
        PUSH(4) = fn;
        PUSH(3) = fs;
        PUSH(6) = ft;
        PUSH(5) = fb;
        PUSH(8) = fne;
        PUSH(7) = fsw;
        PUSH(10) = fse;
        PUSH(9) = fnw;
        PUSH(12) = fet;
        PUSH(11) = fwb;
        PUSH(14) = feb;
        PUSH(13) = fwt;
        PUSH(16) = fnt;
        PUSH(15) = fsb;
        PUSH(18) = fnb;
        PUSH(17) = fst;
        return;
    }
    const float density = fc + fe + fw + fn + fs + ft + fb + fne + fsw + fse + fnw
                          + fet + fwb + feb + fwt + fnt + fsb + fnb + fst;
    const float inverse = 1.0f / density;
    const float ux = (fe + fne + fse + fet + feb
                      - fw - fsw - fnw - fwb - fwt) * inverse;
    const float uy = (fn + fne + fnw + fnt + fnb
                      - fs - fsw - fse - fsb - fst) * inverse;
    const float uz = (ft + fet + fwt + fnt + fst
                      - fb - fwb - feb - fsb - fnb) * inverse;
    const float still = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
    RELAX(0, fc, 1.0f / 3.0f, 0.0f);
    RELAX(1, fe, 1.0f / 18.0f, ux);
    RELAX(2, fw, 1.0f / 18.0f, -ux);
    RELAX(3, fn, 1.0f / 18.0f, uy);
    RELAX(4, fs, 1.0f / 18.0f, -uy);
    RELAX(5, ft, 1.0f / 18.0f, uz);
    RELAX(6, fb, 1.0f / 18.0f, -uz);
    RELAX(7, fne, 1.0f / 36.0f, ux + uy);
    RELAX(8, fsw, 1.0f / 36.0f, -ux - uy);
    RELAX(9, fse, 1.0f / 36.0f, ux - uy);
    RELAX(10, fnw, 1.0f / 36.0f, -ux + uy);
    RELAX(11, fet, 1.0f / 36.0f, ux + uz);
    RELAX(12, fwb, 1.0f / 36.0f, -ux - uz);
    RELAX(13, feb, 1.0f / 36.0f, ux - uz);
    RELAX(14, fwt, 1.0f / 36.0f, -ux + uz);
    RELAX(15, fnt, 1.0f / 36.0f, uy + uz);
    RELAX(16, fsb, 1.0f / 36.0f, -uy - uz);
    RELAX(17, fnb, 1.0f / 36.0f, uy - uz);
    RELAX(18, fst, 1.0f / 36.0f, -uy + uz);
}
