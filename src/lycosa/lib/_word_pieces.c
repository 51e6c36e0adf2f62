/* Cuts texts into pieces of words: byte-pair encoding, as `word_pieces` describes it.

   The library tokenizers is the reference, and gives the same pieces. */

#include "_buffers.h"
#include <stdint.h>
#include <string.h>

#define SPACE 0x2581
#define NO_MERGE UINT32_MAX
#define EMPTY UINT64_MAX

enum { CHARACTERS, NUMBERS, SLOTS, MEMO, ARRAYS };
static const Py_ssize_t SIZES[ARRAYS] = {4, 2, 8, 64};

/* Texts use the same words again and again: a word that was cut before is looked up, at the one place where it may be. */
#define LONGEST 15

typedef struct {
    uint8_t length, count; /* of characters, 0 at a place that is free; and of pieces */
    uint16_t characters[LONGEST], pieces[LONGEST];
} Known;
_Static_assert(sizeof(Known) <= 64, "a known word has a row of the memo");

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

typedef struct {
    Known *rows; /* each at the beginning of 64 bytes; a power of two of them */
    uint64_t mask;
} Memo;

typedef struct {
    const void *data;
    int kind;
    Py_ssize_t length;
} Text;

static uint32_t character_of(const Text *text, Py_ssize_t at)
{
    const uint32_t character = PyUnicode_READ(text->kind, text->data, at);
    return character == ' ' ? SPACE : character;
}

/* Where the word ends that begins here: some spaces, and what follows up to the next. */
static Py_ssize_t end_of_word(const Text *text, Py_ssize_t at)
{
    while (at < text->length && character_of(text, at) == SPACE)
        at++;
    while (at < text->length && character_of(text, at) != SPACE)
        at++;
    return at;
}

/* The place in the memo of a short word, which is written to `wanted`; NULL if the word is not remembered. */
static Known *place_of_word(const Memo *memo, const Text *text, Py_ssize_t begin, Py_ssize_t end, Known *wanted)
{
    const int is_first = begin == 0;
    if (end - begin + is_first > LONGEST)
        return NULL;
    uint64_t hash = 0;
    wanted->length = 0;
    for (Py_ssize_t at = begin - is_first; at < end; at++) {
        const uint32_t character = at < 0 ? SPACE : character_of(text, at);
        if (character > UINT16_MAX)
            return NULL;
        wanted->characters[wanted->length++] = (uint16_t)character;
        hash = (hash ^ character) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (Known *)((char *)memo->rows + 64 * (hash >> 40 & memo->mask));
}

static void cut_word(const Model *model, const Memo *memo, const Text *text, Py_ssize_t begin, Py_ssize_t end,
                     Word *word)
{
    Known wanted, *known = place_of_word(memo, text, begin, end, &wanted);
    if (known && known->length == wanted.length &&
        !memcmp(known->characters, wanted.characters, wanted.length * sizeof *wanted.characters)) {
        memcpy(word->pieces, known->pieces, known->count * sizeof *known->pieces);
        word->count = known->count;
        return;
    }
    word->count = 0;
    if (begin == 0) /* the first word has a space before it that the text need not have */
        add_character(model, SPACE, word);
    for (Py_ssize_t at = begin; at < end; at++)
        add_character(model, character_of(text, at), word);
    merge_all(model, word);
    if (known && word->count <= LONGEST) {
        wanted.count = (uint8_t)word->count;
        memcpy(wanted.pieces, word->pieces, wanted.count * sizeof *wanted.pieces);
        *known = wanted;
    }
}

static Py_ssize_t cut_text(const Model *model, const Memo *memo, const Text *text, uint16_t *pieces, uint32_t *merges)
{
    Word word = {pieces, merges, 0};
    for (Py_ssize_t begin = 0, end; begin < text->length; begin = end) {
        end = end_of_word(text, begin);
        cut_word(model, memo, text, begin, end, &word);
        word.pieces += word.count;
    }
    return word.pieces - pieces;
}

static int is_model(const Py_buffer *views, unsigned int first_byte)
{
    const Py_ssize_t slots = views[SLOTS].len / 8, known = views[MEMO].len / 64;
    const uint64_t *slot = views[SLOTS].buf;
    int has_room = 0;
    for (Py_ssize_t at = 0; at < slots && !has_room; at++)
        has_room = slot[at] == EMPTY;
    return has_room && !(slots & (slots - 1)) && known > 0 && !(known & (known - 1)) &&
           views[CHARACTERS].len / 4 == views[NUMBERS].len / 2 && first_byte <= UINT16_MAX - 255;
}

/* cut(text, number of byte 0, characters, their numbers, slots, memo): the numbers of its pieces, 16 bits each */
static PyObject *cut(PyObject *self, PyObject *given)
{
    PyObject *text, *arrays[ARRAYS];
    Py_buffer views[ARRAYS];
    unsigned int first_byte;
    (void)self;
    if (!PyArg_ParseTuple(given, "UIOOOO", &text, &first_byte, &arrays[CHARACTERS], &arrays[NUMBERS], &arrays[SLOTS],
                          &arrays[MEMO]))
        return NULL;
    if (take_arrays(arrays, views, SIZES, ARRAYS, 1) < 0)
        return NULL;
    if (!is_model(views, first_byte)) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, ARRAYS);
    }
    const Model model = {views[CHARACTERS].buf,       views[NUMBERS].buf, views[NUMBERS].len / 2, views[SLOTS].buf,
                         views[SLOTS].len / 8 - 1, (uint16_t)first_byte};
    const Memo memo = {views[MEMO].buf, (uint64_t)views[MEMO].len / 64 - 1};
    const Text words = {PyUnicode_DATA(text), PyUnicode_KIND(text), PyUnicode_GET_LENGTH(text)};
    const size_t most = 4 * ((size_t)words.length + 1);
    uint32_t *merges = PyMem_Malloc(most * (sizeof *merges + sizeof(uint16_t)));
    if (merges == NULL) {
        PyErr_NoMemory();
        return let_go(views, ARRAYS);
    }
    uint16_t *pieces = (uint16_t *)(merges + most);
    const Py_ssize_t count = cut_text(&model, &memo, &words, pieces, merges);
    PyObject *found = PyBytes_FromStringAndSize((const char *)pieces, count * (Py_ssize_t)sizeof *pieces);
    PyMem_Free(merges);
    Py_XDECREF(let_go(views, ARRAYS));
    return found;
}

enum { PAIRS, MERGED, FILLED, FILL_ARRAYS };
static const Py_ssize_t FILL_SIZES[FILL_ARRAYS] = {4, 2, 8};

/* fill(pairs, merged pieces, slots): by rank, into empty slots, of which there are more than pairs */
static PyObject *fill(PyObject *self, PyObject *given)
{
    PyObject *arrays[FILL_ARRAYS];
    Py_buffer views[FILL_ARRAYS];
    (void)self;
    if (!PyArg_ParseTuple(given, "OOO", &arrays[PAIRS], &arrays[MERGED], &arrays[FILLED]))
        return NULL;
    if (take_arrays(arrays, views, FILL_SIZES, FILL_ARRAYS, 1) < 0)
        return NULL;
    const Py_ssize_t count = views[PAIRS].len / 4, size = views[FILLED].len / 8;
    const uint32_t *pairs = views[PAIRS].buf;
    const uint16_t *merged = views[MERGED].buf;
    uint64_t *slots = views[FILLED].buf;
    if (views[MERGED].len / 2 != count || count >= size || count > UINT16_MAX || (size & (size - 1))) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, FILL_ARRAYS);
    }
    memset(slots, 0xff, (size_t)views[FILLED].len);
    for (Py_ssize_t rank = 0; rank < count; rank++) {
        uint64_t at = place_of(pairs[rank], (uint64_t)size - 1);
        while (slots[at] != EMPTY)
            at = (at + 1) & ((uint64_t)size - 1);
        slots[at] = (uint64_t)pairs[rank] << 32 | (uint64_t)rank << 16 | merged[rank];
    }
    return let_go(views, FILL_ARRAYS);
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
