/* `HashIndex.find_or_add` on a table that has room: one hash after the other, where numpy takes a dozen calls.

   The twin in `hashindex` is the reference: both find the same numbers, and count the same hashes as new. Within a
   bucket, hashes may stand in another order. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

enum { WIDTH = 16, ARRAYS = 6 };
enum { FLAT, IDS, FILL, KEYS, FOUND, IS_NEW };
static const Py_ssize_t SIZES[ARRAYS] = {8, 4, 1, 8, 8, 1};
static const uint64_t SPREAD = 0x9E3779B97F4A7C15u;

static int is_table(const Py_buffer *views, int shift, Py_ssize_t *buckets)
{
    *buckets = views[FILL].len;
    return shift > 32 && shift < 64 && *buckets == (Py_ssize_t)1 << (64 - shift)
        && views[FLAT].len == *buckets * WIDTH * 8 && views[IDS].len == *buckets * WIDTH * 4;
}

/* Returns the number of new hashes; -1 if there is no room. */
static Py_ssize_t number_all(const Py_buffer *views, int shift, Py_ssize_t buckets, int64_t next)
{
    uint64_t *flat = views[FLAT].buf;
    uint32_t *ids = views[IDS].buf;
    uint8_t *fill = views[FILL].buf, *is_new = views[IS_NEW].buf;
    const uint64_t *keys = views[KEYS].buf;
    int64_t *found = views[FOUND].buf;
    const int64_t first = next;
    for (Py_ssize_t row = 0; row < views[KEYS].len / 8; row++) {
        const uint64_t key = keys[row];
        uint64_t bucket = (key * SPREAD) >> shift;
        Py_ssize_t looked_at = 0;
        for (;;) {
            uint64_t *held = flat + bucket * WIDTH;
            const int count = fill[bucket] < WIDTH ? fill[bucket] : WIDTH;
            int at = 0;
            while (at < count && held[at] != key)
                at++;
            if (at < count) {
                found[row] = ids[bucket * WIDTH + at];
                is_new[row] = 0;
                break;
            }
            if (count < WIDTH) {
                held[count] = key;
                ids[bucket * WIDTH + count] = (uint32_t)next;
                fill[bucket]++;
                found[row] = next++;
                is_new[row] = 1;
                break;
            }
            if (++looked_at == buckets)
                return -1;
            bucket = (bucket + 1) & (uint64_t)(buckets - 1);
        }
    }
    return next - first;
}

/* find_or_add(flat, ids, fill, shift, keys, first_new_id, found, is_new): fills the last two; the number of new ones */
static PyObject *find_or_add(PyObject *self, PyObject *given)
{
    PyObject *arrays[ARRAYS];
    Py_buffer views[ARRAYS];
    Py_ssize_t buckets, count = -1;
    int shift, held = 0;
    long long next;
    (void)self;
    if (!PyArg_ParseTuple(given, "OOOiOLOO", &arrays[FLAT], &arrays[IDS], &arrays[FILL], &shift, &arrays[KEYS], &next,
                          &arrays[FOUND], &arrays[IS_NEW]))
        return NULL;
    while (held < ARRAYS) {
        const int flags = held == KEYS ? PyBUF_ND : PyBUF_ND | PyBUF_WRITABLE;
        if (PyObject_GetBuffer(arrays[held], &views[held], flags) < 0)
            goto end;
        held++;
        if (views[held - 1].itemsize != SIZES[held - 1]) {
            PyErr_SetString(PyExc_TypeError, "an array of another kind than expected");
            goto end;
        }
    }
    if (!is_table(views, shift, &buckets) || views[FOUND].len != views[KEYS].len
        || views[IS_NEW].len != views[KEYS].len / 8) {
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
        goto end;
    }
    count = number_all(views, shift, buckets, next);
    if (count < 0)
        PyErr_SetString(PyExc_ValueError, "the table is full");
end:
    while (held)
        PyBuffer_Release(&views[--held]);
    return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(count);
}

static PyMethodDef METHODS[] = {{"find_or_add", find_or_add, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.lib._hashindex", "See `hashindex`.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__hashindex(void)
{
    return PyModule_Create(&MODULE);
}
