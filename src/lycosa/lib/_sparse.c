/* The two products of `sparse.Rows`, as scipy computes them: floats, added one after the other; how rows of length 1 are
   made, and how columns are counted, as numpy does.

   The twins in `sparse` are the reference, and give the same bits. */

#include "_buffers.h"
#include <math.h>
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

/* Whether these are the ends of rows that have `count` values, none of them empty. */
static int are_rows(const Py_buffer *starts, Py_ssize_t count)
{
    const int64_t *at = starts->buf;
    const Py_ssize_t rows = starts->len / 8 - 1;
    if (rows < 0 || at[0] != 0 || at[rows] != count)
        return 0;
    for (Py_ssize_t row = 0; row < rows; row++)
        if (at[row] >= at[row + 1])
            return 0;
    return 1;
}

enum { EIGHT = 8, PIECE = 128 };

/* The sum of squares in the order in which numpy adds: eight sums side by side, halves of what is long. */
static float pairwise(const float *values, int64_t count)
{
    if (count < EIGHT) {
        float sum = 0;
        for (int64_t at = 0; at < count; at++)
            sum += values[at] * values[at];
        return sum;
    }
    if (count > PIECE) {
        const int64_t half = count / 2 - count / 2 % EIGHT;
        return pairwise(values, half) + pairwise(values + half, count - half);
    }
    float sums[EIGHT];
    for (int64_t at = 0; at < EIGHT; at++)
        sums[at] = values[at] * values[at];
    const int64_t even = count - count % EIGHT;
    for (int64_t at = EIGHT; at < even; at += EIGHT)
        for (int64_t each = 0; each < EIGHT; each++)
            sums[each] += values[at + each] * values[at + each];
    float sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (int64_t at = even; at < count; at++)
        sum += values[at] * values[at];
    return sum;
}

enum { U_COLUMNS, U_COUNTS, U_STARTS, U_BY_COUNT, U_BY_COLUMN, U_VALUES, U_NORMS, U_ARRAYS };
static const Py_ssize_t U_SIZES[U_ARRAYS] = {2, 1, 8, 4, 4, 4, 4};

static int do_fit(const Py_buffer *views)
{
    const uint16_t *columns = views[U_COLUMNS].buf;
    const Py_ssize_t count = views[U_COLUMNS].len / 2, width = views[U_BY_COLUMN].len / 4;
    if (views[U_COUNTS].len != count || views[U_VALUES].len / 4 != count || views[U_BY_COUNT].len / 4 <= UINT8_MAX ||
        !are_rows(&views[U_STARTS], count) || views[U_NORMS].len / 4 != views[U_STARTS].len / 8 - 1)
        return 0;
    for (Py_ssize_t at = 0; width <= UINT16_MAX && at < count; at++)
        if (columns[at] >= width)
            return 0;
    return 1;
}

/* unit_rows(columns, counts, starts, factors of counts, factors of columns, values, norms) */
static PyObject *unit_rows(PyObject *self, PyObject *given)
{
    PyObject *arrays[U_ARRAYS];
    Py_buffer views[U_ARRAYS];
    (void)self;
    if (!PyArg_ParseTuple(given, "OOOOOOO", &arrays[0], &arrays[1], &arrays[2], &arrays[3], &arrays[4], &arrays[5],
                          &arrays[6]))
        return NULL;
    if (take_arrays(arrays, views, U_SIZES, U_ARRAYS, 2) < 0)
        return NULL;
    if (!do_fit(views)) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, U_ARRAYS);
    }
    const uint16_t *columns = views[U_COLUMNS].buf;
    const uint8_t *counts = views[U_COUNTS].buf;
    const int64_t *starts = views[U_STARTS].buf;
    const float *by_count = views[U_BY_COUNT].buf, *by_column = views[U_BY_COLUMN].buf;
    float *values = views[U_VALUES].buf, *norms = views[U_NORMS].buf;
    const Py_ssize_t rows = views[U_NORMS].len / 4;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 0; row < rows; row++) {
        const int64_t begin = starts[row], end = starts[row + 1];
        for (int64_t at = begin; at < end; at++)
            values[at] = by_count[counts[at]] * by_column[columns[at]];
        const float norm = sqrtf(values[begin] * values[begin] + pairwise(values + begin + 1, end - begin - 1));
        norms[row] = norm != 0 ? norm : 1;
        for (int64_t at = begin; at < end; at++)
            values[at] /= norms[row];
    }
    Py_END_ALLOW_THREADS
    return let_go(views, U_ARRAYS);
}

enum { C_COLUMNS, C_STARTS, C_SHARES, C_SUMS, C_ARRAYS };
static const Py_ssize_t C_SIZES[C_ARRAYS] = {2, 8, 4, 8};

/* count_columns(columns, starts, shares of rows, sums of columns) */
static PyObject *count_columns(PyObject *self, PyObject *given)
{
    PyObject *arrays[C_ARRAYS];
    Py_buffer views[C_ARRAYS];
    (void)self;
    if (!PyArg_ParseTuple(given, "OOOO", &arrays[0], &arrays[1], &arrays[2], &arrays[3]))
        return NULL;
    if (take_arrays(arrays, views, C_SIZES, C_ARRAYS, 1) < 0)
        return NULL;
    const uint16_t *columns = views[C_COLUMNS].buf;
    const int64_t *starts = views[C_STARTS].buf;
    const float *shares = views[C_SHARES].buf;
    double *sums = views[C_SUMS].buf;
    const Py_ssize_t rows = views[C_SHARES].len / 4;
    if (views[C_SUMS].len / 8 <= UINT16_MAX || views[C_STARTS].len / 8 != rows + 1 ||
        !are_rows(&views[C_STARTS], views[C_COLUMNS].len / 2)) {
        PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
        return let_go(views, C_ARRAYS);
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 0; row < rows; row++)
        for (int64_t at = starts[row]; at < starts[row + 1]; at++)
            sums[columns[at]] += shares[row];
    Py_END_ALLOW_THREADS
    return let_go(views, C_ARRAYS);
}

static PyMethodDef METHODS[] = {
    {"by_row", by_row, METH_VARARGS, NULL},       {"by_column", by_column, METH_VARARGS, NULL},
    {"unit_rows", unit_rows, METH_VARARGS, NULL}, {"count_columns", count_columns, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.lib._sparse", "See `sparse`.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__sparse(void)
{
    return PyModule_Create(&MODULE);
}
