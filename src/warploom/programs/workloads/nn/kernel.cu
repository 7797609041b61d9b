// Distance of every record's place to a given one, one record a thread, in CTAs of 16 threads: half of each warp's lanes do
// not exist.

#define THREADS 16

extern "C" __global__ void nn(const float2* places, float* distances, int records, float latitude, float longitude)
{
    const int record = blockIdx.x * THREADS + threadIdx.x;
    if (record < records) {
        const float2 place = places[record];
        const float north = latitude - place.x;
        const float east = longitude - place.y;
        distances[record] = sqrtf(north * north + east * east);
    }
}
