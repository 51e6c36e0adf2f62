/* Whether a document may declare anything: `page.declared` without looking at a parsed tree.

   The twin in Python is the reference. Only tags of a form that every parser reads the same way are decided upon here;
   any other one may declare something. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { LINKS = 1, REFRESH = 2 };

static int is_space(unsigned char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
}

static int is_in_name(unsigned char byte)
{
    unsigned char lower = byte | 32;
    return (lower >= 'a' && lower <= 'z') || byte == '-' || byte == ':' || byte == '_';
}

/* Whether the bytes at `at` are this word, which is in lower case; case does not matter. */
static int is_word(const unsigned char *at, const unsigned char *end, const char *word)
{
    for (; *word; word++, at++) {
        if (at == end || (*at >= 'A' && *at <= 'Z' ? *at + 32 : *at) != (unsigned char)*word)
            return 0;
    }
    return 1;
}

static int has_word(const unsigned char *at, const unsigned char *end, const char *word)
{
    for (; at < end; at++) {
        if (is_word(at, end, word))
            return 1;
    }
    return 0;
}

/* The end of a tag whose attributes start here; NULL if it is not of the plain form. */
static const unsigned char *tag_end(const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        const unsigned char *from = at;
        while (at < end && is_space(*at))
            at++;
        if (at < end && *at == '>')
            return at + 1;
        if (end - at >= 2 && at[0] == '/' && at[1] == '>')
            return at + 2;
        if (at == from || at == end || !is_in_name(*at))
            return NULL;
        while (at < end && is_in_name(*at))
            at++;
        const unsigned char *value = at;
        while (value < end && is_space(*value))
            value++;
        if (value == end || *value != '=')
            continue;
        for (value++; value < end && is_space(*value); value++)
            ;
        if (value == end)
            return NULL;
        if (*value == '"' || *value == '\'') {
            unsigned char quote = *value++;
            while (value < end && *value != quote && *value != '<' && *value != '>' && *value != '&')
                value++;
            if (value == end || *value != quote)
                return NULL;
            at = value + 1;
        } else {
            const unsigned char *first = value;
            while (value < end && !is_space(*value) && (!*value || !strchr("\"'=<>`&", *value)))
                value++;
            if (value == first)
                return NULL;
            at = value;
        }
    }
}

PyDoc_STRVAR(may_declare_doc, "may_declare(document) -> int: 1 if link elements may have a relation that counts,\n"
                              "plus 2 if the document may move on by itself.");

static PyObject *may_declare(PyObject *Py_UNUSED(module), PyObject *given)
{
    Py_buffer document;
    if (PyObject_GetBuffer(given, &document, PyBUF_SIMPLE))
        return NULL;
    const unsigned char *at = document.buf, *end = at + document.len;
    int may = 0;
    while (may != (LINKS | REFRESH) && at < end && (at = memchr(at, '<', end - at))) {
        at++;
        int what = is_word(at, end, "link") ? LINKS : is_word(at, end, "meta") ? REFRESH : 0;
        if (!what)
            continue;
        const unsigned char *after = tag_end(at + 4, end);
        if (!after)
            may |= what;
        else if (what == LINKS && (has_word(at, after, "next") || has_word(at, after, "alternate")))
            may |= LINKS;
        else if (what == REFRESH && has_word(at, after, "refresh"))
            may |= REFRESH;
    }
    PyBuffer_Release(&document);
    return PyLong_FromLong(may);
}

static PyMethodDef functions[] = {
    {"may_declare", may_declare, METH_O, may_declare_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lycosa.page._declared",
    .m_doc = "The search of page.declared.",
    .m_size = 0,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__declared(void)
{
    return PyModule_Create(&module);
}
