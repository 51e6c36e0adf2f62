/* Hostile input for the compiled parts of reading, under libFuzzer and the sanitizers: `python -m fuzz.native`.

   The extension modules are linked into this program, instrumented, and take the place of those that were installed. What
   is done with an input is in native_targets.py. An exception there ends the program like a crash does. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

PyMODINIT_FUNC PyInit__tree(void);
PyMODINIT_FUNC PyInit__furniture(void);
PyMODINIT_FUNC PyInit__words(void);
PyMODINIT_FUNC PyInit__plain_hrefs(void);
PyMODINIT_FUNC PyInit__word_pieces(void);
PyMODINIT_FUNC PyInit__half_rows(void);

static PyObject *target;

static const char BEGIN[] =
    "import importlib, os, sys\n"
    "for short, whole in (('_tree', 'lycosa.page._tree'), ('_words', 'lycosa.lib._words'),\n"
    "                     ('_word_pieces', 'lycosa.lib._word_pieces'), ('_half_rows', 'lycosa.lib._half_rows'),\n"
    "                     ('_plain_hrefs', 'lycosa.fetch._plain_hrefs'), ('_furniture', 'lycosa.page._furniture')):\n"
    "    sys.modules[whole] = importlib.import_module(short)\n"
    "from fuzz.native_targets import TARGETS\n"
    "target = TARGETS[os.environ['FUZZ_TARGET']]\n";

int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    (void)words;
    if (PyImport_AppendInittab("_tree", PyInit__tree) || PyImport_AppendInittab("_words", PyInit__words)
        || PyImport_AppendInittab("_plain_hrefs", PyInit__plain_hrefs)
        || PyImport_AppendInittab("_word_pieces", PyInit__word_pieces)
        || PyImport_AppendInittab("_half_rows", PyInit__half_rows)
        || PyImport_AppendInittab("_furniture", PyInit__furniture))
        abort();
    Py_InitializeEx(0);
    if (PyRun_SimpleString(BEGIN))
        abort();
    target = PyObject_GetAttrString(PyImport_AddModule("__main__"), "target");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PyObject *given = PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size);
    PyObject *result = given ? PyObject_CallOneArg(target, given) : NULL;
    if (!result) {
        PyErr_Print();
        abort();
    }
    Py_DECREF(result);
    Py_DECREF(given);
    return 0;
}
