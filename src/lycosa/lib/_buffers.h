/* Arrays that are handed to C: taken one by one, each of a known size of its numbers, and let go together. */

#ifndef LYCOSA_BUFFERS_H
#define LYCOSA_BUFFERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Takes `count` arrays, the last ones, `written` of them, for writing. 0, or -1 with an exception and none of them. */
static int take_arrays(PyObject *const *arrays, Py_buffer *views, const Py_ssize_t *sizes, int count, int written)
{
    int held = 0;
    while (held < count) {
        const int flags = held >= count - written ? PyBUF_ND | PyBUF_WRITABLE : PyBUF_ND;
        if (PyObject_GetBuffer(arrays[held], &views[held], flags) < 0)
            break;
        held++;
        if (views[held - 1].itemsize != sizes[held - 1]) {
            PyErr_SetString(PyExc_TypeError, "an array of another kind than expected");
            break;
        }
    }
    if (!PyErr_Occurred())
        return 0;
    while (held)
        PyBuffer_Release(&views[--held]);
    return -1;
}

/* Lets go of them; None, or NULL if there was an exception meanwhile. */
static PyObject *let_go(Py_buffer *views, int count)
{
    while (count)
        PyBuffer_Release(&views[--count]);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

#endif
