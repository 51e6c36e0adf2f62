/* `page.walk` at machine speed: parses a document with Lexbor and walks through its tree.

   Lexbor is the one inside selectolax: its functions are looked up in that library when this module is made ready.
   Only functions are called, and nothing is known here of how Lexbor lays out its structures; those that reach into them
   are called by the names under which Lexbor exports them for other programs (`…_noi`). The walk of page/walk.py is the
   reference, and tests compare both. What it alone can tell (names outside ASCII, boundary characters in a text) is left
   to it: `walk` returns None. */

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How elements are treated, as in page/tags.py. Nearly all are inline or block. */
enum { INLINE, BLOCK, ANCHOR, SKIPPED, AREA, FRAME, IMAGE, TITLE, BASE, LINK, META, HTML, LANDMARK, CONTENT, REGION };

typedef enum { NO_ROLE, MAIN, NAVIGATION, OUTER, BANNER } Role;

static const struct { const char *name; Role role; } ROLES[] = {
    {"article", MAIN}, {"main", MAIN}, {"navigation", NAVIGATION}, {"search", NAVIGATION}, {"menu", NAVIGATION},
    {"menubar", NAVIGATION}, {"banner", BANNER}, {"complementary", OUTER}, {"contentinfo", OUTER},
};

enum { MAX_NAME = 32, TAG_ROOM = 512, LONGEST_FRAME = 400, SEVERAL = 2 };
enum { ELEMENT_NODE = 1, TEXT_NODE = 3 }; /* types of nodes, as the DOM numbers them */

typedef struct {
    unsigned char kind, bears_role, role, length;
    char name[12];
} Tag;

static Tag tags[TAG_ROOM]; /* by Lexbor's number; those it does not know are inline and have no name */
static uint32_t crc_table[8][256];
static unsigned char is_plain[256]; /* visible ASCII, and what follows the first byte of other characters */

/* Lexbor ---------------------------------------------------------------------------------------------------------- */

typedef struct Node Node;
typedef struct Attr Attr;
typedef struct Parsed Parsed; /* a document */
typedef const unsigned char *Bytes;

static struct {
    Parsed *(*create)(void);
    unsigned (*parse)(Parsed *, Bytes, size_t);
    Parsed *(*destroy)(Parsed *);
    Node *(*root)(Parsed *);
    Node *(*first_child)(Node *);
    Node *(*next)(Node *);
    int (*type)(Node *);
    uintptr_t (*tag)(Node *);
    Bytes (*text)(Node *, size_t *);
    Bytes (*name)(Node *, size_t *);
    Attr *(*first_attribute)(Node *);
    Attr *(*next_attribute)(Attr *);
    Bytes (*attribute_name)(Attr *, size_t *);
    Bytes (*attribute_value)(Attr *, size_t *);
} lexbor;

static const struct { const char *name; size_t at; } FUNCTIONS[] = {
    {"lxb_html_document_create", offsetof(__typeof__(lexbor), create)},
    {"lxb_html_document_parse", offsetof(__typeof__(lexbor), parse)},
    {"lxb_html_document_destroy", offsetof(__typeof__(lexbor), destroy)},
    {"lxb_dom_document_root", offsetof(__typeof__(lexbor), root)},
    {"lxb_dom_node_first_child_noi", offsetof(__typeof__(lexbor), first_child)},
    {"lxb_dom_node_next_noi", offsetof(__typeof__(lexbor), next)},
    {"lxb_dom_node_type_noi", offsetof(__typeof__(lexbor), type)},
    {"lxb_dom_node_tag_id_noi", offsetof(__typeof__(lexbor), tag)},
    {"lxb_dom_node_text_content", offsetof(__typeof__(lexbor), text)},
    {"lxb_dom_element_qualified_name", offsetof(__typeof__(lexbor), name)},
    {"lxb_dom_element_first_attribute_noi", offsetof(__typeof__(lexbor), first_attribute)},
    {"lxb_dom_element_next_attribute_noi", offsetof(__typeof__(lexbor), next_attribute)},
    {"lxb_dom_attr_qualified_name", offsetof(__typeof__(lexbor), attribute_name)},
    {"lxb_dom_attr_value_noi", offsetof(__typeof__(lexbor), attribute_value)},
};

/* What is found --------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name; /* in Lexbor's memory, or in `tags` */
    uint32_t length;
    unsigned char kind;
    Node *node;
} Element;

typedef struct {
    const char *value; /* NULL: there is none */
    size_t length;
} Attribute;

typedef struct {
    Attribute href, rel, alt, src, title, name, content, role, lang, xml_lang, hreflang, type, http_equiv;
    unsigned char has_href, has_src, is_amp; /* with or without a value */
} Attributes;

typedef struct {
    Py_ssize_t byte, character;
} Position;

typedef struct {
    Position start, end;
    Py_ssize_t block;
} Place; /* of a link; -1: at the end of the text */

typedef struct {
    Py_ssize_t first, end;
    int is_outer;
} Span;

typedef struct {
    PyObject *hrefs, *rels, *paths, *labels, *metas, *http_equivs, *titles, *relations;
    PyObject *base, *language;
    int is_amp;
    Place *places;
    size_t links, places_room;
    Span *regions;
    size_t region_count, regions_room;
    Position *starts; /* of blocks */
    size_t block_count, starts_room;
    uint32_t *hashes; /* of blocks, and how many links start in each */
    char *text;
    size_t text_room;
    Position end; /* of the text so far */
    /* where the walk is */
    Parsed *document;
    Element *open;
    size_t depth, open_room;
    Py_ssize_t *waiting;
    size_t waiting_count, waiting_room;
    Py_ssize_t *open_links;
    size_t open_link_count, open_links_room;
    int is_in_block, has_space;
    int is_in_region;
    Py_ssize_t region_links;
    int content_depth;
    PyObject *last_path;
    int path_depth, has_roles;
} Walk;

/* Functions below return 0, -1 on an error of Python, and UNSURE if page.walk has to look itself. */
enum { UNSURE = 1 };

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

static PyObject *decoded(const char *value, size_t length)
{
    return PyUnicode_DecodeUTF8(value, (Py_ssize_t)length, "replace");
}

/* Text ------------------------------------------------------------------------------------------------------------ */

/* Whether bytes are valid UTF-8, as Python reads it. */
static int is_utf8(const unsigned char *at, size_t length)
{
    const unsigned char *end = at + length;
    while (at < end) {
        if (*at < 0x80) {
            uint64_t eight;
            while (end - at >= 8 && (memcpy(&eight, at, 8), !(eight & 0x8080808080808080u)))
                at += 8;
            while (at < end && *at < 0x80)
                at++;
            continue;
        }
        size_t more = *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : 1;
        if (*at < 0xC2 || *at > 0xF4 || (size_t)(end - at) <= more)
            return 0;
        if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F) || (*at == 0xF0 && at[1] < 0x90)
            || (*at == 0xF4 && at[1] > 0x8F))
            return 0;
        for (size_t each = 1; each <= more; each++)
            if ((at[each] & 0xC0) != 0x80)
                return 0;
        at += more + 1;
    }
    return 1;
}

/* Starts a block if none is open, and places the marks that wait: a visible character comes next. */
static int before_visible(Walk *walk)
{
    if (!walk->is_in_block) {
        if (ROOM(walk->starts, walk->block_count, walk->starts_room))
            return -1;
        if (walk->block_count) {
            walk->text[walk->end.byte++] = ' ';
            walk->end.character++;
        }
        walk->starts[walk->block_count++] = walk->end;
        walk->is_in_block = 1;
    } else if (walk->has_space) {
        walk->text[walk->end.byte++] = ' ';
        walk->end.character++;
    }
    walk->has_space = 0;
    for (size_t at = 0; at < walk->waiting_count; at++) {
        Py_ssize_t number = walk->waiting[at];
        if (number >= 0) {
            walk->places[number].start = walk->end;
            walk->places[number].block = (Py_ssize_t)walk->block_count - 1;
        } else
            walk->places[~number].end = walk->end;
    }
    walk->waiting_count = 0;
    return 0;
}

static void at_boundary(Walk *walk)
{
    walk->is_in_block = walk->has_space = 0;
}

/* How many of the eight bytes at this place are visible ASCII with single spaces between, the last one no space, if the
   byte before them is visible: eight, seven, or 0 if there is anything else among them. */
static inline size_t plain_of_eight(const unsigned char *at)
{
    const uint64_t each = 0x0101010101010101u, high = 0x80 * each;
    uint64_t eight, below, spaces;
    memcpy(&eight, at, 8);
    below = ((eight | high) - 0x20 * each) & high; /* a bit for each byte that is not less than a space */
    spaces = eight ^ 0x20 * each;
    spaces = ~(((spaces & ~high) + ~high) | spaces | ~high); /* a bit for each space */
    if (eight & high || below != high || spaces & spaces << 8)
        return 0;
    return at[7] == ' ' ? 7 : 8;
}

/* Adds a text that is valid UTF-8, for which there is room. Behind `end` there is a byte that is no space. */
static int add_visible(Walk *walk, const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        size_t taken = space_at(at);
        if (taken) {
            walk->has_space = walk->is_in_block;
            at += taken;
            continue;
        }
        if (at[0] == 0xC2 && at[1] == 0xAD) { /* a soft hyphen */
            at += 2;
            continue;
        }
        if ((!walk->is_in_block || walk->has_space || walk->waiting_count) && before_visible(walk))
            return -1;
        /* A run of plain characters, with single spaces between words: most of any text. */
        char *to = walk->text + walk->end.byte;
        Py_ssize_t characters = 0;
        const unsigned char *from = at;
        do {
            characters += (*at & 0xC0) != 0x80;
            *to++ = (char)*at++;
            size_t plain;
            while (end - at >= 8 && (plain = plain_of_eight(at))) {
                memcpy(to, at, 8); /* there is room for all eight */
                to += plain;
                at += plain;
                characters += (Py_ssize_t)plain;
            }
        } while (at < end && (is_plain[*at] || (*at == ' ' && at + 1 < end && is_plain[at[1]])));
        walk->end.byte += at - from;
        walk->end.character += characters;
    }
    return 0;
}

static int add_bytes(Walk *walk, const char *from, size_t length)
{
    if (memchr(from, 2, length))
        return UNSURE; /* separates blocks in page.walk */
    size_t needed = (size_t)walk->end.byte + length + 10; /* two spaces may come before it, and eight bytes be written at once */
    while (needed > walk->text_room)
        if (grow((void **)&walk->text, &walk->text_room, 1))
            return -1;
    return add_visible(walk, (const unsigned char *)from, (const unsigned char *)from + length);
}

static int add_text(Walk *walk, Node *node)
{
    size_t length = 0;
    Bytes text = lexbor.text(node, &length); /* a copy with a NUL behind it, which goes with the document */
    if (!text)
        return 0;
    int result;
    if (is_utf8(text, length))
        result = add_bytes(walk, (const char *)text, length);
    else { /* what is not valid is replaced within this text: it must not join with what comes next */
        PyObject *replaced = decoded((const char *)text, length);
        Py_ssize_t size = 0;
        const char *valid = replaced ? PyUnicode_AsUTF8AndSize(replaced, &size) : NULL;
        result = valid ? add_bytes(walk, valid, (size_t)size) : -1;
        Py_XDECREF(replaced);
    }
    return result;
}

/* Links and declarations ------------------------------------------------------------------------------------------ */

static PyObject *text_of(const Attribute *attribute)
{
    return decoded(attribute->value ? attribute->value : "", attribute->value ? attribute->length : 0);
}

static int append(PyObject *list, const Attribute *attribute)
{
    PyObject *value = text_of(attribute);
    int failed = value ? PyList_Append(list, value) : -1;
    Py_XDECREF(value);
    return failed;
}

/* Appends the tuple of these texts. */
static int append_all(PyObject *list, Py_ssize_t count, const Attribute **attributes)
{
    PyObject *texts = PyTuple_New(count);
    for (Py_ssize_t at = 0; texts && at < count; at++) {
        PyObject *text = text_of(attributes[at]);
        if (text)
            PyTuple_SET_ITEM(texts, at, text);
        else
            Py_CLEAR(texts);
    }
    int failed = texts ? PyList_Append(list, texts) : -1;
    Py_XDECREF(texts);
    return failed;
}

/* The names of the open elements, from the root or, if these are too many, of the last ones. */
static int add_path(Walk *walk, const char *name)
{
    size_t first = 0, length = 0, most = 8 + strlen(name);
    int is_cut = walk->depth >= (size_t)walk->path_depth;
    if (is_cut)
        first = walk->depth - (size_t)(walk->path_depth - 1);
    for (size_t at = first; at < walk->depth; at++)
        most += MAX_NAME + 1;
    char small[512], *path = most <= sizeof small ? small : PyMem_Malloc(most);
    if (!path) {
        PyErr_NoMemory();
        return -1;
    }
    if (is_cut) {
        memcpy(path, "\xE2\x80\xA6/", 4);
        length = 4;
    }
    for (size_t at = first; at < walk->depth; at++) {
        size_t size = walk->open[at].length < MAX_NAME ? walk->open[at].length : MAX_NAME;
        for (size_t each = 0; each < size; each++) {
            char byte = walk->open[at].name[each];
            path[length++] = byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
        }
        path[length++] = '/';
    }
    memcpy(path + length, name, strlen(name));
    length += strlen(name);
    Py_ssize_t known = 0;
    const char *last = walk->last_path ? PyUnicode_AsUTF8AndSize(walk->last_path, &known) : NULL;
    int is_new = !last || (size_t)known != length || memcmp(last, path, length);
    PyObject *made = is_new ? decoded(path, length) : NULL;
    if (path != small)
        PyMem_Free(path);
    if (is_new && !made)
        return -1;
    if (made)
        Py_XSETREF(walk->last_path, made);
    return PyList_Append(walk->paths, walk->last_path);
}

static int add_waiting(Walk *walk, Py_ssize_t number)
{
    if (ROOM(walk->waiting, walk->waiting_count, walk->waiting_room))
        return -1;
    walk->waiting[walk->waiting_count++] = number;
    return 0;
}

static int begin_link(Walk *walk, const Attribute *href, const Attribute *rel, const char *name)
{
    if (ROOM(walk->places, walk->links, walk->places_room))
        return -1;
    walk->places[walk->links] = (Place){{-1, -1}, {-1, -1}, -1};
    if (append(walk->hrefs, href) || append(walk->rels, rel) || add_path(walk, name))
        return -1;
    return add_waiting(walk, (Py_ssize_t)walk->links++);
}

static int is_set(const Attribute *attribute)
{
    return attribute->value && attribute->length;
}

/* Substitutes for the text of a link: the first one that is not empty. */
static int add_label(Walk *walk, Py_ssize_t link, const Attribute *label)
{
    if (!is_set(label))
        return 0;
    PyObject *number = PyLong_FromSsize_t(link), *text = decoded(label->value, label->length);
    int failed = !number || !text || !PyDict_SetDefault(walk->labels, number, text) ? -1 : 0;
    Py_XDECREF(number);
    Py_XDECREF(text);
    return failed;
}

static int is_named(const Element *element, const char *name)
{
    return element->length == strlen(name) && !memcmp(element->name, name, element->length);
}

static int is_in_svg(const Walk *walk)
{
    for (size_t at = 0; at < walk->depth; at++)
        if (is_named(&walk->open[at], "svg"))
            return 1;
    return 0;
}

static int add_title(Walk *walk, Node *node)
{
    if (is_in_svg(walk)) /* drawings have titles, too */
        return 0;
    Node *child = lexbor.first_child(node);
    if (child && (lexbor.type(child) != TEXT_NODE || lexbor.next(child)))
        return UNSURE;
    size_t length = 0;
    Bytes text = child ? lexbor.text(child, &length) : NULL;
    Attribute title = {(const char *)text, length};
    return append(walk->titles, &title);
}

/* What an element declares whose content does not count. */
static int at_special(Walk *walk, const Tag *tag, const Attributes *has)
{
    static const Attribute nothing;
    Py_ssize_t number = (Py_ssize_t)walk->links;
    switch (tag->kind) {
    case IMAGE:
        if (walk->open_link_count)
            return add_label(walk, walk->open_links[walk->open_link_count - 1], &has->alt);
        break;
    case AREA:
        if (has->has_href)
            return begin_link(walk, &has->href, &has->rel, tag->name) || add_waiting(walk, ~number)
                   || add_label(walk, number, &has->alt) ? -1 : 0;
        break;
    case FRAME:
        if (has->has_src)
            return begin_link(walk, &has->src, &nothing, tag->name) || add_waiting(walk, ~number)
                   || add_label(walk, number, is_set(&has->title) ? &has->title : &has->name) ? -1 : 0;
        break;
    case META:
        if (is_set(&has->http_equiv) && is_set(&has->content) && !(walk->depth && is_named(&walk->open[walk->depth - 1], "noscript"))
            && append_all(walk->http_equivs, 2, (const Attribute *[]){&has->http_equiv, &has->content}))
            return -1;
        if (is_set(&has->name) && is_set(&has->content))
            return append_all(walk->metas, 2, (const Attribute *[]){&has->name, &has->content});
        break;
    case BASE:
        if (has->href.value && !walk->base && !(walk->base = decoded(has->href.value, has->href.length)))
            return -1;
        break;
    case LINK:
        if (is_set(&has->rel) && is_set(&has->href))
            return append_all(walk->relations, 5, (const Attribute *[]){&has->rel, &has->href, &has->hreflang,
                                                                       &has->type, &has->title});
        break;
    }
    return 0;
}

/* Landmarks ------------------------------------------------------------------------------------------------------- */

/* The role of an element, or -1 if it cannot be told here. */
static int role_of(const Walk *walk, const Tag *tag, const Attribute *written)
{
    if (!walk->has_roles || !is_set(written))
        return tag->role;
    const char *from = written->value, *end = from + written->length;
    for (const char *at = from; at < end; at++)
        if ((unsigned char)*at >= 0x80)
            return -1;
    while (from < end && space_at((const unsigned char *)from))
        from++;
    while (end > from && space_at((const unsigned char *)end - 1))
        end--;
    if (from == end)
        return tag->role;
    for (size_t each = 0; each < sizeof ROLES / sizeof *ROLES; each++)
        if (strlen(ROLES[each].name) == (size_t)(end - from) && !PyOS_mystrnicmp(ROLES[each].name, from, end - from))
            return (int)ROLES[each].role;
    return NO_ROLE;
}

/* The kind as which an element is closed again that may be content or furniture; -1 on error. */
static int open_landmark(Walk *walk, int role)
{
    if (role == MAIN) {
        walk->content_depth++;
        return CONTENT;
    }
    int is_outer = role == OUTER || role == BANNER;
    if (walk->is_in_region || !(role == NAVIGATION || (is_outer && !walk->content_depth)))
        return BLOCK;
    if (ROOM(walk->regions, walk->region_count, walk->regions_room))
        return -1;
    walk->is_in_region = 1;
    walk->regions[walk->region_count++] = (Span){(Py_ssize_t)walk->block_count, 0, is_outer};
    walk->region_links = role == BANNER ? (Py_ssize_t)walk->links : -1;
    return REGION;
}

static void close_landmark(Walk *walk, int kind)
{
    at_boundary(walk);
    if (kind == CONTENT) {
        walk->content_depth--;
        return;
    }
    walk->is_in_region = 0;
    if (walk->region_links == (Py_ssize_t)walk->links)
        walk->region_count--; /* a banner without a link is the heading of the page */
    else
        walk->regions[walk->region_count - 1].end = (Py_ssize_t)walk->block_count;
}

/* Elements -------------------------------------------------------------------------------------------------------- */

/* The attributes that count. Names in two spellings are two attributes; of one name, the last counts. */
static Attributes attributes_of(Node *node)
{
    static const struct { const char *name; size_t at, has; } wanted[] = {
        {"href", offsetof(Attributes, href), offsetof(Attributes, has_href)},
        {"rel", offsetof(Attributes, rel), 0}, {"alt", offsetof(Attributes, alt), 0},
        {"src", offsetof(Attributes, src), offsetof(Attributes, has_src)}, {"title", offsetof(Attributes, title), 0},
        {"name", offsetof(Attributes, name), 0}, {"content", offsetof(Attributes, content), 0},
        {"role", offsetof(Attributes, role), 0}, {"lang", offsetof(Attributes, lang), 0},
        {"xml:lang", offsetof(Attributes, xml_lang), 0}, {"hreflang", offsetof(Attributes, hreflang), 0},
        {"type", offsetof(Attributes, type), 0}, {"http-equiv", offsetof(Attributes, http_equiv), 0},
    };
    Attributes has = {0};
    for (Attr *each = lexbor.first_attribute(node); each; each = lexbor.next_attribute(each)) {
        size_t length = 0, size = 0;
        const char *name = (const char *)lexbor.attribute_name(each, &length);
        if (!name || length < 3 || length > 10)
            continue;
        for (size_t at = 0; at < sizeof wanted / sizeof *wanted; at++) {
            if (*wanted[at].name != *name || strlen(wanted[at].name) != length || memcmp(wanted[at].name, name, length))
                continue;
            const char *value = (const char *)lexbor.attribute_value(each, &size);
            *(Attribute *)((char *)&has + wanted[at].at) = (Attribute){value, value ? size : 0};
            if (wanted[at].has)
                *((unsigned char *)&has + wanted[at].has) = 1;
            break;
        }
        if ((length == 3 && !memcmp(name, "amp", 3)) || (length == 3 && !memcmp(name, "\xE2\x9A\xA1", 3)))
            has.is_amp = 1;
    }
    return has;
}

static int at_root(Walk *walk, const Attributes *has)
{
    PyObject *made = text_of(is_set(&has->lang) ? &has->lang : &has->xml_lang);
    if (!made)
        return -1;
    Py_XSETREF(walk->language, made);
    return 0;
}

/* What the walk does when it comes to an element; -1 on error, -2: cannot be told, else how the element goes on. */
static int enter(Walk *walk, const Tag *tag, Node *node)
{
    int is_landmark = tag->kind == LANDMARK || (walk->has_roles && tag->bears_role);
    if (tag->kind == INLINE)
        return INLINE;
    if (tag->kind == SKIPPED)
        return SKIPPED;
    if (tag->kind == BLOCK && !is_landmark) {
        at_boundary(walk);
        return BLOCK;
    }
    if (tag->kind == TITLE) {
        int result = add_title(walk, node);
        return result < 0 ? -1 : result ? -2 : SKIPPED;
    }
    Attributes has = attributes_of(node);
    if (is_landmark) {
        at_boundary(walk);
        int role = role_of(walk, tag, &has.role);
        return role < 0 ? -2 : open_landmark(walk, role);
    }
    if (tag->kind == HTML) {
        if (!walk->depth)
            walk->is_amp = has.is_amp;
        return at_root(walk, &has) ? -1 : BLOCK;
    }
    if (tag->kind == ANCHOR) {
        if (!has.has_href)
            return INLINE;
        if (ROOM(walk->open_links, walk->open_link_count, walk->open_links_room))
            return -1;
        walk->open_links[walk->open_link_count++] = (Py_ssize_t)walk->links;
        return begin_link(walk, &has.href, &has.rel, tag->name) ? -1 : ANCHOR;
    }
    return at_special(walk, tag, &has) ? -1 : SKIPPED;
}

static int leave(Walk *walk, int kind)
{
    if (kind == BLOCK)
        at_boundary(walk);
    else if (kind == ANCHOR)
        return add_waiting(walk, ~walk->open_links[--walk->open_link_count]);
    else if (kind > LANDMARK)
        close_landmark(walk, kind);
    return 0;
}

/* Goes down into an element that has children. */
static int descend(Walk *walk, Node *node, const Tag *tag, int kind)
{
    if (ROOM(walk->open, walk->depth, walk->open_room))
        return -1;
    Element element = {tag->name, tag->length, (unsigned char)kind, node};
    if (!tag->length) { /* a name that HTML does not know */
        size_t length = 0;
        element.name = (const char *)lexbor.name(node, &length);
        element.length = (uint32_t)(element.name ? length : 0);
        for (size_t at = 0; at < element.length; at++)
            if ((unsigned char)element.name[at] >= 0x80)
                return UNSURE;
    }
    walk->open[walk->depth++] = element;
    return 0;
}

/* The node, what is in it, and what follows. */
static int go_through(Walk *walk, Node *node)
{
    static const Tag unknown;
    int result;
    while (1) {
        int type = lexbor.type(node);
        if (type == TEXT_NODE) {
            if ((result = add_text(walk, node)))
                return result;
        } else if (type == ELEMENT_NODE) {
            uintptr_t number = lexbor.tag(node);
            const Tag *tag = number < TAG_ROOM ? &tags[number] : &unknown;
            int kind = enter(walk, tag, node);
            if (kind < 0)
                return kind == -1 ? -1 : UNSURE;
            Node *child = kind == SKIPPED ? NULL : lexbor.first_child(node);
            if (child) {
                if ((result = descend(walk, node, tag, kind)))
                    return result;
                node = child;
                continue;
            }
            /* A block without content has been a boundary already. */
            if (kind != BLOCK && leave(walk, kind))
                return -1;
        }
        Node *following = lexbor.next(node);
        while (!following) {
            if (!walk->depth)
                return 0;
            Element *element = &walk->open[--walk->depth];
            node = element->node;
            if (leave(walk, element->kind))
                return -1;
            following = lexbor.next(node);
        }
        node = following;
    }
}

/* Blocks ---------------------------------------------------------------------------------------------------------- */

static size_t block_end(const Walk *walk, size_t at)
{
    return at + 1 < walk->block_count ? (size_t)walk->starts[at + 1].byte - 1 : (size_t)walk->end.byte;
}

static Py_ssize_t characters_of(const Walk *walk, size_t at)
{
    Py_ssize_t end = at + 1 < walk->block_count ? walk->starts[at + 1].character - 1 : walk->end.character;
    return end - walk->starts[at].character;
}

/* The next character of valid UTF-8, and whether it is a letter to re: [^\W\d_]. */
static int letter_at(const unsigned char **at)
{
    Py_UCS4 character = *(*at)++;
    if (character >= 0x80) {
        int more = character >= 0xF0 ? 3 : character >= 0xE0 ? 2 : 1;
        character &= 0x3F >> more;
        while (more--)
            character = character << 6 | (*(*at)++ & 0x3F);
    }
    return Py_UNICODE_ISALNUM(character) && !Py_UNICODE_ISDECIMAL(character);
}

/* Whether two letters stand next to each other, and later two more, behind something else: page.walk's _TWO_WORDS. */
static int has_two_words(const char *from, size_t length)
{
    const unsigned char *at = (const unsigned char *)from, *end = at + length;
    int run = 0, words = 0, is_apart = 0;
    while (at < end) {
        if (letter_at(&at)) {
            run++;
            if (run == 2 && !words)
                words = 1;
            else if (run == 2 && is_apart)
                return 1;
        } else {
            run = 0;
            is_apart = words;
        }
    }
    return 0;
}

static Py_ssize_t link_block(const Walk *walk, size_t at)
{
    return walk->places[at].start.byte < 0 ? (Py_ssize_t)walk->block_count - 1 : walk->places[at].block;
}

/* Gives a block with several links the hash of the words around these, if there are two or more. */
static int hash_frame(Walk *walk, size_t block, size_t first, size_t count)
{
    Py_ssize_t place = walk->starts[block].byte, end = (Py_ssize_t)block_end(walk, block);
    size_t length = 0, most = (size_t)(end - place) + count; /* a mark for each link */
    char small[2048], *frame = most <= sizeof small ? small : PyMem_Malloc(most);
    if (!frame) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t link = first; link < first + count; link++) {
        const Place *at = &walk->places[link];
        Py_ssize_t until = at->start.byte < 0 ? end : at->start.byte;
        if (until > place) {
            memcpy(frame + length, walk->text + place, (size_t)(until - place));
            length += (size_t)(until - place);
        }
        frame[length++] = 0;
        place = at->end.byte < 0 || at->end.byte > end ? end : at->end.byte;
    }
    memcpy(frame + length, walk->text + place, (size_t)(end - place));
    length += (size_t)(end - place);
    if (has_two_words(frame, length))
        walk->hashes[block] = crc32_of(frame, length);
    if (frame != small)
        PyMem_Free(frame);
    return 0;
}

static int hash_blocks(Walk *walk)
{
    walk->hashes = PyMem_Malloc((walk->block_count + 1) * sizeof *walk->hashes);
    if (!walk->hashes) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t block = 0; block < walk->block_count; block++) {
        size_t start = (size_t)walk->starts[block].byte;
        walk->hashes[block] = crc32_of(walk->text + start, block_end(walk, block) - start);
    }
    for (size_t first = 0, next; walk->block_count && first < walk->links; first = next) {
        Py_ssize_t block = link_block(walk, first);
        for (next = first + 1; next < walk->links && link_block(walk, next) == block; next++)
            ;
        if (next - first >= SEVERAL && characters_of(walk, (size_t)block) <= LONGEST_FRAME
            && hash_frame(walk, (size_t)block, first, next - first))
            return -1;
    }
    return 0;
}

/* The result ------------------------------------------------------------------------------------------------------ */

static PyObject *number_list(const Walk *walk, size_t count, Py_ssize_t (*number)(const Walk *, size_t))
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t at = 0; list && at < count; at++) {
        PyObject *value = PyLong_FromSsize_t(number(walk, at));
        if (value)
            PyList_SET_ITEM(list, (Py_ssize_t)at, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

static Py_ssize_t link_start(const Walk *walk, size_t at)
{
    return walk->places[at].start.byte < 0 ? walk->end.character : walk->places[at].start.character;
}

static Py_ssize_t link_end(const Walk *walk, size_t at)
{
    return walk->places[at].end.byte < 0 ? walk->end.character : walk->places[at].end.character;
}

/* Characters in the blocks before, without the spaces between them. */
static Py_ssize_t length_before(const Walk *walk, size_t at)
{
    if (!at)
        return 0;
    Py_ssize_t start = at < walk->block_count ? walk->starts[at].character : walk->end.character + 1;
    return start - (Py_ssize_t)at;
}

static Py_ssize_t block_hash(const Walk *walk, size_t at)
{
    return (Py_ssize_t)walk->hashes[at];
}

static PyObject *block_list(const Walk *walk)
{
    PyObject *list = PyList_New((Py_ssize_t)walk->block_count);
    for (size_t at = 0; list && at < walk->block_count; at++) {
        size_t start = (size_t)walk->starts[at].byte;
        PyObject *block = decoded(walk->text + start, block_end(walk, at) - start);
        if (block)
            PyList_SET_ITEM(list, (Py_ssize_t)at, block);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *region_list(const Walk *walk)
{
    PyObject *list = PyList_New((Py_ssize_t)walk->region_count);
    for (size_t at = 0; list && at < walk->region_count; at++) {
        const Span *region = &walk->regions[at];
        PyObject *made = Py_BuildValue("nnO", region->first, region->end, region->is_outer ? Py_True : Py_False);
        if (made)
            PyList_SET_ITEM(list, (Py_ssize_t)at, made);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *result_of(Walk *walk)
{
    if (hash_blocks(walk))
        return NULL;
    size_t placed = walk->block_count ? walk->links : 0;
    return Py_BuildValue(
        "{s:N,s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:N,s:N,s:O,s:N,s:N,s:N,s:N,s:N,s:O}",
        "text", decoded(walk->text, (size_t)walk->end.byte),
        "titles", walk->titles,
        "relations", walk->relations,
        "language", walk->language,
        "base", walk->base ? walk->base : Py_None,
        "metas", walk->metas,
        "http_equivs", walk->http_equivs,
        "hrefs", walk->hrefs,
        "rels", walk->rels,
        "paths", walk->paths,
        "starts", number_list(walk, walk->links, link_start),
        "ends", number_list(walk, walk->links, link_end),
        "labels", walk->labels,
        "blocks", block_list(walk),
        "block_hashes", number_list(walk, walk->block_count, block_hash),
        "lengths_before", number_list(walk, walk->block_count ? walk->block_count + 1 : 0, length_before),
        "link_blocks", number_list(walk, placed, link_block),
        "regions", region_list(walk),
        "is_amp", walk->is_amp ? Py_True : Py_False);
}

static void release(Walk *walk)
{
    if (walk->document)
        lexbor.destroy(walk->document);
    Py_XDECREF(walk->hrefs);
    Py_XDECREF(walk->rels);
    Py_XDECREF(walk->paths);
    Py_XDECREF(walk->metas);
    Py_XDECREF(walk->http_equivs);
    Py_XDECREF(walk->titles);
    Py_XDECREF(walk->relations);
    Py_XDECREF(walk->labels);
    Py_XDECREF(walk->base);
    Py_XDECREF(walk->language);
    Py_XDECREF(walk->last_path);
    PyMem_Free(walk->places);
    PyMem_Free(walk->regions);
    PyMem_Free(walk->starts);
    PyMem_Free(walk->hashes);
    PyMem_Free(walk->text);
    PyMem_Free(walk->open);
    PyMem_Free(walk->waiting);
    PyMem_Free(walk->open_links);
}

/* Parses the document and goes through it. */
static int find_all(Walk *walk, const Py_buffer *source)
{
    walk->hrefs = PyList_New(0);
    walk->rels = PyList_New(0);
    walk->paths = PyList_New(0);
    walk->metas = PyList_New(0);
    walk->http_equivs = PyList_New(0);
    walk->titles = PyList_New(0);
    walk->relations = PyList_New(0);
    walk->labels = PyDict_New();
    walk->language = PyUnicode_FromString("");
    walk->text_room = (size_t)source->len + 64;
    walk->text = PyMem_Malloc(walk->text_room);
    if (!walk->text)
        PyErr_NoMemory();
    if (PyErr_Occurred())
        return -1;
    walk->document = lexbor.create();
    if (!walk->document || lexbor.parse(walk->document, source->buf, (size_t)source->len))
        return UNSURE;
    Node *root = lexbor.root(walk->document);
    return root ? go_through(walk, root) : 0;
}

PyDoc_STRVAR(walk_doc, "walk(source, path_depth, has_roles) -> dict of the fields of page.walk.Document, or None\n\n"
                       "source: a document in UTF-8 without NULs. None: it takes page.walk to tell.");

static PyObject *walk_document(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer source;
    Walk walk = {0};
    if (!PyArg_ParseTuple(args, "y*ip", &source, &walk.path_depth, &walk.has_roles))
        return NULL;
    PyObject *result = NULL;
    if (!lexbor.create)
        PyErr_SetString(PyExc_RuntimeError, "not ready: call prepare first");
    else if (walk.path_depth < 2)
        result = Py_NewRef(Py_None);
    else {
        int state = find_all(&walk, &source);
        result = state == UNSURE ? Py_NewRef(Py_None) : state ? NULL : result_of(&walk);
    }
    release(&walk);
    PyBuffer_Release(&source);
    return result;
}

/* Texts of links -------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *text;
    Py_ssize_t start, end;
} Surroundings; /* a text, and where a link is in it */

/* A part of a text without the space at its beginning and end: there is never more than one. */
static PyObject *trimmed(PyObject *text, Py_ssize_t from, Py_ssize_t to, int at_both_ends)
{
    if (at_both_ends && from < to && PyUnicode_READ_CHAR(text, from) == ' ')
        from++;
    if (from < to && PyUnicode_READ_CHAR(text, to - 1) == ' ')
        to--;
    return PyUnicode_Substring(text, from, to > from ? to : from);
}

/* `links._context`: some words before and after a link. */
static PyObject *context_of(const Surroundings *at, Py_ssize_t reach)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(at->text);
    Py_ssize_t from = at->start > reach ? at->start - reach : 0, to = at->end + reach, cut;
    if (from) {
        cut = PyUnicode_FindChar(at->text, ' ', from - 1, at->start, 1);
        if (cut == -2)
            return NULL;
        if (cut >= 0)
            from = cut + 1;
    }
    if (to < length) {
        cut = PyUnicode_FindChar(at->text, ' ', at->end, to + 1, -1);
        if (cut == -2)
            return NULL;
        if (cut >= 0)
            to = cut;
    } else
        to = length;
    return trimmed(at->text, from, to, 1);
}

static Py_ssize_t number_at(PyObject *list, Py_ssize_t at)
{
    return at < PyList_GET_SIZE(list) ? PyLong_AsSsize_t(PyList_GET_ITEM(list, at))
                                      : (PyErr_SetString(PyExc_IndexError, "a list is too short"), -1);
}

/* `own_text.OwnText.around`. `shifts`: by block, what is added to a place in the document to get one in the own text. */
static int surroundings_of(Surroundings *at, PyObject *blocks, PyObject *befores, PyObject *own_text, Py_ssize_t block,
                           const Py_ssize_t *shifts)
{
    if (block < 0 || block >= PyList_GET_SIZE(blocks)) {
        PyErr_SetString(PyExc_IndexError, "a link is in no block");
        return -1;
    }
    PyObject *text = PyList_GET_ITEM(blocks, block);
    Py_ssize_t first = number_at(befores, block) + block, length = PyUnicode_GET_LENGTH(text);
    if (PyErr_Occurred())
        return -1;
    at->start -= first;
    at->end = at->end - first < length ? at->end - first : length;
    at->text = shifts[block] < 0 ? text : own_text;
    if (shifts[block] >= 0) {
        at->start += shifts[block];
        at->end += shifts[block];
    }
    return 0;
}

/* By block: where it begins in the own text; -1 if it is not part of it. */
static Py_ssize_t *own_shifts(PyObject *blocks, PyObject *is_own)
{
    Py_ssize_t count = PyList_GET_SIZE(blocks), place = 0, *shifts = PyMem_Malloc((size_t)(count + 1) * sizeof *shifts);
    if (!shifts)
        return (Py_ssize_t *)PyErr_NoMemory();
    for (Py_ssize_t at = 0; at < count; at++) {
        int is_kept = at < PyList_GET_SIZE(is_own) && PyList_GET_ITEM(is_own, at) == Py_True;
        shifts[at] = is_kept ? place : -1;
        place += is_kept ? PyUnicode_GET_LENGTH(PyList_GET_ITEM(blocks, at)) + 1 : 0;
    }
    return shifts;
}

PyDoc_STRVAR(link_texts_doc,
             "link_texts(document's text, starts, ends, blocks, lengths_before, link_blocks, own text, is_own or None,\n"
             "           max_anchor, reach) -> anchors, contexts: those of page.links");

static PyObject *link_texts(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *text, *starts, *ends, *blocks, *befores, *link_blocks, *own_text, *is_own;
    Py_ssize_t max_anchor, reach;
    if (!PyArg_ParseTuple(args, "UO!O!O!O!O!UOnn", &text, &PyList_Type, &starts, &PyList_Type, &ends, &PyList_Type, &blocks,
                          &PyList_Type, &befores, &PyList_Type, &link_blocks, &own_text, &is_own, &max_anchor, &reach))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(starts), length = PyUnicode_GET_LENGTH(text), *shifts = NULL;
    PyObject *anchors = PyList_New(count), *contexts = PyList_New(count), *result = NULL;
    if (is_own != Py_None && (!PyList_Check(is_own) || !(shifts = own_shifts(blocks, is_own)))) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "is_own is no list");
        goto done;
    }
    for (Py_ssize_t at = 0; anchors && contexts && at < count; at++) {
        Surroundings place = {text, number_at(starts, at), number_at(ends, at)};
        if (PyErr_Occurred())
            goto done;
        if (place.start < 0 || place.start > length || place.end < place.start || place.end > length) {
            PyErr_SetString(PyExc_ValueError, "a link is not in the text");
            goto done;
        }
        if (place.end > place.start + max_anchor)
            place.end = place.start + max_anchor;
        PyObject *anchor = trimmed(text, place.start, place.end, 0);
        if (!anchor)
            goto done;
        PyList_SET_ITEM(anchors, at, anchor);
        if (shifts && surroundings_of(&place, blocks, befores, own_text, number_at(link_blocks, at), shifts))
            goto done;
        PyObject *context = context_of(&place, reach);
        if (!context)
            goto done;
        PyList_SET_ITEM(contexts, at, context);
    }
    if (anchors && contexts)
        result = PyTuple_Pack(2, anchors, contexts);
done:
    PyMem_Free(shifts);
    Py_XDECREF(anchors);
    Py_XDECREF(contexts);
    return result;
}

static int compare(const void *one, const void *other)
{
    uint32_t first = *(const uint32_t *)one, second = *(const uint32_t *)other;
    return (first > second) - (first < second);
}

PyDoc_STRVAR(sorted_once_doc, "sorted_once(numbers of 32 bits) -> bytes: in ascending order, each once");

static PyObject *sorted_once(PyObject *Py_UNUSED(module), PyObject *list)
{
    if (!PyList_Check(list))
        return PyErr_Format(PyExc_TypeError, "no list");
    Py_ssize_t count = PyList_GET_SIZE(list), kept = 0;
    uint32_t *numbers = PyMem_Malloc((size_t)(count + 1) * sizeof *numbers);
    if (!numbers)
        return PyErr_NoMemory();
    for (Py_ssize_t at = 0; at < count; at++)
        numbers[at] = (uint32_t)PyLong_AsUnsignedLong(PyList_GET_ITEM(list, at));
    PyObject *result = NULL;
    if (!PyErr_Occurred()) {
        qsort(numbers, (size_t)count, sizeof *numbers, compare);
        for (Py_ssize_t at = 0; at < count; at++)
            if (!kept || numbers[kept - 1] != numbers[at])
                numbers[kept++] = numbers[at];
        result = PyBytes_FromStringAndSize((const char *)numbers, kept * (Py_ssize_t)sizeof *numbers);
    }
    PyMem_Free(numbers);
    return result;
}

/* Making ready ----------------------------------------------------------------------------------------------------- */

static int role_named(const char *name)
{
    for (size_t each = 0; each < sizeof ROLES / sizeof *ROLES; each++)
        if (!strcmp(ROLES[each].name, name))
            return (int)ROLES[each].role;
    return NO_ROLE;
}

PyDoc_STRVAR(prepare_doc, "prepare(library, tags): look up Lexbor's functions in a library that is loaded\n\n"
                          "tags: (number, kind, whether its role attribute counts, name, role) of each tag that HTML knows.\n"
                          "ImportError if a function is missing.");

static PyObject *prepare(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *library;
    PyObject *rows;
    if (!PyArg_ParseTuple(args, "sO!", &library, &PyList_Type, &rows))
        return NULL;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(rows); at++) {
        int number, kind, bears_role;
        const char *name, *role;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(rows, at), "iipss", &number, &kind, &bears_role, &name, &role))
            return NULL;
        if (number < 0 || number >= TAG_ROOM || kind < INLINE || kind > LANDMARK || strlen(name) >= sizeof tags->name)
            return PyErr_Format(PyExc_ValueError, "%s has the number %d and the kind %d", name, number, kind);
        Tag tag = {(unsigned char)kind, (unsigned char)bears_role, (unsigned char)role_named(role),
                   (unsigned char)strlen(name), {0}};
        memcpy(tag.name, name, tag.length);
        tags[number] = tag;
    }
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
        return PyErr_Format(PyExc_ImportError, "%s is not loaded", library);
    __typeof__(lexbor) found;
    for (size_t each = 0; each < sizeof FUNCTIONS / sizeof *FUNCTIONS; each++) {
        void *function = dlsym(handle, FUNCTIONS[each].name);
        if (!function) {
            dlclose(handle);
            return PyErr_Format(PyExc_ImportError, "%s has no %s", library, FUNCTIONS[each].name);
        }
        memcpy((char *)&found + FUNCTIONS[each].at, &function, sizeof function);
    }
    lexbor = found; /* the library stays loaded: the handle is kept */
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"prepare", prepare, METH_VARARGS, prepare_doc},
    {"walk", walk_document, METH_VARARGS, walk_doc},
    {"link_texts", link_texts, METH_VARARGS, link_texts_doc},
    {"sorted_once", sorted_once, METH_O, sorted_once_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lycosa.page._tree",
    .m_doc = "The walk of page.walk, compiled.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__tree(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? 0xEDB88320u ^ crc >> 1 : crc >> 1;
        crc_table[0][byte] = crc;
        is_plain[byte] = (byte > ' ' && byte < 0x7F) || (byte & 0xC0) == 0x80;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int table = 1; table < 8; table++)
            crc_table[table][byte] =
                crc_table[table - 1][byte] >> 8 ^ crc_table[0][crc_table[table - 1][byte] & 255];
    return PyModule_Create(&module);
}
