/* `fetch.plain_hrefs` for all hrefs of a page at once. The twin in Python is the reference; what it does is told there. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { LONGEST = 200 }; /* as there */

static unsigned char kinds[256]; /* of the bytes of a path segment */
enum { FIRST = 1, FURTHER = 2 };

typedef struct {
    const char *directory, *root;
    Py_ssize_t directory_length, root_length;
    Py_ssize_t longest, deepest;
    PyObject *extensions;
} Base;

/* Whether the bytes are path segments with slashes between and, perhaps, behind them. */
static int is_path(const char *at, const char *end)
{
    while (at < end) {
        if (!(kinds[(unsigned char)*at] & FIRST))
            return 0;
        while (++at < end && kinds[(unsigned char)*at] & FURTHER)
            ;
        if (at < end && *at++ != '/')
            return 0;
    }
    return 1;
}

/* Writes the URL that an href stands for; its length, or 0 if the href is not plain. */
static Py_ssize_t join(const Base *base, const char *href, Py_ssize_t length, char *url)
{
    const char *end = href + length;
    Py_ssize_t kept = base->directory_length;
    if (length > base->root_length && href[base->root_length] == '/' && !memcmp(href, base->root, base->root_length))
        href += base->root_length; /* it is absolute, and of the same origin */
    if (*href == '/') {
        href++;
        kept = base->root_length + 1; /* with the slash behind it */
    } else {
        if (length >= 2 && !memcmp(href, "./", 2))
            href += 2;
        while (end - href >= 3 && !memcmp(href, "../", 3)) {
            href += 3;
            if (kept > base->root_length + 1) /* above the root is the root */
                while (base->directory[--kept - 1] != '/')
                    ;
        }
    }
    if (!is_path(href, end))
        return 0;
    memcpy(url, base->directory, (size_t)kept);
    memcpy(url + kept, href, (size_t)(end - href));
    return kept + (end - href);
}

/* Whether no rule can object to a URL: 1, 0, or -1 on error. */
static int is_accepted(const Base *base, const char *url, Py_ssize_t length)
{
    Py_ssize_t depth = 0, dot = -1;
    if (length > base->longest)
        return 0;
    for (Py_ssize_t at = base->root_length; at < length; at++) {
        depth += url[at] == '/';
        if (url[at] == '.')
            dot = at;
    }
    if (depth > base->deepest)
        return 0;
    if (dot < 0)
        return 1;
    char extension[16];
    Py_ssize_t size = length - dot - 1;
    if (size > (Py_ssize_t)sizeof extension)
        return 0;
    for (Py_ssize_t at = 0; at < size; at++)
        extension[at] = (char)(url[dot + 1 + at] >= 'A' && url[dot + 1 + at] <= 'Z' ? url[dot + 1 + at] + 32 : url[dot + 1 + at]);
    PyObject *name = PyUnicode_FromStringAndSize(extension, size);
    int is_excluded = name ? PySet_Contains(base->extensions, name) : -1;
    Py_XDECREF(name);
    return is_excluded < 0 ? -1 : !is_excluded;
}

/* The URL of an href, or None; NULL on error. */
static PyObject *joined(const Base *base, PyObject *href, char *url)
{
    Py_ssize_t length;
    if (!PyUnicode_Check(href) || !PyUnicode_IS_COMPACT_ASCII(href))
        Py_RETURN_NONE;
    const char *written = PyUnicode_AsUTF8AndSize(href, &length);
    if (!written)
        return NULL;
    const char *fragment = memchr(written, '#', (size_t)length);
    if (fragment)
        length = fragment - written;
    if (!length || length > LONGEST)
        Py_RETURN_NONE;
    Py_ssize_t size = join(base, written, length, url);
    int is_wanted = size ? is_accepted(base, url, size) : 0;
    if (is_wanted < 0)
        return NULL;
    return is_wanted ? PyUnicode_FromStringAndSize(url, size) : Py_NewRef(Py_None);
}

PyDoc_STRVAR(joined_all_doc,
             "joined_all(hrefs, directory, root, longest, deepest, extensions) -> list of URLs, or None where it takes more");

static PyObject *joined_all(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *hrefs;
    Base base;
    if (!PyArg_ParseTuple(args, "O!s#s#nnO!", &PyList_Type, &hrefs, &base.directory, &base.directory_length, &base.root,
                          &base.root_length, &base.longest, &base.deepest, &PyFrozenSet_Type, &base.extensions))
        return NULL;
    if (!base.root_length || base.directory_length <= base.root_length
        || memcmp(base.directory, base.root, (size_t)base.root_length) || base.directory[base.root_length] != '/'
        || base.directory[base.directory_length - 1] != '/') {
        PyErr_SetString(PyExc_ValueError, "the directory does not begin with its root and a slash, and end with a slash");
        return NULL;
    }
    char *url = PyMem_Malloc((size_t)base.directory_length + LONGEST + 1);
    if (!url)
        return PyErr_NoMemory();
    Py_ssize_t count = PyList_GET_SIZE(hrefs);
    PyObject *urls = PyList_New(count);
    for (Py_ssize_t at = 0; urls && at < count; at++) {
        PyObject *made = joined(&base, PyList_GET_ITEM(hrefs, at), url);
        if (made)
            PyList_SET_ITEM(urls, at, made);
        else
            Py_CLEAR(urls);
    }
    PyMem_Free(url);
    return urls;
}

static PyMethodDef functions[] = {
    {"joined_all", joined_all, METH_VARARGS, joined_all_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lycosa.fetch._plain_hrefs",
    .m_doc = "Joins plain hrefs, compiled.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__plain_hrefs(void)
{
    for (int byte = 0; byte < 256; byte++) {
        int lower = byte | 32;
        int is_first = (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' || byte == '~' || byte == '-';
        kinds[byte] = (unsigned char)(is_first ? FIRST | FURTHER : byte == '.' ? FURTHER : 0);
    }
    return PyModule_Create(&module);
}
