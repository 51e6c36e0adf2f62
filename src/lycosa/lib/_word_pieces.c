/* Cuts texts into pieces of words: byte-pair encoding, as `word_pieces` describes it.

   The library tokenizers is the reference, and gives the same pieces. */

#include "_buffers.h"
#include <stdint.h>
#include <string.h>

#define SPACE 0x2581
#define NO_MERGE UINT32_MAX
#define EMPTY UINT64_MAX

enum { CHARACTERS, NUMBERS, SLOTS, ARRAYS };
static const Py_ssize_t SIZES[ARRAYS] = {4, 2, 8};

typedef struct {
    const uint32_t *characters; /* code points, ascending */
    const uint16_t *numbers;    /* of their pieces */
    Py_ssize_t count;
    const uint64_t *slots; /* left piece, right piece, rank, merged piece: 16 bits each; a power of two of them */
    uint64_t mask;
    uint16_t first_byte; /* number of the piece for byte 0 */
} Model;

typedef struct {
    uint16_t *pieces;
    uint32_t *merges; /* of each piece with the next: rank and merged piece; the smallest comes first */
    Py_ssize_t count;
} Word;

static uint64_t place_of(uint32_t pair, uint64_t mask)
{
    return (pair * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
}

static uint32_t merge_of(const Model *model, uint16_t left, uint16_t right)
{
    const uint32_t pair = (uint32_t)left << 16 | right;
    for (uint64_t at = place_of(pair, model->mask); model->slots[at] != EMPTY; at = (at + 1) & model->mask)
        if (model->slots[at] >> 32 == pair)
            return (uint32_t)model->slots[at];
    return NO_MERGE;
}

/* Number of the piece that is this character; -1 if there is none. */
static int32_t piece_of(const Model *model, uint32_t character)
{
    Py_ssize_t low = 0, high = model->count;
    while (low < high) {
        const Py_ssize_t middle = (low + high) / 2;
        if (model->characters[middle] < character)
            low = middle + 1;
        else
            high = middle;
    }
    return low < model->count && model->characters[low] == character ? model->numbers[low] : -1;
}

static void add_bytes(const Model *model, uint32_t character, Word *word)
{
    uint16_t *to = word->pieces + word->count;
    const int tails = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const uint8_t HEADS[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (uint16_t)(model->first_byte + (HEADS[tails] | character >> 6 * tails));
    for (int tail = tails - 1; tail >= 0; tail--)
        *to++ = (uint16_t)(model->first_byte + (0x80 | (character >> 6 * tail & 0x3f)));
    word->count += tails + 1;
}

static void add_character(const Model *model, uint32_t character, Word *word)
{
    const int32_t piece = piece_of(model, character);
    if (piece >= 0)
        word->pieces[word->count++] = (uint16_t)piece;
    else
        add_bytes(model, character, word);
}

/* Joins two neighbours, those of the lowest rank first, the leftmost of these, until no two of them belong together. */
static void merge_all(const Model *model, Word *word)
{
    uint16_t *pieces = word->pieces;
    uint32_t *merges = word->merges;
    Py_ssize_t pairs = word->count - 1;
    for (Py_ssize_t at = 0; at < pairs; at++)
        merges[at] = merge_of(model, pieces[at], pieces[at + 1]);
    while (pairs > 0) {
        Py_ssize_t best = 0;
        for (Py_ssize_t at = 1; at < pairs; at++)
            if (merges[at] < merges[best])
                best = at;
        if (merges[best] == NO_MERGE)
            break;
        pieces[best] = (uint16_t)merges[best];
        pairs--;
        memmove(pieces + best + 1, pieces + best + 2, (size_t)(pairs - best) * sizeof *pieces);
        memmove(merges + best, merges + best + 1, (size_t)(pairs - best) * sizeof *merges);
        if (best > 0)
            merges[best - 1] = merge_of(model, pieces[best - 1], pieces[best]);
        if (best < pairs)
            merges[best] = merge_of(model, pieces[best], pieces[best + 1]);
    }
    word->count = pairs + 1;
}

/* Word by word: a word is some spaces, the first of which the text need not have, and what follows up to the next. */
static Py_ssize_t cut_text(const Model *model, PyObject *text, uint16_t *pieces, uint32_t *merges)
{
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Word word = {pieces, merges, 0};
    int was_space = 1;
    add_character(model, SPACE, &word);
    for (Py_ssize_t at = 0; at < length; at++) {
        uint32_t character = PyUnicode_READ(kind, data, at);
        character = character == ' ' ? SPACE : character;
        if (character == SPACE && !was_space) {
            merge_all(model, &word);
            word = (Word){word.pieces + word.count, merges, 0};
        }
        was_space = character == SPACE;
        add_character(model, character, &word);
    }
    merge_all(model, &word);
    return word.pieces + word.count - pieces;
}

static int is_model(const Py_buffer *views, unsigned int first_byte)
{
    const Py_ssize_t slots = views[SLOTS].len / 8;
    const uint64_t *slot = views[SLOTS].buf;
    int has_room = 0;
    for (Py_ssize_t at = 0; at < slots && !has_room; at++)
        has_room = slot[at] == EMPTY;
    return has_room && !(slots & (slots - 1)) && views[CHARACTERS].len / 4 == views[NUMBERS].len / 2 &&
           first_byte <= UINT16_MAX - 255;
}

/* cut(text, characters, their numbers, slots, number of byte 0): the numbers of its pieces, 16 bits each */
static PyObject *cut(PyObject *self, PyObject *given)
{
    PyObject *text, *arrays[ARRAYS];
    Py_buffer views[ARRAYS];
    unsigned int first_byte;
    (void)self;
    if (!PyArg_ParseTuple(given, "UOOOI", &text, &arrays[CHARACTERS], &arrays[NUMBERS], &arrays[SLOTS], &first_byte))
        return NULL;
    if (take_arrays(arrays, views, SIZES, ARRAYS, 0) < 0)
        return NULL;
    if (!is_model(views, first_byte)) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, ARRAYS);
    }
    const Model model = {views[CHARACTERS].buf,       views[NUMBERS].buf, views[NUMBERS].len / 2, views[SLOTS].buf,
                         views[SLOTS].len / 8 - 1, (uint16_t)first_byte};
    const size_t most = 4 * ((size_t)PyUnicode_GET_LENGTH(text) + 1);
    uint32_t *merges = PyMem_Malloc(most * (sizeof *merges + sizeof(uint16_t)));
    if (merges == NULL) {
        PyErr_NoMemory();
        return let_go(views, ARRAYS);
    }
    uint16_t *pieces = (uint16_t *)(merges + most);
    const Py_ssize_t count = PyUnicode_GET_LENGTH(text) ? cut_text(&model, text, pieces, merges) : 0;
    PyObject *found = PyBytes_FromStringAndSize((const char *)pieces, count * (Py_ssize_t)sizeof *pieces);
    PyMem_Free(merges);
    Py_XDECREF(let_go(views, ARRAYS));
    return found;
}

/* fill(pairs, merged pieces, slots): by rank, into empty slots, of which there are more than pairs */
static PyObject *fill(PyObject *self, PyObject *given)
{
    PyObject *arrays[ARRAYS];
    Py_buffer views[ARRAYS];
    (void)self;
    if (!PyArg_ParseTuple(given, "OOO", &arrays[0], &arrays[1], &arrays[SLOTS]))
        return NULL;
    if (take_arrays(arrays, views, SIZES, ARRAYS, 1) < 0)
        return NULL;
    const Py_ssize_t count = views[0].len / 4, size = views[SLOTS].len / 8;
    const uint32_t *pairs = views[0].buf;
    const uint16_t *merged = views[1].buf;
    uint64_t *slots = views[SLOTS].buf;
    if (views[1].len / 2 != count || count >= size || count > UINT16_MAX || (size & (size - 1))) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, ARRAYS);
    }
    memset(slots, 0xff, (size_t)views[SLOTS].len);
    for (Py_ssize_t rank = 0; rank < count; rank++) {
        uint64_t at = place_of(pairs[rank], (uint64_t)size - 1);
        while (slots[at] != EMPTY)
            at = (at + 1) & ((uint64_t)size - 1);
        slots[at] = (uint64_t)pairs[rank] << 32 | (uint64_t)rank << 16 | merged[rank];
    }
    return let_go(views, ARRAYS);
}

static PyMethodDef METHODS[] = {
    {"cut", cut, METH_VARARGS, NULL}, {"fill", fill, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.lib._word_pieces", "See `word_pieces`.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__word_pieces(void)
{
    return PyModule_Create(&MODULE);
}
