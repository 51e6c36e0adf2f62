/* The sum of some rows of a table of half-precision numbers, added one after the other.

   The twin in `half_rows` is the reference, and gives the same bits. */

#include "_buffers.h"
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_WIDE 1
#endif

enum { TABLE, ROWS, SUMS, ARRAYS };
static const Py_ssize_t SIZES[ARRAYS] = {2, 2, 4};

/* A half's exponent is smaller by 112 than a float's of the same value. Multiplied by 2^112, numbers below 2^-14, which
   have no exponent of their own, come out right, too; infinities and NaN do not. */
static inline float widened(uint16_t half)
{
    const uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    float value;
    memcpy(&value, &bits, 4);
    value *= 0x1p112f;
    return half & 0x8000 ? -value : value;
}

static void add_up(const uint16_t *restrict table, const uint16_t *rows, Py_ssize_t count, Py_ssize_t width,
                   float *restrict sums)
{
    for (Py_ssize_t column = 0; column < width; column++)
        sums[column] = widened(table[rows[0] * width + column]);
    for (Py_ssize_t at = 1; at < count; at++) {
        const uint16_t *restrict row = table + rows[at] * width;
        for (Py_ssize_t column = 0; column < width; column++)
            sums[column] += widened(row[column]);
    }
}

#ifdef HAS_WIDE
/* The same, eight columns at a time, on processors that widen halves themselves: all that know AVX2. */
__attribute__((target("avx2,f16c"))) static void add_up_wide(const uint16_t *table, const uint16_t *rows,
                                                             Py_ssize_t count, Py_ssize_t width, float *sums)
{
    for (Py_ssize_t at = 0; at < count; at++) {
        const uint16_t *row = table + rows[at] * width;
        for (Py_ssize_t column = 0; column < width; column += 8) {
            const __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(row + column)));
            _mm256_storeu_ps(sums + column, at ? _mm256_add_ps(_mm256_loadu_ps(sums + column), wide) : wide);
        }
    }
}
#endif

/* sum_rows(table, numbers of rows, sums) */
static PyObject *sum_rows(PyObject *self, PyObject *given)
{
    PyObject *arrays[ARRAYS];
    Py_buffer views[ARRAYS];
    (void)self;
    if (!PyArg_ParseTuple(given, "OOO", &arrays[TABLE], &arrays[ROWS], &arrays[SUMS]))
        return NULL;
    if (take_arrays(arrays, views, SIZES, ARRAYS, 1) < 0)
        return NULL;
    const Py_ssize_t width = views[SUMS].len / 4, count = views[ROWS].len / 2;
    const uint16_t *rows = views[ROWS].buf;
    int is_inside = width > 0 && count > 0;
    for (Py_ssize_t at = 0; is_inside && at < count; at++)
        is_inside = (rows[at] + 1) * width <= views[TABLE].len / 2;
    if (!is_inside) {
        PyErr_SetString(PyExc_ValueError, "rows that the table does not have");
        return let_go(views, ARRAYS);
    }
    Py_BEGIN_ALLOW_THREADS
#ifdef HAS_WIDE
    if (width % 8 == 0 && __builtin_cpu_supports("avx2"))
        add_up_wide(views[TABLE].buf, rows, count, width, views[SUMS].buf);
    else
#endif
        add_up(views[TABLE].buf, rows, count, width, views[SUMS].buf);
    Py_END_ALLOW_THREADS
    return let_go(views, ARRAYS);
}

static PyMethodDef METHODS[] = {
    {"sum_rows", sum_rows, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.lib._half_rows", "See `half_rows`.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__half_rows(void)
{
    return PyModule_Create(&MODULE);
}
