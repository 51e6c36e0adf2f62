/* The two products of `sparse.Rows`, as scipy computes them: floats, added one after the other.

   The twins in `sparse` are the reference, and give the same bits. */

#include "_buffers.h"
#include <stdint.h>

enum { VALUES, COLUMNS, STARTS, FACTORS, SUMS, ARRAYS };
static const Py_ssize_t SIZES[ARRAYS] = {4, 2, 8, 4, 4};

static int is_matrix(const Py_buffer *views, Py_ssize_t rows, Py_ssize_t width)
{
    const int64_t *starts = views[STARTS].buf;
    const uint16_t *columns = views[COLUMNS].buf;
    const Py_ssize_t count = views[VALUES].len / 4;
    if (views[STARTS].len / 8 != rows + 1 || views[COLUMNS].len / 2 != count || starts[0] != 0 || starts[rows] != count)
        return 0;
    for (Py_ssize_t row = 0; row < rows; row++)
        if (starts[row] > starts[row + 1])
            return 0;
    if (width > UINT16_MAX)
        return 1;
    for (Py_ssize_t at = 0; at < count; at++)
        if (columns[at] >= width)
            return 0;
    return 1;
}

static void add_up(const Py_buffer *views, Py_ssize_t rows, int by_row)
{
    const float *values = views[VALUES].buf, *factors = views[FACTORS].buf;
    const uint16_t *columns = views[COLUMNS].buf;
    const int64_t *starts = views[STARTS].buf;
    float *sums = views[SUMS].buf;
    for (Py_ssize_t row = 0; row < rows; row++) {
        if (by_row) {
            float sum = sums[row];
            for (int64_t at = starts[row]; at < starts[row + 1]; at++)
                sum += values[at] * factors[columns[at]];
            sums[row] = sum;
        } else {
            const float factor = factors[row];
            for (int64_t at = starts[row]; at < starts[row + 1]; at++)
                sums[columns[at]] += values[at] * factor;
        }
    }
}

static PyObject *product(PyObject *given, int by_row)
{
    PyObject *arrays[ARRAYS];
    Py_buffer views[ARRAYS];
    if (!PyArg_ParseTuple(given, "OOOOO", &arrays[VALUES], &arrays[COLUMNS], &arrays[STARTS], &arrays[FACTORS],
                          &arrays[SUMS]))
        return NULL;
    if (take_arrays(arrays, views, SIZES, ARRAYS, 1) < 0)
        return NULL;
    const Py_ssize_t rows = (by_row ? views[SUMS].len : views[FACTORS].len) / 4;
    const Py_ssize_t width = (by_row ? views[FACTORS].len : views[SUMS].len) / 4;
    if (!is_matrix(views, rows, width)) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, ARRAYS);
    }
    Py_BEGIN_ALLOW_THREADS
    add_up(views, rows, by_row);
    Py_END_ALLOW_THREADS
    return let_go(views, ARRAYS);
}

/* by_row(values, columns, starts, factors of columns, sums of rows) */
static PyObject *by_row(PyObject *self, PyObject *given)
{
    (void)self;
    return product(given, 1);
}

/* by_column(values, columns, starts, factors of rows, sums of columns) */
static PyObject *by_column(PyObject *self, PyObject *given)
{
    (void)self;
    return product(given, 0);
}

static PyMethodDef METHODS[] = {
    {"by_row", by_row, METH_VARARGS, NULL}, {"by_column", by_column, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.lib._sparse", "See `sparse`.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__sparse(void)
{
    return PyModule_Create(&MODULE);
}
