/* Words at machine speed: the inner loops of `lib.text`, `lib.wordhash` and `page.fingerprint`.

   Each has a twin in Python, which is the reference and serves where this module was not compiled; tests compare them.

   A text is folded (ASCII letters to lower case, all other ASCII but digits to spaces) and cut at spaces. Each piece is
   looked up in a table; only an unknown one is handed to Python, which says what it stands for: stems, or a number. The
   hash is keyed at random, so that no page can choose words that collide. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only for little-endian machines; others do without"
#endif

static uint64_t secret[2];

#define PADDING 16 /* spaces after a folded text, so that it can be read eight bytes at a time */
#define EACH(byte) (0x0101010101010101u * (byte))

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t eight_at(const unsigned char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, 8);
    return bytes;
}

/* Up to eight bytes; eight can be read. */
static inline uint64_t few_at(const unsigned char *at, size_t length)
{
    return length >= 8 ? eight_at(at) : eight_at(at) & (((uint64_t)1 << 8 * length) - 1);
}

static uint32_t crc_table[256];

static uint32_t crc32_of(const char *data, size_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t at = 0; at < length; at++)
        crc = crc >> 8 ^ crc_table[(crc ^ (unsigned char)data[at]) & 0xFF];
    return ~crc;
}

static uint16_t number_of(const char *name, size_t length)
{
    uint16_t low = (uint16_t)crc32_of(name, length);
    return low ? low : 1;
}

/* The bits for which a stem votes in a fingerprint. */
static uint64_t vote_of(const char *name, size_t length)
{
    uint64_t half[2] = {0, 0};
    memcpy(half, name, length < 16 ? length : 16);
    uint64_t hash = (half[0] + 0x9E3779B97F4A7C15u) * 0xC2B2AE3D27D4EB4Fu
                    ^ (half[1] + 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 30;
    hash *= 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 27;
    hash *= 0x94D049BB133111EBu;
    hash ^= hash >> 31;
    return hash;
}

/* Stems ----------------------------------------------------------------------------------------------------------- */

/* A stem, and where it is counted in the current text. */
typedef struct {
    PyObject *name;
    uint64_t vote;
    uint64_t text;  /* the text in which it was last met */
    uint32_t place; /* among the stems of that text */
    uint16_t number;
} Stem;

#define CHUNK 1024

/* All stems of a memo; they stay where they are. What was counted keeps them when the memo is emptied. */
typedef struct {
    PyObject_HEAD
    PyObject *index_of; /* dict: name → number of the stem */
    Stem **chunks;
    size_t count, room; /* of stems, of chunks */
} Stems;

static void stems_dealloc(Stems *self)
{
    for (size_t at = 0; at < self->count; at++)
        Py_DECREF(self->chunks[at / CHUNK][at % CHUNK].name);
    for (size_t chunk = 0; chunk * CHUNK < self->count; chunk++)
        PyMem_Free(self->chunks[chunk]);
    PyMem_Free(self->chunks);
    Py_XDECREF(self->index_of);
    PyObject_Free(self);
}

static PyTypeObject StemsType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "lycosa.lib._words.Stems",
    .tp_basicsize = sizeof(Stems),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)stems_dealloc,
};

static Stems *new_stems(void)
{
    Stems *self = PyObject_New(Stems, &StemsType);
    if (!self)
        return NULL;
    self->chunks = NULL;
    self->count = self->room = 0;
    self->index_of = PyDict_New();
    if (!self->index_of)
        Py_CLEAR(self);
    return self;
}

/* The stem of this name if there is one; NULL, perhaps with an error. */
static Stem *known_stem(Stems *self, PyObject *name)
{
    PyObject *index = PyDict_GetItemWithError(self->index_of, name);
    if (!index)
        return NULL;
    size_t at = PyLong_AsSize_t(index);
    return &self->chunks[at / CHUNK][at % CHUNK];
}

static Stem *stem_named(Stems *self, PyObject *name)
{
    Stem *known = known_stem(self, name);
    if (known || PyErr_Occurred())
        return known;
    if (self->count == CHUNK * self->room) {
        size_t room = self->room ? 2 * self->room : 8;
        Stem **chunks = PyMem_Realloc(self->chunks, room * sizeof *chunks);
        if (!chunks) {
            PyErr_NoMemory();
            return NULL;
        }
        self->chunks = chunks;
        self->room = room;
    }
    if (self->count % CHUNK == 0 && !(self->chunks[self->count / CHUNK] = PyMem_Calloc(CHUNK, sizeof(Stem)))) {
        PyErr_NoMemory();
        return NULL;
    }
    Stem *stem = &self->chunks[self->count / CHUNK][self->count % CHUNK];
    Py_ssize_t length;
    const char *spelling = PyUnicode_AsUTF8AndSize(name, &length);
    PyObject *index = spelling ? PyLong_FromSize_t(self->count) : NULL;
    int failed = !index || PyDict_SetItem(self->index_of, name, index);
    Py_XDECREF(index);
    if (failed) {
        if (self->count % CHUNK == 0)
            PyMem_Free(self->chunks[self->count / CHUNK]);
        return NULL;
    }
    *stem = (Stem){.name = Py_NewRef(name), .vote = vote_of(spelling, length), .number = number_of(spelling, length)};
    self->count++;
    return stem;
}

/* Pieces ---------------------------------------------------------------------------------------------------------- */

enum { NUMBER, ONE, SEVERAL }; /* what a piece stands for; no stem at all is a number */

typedef struct {
    size_t count;
    Stem *stems[];
} Several;

typedef union {
    Stem *one;
    Several *several;
    int32_t number;
} Meaning;

#define SHORT_KEY 16

typedef struct {
    uint32_t hash; /* its upper half; 0 is an empty slot */
    uint16_t length;
    uint16_t kind;
    Meaning as;
    union {
        uint64_t is[2]; /* padded with zeros */
        unsigned char *at; /* of a longer one */
    } key;
} Piece;

/* A piece of the text that is looked at. */
typedef struct {
    const unsigned char *key;
    size_t length;
    uint64_t hash, is[2];
} Cut;

static void hash_cut(Cut *cut)
{
    const unsigned char *key = cut->key;
    size_t length = cut->length;
    cut->is[0] = few_at(key, length);
    cut->is[1] = length > 8 ? few_at(key + 8, length - 8) : 0;
    uint64_t hash = secret[0] ^ length;
    for (; length > 8; key += 8, length -= 8)
        hash = mixed(hash ^ eight_at(key), secret[1]);
    cut->hash = mixed(hash ^ few_at(key, length), secret[1]) | (uint64_t)1 << 32;
}

static void free_meaning(int kind, Meaning as)
{
    if (kind == SEVERAL)
        PyMem_Free(as.several);
}

static void free_piece(Piece *piece)
{
    if (piece->length > SHORT_KEY)
        PyMem_Free(piece->key.at);
    free_meaning(piece->kind, piece->as);
}

typedef struct {
    Stem *stem;
    uint32_t count;
} Tally;

/* Pieces of texts and what they stand for. Stems are shared by the pieces that have them. */
typedef struct {
    PyObject_HEAD
    PyObject *missing;
    Stems *stems;
    Piece *pieces; /* aligned, in what was allocated */
    void *allocated;
    size_t slots, used, most, longest;
    uint64_t text;
    Tally *met; /* the stems of the current text, in order */
    size_t met_count, met_room;
    unsigned char *scratch;
    size_t scratch_room;
} Memo;

static void clear_pieces(Memo *self)
{
    for (size_t slot = 0; slot < self->slots; slot++) {
        if (self->pieces[slot].hash)
            free_piece(&self->pieces[slot]);
    }
    PyMem_Free(self->allocated);
    self->allocated = self->pieces = NULL;
    self->slots = self->used = 0;
    Py_CLEAR(self->stems);
}

static int grow(Memo *self)
{
    size_t slots = self->slots ? 2 * self->slots : 1024;
    void *allocated = PyMem_Calloc(slots + 2, sizeof(Piece));
    if (!allocated) {
        PyErr_NoMemory();
        return -1;
    }
    /* A piece must not lie on two cache lines. */
    Piece *pieces = (Piece *)(((uintptr_t)allocated + 2 * sizeof(Piece) - 1) / (2 * sizeof(Piece)) * (2 * sizeof(Piece)));
    for (size_t slot = 0; slot < self->slots; slot++) {
        Piece *piece = &self->pieces[slot];
        if (piece->hash) {
            const unsigned char *key = piece->key.at;
            unsigned char padded[SHORT_KEY + 8];
            if (piece->length <= SHORT_KEY) {
                memset(padded, 0, sizeof padded);
                memcpy(padded, piece->key.is, SHORT_KEY);
                key = padded;
            }
            Cut cut = {key, piece->length};
            hash_cut(&cut);
            size_t at = cut.hash & (slots - 1);
            while (pieces[at].hash)
                at = (at + 1) & (slots - 1);
            pieces[at] = *piece;
        }
    }
    PyMem_Free(self->allocated);
    self->allocated = allocated;
    self->pieces = pieces;
    self->slots = slots;
    return 0;
}

/* What `missing` says of a piece: a number, a stem, or a tuple of stems. None: nothing, and not to be kept.
   -1 on error, 1 if the piece is to be kept. */
static int ask(Memo *self, const Cut *cut, uint16_t *kind, Meaning *as)
{
    PyObject *answer = PyObject_CallFunction(self->missing, "y#", cut->key, (Py_ssize_t)cut->length);
    if (!answer)
        return -1;
    int failed = 0, is_kept = answer != Py_None;
    *kind = NUMBER;
    as->one = NULL;
    as->number = 0;
    if (!is_kept) {
        /* nothing */
    } else if (PyLong_Check(answer)) {
        as->number = (int32_t)PyLong_AsLong(answer);
        failed = PyErr_Occurred() != NULL;
    } else if (PyUnicode_Check(answer)) {
        if (PyUnicode_GET_LENGTH(answer)) {
            *kind = ONE;
            as->one = stem_named(self->stems, answer);
            failed = !as->one;
        }
    } else if (PyTuple_Check(answer) && PyTuple_GET_SIZE(answer) > 1) {
        Py_ssize_t count = PyTuple_GET_SIZE(answer);
        Several *several = PyMem_Malloc(sizeof(Several) + count * sizeof(Stem *));
        failed = !several;
        if (failed)
            PyErr_NoMemory();
        for (Py_ssize_t at = 0; !failed && at < count; at++) {
            PyObject *name = PyTuple_GET_ITEM(answer, at);
            if (!PyUnicode_Check(name)) {
                PyErr_SetString(PyExc_TypeError, "stems must be strings");
                failed = 1;
            } else {
                several->stems[at] = stem_named(self->stems, name);
                failed = !several->stems[at];
            }
        }
        if (failed)
            PyMem_Free(several);
        else {
            several->count = (size_t)count;
            *kind = SEVERAL;
            as->several = several;
        }
    } else {
        PyErr_SetString(PyExc_TypeError, "missing() must return an int, a str, a tuple of two or more, or None");
        failed = 1;
    }
    Py_DECREF(answer);
    return failed ? -1 : is_kept;
}

/* What the memo knows of a piece of a text; `is_spare`: it is not in the memo, so that it has to be freed. */
typedef struct {
    Meaning as;
    uint16_t kind, is_spare;
} Found;

static int look_up(Memo *self, const Cut *cut, Found *found)
{
    found->is_spare = 1;
    if (cut->length > self->longest)
        return ask(self, cut, &found->kind, &found->as) < 0 ? -1 : 0;
    uint32_t hash = (uint32_t)(cut->hash >> 32);
    size_t at = cut->hash & (self->slots - 1);
    for (; self->pieces[at].hash; at = (at + 1) & (self->slots - 1)) {
        Piece *piece = &self->pieces[at];
        if (piece->hash != hash || piece->length != cut->length)
            continue;
        if (cut->length <= SHORT_KEY ? piece->key.is[0] == cut->is[0] && piece->key.is[1] == cut->is[1]
                                     : !memcmp(piece->key.at, cut->key, cut->length)) {
            *found = (Found){piece->as, piece->kind, 0};
            return 0;
        }
    }
    Piece made = {.hash = hash, .length = (uint16_t)cut->length, .key.is = {cut->is[0], cut->is[1]}};
    int is_kept = ask(self, cut, &made.kind, &made.as);
    if (is_kept < 0)
        return -1;
    *found = (Found){made.as, made.kind, 1};
    if (!is_kept)
        return 0;
    if (cut->length > SHORT_KEY) {
        /* Eight bytes more: it is read eight at a time. */
        made.key.at = PyMem_Calloc(cut->length + 8, 1);
        if (!made.key.at) {
            free_meaning(made.kind, made.as);
            PyErr_NoMemory();
            return -1;
        }
        memcpy(made.key.at, cut->key, cut->length);
    }
    if (2 * (self->used + 1) > self->slots && grow(self)) {
        free_piece(&made);
        return -1;
    }
    at = cut->hash & (self->slots - 1);
    while (self->pieces[at].hash)
        at = (at + 1) & (self->slots - 1);
    self->pieces[at] = made;
    self->used++;
    found->is_spare = 0;
    return 0;
}

/* ASCII letters in lower case, spaces for all other ASCII but digits. Without branches, so that compilers make it wide. */
static void fold(unsigned char *to, const unsigned char *from, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        unsigned char byte = from[at], lower = byte | 32;
        unsigned char is_letter = -((unsigned char)(lower - 'a') < 26), is_other = -((unsigned char)(byte - '0') < 10);
        is_other |= -(byte >= 0x80);
        is_letter &= -(byte < 0x80);
        to[at] = (lower & is_letter) | (byte & is_other) | (' ' & ~(is_letter | is_other));
    }
}

/* Folds the text into the scratch buffer; each separator (UTF-8 of a character) becomes spaces. */
static Py_ssize_t fold_text(Memo *self, PyObject *text, PyObject *separators)
{
    PyObject *encoded = NULL;
    Py_ssize_t length;
    const char *data = PyUnicode_AsUTF8AndSize(text, &length);
    if (!data) { /* lone surrogates */
        PyErr_Clear();
        encoded = PyUnicode_AsEncodedString(text, "utf-8", "replace");
        if (!encoded)
            return -1;
        data = PyBytes_AS_STRING(encoded);
        length = PyBytes_GET_SIZE(encoded);
    }
    if ((size_t)length + PADDING > self->scratch_room) {
        unsigned char *scratch = PyMem_Realloc(self->scratch, length + PADDING);
        if (!scratch) {
            Py_XDECREF(encoded);
            PyErr_NoMemory();
            return -1;
        }
        self->scratch = scratch;
        self->scratch_room = length + PADDING;
    }
    unsigned char *out = self->scratch;
    fold(out, (const unsigned char *)data, length);
    if (separators && !PyUnicode_IS_ASCII(text)) {
        for (Py_ssize_t at = 0; at < length; at++) {
            if (out[at] < 0x80)
                continue;
            for (Py_ssize_t each = 0; each < PyTuple_GET_SIZE(separators); each++) {
                PyObject *separator = PyTuple_GET_ITEM(separators, each);
                Py_ssize_t size = PyBytes_GET_SIZE(separator);
                if (size <= length - at && !memcmp(PyBytes_AS_STRING(separator), data + at, size)) {
                    memset(out + at, ' ', size);
                    at += size - 1;
                    break;
                }
            }
        }
    }
    memset(out + length, ' ', PADDING);
    Py_XDECREF(encoded);
    return length;
}

static int begin(Memo *self)
{
    if (self->text & 1) {
        PyErr_SetString(PyExc_RuntimeError, "this memo is being used");
        return -1;
    }
    if (self->stems && (self->used >= self->most || self->stems->count >= self->most))
        clear_pieces(self);
    if (!self->stems && !(self->stems = new_stems()))
        return -1;
    if (!self->slots && grow(self))
        return -1;
    self->text |= 1;
    self->met_count = 0;
    return 0;
}

static void end(Memo *self)
{
    self->text = (self->text | 1) + 1;
    if (self->scratch_room > 1 << 20) {
        PyMem_Free(self->scratch);
        self->scratch = NULL;
        self->scratch_room = 0;
    }
}

#define BATCH 32

/* Cuts the next pieces off a folded text, and asks for their slots: by the time they are looked up these have come from
   memory. Returns the number of pieces; 0 at the end of the text. */
static size_t cut_batch(Memo *self, const unsigned char **place, const unsigned char *stop, Cut *cuts)
{
    const unsigned char *at = *place;
    size_t count = 0;
    while (count < BATCH) {
        while (at < stop && *at == ' ')
            at++;
        if (at >= stop)
            break;
        Cut *cut = &cuts[count++];
        cut->key = at;
        for (;; at += 8) {
            uint64_t other = eight_at(at) ^ EACH(' ');
            uint64_t spaces = (other - EACH(1)) & ~other & EACH(0x80);
            if (spaces) {
                at += __builtin_ctzll(spaces) / 8;
                break;
            }
        }
        cut->length = at - cut->key;
        hash_cut(cut);
        __builtin_prefetch(&self->pieces[cut->hash & (self->slots - 1)]);
    }
    *place = at;
    return count;
}

/* Looks up a batch; -1 on error, when nothing is left to be freed. */
static int find_batch(Memo *self, const Cut *cuts, size_t count, Found *found)
{
    for (size_t at = 0; at < count; at++) {
        if (look_up(self, &cuts[at], &found[at])) {
            while (at--) {
                if (found[at].is_spare)
                    free_meaning(found[at].kind, found[at].as);
            }
            return -1;
        }
        if (found[at].kind == ONE)
            __builtin_prefetch(found[at].as.one);
    }
    return 0;
}

static int meet(Memo *self, Stem *stem)
{
    if (stem->text == self->text) {
        self->met[stem->place].count++;
        return 0;
    }
    if (self->met_count == self->met_room) {
        size_t room = self->met_room ? 2 * self->met_room : 1024;
        Tally *met = room < UINT32_MAX ? PyMem_Realloc(self->met, room * sizeof *met) : NULL;
        if (!met) {
            PyErr_NoMemory();
            return -1;
        }
        self->met = met;
        self->met_room = room;
    }
    stem->text = self->text;
    stem->place = (uint32_t)self->met_count;
    self->met[self->met_count++] = (Tally){stem, 1};
    return 0;
}

/* Counts the stems of a text into `met`. */
static int count_stems(Memo *self, PyObject *text)
{
    Py_ssize_t length = fold_text(self, text, NULL);
    if (length < 0)
        return -1;
    const unsigned char *at = self->scratch, *stop = at + length;
    Cut cuts[BATCH];
    Found found[BATCH];
    size_t count;
    int failed = 0;
    while (!failed && (count = cut_batch(self, &at, stop, cuts))) {
        if (find_batch(self, cuts, count, found))
            return -1;
        for (size_t each = 0; each < count; each++) {
            if (found[each].kind == ONE)
                failed |= meet(self, found[each].as.one);
            else if (found[each].kind == SEVERAL) {
                Several *several = found[each].as.several;
                for (size_t stem = 0; stem < several->count && !failed; stem++)
                    failed |= meet(self, several->stems[stem]);
                if (found[each].is_spare)
                    PyMem_Free(several);
            }
        }
    }
    return failed ? -1 : 0;
}

static PyObject *as_dict(const Tally *tallies, size_t count)
{
    PyObject *result = PyDict_New();
    for (size_t at = 0; result && at < count; at++) {
        PyObject *times = PyLong_FromUnsignedLong(tallies[at].count);
        if (!times || PyDict_SetItem(result, tallies[at].stem->name, times))
            Py_CLEAR(result);
        Py_XDECREF(times);
    }
    return result;
}

PyDoc_STRVAR(counts_doc, "counts(text) -> dict: the number of occurrences of each stem, in order of first occurrence.");

static PyObject *counts(Memo *self, PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a str is needed");
    if (begin(self))
        return NULL;
    PyObject *result = count_stems(self, text) ? NULL : as_dict(self->met, self->met_count);
    end(self);
    return result;
}

static int are_bytes(PyObject *separators)
{
    for (Py_ssize_t each = 0; each < PyTuple_GET_SIZE(separators); each++) {
        PyObject *separator = PyTuple_GET_ITEM(separators, each);
        if (!PyBytes_Check(separator) || !PyBytes_GET_SIZE(separator)) {
            PyErr_SetString(PyExc_TypeError, "separators must be bytes, and not empty");
            return 0;
        }
    }
    return 1;
}

PyDoc_STRVAR(numbers_doc, "numbers(text, separators) -> bytes: the number of each piece, in order, as native int32.\n\n"
                          "separators: tuple of characters outside ASCII in UTF-8 that end a piece, too.");

static PyObject *numbers(Memo *self, PyObject *args)
{
    PyObject *text, *separators, *result = NULL;
    if (!PyArg_ParseTuple(args, "UO!", &text, &PyTuple_Type, &separators))
        return NULL;
    if (!are_bytes(separators) || begin(self))
        return NULL;
    Py_ssize_t length = fold_text(self, text, separators), total = 0;
    if (length < 0)
        goto done;
    result = PyBytes_FromStringAndSize(NULL, 4 * ((length + 1) / 2));
    if (!result)
        goto done;
    int32_t *number = (int32_t *)PyBytes_AS_STRING(result);
    const unsigned char *at = self->scratch, *stop = at + length;
    Cut cuts[BATCH];
    Found found[BATCH];
    size_t count;
    while ((count = cut_batch(self, &at, stop, cuts))) {
        if (find_batch(self, cuts, count, found)) {
            Py_CLEAR(result);
            goto done;
        }
        for (size_t each = 0; each < count; each++) {
            number[total++] = found[each].kind == NUMBER ? found[each].as.number : 0;
            if (found[each].is_spare)
                free_meaning(found[each].kind, found[each].as);
        }
    }
    _PyBytes_Resize(&result, 4 * total);
done:
    end(self);
    return result;
}

/* Words at the edges of texts ------------------------------------------------------------------------------------- */

/* The numbers of the first words between two places of a folded text, or of the last ones, the last one first: as many
   as there are, up to `most`. Stop words do not count. -1 on error. */
static int edge_words(Memo *self, const unsigned char *from, const unsigned char *to, int most, int is_last, uint16_t *into)
{
    int count = 0;
    while (count < most) {
        Cut cut;
        if (is_last) {
            while (to > from && to[-1] == ' ')
                to--;
            const unsigned char *stop = to;
            while (to > from && to[-1] != ' ')
                to--;
            cut = (Cut){to, (size_t)(stop - to)};
        } else {
            while (from < to && *from == ' ')
                from++;
            cut.key = from;
            while (from < to && *from != ' ')
                from++;
            cut.length = from - cut.key;
        }
        if (!cut.length)
            break;
        hash_cut(&cut);
        Found found;
        if (look_up(self, &cut, &found))
            return -1;
        if (found.kind == NUMBER && found.as.number > 0)
            into[count++] = (uint16_t)found.as.number;
        if (found.is_spare)
            free_meaning(found.kind, found.as);
    }
    return count;
}

/* UTF-8 of a text; NULL without an error if it has none, or contains what must not be in it. */
static const char *clean_utf8(PyObject *text, PyObject *mark, Py_ssize_t *length)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "texts are needed");
        return NULL;
    }
    const char *data = PyUnicode_AsUTF8AndSize(text, length);
    if (!data) { /* lone surrogates */
        PyErr_Clear();
        return NULL;
    }
    if (!PyUnicode_IS_ASCII(text)) {
        Py_ssize_t size = PyBytes_GET_SIZE(mark);
        for (Py_ssize_t at = 0; at + size <= *length; at++) {
            if (data[at] == *PyBytes_AS_STRING(mark) && !memcmp(data + at, PyBytes_AS_STRING(mark), size))
                return NULL;
        }
    }
    return data;
}

/* Where a text contains another one: at or after some character, or else for the last time; -1 if it does not. */
static Py_ssize_t find_in(const char *text, Py_ssize_t length, const char *part, Py_ssize_t size, Py_ssize_t characters)
{
    Py_ssize_t from = 0, last = -1;
    for (; from < length && characters > 0; characters--) {
        from++;
        while (from < length && (text[from] & 0xC0) == 0x80)
            from++;
    }
    for (Py_ssize_t at = from; at + size <= length; at++) {
        if (!memcmp(text + at, part, size))
            return at;
    }
    for (Py_ssize_t at = 0; at < from && at + size <= length; at++) {
        if (!memcmp(text + at, part, size))
            last = at;
    }
    return last;
}

#define MOST_COLUMNS 64

/* The words near one place; -1 on error, 1 if they cannot be told here. */
static int near_one(Memo *self, PyObject *anchor, PyObject *context, PyObject *separators, PyObject *mark, int own,
                    int columns, uint16_t *row)
{
    Py_ssize_t size, length;
    const char *part = clean_utf8(anchor, mark, &size);
    const char *text = part ? clean_utf8(context, mark, &length) : NULL;
    if (!text)
        return PyErr_Occurred() ? -1 : 1;
    Py_ssize_t middle = (PyUnicode_GET_LENGTH(context) - PyUnicode_GET_LENGTH(anchor)) / 2 - 8;
    Py_ssize_t at = size <= length ? find_in(text, length, part, size, middle) : -1;
    uint16_t found[MOST_COLUMNS];
    int most = own < columns ? own : columns, count;
    if (at < 0) {
        if (fold_text(self, anchor, separators) < 0)
            return -1;
        count = edge_words(self, self->scratch, self->scratch + size, most, 0, row);
        if (count < 0)
            return -1;
        at = length;
        size = 0;
    } else
        count = -1;
    if (fold_text(self, context, separators) < 0)
        return -1;
    const unsigned char *start = self->scratch, *stop = start + length;
    if (count < 0 && edge_words(self, start + at, start + at + size, most, 0, row) < 0)
        return -1;
    for (int side = 0; side < 2; side++) { /* before it, behind it */
        int room = columns - own - side > 0 ? (columns - own - side + 1) / 2 : 0;
        count = side ? edge_words(self, start + at + size, stop, room, 0, found)
                     : edge_words(self, start, start + at, room, 1, found);
        if (count < 0)
            return -1;
        for (int each = 0; each < count; each++)
            row[own + 2 * each + side] = found[each];
    }
    return 0;
}

PyDoc_STRVAR(near_doc, "near(anchors, contexts, separators, mark, own, columns, rows) -> bool\n\n"
                       "Fills `rows`, native uint16, one row for each anchor: the numbers of its first words, up to `own`,\n"
                       "then alternately the nearest ones before and behind it in its context, up to `columns` in all.\n"
                       "False if a text contains the mark, or has no UTF-8.");

static PyObject *near(Memo *self, PyObject *args)
{
    PyObject *anchors, *contexts, *separators, *mark;
    Py_buffer rows;
    int own, columns;
    if (!PyArg_ParseTuple(args, "O!O!O!Siiw*", &PyList_Type, &anchors, &PyList_Type, &contexts, &PyTuple_Type, &separators,
                          &mark, &own, &columns, &rows))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(anchors);
    int failed = -1, width = count ? (int)(rows.len / 2 / count) : 0;
    if (PyList_GET_SIZE(contexts) != count || own < 0 || columns < 0 || (count && (columns > width || own > width))
        || width > MOST_COLUMNS || rows.len != 2 * count * width || !PyBytes_GET_SIZE(mark))
        PyErr_SetString(PyExc_ValueError, "a context and a row are needed for each anchor");
    else if (are_bytes(separators) && !begin(self)) {
        failed = 0;
        for (Py_ssize_t at = 0; at < count && !failed; at++)
            failed = near_one(self, PyList_GET_ITEM(anchors, at), PyList_GET_ITEM(contexts, at), separators, mark, own,
                              columns, (uint16_t *)rows.buf + at * width);
        end(self);
    }
    PyBuffer_Release(&rows);
    return failed < 0 ? NULL : PyBool_FromLong(!failed);
}

PyDoc_STRVAR(last_doc, "last(texts, separators, mark, rows) -> bool\n\n"
                       "Fills `rows`, native uint16, one row for each text: the numbers of its last words, in order.\n"
                       "False if a text contains the mark, or has no UTF-8.");

static PyObject *last(Memo *self, PyObject *args)
{
    PyObject *texts, *separators, *mark;
    Py_buffer rows;
    if (!PyArg_ParseTuple(args, "O!O!Sw*", &PyList_Type, &texts, &PyTuple_Type, &separators, &mark, &rows))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(texts);
    int failed = -1, width = count ? (int)(rows.len / 2 / count) : 0;
    if (width > MOST_COLUMNS || rows.len != 2 * count * width || !PyBytes_GET_SIZE(mark))
        PyErr_SetString(PyExc_ValueError, "a row is needed for each text");
    else if (are_bytes(separators) && !begin(self)) {
        failed = 0;
        for (Py_ssize_t at = 0; at < count && !failed; at++) {
            uint16_t found[MOST_COLUMNS], *row = (uint16_t *)rows.buf + at * width;
            Py_ssize_t length;
            PyObject *text = PyList_GET_ITEM(texts, at);
            if (!clean_utf8(text, mark, &length))
                failed = PyErr_Occurred() ? -1 : 1;
            else if (fold_text(self, text, separators) < 0)
                failed = -1;
            else {
                int words = edge_words(self, self->scratch, self->scratch + length, width, 1, found);
                failed = words < 0 ? -1 : 0;
                for (int each = 0; each < words; each++)
                    row[each] = found[words - 1 - each];
            }
        }
        end(self);
    }
    PyBuffer_Release(&rows);
    return failed < 0 ? NULL : PyBool_FromLong(!failed);
}

/* Terms ----------------------------------------------------------------------------------------------------------- */

/* The counted stems of a text: a mapping that becomes a dict when it is used as one. */
typedef struct {
    PyObject_VAR_HEAD
    Stems *stems;
    PyObject *dict;
    Tally tallies[];
} Terms;

static PyTypeObject TermsType;

PyDoc_STRVAR(terms_doc, "terms(text) -> Terms: the same as counts(text), as a mapping.");

static PyObject *terms(Memo *self, PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a str is needed");
    if (begin(self))
        return NULL;
    Terms *result = NULL;
    if (!count_stems(self, text) && (result = PyObject_NewVar(Terms, &TermsType, (Py_ssize_t)self->met_count))) {
        result->stems = (Stems *)Py_NewRef(self->stems);
        result->dict = NULL;
        if (self->met_count)
            memcpy(result->tallies, self->met, self->met_count * sizeof(Tally));
    }
    end(self);
    return (PyObject *)result;
}

static void terms_dealloc(Terms *self)
{
    Py_XDECREF(self->dict);
    Py_DECREF(self->stems);
    PyObject_Free(self);
}

static PyObject *dict_of(Terms *self)
{
    if (!self->dict)
        self->dict = as_dict(self->tallies, (size_t)Py_SIZE(self));
    return self->dict;
}

static Py_ssize_t terms_length(Terms *self)
{
    return Py_SIZE(self);
}

/* The count of a stem; 0 if it is not there, -1 on error. A few words are found sooner than a dict is made. */
static int64_t count_of(Terms *self, PyObject *name)
{
    Stem *stem = known_stem(self->stems, name);
    if (!stem)
        return PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t at = 0; at < Py_SIZE(self); at++) {
        if (self->tallies[at].stem == stem)
            return self->tallies[at].count;
    }
    return 0;
}

static PyObject *terms_item(Terms *self, PyObject *name)
{
    int64_t count = count_of(self, name);
    if (count > 0)
        return PyLong_FromLongLong(count);
    if (!count)
        PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static int terms_contains(Terms *self, PyObject *name)
{
    int64_t count = count_of(self, name);
    return count < 0 ? -1 : count > 0;
}

static PyObject *terms_get(Terms *self, PyObject *args)
{
    PyObject *name, *otherwise = Py_None;
    if (!PyArg_UnpackTuple(args, "get", 1, 2, &name, &otherwise))
        return NULL;
    int64_t count = count_of(self, name);
    return count < 0 ? NULL : count ? PyLong_FromLongLong(count) : Py_NewRef(otherwise);
}

static PyObject *terms_iter(Terms *self)
{
    PyObject *dict = dict_of(self);
    return dict ? PyObject_GetIter(dict) : NULL;
}

static PyObject *terms_repr(Terms *self)
{
    PyObject *dict = dict_of(self);
    return dict ? PyObject_Repr(dict) : NULL;
}

static PyObject *terms_compare(PyObject *one, PyObject *other, int how)
{
    PyObject *dict = dict_of((Terms *)one);
    PyObject *with = Py_IS_TYPE(other, &TermsType) ? dict_of((Terms *)other) : other;
    return dict && with ? PyObject_RichCompare(dict, with, how) : NULL;
}

static PyObject *of_dict(Terms *self, const char *method)
{
    PyObject *dict = dict_of(self);
    return dict ? PyObject_CallMethod(dict, method, NULL) : NULL;
}

static PyObject *terms_keys(Terms *self, PyObject *Py_UNUSED(none))
{
    return of_dict(self, "keys");
}

static PyObject *terms_values(Terms *self, PyObject *Py_UNUSED(none))
{
    return of_dict(self, "values");
}

static PyObject *terms_items(Terms *self, PyObject *Py_UNUSED(none))
{
    return of_dict(self, "items");
}

static PyObject *terms_reduce(Terms *self, PyObject *Py_UNUSED(none))
{
    PyObject *dict = dict_of(self);
    return dict ? Py_BuildValue("O(O)", &PyDict_Type, dict) : NULL;
}

PyDoc_STRVAR(terms_arrays_doc, "arrays() -> (bytes, bytes): the number of each stem as native uint16, and its count as uint32.");

static PyObject *terms_arrays(Terms *self, PyObject *Py_UNUSED(none))
{
    Py_ssize_t size = Py_SIZE(self);
    PyObject *names = PyBytes_FromStringAndSize(NULL, 2 * size), *times = PyBytes_FromStringAndSize(NULL, 4 * size);
    if (!names || !times) {
        Py_XDECREF(names);
        Py_XDECREF(times);
        return NULL;
    }
    for (Py_ssize_t at = 0; at < size; at++) {
        memcpy(PyBytes_AS_STRING(names) + 2 * at, &self->tallies[at].stem->number, 2);
        memcpy(PyBytes_AS_STRING(times) + 4 * at, &self->tallies[at].count, 4);
    }
    return Py_BuildValue("NN", names, times);
}

PyDoc_STRVAR(terms_stem_doc, "stem(at) -> str: by the place in the order of first occurrence.");

static PyObject *terms_stem(Terms *self, PyObject *place)
{
    Py_ssize_t at = PyNumber_AsSsize_t(place, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred())
        return NULL;
    if (at < 0 || at >= Py_SIZE(self))
        return PyErr_Format(PyExc_IndexError, "stem %zd of %zd", at, Py_SIZE(self));
    return Py_NewRef(self->tallies[at].stem->name);
}

PyDoc_STRVAR(terms_total_doc, "total() -> int: the sum of all counts.");

static PyObject *terms_total(Terms *self, PyObject *Py_UNUSED(none))
{
    uint64_t total = 0;
    for (Py_ssize_t at = 0; at < Py_SIZE(self); at++)
        total += self->tallies[at].count;
    return PyLong_FromUnsignedLongLong(total);
}

PyDoc_STRVAR(terms_squares_doc, "squares() -> int: the sum of the squares of all counts.");

static PyObject *terms_squares(Terms *self, PyObject *Py_UNUSED(none))
{
    uint64_t squares = 0;
    for (Py_ssize_t at = 0; at < Py_SIZE(self); at++)
        squares += (uint64_t)self->tallies[at].count * self->tallies[at].count;
    return PyLong_FromUnsignedLongLong(squares);
}

/* Fingerprints ---------------------------------------------------------------------------------------------------- */

static uint64_t spread[256]; /* the bits of a byte as eight bytes of 0 or 1 */

typedef struct {
    const unsigned char *weights; /* of each count, as int32 */
    uint64_t most;
    int32_t votes[64];
    int64_t total;
} Election;

/* Adds the vote of a stem; 1 if the fingerprint cannot be told here: a count without a weight, or sums that 32-bit
   floats, which the twin adds up, would round. */
static int vote(Election *election, uint64_t bits, int64_t count)
{
    int32_t weight;
    if (count < 1 || (uint64_t)count >= election->most)
        return 1;
    memcpy(&weight, election->weights + 4 * count, 4);
    election->total += weight;
    for (int bit = 0; bit < 64; bit++)
        election->votes[bit] += weight & -(int32_t)(bits >> bit & 1);
    return election->total >= 1 << 24;
}

static PyObject *elected(const Election *election)
{
    uint64_t fingerprint = 0;
    for (int bit = 0; bit < 64; bit++)
        fingerprint |= (uint64_t)(2 * (int64_t)election->votes[bit] > election->total) << bit;
    return PyLong_FromUnsignedLongLong(fingerprint);
}

/* Votes of equal weight, counted for all bits of a byte at once: each byte of a lane is a bit's count. */
typedef struct {
    uint64_t lanes[8];
    int counted;
} Ballots;

static void count_ballots(Ballots *ballots, Election *election, int32_t weight)
{
    for (int bit = 0; bit < 64; bit++)
        election->votes[bit] += weight * (int32_t)(ballots->lanes[bit / 8] >> 8 * (bit % 8) & 255);
    election->total += (int64_t)weight * ballots->counted;
    memset(ballots, 0, sizeof *ballots);
}

static void cast_ballot(Ballots *ballots, uint64_t bits)
{
    for (int lane = 0; lane < 8; lane++)
        ballots->lanes[lane] += spread[bits >> 8 * lane & 255];
    ballots->counted++;
}

PyDoc_STRVAR(terms_simhash_doc, "simhash(weights) -> int, or None, as the function of that name.");

static PyObject *terms_simhash(Terms *self, PyObject *given)
{
    Py_buffer weights;
    if (PyObject_GetBuffer(given, &weights, PyBUF_SIMPLE))
        return NULL;
    Election election = {.weights = weights.buf, .most = (uint64_t)weights.len / 4};
    Ballots once = {0}; /* of stems that occur once: most of them */
    int32_t weight = 0;
    if (election.most > 1)
        memcpy(&weight, election.weights + 4, 4);
    int is_unknown = 0;
    for (Py_ssize_t at = 0; at < Py_SIZE(self) && !is_unknown; at++) {
        if (self->tallies[at].count != 1 || election.most < 2) {
            is_unknown = vote(&election, self->tallies[at].stem->vote, self->tallies[at].count);
            continue;
        }
        cast_ballot(&once, self->tallies[at].stem->vote);
        if (once.counted == 255)
            count_ballots(&once, &election, weight);
    }
    count_ballots(&once, &election, weight);
    is_unknown |= election.total >= 1 << 24;
    PyBuffer_Release(&weights);
    return is_unknown ? Py_NewRef(Py_None) : elected(&election);
}

static PyMethodDef terms_methods[] = {
    {"get", (PyCFunction)terms_get, METH_VARARGS, "get(stem, default=None)"},
    {"keys", (PyCFunction)terms_keys, METH_NOARGS, "As of a dict."},
    {"values", (PyCFunction)terms_values, METH_NOARGS, "As of a dict."},
    {"items", (PyCFunction)terms_items, METH_NOARGS, "As of a dict."},
    {"arrays", (PyCFunction)terms_arrays, METH_NOARGS, terms_arrays_doc},
    {"stem", (PyCFunction)terms_stem, METH_O, terms_stem_doc},
    {"total", (PyCFunction)terms_total, METH_NOARGS, terms_total_doc},
    {"squares", (PyCFunction)terms_squares, METH_NOARGS, terms_squares_doc},
    {"simhash", (PyCFunction)terms_simhash, METH_O, terms_simhash_doc},
    {"__reduce__", (PyCFunction)terms_reduce, METH_NOARGS, "A plain dict elsewhere."},
    {NULL},
};

static PyMappingMethods terms_mapping = {
    .mp_length = (lenfunc)terms_length,
    .mp_subscript = (binaryfunc)terms_item,
};
static PySequenceMethods terms_sequence = {.sq_contains = (objobjproc)terms_contains};

static PyTypeObject TermsType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "lycosa.lib._words.Terms",
    .tp_doc = "The counted stems of a text: a mapping that becomes a dict when it is used as one.",
    .tp_basicsize = sizeof(Terms),
    .tp_itemsize = sizeof(Tally),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_MAPPING,
    .tp_dealloc = (destructor)terms_dealloc,
    .tp_as_mapping = &terms_mapping,
    .tp_as_sequence = &terms_sequence,
    .tp_iter = (getiterfunc)terms_iter,
    .tp_repr = (reprfunc)terms_repr,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_richcompare = terms_compare,
    .tp_methods = terms_methods,
};

/* The memo as an object ------------------------------------------------------------------------------------------- */

static int memo_init(Memo *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"missing", "most", "longest", NULL};
    PyObject *missing;
    Py_ssize_t most, longest;
    if (!PyArg_ParseTupleAndKeywords(args, named, "Onn", names, &missing, &most, &longest))
        return -1;
    if (self->missing) {
        PyErr_SetString(PyExc_RuntimeError, "already initialised");
        return -1;
    }
    if (most < 1 || longest < 1 || longest > UINT16_MAX) {
        PyErr_Format(PyExc_ValueError, "most is %zd and longest %zd: from 1 on, longest up to %d", most, longest, UINT16_MAX);
        return -1;
    }
    self->missing = Py_NewRef(missing);
    self->most = (size_t)most;
    self->longest = (size_t)longest;
    return 0;
}

static int memo_traverse(Memo *self, visitproc visit, void *arg)
{
    Py_VISIT(self->missing);
    return 0;
}

static int memo_clear(Memo *self)
{
    Py_CLEAR(self->missing);
    return 0;
}

static void memo_dealloc(Memo *self)
{
    PyObject_GC_UnTrack(self);
    clear_pieces(self);
    PyMem_Free(self->met);
    PyMem_Free(self->scratch);
    memo_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static Py_ssize_t memo_length(Memo *self)
{
    return (Py_ssize_t)self->used;
}

static PyMethodDef memo_methods[] = {
    {"counts", (PyCFunction)counts, METH_O, counts_doc},
    {"terms", (PyCFunction)terms, METH_O, terms_doc},
    {"near", (PyCFunction)near, METH_VARARGS, near_doc},
    {"last", (PyCFunction)last, METH_VARARGS, last_doc},
    {"numbers", (PyCFunction)numbers, METH_VARARGS, numbers_doc},
    {NULL},
};

static PySequenceMethods memo_sequence = {.sq_length = (lenfunc)memo_length};

static PyTypeObject MemoType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "lycosa.lib._words.Memo",
    .tp_doc = "Memo(missing, most, longest): what pieces of texts stand for.\n\n"
              "missing(piece) says it: a str, a tuple of two or more, or an int; None is 0, and not kept. Emptied when it has\n"
              "`most` pieces; pieces of more than `longest` bytes are not kept.",
    .tp_basicsize = sizeof(Memo),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)memo_init,
    .tp_dealloc = (destructor)memo_dealloc,
    .tp_traverse = (traverseproc)memo_traverse,
    .tp_clear = (inquiry)memo_clear,
    .tp_methods = memo_methods,
    .tp_as_sequence = &memo_sequence,
};

PyDoc_STRVAR(simhash_doc, "simhash(terms, weights) -> int, or None if a count has no weight.\n\n"
                          "weights: the weight of each count from 0, as native int32.");

static PyObject *simhash(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *terms, *stem, *count;
    Py_buffer weights;
    if (!PyArg_ParseTuple(args, "O!y*", &PyDict_Type, &terms, &weights))
        return NULL;
    Election election = {.weights = weights.buf, .most = (uint64_t)weights.len / 4};
    Py_ssize_t place = 0;
    int is_unknown = 0, failed = 0;
    while (!is_unknown && !failed && PyDict_Next(terms, &place, &stem, &count)) {
        long times = PyLong_AsLong(count);
        Py_ssize_t length;
        const char *name = PyUnicode_AsUTF8AndSize(stem, &length);
        failed = !name || PyErr_Occurred();
        if (!failed)
            is_unknown = vote(&election, vote_of(name, length), times);
    }
    PyBuffer_Release(&weights);
    return failed ? NULL : is_unknown ? Py_NewRef(Py_None) : elected(&election);
}

PyDoc_STRVAR(stem_numbers_doc, "stem_numbers(stems) -> native uint16 as bytes.\n\n"
                               "The low bits of the CRC-32 of each, 1 instead of 0.");

static int stem_number(PyObject *stem, uint16_t *number)
{
    Py_ssize_t length;
    PyObject *replaced = NULL;
    const char *name = PyUnicode_Check(stem) ? PyUnicode_AsUTF8AndSize(stem, &length) : NULL;
    if (!name) { /* a surrogate without its other half becomes a question mark */
        if (!PyUnicode_Check(stem)) {
            PyErr_SetString(PyExc_TypeError, "stems are strings");
            return -1;
        }
        PyErr_Clear();
        replaced = PyUnicode_AsEncodedString(stem, "utf-8", "replace");
        if (!replaced)
            return -1;
        name = PyBytes_AS_STRING(replaced);
        length = PyBytes_GET_SIZE(replaced);
    }
    *number = number_of(name, length);
    Py_XDECREF(replaced);
    return 0;
}

static PyObject *stem_numbers(PyObject *Py_UNUSED(module), PyObject *stems)
{
    PyObject *listed = PySequence_Fast(stems, "stem_numbers takes an iterable");
    if (!listed)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(listed);
    PyObject *result = PyBytes_FromStringAndSize(NULL, count * 2);
    for (Py_ssize_t i = 0; result && i < count; i++) {
        uint16_t number = 0;
        if (stem_number(PySequence_Fast_GET_ITEM(listed, i), &number))
            Py_CLEAR(result);
        else
            memcpy(PyBytes_AS_STRING(result) + 2 * i, &number, 2);
    }
    Py_DECREF(listed);
    return result;
}

PyDoc_STRVAR(strongest_doc, "strongest(numbers as float32, most) -> list of places\n\n"
                            "Of those that are not 0 and, by their absolute value, not less than the most-th.");

static PyObject *strongest(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer given;
    int most, kept = 0;
    if (!PyArg_ParseTuple(args, "y*i", &given, &most))
        return NULL;
    float top[64], least = 0; /* the largest so far, in descending order */
    const char *numbers = given.buf;
    Py_ssize_t count = given.len / 4;
    PyObject *places = most >= 1 && most <= 64 ? PyList_New(0) : PyErr_Format(PyExc_ValueError, "most is %d: from 1 to 64", most);
    for (Py_ssize_t at = 0; places && at < count; at++) {
        float number;
        memcpy(&number, numbers + 4 * at, 4);
        number = fabsf(number);
        if (kept == most && !(number > top[kept - 1]))
            continue;
        int place = kept < most ? kept++ : kept - 1;
        for (; place && top[place - 1] < number; place--)
            top[place] = top[place - 1];
        top[place] = number;
    }
    if (places && kept == most && count > most)
        least = top[kept - 1];
    for (Py_ssize_t at = 0; places && at < count; at++) {
        float number;
        memcpy(&number, numbers + 4 * at, 4);
        number = fabsf(number);
        if (!(number >= least && number > 0))
            continue;
        PyObject *place = PyLong_FromSsize_t(at);
        if (!place || PyList_Append(places, place))
            Py_CLEAR(places);
        Py_XDECREF(place);
    }
    PyBuffer_Release(&given);
    return places;
}

PyDoc_STRVAR(url_places_doc, "url_places(urls, size) -> native int32 as bytes: hashes of host and folder of each, from 1 to size - 1");

/* The part of a folder that is its host, as `strategies.hunter.notes` sees it. */
static void host_of(const char **from, Py_ssize_t *length)
{
    const char *end = *from + *length, *slash = memchr(*from, '/', (size_t)*length);
    const char *second = slash ? memchr(slash + 1, '/', (size_t)(end - slash - 1)) : NULL;
    if (!second)
        return;
    const char *third = memchr(second + 1, '/', (size_t)(end - second - 1));
    *from = second + 1;
    *length = (third ? third : end) - second - 1;
}

static PyObject *url_places(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *urls;
    int size;
    if (!PyArg_ParseTuple(args, "O!i", &PyList_Type, &urls, &size))
        return NULL;
    if (size < 2)
        return PyErr_Format(PyExc_ValueError, "size is %d: from 2", size);
    Py_ssize_t count = PyList_GET_SIZE(urls), known = -1;
    PyObject *result = PyBytes_FromStringAndSize(NULL, count * 8);
    const char *last = NULL; /* the folder before, as many links are in one */
    int32_t hashes[2] = {0, 0};
    for (Py_ssize_t at = 0; result && at < count; at++) {
        Py_ssize_t length;
        PyObject *url = PyList_GET_ITEM(urls, at);
        const char *text = PyUnicode_Check(url) ? PyUnicode_AsUTF8AndSize(url, &length) : NULL;
        if (!text) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "URLs are strings");
            Py_CLEAR(result);
            break;
        }
        const char *query = memchr(text, '?', (size_t)length);
        Py_ssize_t folder = query ? query - text : length;
        while (folder && text[folder - 1] != '/')
            folder--;
        folder -= folder > 0; /* without the slash; empty if there is none */
        if (folder != known || memcmp(text, last, (size_t)folder)) {
            const char *host = text;
            Py_ssize_t host_length = folder;
            host_of(&host, &host_length);
            hashes[0] = (int32_t)(crc32_of(host, (size_t)host_length) % (uint32_t)(size - 1)) + 1;
            hashes[1] = (int32_t)(crc32_of(text, (size_t)folder) % (uint32_t)(size - 1)) + 1;
            last = text;
            known = folder;
        }
        memcpy(PyBytes_AS_STRING(result) + 8 * at, hashes, 8);
    }
    return result;
}

static PyMethodDef functions[] = {
    {"simhash", simhash, METH_VARARGS, simhash_doc},
    {"strongest", strongest, METH_VARARGS, strongest_doc},
    {"url_places", url_places, METH_VARARGS, url_places_doc},
    {"stem_numbers", stem_numbers, METH_O, stem_numbers_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lycosa.lib._words",
    .m_doc = "The inner loops of lib.text, lib.wordhash and page.fingerprint.",
    .m_size = -1,
    .m_methods = functions,
};

static int draw_secret(void)
{
    PyObject *os = PyImport_ImportModule("os");
    PyObject *drawn = os ? PyObject_CallMethod(os, "urandom", "i", (int)sizeof secret) : NULL;
    int failed = !drawn || PyBytes_GET_SIZE(drawn) != sizeof secret;
    if (!failed)
        memcpy(secret, PyBytes_AS_STRING(drawn), sizeof secret);
    secret[1] |= 1;
    Py_XDECREF(drawn);
    Py_XDECREF(os);
    return failed;
}

PyMODINIT_FUNC PyInit__words(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
        crc_table[byte] = crc;
        for (int bit = 0; bit < 8; bit++)
            spread[byte] |= (uint64_t)(byte >> bit & 1) << 8 * bit;
    }
    if (draw_secret())
        return NULL;
    if (PyType_Ready(&StemsType) || PyType_Ready(&TermsType) || PyType_Ready(&MemoType))
        return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && (PyModule_AddObjectRef(made, "Memo", (PyObject *)&MemoType)
                 || PyModule_AddObjectRef(made, "Terms", (PyObject *)&TermsType)))
        Py_CLEAR(made);
    return made;
}
