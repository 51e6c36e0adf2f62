/* The blocks of a host with those of one page more: both in ascending order, and so is what they become.

   The twin in `furniture` is the reference. Blocks come from a reader, and may be in any order: what they become is then
   of no use, but nothing is written beyond its end. */

#include "../lib/_buffers.h"
#include <stdint.h>

enum { HASHES, COUNTS, BLOCKS, MERGED, ARRAYS };
static const Py_ssize_t SIZES[ARRAYS] = {4, 4, 4, 4};

/* Returns how many there are. `merged`: hashes, and after `room` of them the counts. */
static Py_ssize_t merge(const uint32_t *hashes, const uint32_t *counts, Py_ssize_t known, const uint32_t *blocks,
                        Py_ssize_t shown, uint32_t *merged, Py_ssize_t room)
{
    Py_ssize_t at = 0, next = 0, size = 0;
    while (at < known || next < shown) {
        const int is_known = at < known && (next == shown || hashes[at] <= blocks[next]);
        const int is_shown = next < shown && (at == known || blocks[next] <= hashes[at]);
        merged[size] = is_known ? hashes[at] : blocks[next];
        merged[room + size] = (is_known ? counts[at] : 0) + (uint32_t)is_shown;
        at += is_known;
        next += is_shown;
        size++;
    }
    return size;
}

/* add_page(hashes, counts, blocks, merged) -> how many there are now */
static PyObject *add_page(PyObject *self, PyObject *given)
{
    PyObject *arrays[ARRAYS], *nothing;
    Py_buffer views[ARRAYS];
    Py_ssize_t size = 0;
    (void)self;
    if (!PyArg_ParseTuple(given, "OOOO", &arrays[HASHES], &arrays[COUNTS], &arrays[BLOCKS], &arrays[MERGED]))
        return NULL;
    if (take_arrays(arrays, views, SIZES, ARRAYS, 1) < 0)
        return NULL;
    const Py_ssize_t known = views[HASHES].len / 4, shown = views[BLOCKS].len / 4, room = views[MERGED].len / 8;
    if (views[COUNTS].len != views[HASHES].len || room < known + shown)
        PyErr_SetString(PyExc_ValueError, "arrays of other lengths than expected");
    else
        size = merge(views[HASHES].buf, views[COUNTS].buf, known, views[BLOCKS].buf, shown, views[MERGED].buf, room);
    nothing = let_go(views, ARRAYS);
    if (!nothing)
        return NULL;
    Py_DECREF(nothing);
    return PyLong_FromSsize_t(size);
}

static PyMethodDef METHODS[] = {
    {"add_page", add_page, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.page._furniture", "See `furniture`.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__furniture(void)
{
    return PyModule_Create(&MODULE);
}
