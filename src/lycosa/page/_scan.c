/* `page.walk` at machine speed: one scan of a document as Lexbor writes it out again.

   Lexbor's output is canonical: every element that is not void has its end tag, attributes are in double quotes, and of
   all entities only &amp; &lt; &gt; &quot; and &nbsp; occur. A scan of it therefore sees what a walk through the tree
   sees. Whatever is not certain (elements that do not nest as expected, text that might be markup, names outside ASCII)
   ends the scan, and `page.walk` goes through the tree itself: it is the reference, and tests compare both. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How elements are treated, as in page/walk.py. Nearly all are inline or block. */
enum { INLINE, BLOCK, ANCHOR, SKIPPED, AREA, FRAME, IMAGE, TITLE, BASE, LINK, META, HTML, LANDMARK, CONTENT, REGION };

/* What is special about their text. */
enum { IS_VOID = 1, IS_RAW = 2, IS_ODD = 4, IS_FOREIGN = 8, BEARS_ROLE = 16 };

typedef enum { NO_ROLE, MAIN, NAVIGATION, OUTER, BANNER } Role;

typedef struct {
    const char *name;
    unsigned char kind, flags, role;
} Tag;

static const Tag TAGS[] = {
    {"a", ANCHOR, 0, 0}, {"abbr", INLINE, 0, 0}, {"address", BLOCK, 0, 0}, {"area", AREA, IS_VOID, 0},
    {"article", LANDMARK, 0, MAIN}, {"aside", LANDMARK, 0, OUTER}, {"audio", BLOCK, 0, 0}, {"base", BASE, IS_VOID, 0},
    {"basefont", INLINE, IS_VOID, 0}, {"bgsound", INLINE, IS_VOID, 0}, {"blockquote", BLOCK, 0, 0},
    {"body", BLOCK, 0, 0}, {"br", BLOCK, IS_VOID, 0}, {"button", BLOCK, 0, 0}, {"canvas", BLOCK, 0, 0},
    {"caption", BLOCK, 0, 0}, {"center", BLOCK, 0, 0}, {"col", BLOCK, IS_VOID, 0}, {"colgroup", BLOCK, 0, 0},
    {"dd", BLOCK, 0, 0}, {"details", BLOCK, 0, 0}, {"dialog", BLOCK, 0, 0}, {"dir", BLOCK, 0, 0},
    {"div", BLOCK, BEARS_ROLE, 0}, {"dl", BLOCK, 0, 0}, {"dt", BLOCK, 0, 0}, {"embed", INLINE, IS_VOID, 0},
    {"fieldset", BLOCK, 0, 0}, {"figcaption", BLOCK, 0, 0}, {"figure", BLOCK, 0, 0}, {"footer", LANDMARK, 0, OUTER},
    {"form", BLOCK, BEARS_ROLE, 0}, {"frame", FRAME, IS_VOID, 0}, {"frameset", BLOCK, 0, 0}, {"h1", BLOCK, 0, 0},
    {"h2", BLOCK, 0, 0}, {"h3", BLOCK, 0, 0}, {"h4", BLOCK, 0, 0}, {"h5", BLOCK, 0, 0}, {"h6", BLOCK, 0, 0},
    {"head", BLOCK, 0, 0}, {"header", LANDMARK, 0, BANNER}, {"hgroup", BLOCK, 0, 0}, {"hr", BLOCK, IS_VOID, 0},
    {"html", HTML, 0, 0}, {"iframe", FRAME, IS_RAW, 0}, {"img", IMAGE, IS_VOID, 0}, {"input", BLOCK, IS_VOID, 0},
    {"keygen", INLINE, IS_VOID, 0}, {"legend", BLOCK, 0, 0}, {"li", BLOCK, 0, 0}, {"link", LINK, IS_VOID, 0},
    {"listing", BLOCK, 0, 0}, {"main", LANDMARK, 0, MAIN}, {"math", INLINE, IS_FOREIGN, 0},
    {"menu", LANDMARK, 0, NAVIGATION}, {"meta", META, IS_VOID, 0}, {"nav", LANDMARK, 0, NAVIGATION},
    {"noembed", SKIPPED, IS_RAW, 0}, {"noframes", SKIPPED, IS_RAW, 0}, {"object", BLOCK, 0, 0}, {"ol", BLOCK, 0, 0},
    {"optgroup", BLOCK, 0, 0}, {"option", BLOCK, 0, 0}, {"p", BLOCK, 0, 0}, {"param", INLINE, IS_VOID, 0},
    {"plaintext", BLOCK, IS_ODD, 0}, {"pre", BLOCK, 0, 0}, {"script", SKIPPED, IS_RAW, 0},
    {"search", LANDMARK, 0, NAVIGATION}, {"section", BLOCK, BEARS_ROLE, 0}, {"select", BLOCK, 0, 0},
    {"source", INLINE, IS_VOID, 0}, {"style", SKIPPED, IS_RAW, 0}, {"summary", BLOCK, 0, 0},
    {"svg", INLINE, IS_FOREIGN, 0}, {"table", BLOCK, 0, 0}, {"tbody", BLOCK, 0, 0}, {"td", BLOCK, 0, 0},
    {"template", SKIPPED, 0, 0}, {"textarea", BLOCK, 0, 0}, {"tfoot", BLOCK, 0, 0}, {"th", BLOCK, 0, 0},
    {"thead", BLOCK, 0, 0}, {"title", TITLE, 0, 0}, {"tr", BLOCK, 0, 0}, {"track", INLINE, IS_VOID, 0},
    {"ul", BLOCK, BEARS_ROLE, 0}, {"video", BLOCK, 0, 0}, {"wbr", INLINE, IS_VOID, 0}, {"xmp", BLOCK, IS_RAW, 0},
};
static const Tag UNKNOWN = {"", INLINE, 0, 0};

#define TAG_SLOTS 512
static const Tag *tag_slots[TAG_SLOTS];
static uint32_t crc_table[8][256];
static unsigned char is_plain[256]; /* visible ASCII but &, and what follows the first byte of other characters */

enum { MAX_NAME = 32 };

typedef struct {
    const char *name; /* in the document */
    uint32_t length;
    unsigned char kind, flags;
} Element;

typedef struct {
    const char *value; /* as written, between the quotes; NULL: there is none */
    size_t length;
} Attribute;

typedef struct {
    Attribute href, rel, alt, src, title, name, content, role, lang, xml_lang;
} Attributes;

typedef struct {
    Py_ssize_t start, end, block;
} Place;

typedef struct {
    Py_ssize_t first, end;
    int is_outer;
} Span;

typedef struct {
    Py_ssize_t byte, character;
} Start;

typedef struct {
    /* what is found */
    PyObject *hrefs, *rels, *paths, *labels, *metas, *titles, *canonicals;
    PyObject *base, *language;
    Place *places;
    size_t links, places_room;
    Span *regions;
    size_t region_count, regions_room;
    Start *starts; /* of blocks */
    size_t block_count, starts_room;
    char *text;
    size_t bytes;
    Py_ssize_t characters;
    /* where the scan is */
    Element *open;
    size_t depth, open_room;
    Py_ssize_t *waiting;
    size_t waiting_count, waiting_room;
    Py_ssize_t *open_links;
    size_t open_link_count, open_links_room;
    int is_in_block, has_space;
    int is_in_region;
    Py_ssize_t region_links;
    int content_depth, foreign_depth;
    Py_ssize_t svg_depth;
    size_t skipped_from; /* depth of the element whose content is skipped; 0: none */
    PyObject *last_path;
    int path_depth, has_roles;
} Scan;

#define ROOM(items, count, room)                                                            \
    ((count) < (room) || !grow((void **)&(items), &(room), sizeof *(items)) ? 0 : -1)

static int grow(void **items, size_t *room, size_t size)
{
    size_t more = *room ? 2 * *room : 64;
    void *moved = PyMem_Realloc(*items, more * size);
    if (!moved) {
        PyErr_NoMemory();
        return -1;
    }
    *items = moved;
    *room = more;
    return 0;
}

static uint32_t tag_hash(const char *name, size_t length)
{
    uint32_t hash = (uint32_t)length;
    for (size_t at = 0; at < length; at++)
        hash = hash * 31 + (unsigned char)name[at];
    return hash ^ hash >> 9;
}

static const Tag *tag_named(const char *name, size_t length)
{
    if (length > 10)
        return &UNKNOWN;
    uint32_t slot = tag_hash(name, length) % TAG_SLOTS;
    for (; tag_slots[slot]; slot = (slot + 1) % TAG_SLOTS)
        if (!strncmp(tag_slots[slot]->name, name, length) && !tag_slots[slot]->name[length])
            return tag_slots[slot];
    return &UNKNOWN;
}

static uint32_t crc32_of(const char *data, size_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    const unsigned char *at = (const unsigned char *)data;
    for (; length >= 8; length -= 8, at += 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= crc;
        crc = crc_table[7][low & 255] ^ crc_table[6][low >> 8 & 255] ^ crc_table[5][low >> 16 & 255]
              ^ crc_table[4][low >> 24] ^ crc_table[3][high & 255] ^ crc_table[2][high >> 8 & 255]
              ^ crc_table[1][high >> 16 & 255] ^ crc_table[0][high >> 24];
    }
    for (; length; length--)
        crc = crc_table[0][(crc ^ *at++) & 255] ^ crc >> 8;
    return ~crc;
}

/* Characters ------------------------------------------------------------------------------------------------------ */

/* Number of bytes of the white space (as str.split sees it) at this place; 0 if there is none. */
static inline size_t space_at(const unsigned char *at)
{
    if (*at < 0x80)
        return *at == ' ' || (*at >= 9 && *at <= 13) || (*at >= 28 && *at <= 31);
    switch (*at) {
    case 0xC2:
        return at[1] == 0x85 || at[1] == 0xA0 ? 2 : 0;
    case 0xE1:
        return at[1] == 0x9A && at[2] == 0x80 ? 3 : 0;
    case 0xE2:
        if (at[1] == 0x80)
            return (at[2] >= 0x80 && at[2] <= 0x8A) || at[2] == 0xA8 || at[2] == 0xA9 || at[2] == 0xAF ? 3 : 0;
        return at[1] == 0x81 && at[2] == 0x9F ? 3 : 0;
    case 0xE3:
        return at[1] == 0x80 && at[2] == 0x80 ? 3 : 0;
    }
    return 0;
}

/* Length of the entity at this place and the byte it stands for, 0xA0 for a space that does not break; 0: unknown. */
static inline size_t entity_at(const char *at, unsigned char *stands_for)
{
    static const struct { const char *name; unsigned char length, byte; } known[] = {
        {"&amp;", 5, '&'}, {"&lt;", 4, '<'}, {"&gt;", 4, '>'}, {"&nbsp;", 6, 0xA0}, {"&quot;", 6, '"'},
    };
    for (size_t each = 0; each < sizeof known / sizeof *known; each++) {
        if (!strncmp(at, known[each].name, known[each].length)) {
            *stands_for = known[each].byte;
            return known[each].length;
        }
    }
    return 0;
}

/* The value of an attribute, or a text, without its entities; NULL with no error set: one of them is unknown. */
static PyObject *plain(const char *value, size_t length)
{
    if (!memchr(value, '&', length))
        return PyUnicode_DecodeUTF8(value, (Py_ssize_t)length, "replace");
    char *copy = PyMem_Malloc(length), *to = copy;
    if (!copy)
        return PyErr_NoMemory();
    for (const char *at = value, *end = value + length; at < end;) {
        unsigned char stands_for;
        if (*at != '&') {
            *to++ = *at++;
            continue;
        }
        size_t taken = entity_at(at, &stands_for);
        if (!taken) {
            PyMem_Free(copy);
            return NULL;
        }
        if (stands_for == 0xA0)
            *to++ = (char)0xC2;
        *to++ = (char)stands_for;
        at += taken;
    }
    PyObject *made = PyUnicode_DecodeUTF8(copy, to - copy, "replace");
    PyMem_Free(copy);
    return made;
}

/* Text ------------------------------------------------------------------------------------------------------------ */

/* Starts a block if none is open, and places the marks that wait: a visible character comes next. */
static int before_visible(Scan *scan)
{
    if (!scan->is_in_block) {
        if (ROOM(scan->starts, scan->block_count, scan->starts_room))
            return -1;
        if (scan->block_count) {
            scan->text[scan->bytes++] = ' ';
            scan->characters++;
        }
        scan->starts[scan->block_count++] = (Start){(Py_ssize_t)scan->bytes, scan->characters};
        scan->is_in_block = 1;
    } else if (scan->has_space) {
        scan->text[scan->bytes++] = ' ';
        scan->characters++;
    }
    scan->has_space = 0;
    for (size_t at = 0; at < scan->waiting_count; at++) {
        Py_ssize_t number = scan->waiting[at];
        if (number >= 0) {
            scan->places[number].start = scan->characters;
            scan->places[number].block = (Py_ssize_t)scan->block_count - 1;
        } else
            scan->places[~number].end = scan->characters;
    }
    scan->waiting_count = 0;
    return 0;
}

static void at_boundary(Scan *scan)
{
    scan->is_in_block = scan->has_space = 0;
}

/* Adds a text; -1 on error, 1 if it cannot be read. */
static int add_text(Scan *scan, const char *from, const char *end, int is_raw)
{
    const unsigned char *at = (const unsigned char *)from, *stop = (const unsigned char *)end;
    while (at < stop) {
        size_t taken = space_at(at);
        if (taken) {
            scan->has_space = scan->is_in_block;
            at += taken;
            continue;
        }
        if (at[0] == 0xC2 && at[1] == 0xAD) { /* a soft hyphen */
            at += 2;
            continue;
        }
        unsigned char stands_for = 0;
        if (*at == '&' && !is_raw) {
            taken = entity_at((const char *)at, &stands_for);
            if (!taken)
                return 1;
            at += taken;
            if (stands_for == 0xA0) {
                scan->has_space = scan->is_in_block;
                continue;
            }
        }
        if ((!scan->is_in_block || scan->has_space || scan->waiting_count) && before_visible(scan))
            return -1;
        if (stands_for) {
            scan->text[scan->bytes++] = (char)stands_for;
            scan->characters++;
            continue;
        }
        /* A run of plain characters, with single spaces between words: most of any text. */
        char *to = scan->text + scan->bytes;
        Py_ssize_t characters = 0;
        const unsigned char *from_here = at;
        do {
            characters += (*at & 0xC0) != 0x80;
            *to++ = (char)*at++;
        } while (at < stop && (is_plain[*at] || (*at == ' ' && at + 1 < stop && is_plain[at[1]])));
        scan->bytes += at - from_here;
        scan->characters += characters;
    }
    return 0;
}

/* Links and declarations ------------------------------------------------------------------------------------------ */

static int append(PyObject *list, const Attribute *attribute)
{
    PyObject *value = plain(attribute->value ? attribute->value : "", attribute->value ? attribute->length : 0);
    if (!value)
        return PyErr_Occurred() ? -1 : 1;
    int failed = PyList_Append(list, value);
    Py_DECREF(value);
    return failed;
}

static int append_pair(PyObject *list, const Attribute *first, const Attribute *second)
{
    PyObject *one = plain(first->value, first->length), *other = one ? plain(second->value, second->length) : NULL;
    PyObject *pair = other ? PyTuple_Pack(2, one, other) : NULL;
    int failed = pair ? PyList_Append(list, pair) : PyErr_Occurred() ? -1 : 1;
    Py_XDECREF(one);
    Py_XDECREF(other);
    Py_XDECREF(pair);
    return failed;
}

static int add_path(Scan *scan, const char *name)
{
    size_t first = 0, length = 0, most = 8;
    int is_cut = scan->depth >= (size_t)scan->path_depth;
    if (is_cut)
        first = scan->depth - (size_t)(scan->path_depth - 1);
    for (size_t at = first; at < scan->depth; at++)
        most += scan->open[at].length + 1;
    most += strlen(name);
    char *path = PyMem_Malloc(most);
    if (!path) {
        PyErr_NoMemory();
        return -1;
    }
    if (is_cut) {
        memcpy(path, "\xE2\x80\xA6/", 4);
        length = 4;
    }
    for (size_t at = first; at < scan->depth; at++) {
        size_t size = scan->open[at].length < MAX_NAME ? scan->open[at].length : MAX_NAME;
        for (size_t each = 0; each < size; each++) {
            char byte = scan->open[at].name[each];
            path[length++] = byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
        }
        path[length++] = '/';
    }
    memcpy(path + length, name, strlen(name));
    length += strlen(name);
    Py_ssize_t known = 0;
    const char *last = scan->last_path ? PyUnicode_AsUTF8AndSize(scan->last_path, &known) : NULL;
    if (!last || (size_t)known != length || memcmp(last, path, length)) {
        PyObject *made = PyUnicode_DecodeUTF8(path, (Py_ssize_t)length, "replace");
        if (!made) {
            PyMem_Free(path);
            return -1;
        }
        Py_XSETREF(scan->last_path, made);
    }
    PyMem_Free(path);
    return PyList_Append(scan->paths, scan->last_path);
}

static int add_waiting(Scan *scan, Py_ssize_t number)
{
    if (ROOM(scan->waiting, scan->waiting_count, scan->waiting_room))
        return -1;
    scan->waiting[scan->waiting_count++] = number;
    return 0;
}

static int begin_link(Scan *scan, const Attribute *href, const Attribute *rel, const char *name)
{
    if (ROOM(scan->places, scan->links, scan->places_room))
        return -1;
    scan->places[scan->links] = (Place){-1, -1, -1};
    int result = append(scan->hrefs, href);
    if (!result)
        result = append(scan->rels, rel);
    if (!result)
        result = add_path(scan, name);
    return result ? result : add_waiting(scan, (Py_ssize_t)scan->links++);
}

/* Substitutes for the text of a link: the first one that is not empty. */
static int add_label(Scan *scan, Py_ssize_t link, const Attribute *label)
{
    if (!label->value || !label->length)
        return 0;
    PyObject *number = PyLong_FromSsize_t(link), *text = plain(label->value, label->length);
    int result = !number || !text ? (PyErr_Occurred() ? -1 : 1) : 0;
    if (!result && !PyDict_SetDefault(scan->labels, number, text))
        result = -1;
    Py_XDECREF(number);
    Py_XDECREF(text);
    return result;
}

static int is_set(const Attribute *attribute)
{
    return attribute->value && attribute->length;
}

/* What an element declares that has no text of its own. */
static int at_special(Scan *scan, const Tag *tag, const Attributes *has)
{
    static const Attribute nothing;
    Py_ssize_t number = (Py_ssize_t)scan->links;
    int result = 0;
    switch (tag->kind) {
    case IMAGE:
        if (scan->open_link_count)
            result = add_label(scan, scan->open_links[scan->open_link_count - 1], &has->alt);
        break;
    case AREA:
        if (has->href.value) {
            result = begin_link(scan, &has->href, &has->rel, tag->name);
            if (!result)
                result = add_waiting(scan, ~number);
            if (!result)
                result = add_label(scan, number, &has->alt);
        }
        break;
    case FRAME:
        if (has->src.value) {
            result = begin_link(scan, &has->src, &nothing, tag->name);
            if (!result)
                result = add_waiting(scan, ~number);
            if (!result)
                result = add_label(scan, number, is_set(&has->title) ? &has->title : &has->name);
        }
        break;
    case META:
        if (is_set(&has->name) && is_set(&has->content))
            result = append_pair(scan->metas, &has->name, &has->content);
        break;
    case BASE:
        if (has->href.value && !has->href.length)
            return 1;
        if (has->href.value && !scan->base) {
            scan->base = plain(has->href.value, has->href.length);
            result = scan->base ? 0 : PyErr_Occurred() ? -1 : 1;
        }
        break;
    case LINK:
        if (is_set(&has->rel) && is_set(&has->href))
            result = append_pair(scan->canonicals, &has->rel, &has->href);
        break;
    }
    return result;
}

/* Landmarks ------------------------------------------------------------------------------------------------------- */

/* The role of an element: 0 and more, or -1 if it cannot be told here. */
static int role_of(const Scan *scan, const Tag *tag, const Attribute *written, int *is_known)
{
    static const struct { const char *name; Role role; } roles[] = {
        {"article", MAIN}, {"main", MAIN}, {"navigation", NAVIGATION}, {"search", NAVIGATION}, {"menu", NAVIGATION},
        {"menubar", NAVIGATION}, {"banner", BANNER}, {"complementary", OUTER}, {"contentinfo", OUTER},
    };
    *is_known = 1;
    if (!scan->has_roles || !is_set(written))
        return tag->role;
    const char *from = written->value, *end = from + written->length;
    for (const char *at = from; at < end; at++)
        if ((unsigned char)*at >= 0x80 || *at == '&')
            return *is_known = 0;
    while (from < end && space_at((const unsigned char *)from))
        from++;
    while (end > from && space_at((const unsigned char *)end - 1))
        end--;
    if (from == end)
        return tag->role;
    for (size_t each = 0; each < sizeof roles / sizeof *roles; each++)
        if (strlen(roles[each].name) == (size_t)(end - from) && !PyOS_mystrnicmp(roles[each].name, from, end - from))
            return (int)roles[each].role;
    return NO_ROLE;
}

/* The kind as which an element is closed again that may be content or furniture; -1 on error. */
static int open_landmark(Scan *scan, int role)
{
    if (role == MAIN) {
        scan->content_depth++;
        return CONTENT;
    }
    int is_outer = role == OUTER || role == BANNER;
    if (scan->is_in_region || !(role == NAVIGATION || (is_outer && !scan->content_depth)))
        return BLOCK;
    if (ROOM(scan->regions, scan->region_count, scan->regions_room))
        return -1;
    scan->is_in_region = 1;
    scan->regions[scan->region_count++] = (Span){(Py_ssize_t)scan->block_count, 0, is_outer};
    scan->region_links = role == BANNER ? (Py_ssize_t)scan->links : -1;
    return REGION;
}

static void close_landmark(Scan *scan, int kind)
{
    at_boundary(scan);
    if (kind == CONTENT) {
        scan->content_depth--;
        return;
    }
    scan->is_in_region = 0;
    if (scan->region_links == (Py_ssize_t)scan->links)
        scan->region_count--; /* a banner without a link is the heading of the page */
    else
        scan->regions[scan->region_count - 1].end = (Py_ssize_t)scan->block_count;
}

/* Elements -------------------------------------------------------------------------------------------------------- */

static int is_name_end(char byte)
{
    return byte == ' ' || byte == '>' || byte == '/' || byte == 0;
}

static void keep_attribute(Attributes *has, const char *name, size_t length, Attribute value)
{
    static const struct { const char *name; size_t at; } wanted[] = {
        {"href", offsetof(Attributes, href)}, {"rel", offsetof(Attributes, rel)}, {"alt", offsetof(Attributes, alt)},
        {"src", offsetof(Attributes, src)}, {"title", offsetof(Attributes, title)}, {"name", offsetof(Attributes, name)},
        {"content", offsetof(Attributes, content)}, {"role", offsetof(Attributes, role)},
        {"lang", offsetof(Attributes, lang)}, {"xml:lang", offsetof(Attributes, xml_lang)},
    };
    for (size_t each = 0; each < sizeof wanted / sizeof *wanted; each++)
        if (strlen(wanted[each].name) == length && !memcmp(wanted[each].name, name, length))
            *(Attribute *)((char *)has + wanted[each].at) = value;
}

/* Reads ` name="value"` until `>`; returns the place behind that, NULL if it is not written like that. */
static const char *read_attributes(const char *at, Attributes *has, int is_wanted)
{
    while (*at == ' ') {
        const char *name = ++at;
        at = strstr(name, "=\"");
        if (!at)
            return NULL;
        size_t length = (size_t)(at - name);
        for (size_t each = 0; each < length; each++)
            if (name[each] == ' ' || name[each] == '>' || name[each] == '"')
                return NULL;
        const char *value = at + 2;
        at = strchr(value, '"');
        if (!at)
            return NULL;
        if (is_wanted && length <= 8)
            keep_attribute(has, name, length, (Attribute){value, (size_t)(at - value)});
        at++;
    }
    return *at == '>' ? at + 1 : NULL;
}

static int close_element(Scan *scan)
{
    Element *element = &scan->open[--scan->depth];
    if (element->flags & IS_FOREIGN)
        scan->foreign_depth--;
    if (scan->svg_depth > (Py_ssize_t)scan->depth)
        scan->svg_depth = 0;
    if (scan->skipped_from) {
        if (scan->skipped_from > scan->depth)
            scan->skipped_from = 0;
        return 0;
    }
    if (element->kind == BLOCK)
        at_boundary(scan);
    else if (element->kind == ANCHOR)
        return add_waiting(scan, ~scan->open_links[--scan->open_link_count]);
    else if (element->kind > LANDMARK)
        close_landmark(scan, element->kind);
    return 0;
}

/* What the walk does when it comes to an element; the kind as which it goes on, -1 on error, -2: cannot be told. */
static int enter(Scan *scan, const Tag *tag, const Attributes *has)
{
    int kind = tag->kind, result = 0, is_known;
    if (kind == LANDMARK || (kind == BLOCK && scan->has_roles && tag->flags & BEARS_ROLE)) {
        at_boundary(scan);
        int role = role_of(scan, tag, &has->role, &is_known);
        return is_known ? open_landmark(scan, role) : -2;
    }
    switch (kind) {
    case INLINE:
        return INLINE;
    case BLOCK:
        at_boundary(scan);
        return BLOCK;
    case HTML:
        if (scan->depth)
            return -2;
        const Attribute *language = is_set(&has->lang) ? &has->lang : &has->xml_lang;
        scan->language = plain(language->value ? language->value : "", language->value ? language->length : 0);
        return scan->language ? BLOCK : PyErr_Occurred() ? -1 : -2;
    case ANCHOR:
        if (!has->href.value)
            return INLINE;
        if (ROOM(scan->open_links, scan->open_link_count, scan->open_links_room))
            return -1;
        scan->open_links[scan->open_link_count++] = (Py_ssize_t)scan->links;
        result = begin_link(scan, &has->href, &has->rel, "a");
        return result < 0 ? -1 : result ? -2 : ANCHOR;
    case SKIPPED:
    case TITLE:
        return SKIPPED;
    }
    result = at_special(scan, tag, has);
    return result < 0 ? -1 : result ? -2 : SKIPPED;
}

/* Where `wanted` begins between two places; NULL if it does not. */
static const char *find(const char *from, const char *end, const char *wanted)
{
    size_t length = strlen(wanted);
    while ((size_t)(end - from) >= length && (from = memchr(from, *wanted, (size_t)(end - from) - length + 1))) {
        if (!memcmp(from, wanted, length))
            return from;
        from++;
    }
    return NULL;
}

/* The end of a text that may hold anything but its own end tag; NULL if that cannot be told. */
static const char *end_of_raw(const char *at, const Element *element)
{
    char end_tag[16] = "</";
    memcpy(end_tag + 2, element->name, element->length);
    memcpy(end_tag + 2 + element->length, ">", 2);
    const char *end = strstr(at, end_tag);
    if (end && !strncmp(element->name, "script", 6)) {
        const char *comment = find(at, end, "<!--");
        if (comment && find(comment, end, "<script"))
            return NULL; /* a script may hold the end tag of another */
    }
    return end;
}

/* The text of a title, up to its end tag. */
static int add_title(Scan *scan, const char *from)
{
    const char *end = strchr(from, '<');
    if (!end || strncmp(end, "</title>", 8))
        return 1;
    Attribute text = {from, (size_t)(end - from)};
    return append(scan->titles, &text);
}

/* An element begins at `at`, behind `<`. Moves `at` behind its tag, and behind its text if that is raw. */
static int open_element(Scan *scan, const char **place)
{
    const char *name = *place, *at = name;
    while (!is_name_end(*at)) {
        if ((unsigned char)*at >= 0x80)
            return 1;
        at++;
    }
    size_t length = (size_t)(at - name);
    const Tag *tag = tag_named(name, length);
    if (!length || tag->flags & IS_ODD || (scan->foreign_depth && tag->flags & (IS_VOID | IS_RAW)))
        return 1;
    Attributes has;
    int is_wanted = !scan->skipped_from && (tag->kind > BLOCK || tag->flags & BEARS_ROLE);
    if (is_wanted)
        memset(&has, 0, sizeof has);
    at = read_attributes(at, &has, is_wanted);
    if (!at)
        return 1;
    int kind = scan->skipped_from ? SKIPPED : enter(scan, tag, &has);
    if (kind < 0)
        return kind == -1 ? -1 : 1;
    *place = at;
    if (tag->flags & IS_VOID)
        return 0;
    if (ROOM(scan->open, scan->depth, scan->open_room))
        return -1;
    scan->open[scan->depth++] = (Element){name, (uint32_t)length, (unsigned char)kind, tag->flags};
    if (tag->flags & IS_FOREIGN) {
        scan->foreign_depth++;
        if (length == 3 && !scan->svg_depth) /* svg */
            scan->svg_depth = (Py_ssize_t)scan->depth;
    }
    if (tag->kind == TITLE && !scan->skipped_from && !scan->svg_depth) {
        int result = add_title(scan, at);
        if (result)
            return result;
    }
    if (kind == SKIPPED && !scan->skipped_from)
        scan->skipped_from = scan->depth;
    if (tag->flags & IS_RAW) {
        const char *end = end_of_raw(at, &scan->open[scan->depth - 1]);
        if (!end)
            return 1;
        *place = end;
        if (!scan->skipped_from)
            return add_text(scan, at, end, 1);
    }
    return 0;
}

/* The whole document. -1 on error, 1 if it is not what was expected. */
static int go_through(Scan *scan, const char *at, const char *end)
{
    int has_root = 0, result;
    while (at < end) {
        if (*at != '<') {
            const char *stop = memchr(at, '<', (size_t)(end - at));
            if (!stop)
                stop = end;
            if (!scan->skipped_from && scan->depth && (result = add_text(scan, at, stop, 0)))
                return result;
            at = stop;
        } else if (at[1] == '/') {
            if (!scan->depth)
                return 1;
            const Element *element = &scan->open[scan->depth - 1];
            if (strncmp(at + 2, element->name, element->length) || at[2 + element->length] != '>')
                return 1;
            at += 3 + element->length;
            if (close_element(scan))
                return -1;
        } else if (at[1] == '!') {
            int is_comment = at[2] == '-' && at[3] == '-';
            at = is_comment ? strstr(at + 4, "-->") : strchr(at, '>');
            if (!at)
                return 1;
            at += is_comment ? 3 : 1;
        } else {
            at++;
            if (!scan->depth) {
                if (has_root || strncmp(at, "html", 4) || !is_name_end(at[4]))
                    return 1;
                has_root = 1;
            }
            if ((result = open_element(scan, &at)))
                return result;
        }
    }
    return scan->depth || !has_root;
}

/* The result ------------------------------------------------------------------------------------------------------ */

static PyObject *number_list(const Scan *scan, size_t count, Py_ssize_t (*number)(const Scan *, size_t))
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t at = 0; list && at < count; at++) {
        PyObject *value = PyLong_FromSsize_t(number(scan, at));
        if (value)
            PyList_SET_ITEM(list, (Py_ssize_t)at, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

static Py_ssize_t link_start(const Scan *scan, size_t at)
{
    return scan->places[at].start < 0 ? scan->characters : scan->places[at].start;
}

static Py_ssize_t link_end(const Scan *scan, size_t at)
{
    return scan->places[at].end < 0 ? scan->characters : scan->places[at].end;
}

static Py_ssize_t link_block(const Scan *scan, size_t at)
{
    return scan->places[at].block < 0 ? (Py_ssize_t)scan->block_count - 1 : scan->places[at].block;
}

/* Characters in the blocks before, without the spaces between them. */
static Py_ssize_t length_before(const Scan *scan, size_t at)
{
    if (!at)
        return 0;
    Py_ssize_t start = at < scan->block_count ? scan->starts[at].character : scan->characters + 1;
    return start - (Py_ssize_t)at;
}

static size_t block_end(const Scan *scan, size_t at)
{
    return at + 1 < scan->block_count ? (size_t)scan->starts[at + 1].byte - 1 : scan->bytes;
}

static Py_ssize_t block_hash(const Scan *scan, size_t at)
{
    size_t start = (size_t)scan->starts[at].byte;
    return (Py_ssize_t)crc32_of(scan->text + start, block_end(scan, at) - start);
}

static PyObject *block_list(const Scan *scan)
{
    PyObject *list = PyList_New((Py_ssize_t)scan->block_count);
    for (size_t at = 0; list && at < scan->block_count; at++) {
        size_t start = (size_t)scan->starts[at].byte;
        PyObject *block = PyUnicode_DecodeUTF8(scan->text + start, (Py_ssize_t)(block_end(scan, at) - start), "replace");
        if (block)
            PyList_SET_ITEM(list, (Py_ssize_t)at, block);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *region_list(const Scan *scan)
{
    PyObject *list = PyList_New((Py_ssize_t)scan->region_count);
    for (size_t at = 0; list && at < scan->region_count; at++) {
        const Span *region = &scan->regions[at];
        PyObject *made = Py_BuildValue("nnO", region->first, region->end, region->is_outer ? Py_True : Py_False);
        if (made)
            PyList_SET_ITEM(list, (Py_ssize_t)at, made);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *result_of(Scan *scan)
{
    size_t placed = scan->block_count ? scan->links : 0;
    return Py_BuildValue(
        "{s:N,s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:N,s:N,s:O,s:N,s:N,s:N,s:N,s:N}",
        "text", PyUnicode_DecodeUTF8(scan->text, (Py_ssize_t)scan->bytes, "replace"),
        "titles", scan->titles,
        "language", scan->language,
        "base", scan->base ? scan->base : Py_None,
        "metas", scan->metas,
        "hrefs", scan->hrefs,
        "rels", scan->rels,
        "paths", scan->paths,
        "starts", number_list(scan, scan->links, link_start),
        "ends", number_list(scan, scan->links, link_end),
        "labels", scan->labels,
        "blocks", block_list(scan),
        "block_hashes", number_list(scan, scan->block_count, block_hash),
        "lengths_before", number_list(scan, scan->block_count ? scan->block_count + 1 : 0, length_before),
        "link_blocks", number_list(scan, placed, link_block),
        "regions", region_list(scan));
}

PyDoc_STRVAR(scan_doc, "scan(html, path_depth, has_roles) -> dict of the fields of page.walk.Document, or None\n\n"
                       "html: a document as Lexbor writes it. None: it takes a walk to tell.");

static PyObject *scan_document(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *html, *result = NULL;
    Scan scan = {0};
    if (!PyArg_ParseTuple(args, "Uip", &html, &scan.path_depth, &scan.has_roles))
        return NULL;
    Py_ssize_t length;
    const char *data = PyUnicode_AsUTF8AndSize(html, &length);
    if (!data)
        return NULL;
    if (scan.path_depth < 2 || memchr(data, 0, (size_t)length) || memchr(data, 2, (size_t)length))
        Py_RETURN_NONE; /* NULs end the scan, and \x02 separates blocks in the walk */
    scan.hrefs = PyList_New(0);
    scan.rels = PyList_New(0);
    scan.paths = PyList_New(0);
    scan.metas = PyList_New(0);
    scan.titles = PyList_New(0);
    scan.canonicals = PyList_New(0);
    scan.labels = PyDict_New();
    /* Text never grows: a space between blocks stands for a tag. */
    scan.text = PyMem_Malloc((size_t)length + 1);
    int state = -1;
    if (!scan.text)
        PyErr_NoMemory();
    else if (scan.hrefs && scan.rels && scan.paths && scan.metas && scan.titles && scan.canonicals && scan.labels)
        state = go_through(&scan, data, data + length);
    if (state == 1)
        result = Py_NewRef(Py_None);
    else if (state == 0) {
        result = result_of(&scan);
        if (result && PyDict_SetItemString(result, "canonicals", scan.canonicals))
            Py_CLEAR(result);
    }
    Py_XDECREF(scan.hrefs);
    Py_XDECREF(scan.rels);
    Py_XDECREF(scan.paths);
    Py_XDECREF(scan.metas);
    Py_XDECREF(scan.titles);
    Py_XDECREF(scan.canonicals);
    Py_XDECREF(scan.labels);
    Py_XDECREF(scan.base);
    Py_XDECREF(scan.language);
    Py_XDECREF(scan.last_path);
    PyMem_Free(scan.places);
    PyMem_Free(scan.regions);
    PyMem_Free(scan.starts);
    PyMem_Free(scan.text);
    PyMem_Free(scan.open);
    PyMem_Free(scan.waiting);
    PyMem_Free(scan.open_links);
    return result;
}

static PyMethodDef functions[] = {
    {"scan", scan_document, METH_VARARGS, scan_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lycosa.page._scan",
    .m_doc = "The walk of page.walk, compiled.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__scan(void)
{
    for (size_t at = 0; at < sizeof TAGS / sizeof *TAGS; at++) {
        uint32_t slot = tag_hash(TAGS[at].name, strlen(TAGS[at].name)) % TAG_SLOTS;
        while (tag_slots[slot])
            slot = (slot + 1) % TAG_SLOTS;
        tag_slots[slot] = &TAGS[at];
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? 0xEDB88320u ^ crc >> 1 : crc >> 1;
        crc_table[0][byte] = crc;
        is_plain[byte] = (byte > ' ' && byte < 0x7F && byte != '&') || (byte & 0xC0) == 0x80;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int table = 1; table < 8; table++)
            crc_table[table][byte] =
                crc_table[table - 1][byte] >> 8 ^ crc_table[0][crc_table[table - 1][byte] & 255];
    return PyModule_Create(&module);
}
