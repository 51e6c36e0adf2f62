/* Words at machine speed: the inner loops of `lib.text`, `lib.wordhash` and `page.fingerprint`.

   Each has a twin in Python, which is the reference and serves where this module was not compiled; tests compare them.

   A text is folded (ASCII letters to lower case, all other ASCII but digits to spaces) and cut at spaces. Each piece is
   looked up in a table; only an unknown one is handed to Python, which says what it stands for: stems, or a number. The
   hash is keyed at random, so that no page can choose words that collide. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only for little-endian machines; others do without"
#endif

static unsigned char fold[256];
static uint64_t secret[2];

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const unsigned char *key, size_t length)
{
    uint64_t hash = secret[0] ^ length, chunk;
    while (length > 8) {
        memcpy(&chunk, key, 8);
        hash = mixed(hash ^ chunk, secret[1]);
        key += 8;
        length -= 8;
    }
    chunk = 0;
    memcpy(&chunk, key, length);
    return mixed(hash ^ chunk, secret[1]) | 1; /* 0 is an empty slot */
}

/* A stem, as it is counted in the current text. */
typedef struct {
    PyObject *name;
    uint64_t text; /* the text in which it was last met */
    uint32_t count;
} Stem;

#define SHORT_KEY 24

typedef struct {
    uint64_t hash;
    uint32_t length;
    uint32_t stems; /* how many */
    union {
        Stem *one;
        Stem **several;
        int32_t number;
    } as;
    union {
        unsigned char is[SHORT_KEY];
        unsigned char *at; /* of a longer one */
    } key;
} Piece;

static inline const unsigned char *key_of(const Piece *piece)
{
    return piece->length > SHORT_KEY ? piece->key.at : piece->key.is;
}

static void free_piece(Piece *piece)
{
    if (piece->length > SHORT_KEY)
        PyMem_Free(piece->key.at);
    if (piece->stems > 1)
        PyMem_Free(piece->as.several);
}

/* Pieces of texts and what they stand for. Stems are shared by the pieces that have them. */
typedef struct {
    PyObject_HEAD
    PyObject *missing;
    PyObject *stem_of; /* dict: name → capsule of a Stem */
    Piece *pieces;
    size_t slots, used, most, longest;
    uint64_t text;
    Stem **met; /* the stems of the current text, in order */
    size_t met_count, met_room;
    unsigned char *scratch;
    size_t scratch_room;
} Memo;

static void free_stem(PyObject *capsule)
{
    Stem *stem = PyCapsule_GetPointer(capsule, NULL);
    Py_DECREF(stem->name);
    PyMem_Free(stem);
}

static void clear_pieces(Memo *self)
{
    for (size_t slot = 0; slot < self->slots; slot++) {
        if (self->pieces[slot].hash)
            free_piece(&self->pieces[slot]);
    }
    PyMem_Free(self->pieces);
    self->pieces = NULL;
    self->slots = self->used = 0;
    PyDict_Clear(self->stem_of);
}

static int grow(Memo *self)
{
    size_t slots = self->slots ? 2 * self->slots : 1024;
    Piece *pieces = PyMem_Calloc(slots, sizeof(Piece));
    if (!pieces) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t slot = 0; slot < self->slots; slot++) {
        if (self->pieces[slot].hash) {
            size_t at = self->pieces[slot].hash & (slots - 1);
            while (pieces[at].hash)
                at = (at + 1) & (slots - 1);
            pieces[at] = self->pieces[slot];
        }
    }
    PyMem_Free(self->pieces);
    self->pieces = pieces;
    self->slots = slots;
    return 0;
}

static Stem *stem_named(Memo *self, PyObject *name)
{
    PyObject *capsule = PyDict_GetItemWithError(self->stem_of, name);
    if (capsule)
        return PyCapsule_GetPointer(capsule, NULL);
    if (PyErr_Occurred())
        return NULL;
    Stem *stem = PyMem_Calloc(1, sizeof(Stem));
    if (!stem) {
        PyErr_NoMemory();
        return NULL;
    }
    capsule = PyCapsule_New(stem, NULL, free_stem);
    if (!capsule) {
        PyMem_Free(stem);
        return NULL;
    }
    stem->name = Py_NewRef(name);
    int failed = PyDict_SetItem(self->stem_of, name, capsule);
    Py_DECREF(capsule); /* on failure this frees the stem */
    return failed ? NULL : stem;
}

/* What `missing` says of a piece: a number, a stem, or a tuple of stems. None: nothing, and not to be kept.
   -1 on error, 1 if the piece is to be kept. */
static int ask(Memo *self, Piece *piece, const unsigned char *key, size_t length)
{
    PyObject *answer = PyObject_CallFunction(self->missing, "y#", key, (Py_ssize_t)length);
    if (!answer)
        return -1;
    int failed = 0, is_kept = answer != Py_None;
    piece->stems = 0;
    piece->as.number = 0;
    if (!is_kept) {
        /* nothing */
    } else if (PyLong_Check(answer)) {
        piece->as.number = (int32_t)PyLong_AsLong(answer);
        failed = PyErr_Occurred() != NULL;
    } else if (PyUnicode_Check(answer)) {
        if (PyUnicode_GET_LENGTH(answer)) {
            piece->stems = 1;
            piece->as.one = stem_named(self, answer);
            failed = !piece->as.one;
        }
    } else if (PyTuple_Check(answer) && PyTuple_GET_SIZE(answer) > 1) {
        Py_ssize_t count = PyTuple_GET_SIZE(answer);
        Stem **several = PyMem_Calloc(count, sizeof(Stem *));
        failed = !several;
        if (failed)
            PyErr_NoMemory();
        for (Py_ssize_t at = 0; !failed && at < count; at++) {
            PyObject *name = PyTuple_GET_ITEM(answer, at);
            if (!PyUnicode_Check(name)) {
                PyErr_SetString(PyExc_TypeError, "stems must be strings");
                failed = 1;
            } else {
                several[at] = stem_named(self, name);
                failed = !several[at];
            }
        }
        if (failed)
            PyMem_Free(several);
        else {
            piece->stems = (uint32_t)count;
            piece->as.several = several;
        }
    } else {
        PyErr_SetString(PyExc_TypeError, "missing() must return an int, a str, a tuple of two or more, or None");
        failed = 1;
    }
    Py_DECREF(answer);
    return failed ? -1 : is_kept;
}

/* The piece with this key; one that is not to be kept is put into `spare`. NULL on error. */
static Piece *look_up(Memo *self, const unsigned char *key, size_t length, Piece *spare)
{
    if (length > self->longest)
        return ask(self, spare, key, length) < 0 ? NULL : spare;
    uint64_t hash = hash_of(key, length);
    size_t at = hash & (self->slots - 1);
    for (; self->pieces[at].hash; at = (at + 1) & (self->slots - 1)) {
        Piece *piece = &self->pieces[at];
        if (piece->hash == hash && piece->length == length && !memcmp(key_of(piece), key, length))
            return piece;
    }
    Piece found = {.hash = hash, .length = (uint32_t)length};
    int is_kept = ask(self, &found, key, length);
    if (is_kept < 0)
        return NULL;
    if (!is_kept) {
        *spare = found;
        return spare;
    }
    if (length > SHORT_KEY && !(found.key.at = PyMem_Malloc(length))) {
        found.length = 0; /* there is no key to be freed */
        free_piece(&found);
        PyErr_NoMemory();
        return NULL;
    }
    memcpy((unsigned char *)key_of(&found), key, length);
    if (2 * (self->used + 1) > self->slots && grow(self)) {
        free_piece(&found);
        return NULL;
    }
    at = hash & (self->slots - 1);
    while (self->pieces[at].hash)
        at = (at + 1) & (self->slots - 1);
    self->pieces[at] = found;
    self->used++;
    return &self->pieces[at];
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
    if ((size_t)length + 1 > self->scratch_room) {
        unsigned char *scratch = PyMem_Realloc(self->scratch, length + 1);
        if (!scratch) {
            Py_XDECREF(encoded);
            PyErr_NoMemory();
            return -1;
        }
        self->scratch = scratch;
        self->scratch_room = length + 1;
    }
    unsigned char *out = self->scratch;
    if (separators && !PyUnicode_IS_ASCII(text)) {
        for (Py_ssize_t at = 0; at < length;) {
            unsigned char byte = (unsigned char)data[at];
            Py_ssize_t taken = 0;
            if (byte >= 0x80) {
                for (Py_ssize_t each = 0; each < PyTuple_GET_SIZE(separators); each++) {
                    PyObject *separator = PyTuple_GET_ITEM(separators, each);
                    Py_ssize_t size = PyBytes_GET_SIZE(separator);
                    if (size <= length - at && !memcmp(PyBytes_AS_STRING(separator), data + at, size)) {
                        taken = size;
                        break;
                    }
                }
            }
            if (taken) {
                memset(out + at, ' ', taken);
                at += taken;
            } else {
                out[at] = fold[byte];
                at++;
            }
        }
    } else {
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] = fold[(unsigned char)data[at]];
    }
    out[length] = ' ';
    Py_XDECREF(encoded);
    return length;
}

static int begin(Memo *self)
{
    if (self->text & 1) {
        PyErr_SetString(PyExc_RuntimeError, "this memo is being used");
        return -1;
    }
    self->text |= 1;
    if (self->used >= self->most || (size_t)PyDict_GET_SIZE(self->stem_of) >= self->most)
        clear_pieces(self);
    return self->slots ? 0 : grow(self);
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

static int meet(Memo *self, Stem *stem)
{
    if (stem->text == self->text) {
        stem->count++;
        return 0;
    }
    stem->text = self->text;
    stem->count = 1;
    if (self->met_count == self->met_room) {
        size_t room = self->met_room ? 2 * self->met_room : 1024;
        Stem **met = PyMem_Realloc(self->met, room * sizeof(Stem *));
        if (!met) {
            PyErr_NoMemory();
            return -1;
        }
        self->met = met;
        self->met_room = room;
    }
    self->met[self->met_count++] = stem;
    return 0;
}

PyDoc_STRVAR(counts_doc, "counts(text) -> dict: the number of occurrences of each stem, in order of first occurrence.");

static PyObject *counts(Memo *self, PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a str is needed");
    if (begin(self))
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t length = fold_text(self, text, NULL), start = 0;
    if (length < 0)
        goto done;
    self->met_count = 0;
    for (Py_ssize_t at = 0; at <= length; at++) {
        if (self->scratch[at] != ' ')
            continue;
        if (at > start) {
            Piece spare, *piece = look_up(self, self->scratch + start, at - start, &spare);
            if (!piece)
                goto done;
            if (piece->stems == 1) {
                if (meet(self, piece->as.one))
                    goto done;
            } else if (piece->stems) {
                int failed = 0;
                for (uint32_t each = 0; each < piece->stems && !failed; each++)
                    failed = meet(self, piece->as.several[each]);
                if (piece == &spare)
                    PyMem_Free(spare.as.several);
                if (failed)
                    goto done;
            }
        }
        start = at + 1;
    }
    result = PyDict_New();
    for (size_t at = 0; result && at < self->met_count; at++) {
        PyObject *count = PyLong_FromUnsignedLong(self->met[at]->count);
        if (!count || PyDict_SetItem(result, self->met[at]->name, count))
            Py_CLEAR(result);
        Py_XDECREF(count);
    }
done:
    end(self);
    return result;
}

PyDoc_STRVAR(numbers_doc, "numbers(text, separators) -> bytes: the number of each piece, in order, as native int32.\n\n"
                          "separators: tuple of characters outside ASCII in UTF-8 that end a piece, too.");

static PyObject *numbers(Memo *self, PyObject *args)
{
    PyObject *text, *separators, *result = NULL;
    if (!PyArg_ParseTuple(args, "UO!", &text, &PyTuple_Type, &separators))
        return NULL;
    for (Py_ssize_t each = 0; each < PyTuple_GET_SIZE(separators); each++) {
        PyObject *separator = PyTuple_GET_ITEM(separators, each);
        if (!PyBytes_Check(separator) || !PyBytes_GET_SIZE(separator))
            return PyErr_Format(PyExc_TypeError, "separators must be bytes, and not empty");
    }
    if (begin(self))
        return NULL;
    Py_ssize_t length = fold_text(self, text, separators), start = 0, count = 0;
    if (length < 0)
        goto done;
    result = PyBytes_FromStringAndSize(NULL, 4 * ((length + 1) / 2));
    if (!result)
        goto done;
    int32_t *found = (int32_t *)PyBytes_AS_STRING(result);
    for (Py_ssize_t at = 0; at <= length; at++) {
        if (self->scratch[at] != ' ')
            continue;
        if (at > start) {
            Piece spare, *piece = look_up(self, self->scratch + start, at - start, &spare);
            if (!piece) {
                Py_CLEAR(result);
                goto done;
            }
            found[count++] = piece->as.number;
        }
        start = at + 1;
    }
    _PyBytes_Resize(&result, 4 * count);
done:
    end(self);
    return result;
}

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
    self->stem_of = PyDict_New();
    if (!self->stem_of)
        return -1;
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
    if (self->stem_of)
        clear_pieces(self);
    Py_XDECREF(self->stem_of);
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
    const int32_t *weight_of = weights.buf;
    long most = (long)(weights.len / 4);
    int32_t votes[64] = {0};
    int64_t total = 0;
    Py_ssize_t place = 0;
    while (PyDict_Next(terms, &place, &stem, &count)) {
        long times = PyLong_AsLong(count);
        Py_ssize_t length;
        const char *name = PyUnicode_AsUTF8AndSize(stem, &length);
        if (!name || PyErr_Occurred()) {
            PyBuffer_Release(&weights);
            return NULL;
        }
        if (times < 1 || times >= most) {
            PyBuffer_Release(&weights);
            Py_RETURN_NONE;
        }
        uint64_t half[2] = {0, 0};
        memcpy(half, name, length < 16 ? length : 16);
        uint64_t hash = (half[0] + 0x9E3779B97F4A7C15u) * 0xC2B2AE3D27D4EB4Fu
                        ^ (half[1] + 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 30;
        hash *= 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 27;
        hash *= 0x94D049BB133111EBu;
        hash ^= hash >> 31;
        int32_t weight = weight_of[times];
        total += weight;
        for (int bit = 0; bit < 64; bit++)
            votes[bit] += weight & -(int32_t)(hash >> bit & 1);
        if (total >= 1 << 24) { /* beyond that, sums of 32-bit floats are rounded */
            PyBuffer_Release(&weights);
            Py_RETURN_NONE;
        }
    }
    PyBuffer_Release(&weights);
    uint64_t fingerprint = 0;
    for (int bit = 0; bit < 64; bit++)
        fingerprint |= (uint64_t)(2 * (int64_t)votes[bit] > total) << bit;
    return PyLong_FromUnsignedLongLong(fingerprint);
}

PyDoc_STRVAR(stem_numbers_doc, "stem_numbers(stems) -> native uint16 as bytes.\n\n"
                               "The low bits of the CRC-32 of each, 1 instead of 0.");

static uint32_t crc_table[256];

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
    uint32_t crc = 0xFFFFFFFFu;
    for (Py_ssize_t i = 0; i < length; i++)
        crc = crc >> 8 ^ crc_table[(crc ^ (unsigned char)name[i]) & 0xFF];
    uint16_t low = (uint16_t)~crc;
    *number = low ? low : 1;
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

static PyMethodDef functions[] = {
    {"simhash", simhash, METH_VARARGS, simhash_doc},
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
    for (int byte = 0; byte < 256; byte++) {
        int is_kept = byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z');
        fold[byte] = byte >= 'A' && byte <= 'Z' ? byte + 32 : is_kept ? byte : ' ';
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
        crc_table[byte] = crc;
    }
    if (draw_secret())
        return NULL;
    if (PyType_Ready(&MemoType))
        return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "Memo", (PyObject *)&MemoType))
        Py_CLEAR(made);
    return made;
}
