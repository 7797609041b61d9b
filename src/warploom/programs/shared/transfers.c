/* Copies and fills. Device memory is mapped here, so that the library moves the bytes itself; the simulator checks the ranges. */
#include <string.h>

#include "graphs.h"

status transfer(word to, word to_pitch, word to_slice, word from, word from_pitch, word from_slice, word width, word rows, word slices,
                int kind) {
    word answer[ANSWER_WORDS];
    if (!width || !rows || !slices) return SUCCESS;
    if (rows > 1 && (to_pitch < width || from_pitch < width)) return INVALID_PITCH;
    word given[] = {to, to_pitch, to_slice, from, from_pitch, from_slice, width, rows, slices, kind};
    if (noted_in()) return note_words(COPY_NODE, given, sizeof given / sizeof *given);
    take_turn();
    status outcome = ASK(COPY, answer, to, to_pitch, to_slice, from, from_pitch, from_slice, width, rows, slices, kind);
    for (word slice = 0; !outcome && slice < slices; slice++)
        for (word row = 0; row < rows; row++)
            memmove(AS_POINTER(to + slice * to_slice + row * to_pitch), AS_POINTER(from + slice * from_slice + row * from_pitch), width);
    if (!outcome && answer[0]) outcome = ASK(COPIED, NULL, 0);
    give_turn();
    return outcome;
}

status fill_bytes(word to, word pitch, word slice, int byte, word width, word rows, word slices) {
    if (!width || !rows || !slices) return SUCCESS;
    word given[] = {to, pitch, slice, byte, width, rows, slices};
    if (noted_in()) return note_words(FILL_NODE, given, sizeof given / sizeof *given);
    return ASK(FILL, NULL, to, pitch, slice, width, rows, slices, (unsigned char)byte);
}
