/* The loops of `sums` and `features`, compiled when the package is built, so that a crawl need not load numba.

   The twins in Python are the reference: the same operations in the same order and precision, so that both give the same
   bits. What is a float there is a float here, and a sum of a float and a double, or of a float and an integer, is a
   double. Indices are not checked: callers must pass valid ones. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>

enum { RING = 8, TEXTS = 4, NEAR_WORDS = 16, OWN_WORDS = 4, URL_WORDS = 6, REACH = 5, MOST_SIBLINGS = 200 };
enum {
    NEIGHBOURS, HUBS, PARENTS, BEST_PARENT, EARLY_PARENTS, LINK_TEXT, LINK_TEXT_LEARNED, LINK_WORDS, BEST_LINK_WORDS,
    URL_LEARNED, WORDS_OF_URL, ANCHOR, HOST, FOLDER, CITATIONS, COUNT
};
enum { WORDS_FROM = LINK_TEXT, WORDS_TO = ANCHOR + 1 };
enum { HUB_RATE, PARENT_RATE, HOST_RATE, FOLDER_RATE, FOUND_RATE };
enum { SQUARE, JUDGED, LEARNED, LOG_ODDS, MEASURES };
enum { GUESSED = 0, HANDED_OUT = -1 };

static const double LEAST_ODDS = 0.02, HUB_SMOOTHING = 4.0, PARENT_SMOOTHING = 3.0, PLACE_SMOOTHING = 2.0;
static const double MOST_Z = 6.0, FADE = 3.0, HUB_STEP = 0.3;

/* ── columns ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct {
    char *at;
    Py_ssize_t step, rows;
} Column;

#define F32(column, row) (*(float *)((column).at + (column).step * (row)))
#define F64(column, row) (*(double *)((column).at + (column).step * (row)))
#define I32(column, row) (*(int32_t *)((column).at + (column).step * (row)))
#define I64(column, row) (*(int64_t *)((column).at + (column).step * (row)))
#define ROW(kind, column, row) ((kind *)((column).at + (column).step * (row)))

enum { MOST_VIEWS = 64 };

/* The arrays of one call. */
typedef struct {
    Py_buffer held[MOST_VIEWS];
    int count;
} Views;

static void let_go(Views *views)
{
    while (views->count)
        PyBuffer_Release(&views->held[--views->count]);
}

/* An array of values of this size; of a matrix, whose rows must be contiguous and have this width, the rows. */
static int take(Views *views, PyObject *array, Py_ssize_t size, Py_ssize_t width, Column *column)
{
    Py_buffer *view = &views->held[views->count];
    if (views->count == MOST_VIEWS) {
        PyErr_SetString(PyExc_SystemError, "too many arrays");
        return 0;
    }
    if (PyObject_GetBuffer(array, view, PyBUF_STRIDES) < 0)
        return 0;
    views->count++;
    int is_matrix = width > 0;
    int fits = view->itemsize == size && view->ndim == 1 + is_matrix
        && (!is_matrix || (view->shape[1] == width && (view->strides[1] == size || view->shape[1] == 1)));
    if (!fits) {
        PyErr_SetString(PyExc_TypeError, "an array of another kind or shape than expected");
        return 0;
    }
    column->at = view->buf;
    column->step = view->strides[0];
    column->rows = view->shape[0];
    return 1;
}

static PyObject *member(PyObject *columns, Py_ssize_t place, Py_ssize_t count)
{
    if (!PyTuple_Check(columns) || PyTuple_GET_SIZE(columns) != count) {
        PyErr_SetString(PyExc_TypeError, "a table with other columns than expected");
        return NULL;
    }
    return PyTuple_GET_ITEM(columns, place);
}

/* In the order of `tables`. */
typedef struct {
    Column page, cited, host, folder, relevance, sum, early, best, stamp, read, score, told, features, ring, url, near;
} Links;

typedef struct {
    Column target, page, near, near_weight;
} Citations;

typedef struct {
    Column link, relevance, hub, hub_weight, hub_told, begin, links;
} Pages;

typedef struct {
    Column tries, relevance;
} Places;

typedef struct {
    Column mean, spread, weights;
    double intercept, diversity;
} Model;

static int take_all(Views *views, PyObject *columns, Py_ssize_t count, const Py_ssize_t sizes[][2], Column *first)
{
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *array = member(columns, place, count);
        if (!array || !take(views, array, sizes[place][0], sizes[place][1], first + place))
            return 0;
    }
    return 1;
}

static int take_links(Views *views, PyObject *columns, Links *links)
{
    static const Py_ssize_t sizes[][2] = {
        {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0},
        {2, COUNT}, {4, RING}, {2, URL_WORDS}, {2, TEXTS * NEAR_WORDS},
    };
    return take_all(views, columns, 16, sizes, &links->page);
}

static int take_citations(Views *views, PyObject *columns, Citations *citations)
{
    static const Py_ssize_t sizes[][2] = {{4, 0}, {4, 0}, {4, 0}, {4, 0}};
    return take_all(views, columns, 4, sizes, &citations->target);
}

static int take_pages(Views *views, PyObject *columns, Pages *pages)
{
    static const Py_ssize_t sizes[][2] = {{4, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 0}, {8, 0}, {4, 0}};
    return take_all(views, columns, 7, sizes, &pages->link);
}

static int take_places(Views *views, PyObject *columns, Places *places)
{
    static const Py_ssize_t sizes[][2] = {{4, 0}, {4, 0}};
    return take_all(views, columns, 2, sizes, &places->tries);
}

static int take_model(Views *views, PyObject *parts, Model *model)
{
    PyObject *intercept = member(parts, 3, 5), *diversity = intercept ? member(parts, 4, 5) : NULL;
    if (!diversity)
        return 0;
    model->intercept = PyFloat_AsDouble(intercept);
    model->diversity = PyFloat_AsDouble(diversity);
    if (PyErr_Occurred())
        return 0;
    Column *columns[] = {&model->mean, &model->spread, &model->weights};
    for (Py_ssize_t place = 0; place < 3; place++) {
        if (!take(views, PyTuple_GET_ITEM(parts, place), 4, 0, columns[place]))
            return 0;
    }
    return 1;
}

/* ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────────── */

static double greater(double a, double b) { return b > a ? b : a; }
static double smaller(double a, double b) { return b < a ? b : a; }

static double odds(double share)
{
    double inside = smaller(greater(share, LEAST_ODDS), 1 - LEAST_ODDS);
    return log(inside / (1 - inside));
}

static double hub_odds(double hub, double weight, double rate)
{
    return odds((hub + HUB_SMOOTHING * rate) / (weight + HUB_SMOOTHING));
}

static double place_odds(double relevance, double tries, double rate)
{
    return odds((relevance + PLACE_SMOOTHING * rate) / (tries + PLACE_SMOOTHING));
}

static double z_score(float feature, float mean, float spread)
{
    float z = (feature - mean) / spread;
    return smaller(greater(z, -MOST_Z), MOST_Z);
}

static double predicted(const float *features, const Model *model)
{
    double total = model->intercept;
    for (int at = 0; at < COUNT; at++)
        total += F32(model->weights, at) * z_score(features[at], F32(model->mean, at), F32(model->spread, at));
    return 1 / (1 + exp(-smaller(greater(total, -30.0), 15.0)));
}

static double worth_of(double predicted_share, float found, double diversity)
{
    return diversity > 0 ? predicted_share / pow(1 + (double)found, diversity) : predicted_share;
}

static double found_share(int64_t link, const Links *links, const Citations *citations, const Column *rates)
{
    int is_guess = I32(links->cited, link) == 1 && I32(citations->page, *ROW(int32_t, links->ring, link)) == GUESSED;
    return is_guess ? F64(*rates, FOUND_RATE) : 1.0;
}

static float unpacked(uint16_t half)
{
    uint32_t bits = (uint32_t)(half & 0x8000) << 16;
    if (half & 0x7C00)
        bits |= ((uint32_t)(half & 0x7FFF) << 13) + (112u << 23);
    union { uint32_t bits; float value; } both = {bits};
    return both.value;
}

static uint16_t packed(float value)
{
    union { float value; uint32_t bits; } both = {value};
    uint64_t bits = (uint64_t)both.bits + 0x1000; /* rounds */
    uint64_t exponent = bits >> 23 & 0xFF, half = 0;
    if (exponent > 142)
        half = 0x7BFF;
    else if (exponent > 112)
        half = (exponent - 112) << 10 | (bits >> 13 & 0x3FF);
    return (uint16_t)(half | (bits >> 16 & 0x8000));
}

static void pack(const float *found, const Links *links, int64_t link)
{
    uint16_t *features = ROW(uint16_t, links->features, link);
    for (int at = 0; at < COUNT; at++)
        features[at] = packed(found[at]);
}

/* ── features ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* What features are computed from. */
typedef struct {
    Column rates, near, urls;
    Links links;
    Citations citations;
    Pages pages;
    Places hosts, folders;
} Evidence;

/* From the arguments rates, links, citations, pages, near, urls, hosts, folders. */
static int take_evidence(Views *views, PyObject *const *given, Evidence *all)
{
    return take(views, given[0], 8, 0, &all->rates) && take_links(views, given[1], &all->links)
        && take_citations(views, given[2], &all->citations) && take_pages(views, given[3], &all->pages)
        && take(views, given[4], 4, MEASURES, &all->near) && take(views, given[5], 4, MEASURES, &all->urls)
        && take_places(views, given[6], &all->hosts) && take_places(views, given[7], &all->folders);
}

/* Links, citations and pages are all over a memory of many megabytes: what is needed soon is asked for before the work
   on what is needed now. The further something is from a link, the later it is asked for, as it takes a look at what
   comes before. This changes nothing but the time that it takes. */
enum { LINE = 64, FAR_AHEAD = 12, AHEAD = 8, NEAR_AHEAD = 4 };

static void expect(const char *begin, const char *end)
{
    for (; begin < end; begin += LINE)
        __builtin_prefetch(begin);
    __builtin_prefetch(end - 1);
}

/* The row of a link: one half from `page` to `told`, the other from `host` to the end of `near`. */
static void expect_link(int64_t link, const Links *links)
{
    expect(links->page.at + links->page.step * link, links->told.at + links->told.step * link + sizeof(float));
    expect(links->host.at + links->host.step * link,
           links->near.at + links->near.step * link + TEXTS * NEAR_WORDS * sizeof(uint16_t));
}

static void expect_citations(int64_t link, const Evidence *all)
{
    const int32_t *ring = ROW(int32_t, all->links.ring, link), cited = I32(all->links.cited, link);
    for (int place = 0; place < (cited < RING ? cited : RING); place++)
        __builtin_prefetch(&I32(all->citations.page, ring[place]));
    const int32_t host = I32(all->links.host, link), folder = I32(all->links.folder, link);
    __builtin_prefetch(&F32(all->hosts.relevance, host));
    __builtin_prefetch(&F32(all->hosts.tries, host));
    __builtin_prefetch(&F32(all->folders.relevance, folder));
    __builtin_prefetch(&F32(all->folders.tries, folder));
}

static void expect_pages(int64_t link, const Evidence *all)
{
    const int32_t *ring = ROW(int32_t, all->links.ring, link), cited = I32(all->links.cited, link);
    for (int place = 0; place < (cited < RING ? cited : RING); place++)
        __builtin_prefetch(&F32(all->pages.hub, I32(all->citations.page, ring[place])));
}

/* What the rows after this one need. */
static void look_ahead(Py_ssize_t row, const Column *chosen, const Evidence *all)
{
    if (row + FAR_AHEAD < chosen->rows)
        expect_link(I64(*chosen, row + FAR_AHEAD), &all->links);
    if (row + AHEAD < chosen->rows)
        expect_citations(I64(*chosen, row + AHEAD), all);
    if (row + NEAR_AHEAD < chosen->rows)
        expect_pages(I64(*chosen, row + NEAR_AHEAD), all);
}

static void look_at_pages(int64_t link, const Evidence *all, float *found)
{
    const Links *links = &all->links;
    double near = 0, near_weight = 0, own = 0, hubs = 0, hubs_weight = 0;
    const double usual = HUB_SMOOTHING * F64(all->rates, HUB_RATE);
    const int32_t cited = I32(links->cited, link), *ring = ROW(int32_t, links->ring, link);
    const int known = cited < RING ? cited : RING;
    for (int place = 0; place < known; place++) {
        const int32_t citation = ring[place], page = I32(all->citations.page, citation);
        const double hub = F32(all->pages.hub, page), weight = F32(all->pages.hub_weight, page);
        near += F32(all->citations.near, citation);
        near_weight += F32(all->citations.near_weight, citation);
        own += (hub + usual) / (weight + HUB_SMOOTHING);
        hubs += hub;
        hubs_weight += weight;
    }
    found[NEIGHBOURS] = (float)odds((near + own + usual) / (near_weight + known + HUB_SMOOTHING));
    found[HUBS] = (float)odds((hubs + usual) / (hubs_weight + HUB_SMOOTHING));
    const double parents = F32(links->sum, link) + PARENT_SMOOTHING * F64(all->rates, PARENT_RATE);
    found[PARENTS] = (float)odds(parents / (cited + PARENT_SMOOTHING));
    found[BEST_PARENT] = (float)odds(F32(links->best, link));
    found[EARLY_PARENTS] = (float)log(0.05 + F32(links->early, link));
    const int32_t host = I32(links->host, link), folder = I32(links->folder, link);
    found[HOST] = (float)place_odds(
        F32(all->hosts.relevance, host), F32(all->hosts.tries, host), F64(all->rates, HOST_RATE));
    found[FOLDER] = (float)place_odds(
        F32(all->folders.relevance, folder), F32(all->folders.tries, folder), F64(all->rates, FOLDER_RATE));
    found[CITATIONS] = (float)log(cited > 1 ? (double)cited : 1.0);
}

static void look_at_words(int64_t link, const Evidence *all, float *found)
{
    const int32_t times = I32(all->links.cited, link);
    const uint16_t *words = ROW(uint16_t, all->links.near, link);
    double squares = 0, judged = 0, learned = 0, sum = 0, most = -1e9, anchor = -1e9;
    int64_t texts = 0;
    for (int text = 0; text < (times < TEXTS ? times : TEXTS); text++) {
        const double before = squares;
        double said = 0, own_squares = 0, own_judged = 0;
        for (int at = 0; at < NEAR_WORDS; at++) {
            const uint16_t word = words[text * NEAR_WORDS + at];
            if (!word)
                continue;
            const float *measures = ROW(float, all->near, word);
            const double weight = at < OWN_WORDS ? 2.0 : 1.0;
            squares += weight * weight * measures[SQUARE];
            judged += weight * measures[JUDGED];
            learned += weight * measures[LEARNED];
            said += weight * measures[LOG_ODDS];
            if (at < OWN_WORDS) {
                own_squares += measures[SQUARE];
                own_judged += measures[JUDGED];
            }
        }
        texts += squares > before;
        anchor = greater(anchor, own_judged / (sqrt(own_squares) + 1e-6));
        sum += said;
        most = greater(most, said);
    }
    const double norm = sqrt(squares) + 1e-6;
    found[LINK_TEXT] = (float)(judged / norm);
    found[LINK_TEXT_LEARNED] = (float)(learned / norm);
    found[LINK_WORDS] = (float)(sum / sqrt((double)(texts > 1 ? texts : 1)));
    found[BEST_LINK_WORDS] = (float)(times ? most : 0.0);
    squares = learned = sum = 0;
    words = ROW(uint16_t, all->links.url, link);
    for (int at = 0; at < URL_WORDS; at++) {
        if (words[at]) {
            const float *measures = ROW(float, all->urls, words[at]);
            squares += measures[SQUARE];
            learned += measures[LEARNED];
            sum += measures[LOG_ODDS];
        }
    }
    found[URL_LEARNED] = (float)(learned / (sqrt(squares) + 1e-6));
    found[WORDS_OF_URL] = (float)sum;
    found[ANCHOR] = (float)(times ? anchor : 0.0);
}

/* Whether a score is, or was, above the bar, and has changed by more than the share `tolerance`. */
static int is_news(double told, double now, double change, double bar, double tolerance)
{
    return told > 0 && greater(now, told) >= bar && change > tolerance * told;
}

static int is_called_with(Py_ssize_t given, Py_ssize_t count)
{
    if (given == count)
        return 1;
    PyErr_Format(PyExc_TypeError, "%zd arguments instead of %zd", given, count);
    return 0;
}

static int whole_number(PyObject *value, int64_t *number)
{
    *number = PyLong_AsLongLong(value);
    return !(*number == -1 && PyErr_Occurred());
}

static int real_number(PyObject *value, double *number)
{
    *number = PyFloat_AsDouble(value);
    return !(*number == -1 && PyErr_Occurred());
}

/* look(chosen, rates, links, citations, pages, near, urls, hosts, folders, found) */
static PyObject *look(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Evidence all;
    Column chosen, found;
    (void)self;
    if (!is_called_with(count, 10) || !take(&views, given[0], 8, 0, &chosen)
        || !take_evidence(&views, given + 1, &all) || !take(&views, given[9], 4, COUNT, &found)) {
        let_go(&views);
        return NULL;
    }
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        look_ahead(row, &chosen, &all);
        look_at_pages(I64(chosen, row), &all, ROW(float, found, row));
        look_at_words(I64(chosen, row), &all, ROW(float, found, row));
    }
    let_go(&views);
    Py_RETURN_NONE;
}

/* keep(chosen, found, state, links) */
static PyObject *keep(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Links links;
    Column chosen, found;
    int64_t state;
    (void)self;
    if (!is_called_with(count, 4) || !take(&views, given[0], 8, 0, &chosen) || !take(&views, given[1], 4, COUNT, &found)
        || !whole_number(given[2], &state) || !take_links(&views, given[3], &links)) {
        let_go(&views);
        return NULL;
    }
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        I32(links.read, I64(chosen, row)) = (int32_t)state;
        pack(ROW(float, found, row), &links, I64(chosen, row));
    }
    let_go(&views);
    Py_RETURN_NONE;
}

/* score(chosen, state, model, bar, tolerance, rates, links, citations, pages, near, urls, hosts, folders, found, above,
         changed) */
static PyObject *score(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Evidence all;
    Model model;
    Column chosen, found, above, changed;
    int64_t state, is_above = 0, is_changed = 0;
    double bar, tolerance;
    (void)self;
    if (!is_called_with(count, 16) || !take(&views, given[0], 8, 0, &chosen) || !whole_number(given[1], &state)
        || !take_model(&views, given[2], &model) || !real_number(given[3], &bar) || !real_number(given[4], &tolerance)
        || !take_evidence(&views, given + 5, &all) || !take(&views, given[13], 4, COUNT, &found)
        || !take(&views, given[14], 8, 0, &above) || !take(&views, given[15], 8, 0, &changed)) {
        let_go(&views);
        return NULL;
    }
    const Links *links = &all.links;
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        const int64_t link = I64(chosen, row);
        float *features = ROW(float, found, row);
        look_ahead(row, &chosen, &all);
        look_at_pages(link, &all, features);
        if (I32(links->read, link) == state) {
            const uint16_t *kept = ROW(uint16_t, links->features, link);
            for (int at = WORDS_FROM; at < WORDS_TO; at++)
                features[at] = unpacked(kept[at]);
        } else {
            look_at_words(link, &all, features);
            I32(links->read, link) = (int32_t)state;
        }
        pack(features, links, link);
    }
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        const int64_t link = I64(chosen, row);
        double share = predicted(ROW(float, found, row), &model);
        share *= found_share(link, links, &all.citations, &all.rates);
        const double worth = worth_of(share, F32(all.hosts.relevance, I32(links->host, link)), model.diversity);
        const double told = F32(links->told, link);
        F32(links->score, link) = (float)worth;
        if (worth >= bar)
            I64(above, is_above++) = link;
        if (is_news(told, worth, fabs(worth - told), bar, tolerance)) {
            F32(links->told, link) = (float)worth;
            I64(changed, is_changed++) = link;
        }
    }
    let_go(&views);
    return Py_BuildValue("LL", (long long)is_above, (long long)is_changed);
}

/* score_again(chosen, model, rates, links, citations, hosts) */
static PyObject *score_again(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Links links;
    Citations citations;
    Places hosts;
    Model model;
    Column chosen, rates;
    (void)self;
    if (!is_called_with(count, 6) || !take(&views, given[0], 8, 0, &chosen) || !take_model(&views, given[1], &model)
        || !take(&views, given[2], 8, 0, &rates) || !take_links(&views, given[3], &links)
        || !take_citations(&views, given[4], &citations) || !take_places(&views, given[5], &hosts)) {
        let_go(&views);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        const int64_t link = I64(chosen, row);
        const uint16_t *kept = ROW(uint16_t, links.features, link);
        float features[COUNT];
        for (int at = 0; at < COUNT; at++)
            features[at] = unpacked(kept[at]);
        double share = predicted(features, &model);
        share *= found_share(link, &links, &citations, &rates);
        F32(links.score, link) = (float)worth_of(share, F32(hosts.relevance, I32(links.host, link)), model.diversity);
    }
    Py_END_ALLOW_THREADS
    let_go(&views);
    Py_RETURN_NONE;
}

/* hand_on(chosen, bar, links, changed) */
static PyObject *hand_on(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Links links;
    Column chosen, changed;
    double bar;
    int64_t is_changed = 0;
    (void)self;
    if (!is_called_with(count, 4) || !take(&views, given[0], 8, 0, &chosen) || !real_number(given[1], &bar)
        || !take_links(&views, given[2], &links) || !take(&views, given[3], 8, 0, &changed)) {
        let_go(&views);
        return NULL;
    }
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        const int64_t link = I64(chosen, row);
        const float told = F32(links.told, link), now = F32(links.score, link);
        if (is_news(told, now, fabsf(now - told), bar, 0.0)) {
            F32(links.told, link) = now;
            I64(changed, is_changed++) = link;
        }
    }
    let_go(&views);
    return PyLong_FromLongLong(is_changed);
}

/* tell(targets, links, answer) */
static PyObject *tell(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Links links;
    Column targets, answer;
    (void)self;
    if (!is_called_with(count, 3) || !take(&views, given[0], 8, 0, &targets) || !take_links(&views, given[1], &links)
        || !take(&views, given[2], 8, 0, &answer)) {
        let_go(&views);
        return NULL;
    }
    for (Py_ssize_t row = 0; row < targets.rows; row++) {
        const int64_t link = I64(targets, row);
        if (F32(links.told, link) == 0)
            F32(links.told, link) = F32(links.score, link);
        F64(answer, row) = F32(links.told, link);
    }
    let_go(&views);
    Py_RETURN_NONE;
}

/* predict(features, model, scores) */
static PyObject *predict(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Model model;
    Column features, scores;
    (void)self;
    if (!is_called_with(count, 3) || !take(&views, given[0], 4, COUNT, &features)
        || !take_model(&views, given[1], &model) || !take(&views, given[2], 4, 0, &scores)) {
        let_go(&views);
        return NULL;
    }
    for (Py_ssize_t row = 0; row < features.rows; row++)
        F32(scores, row) = (float)predicted(ROW(float, features, row), &model);
    let_go(&views);
    Py_RETURN_NONE;
}

/* ── sums ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Mark links as handed out; how many were waiting. */
static int64_t hand_out(Column chosen, const Links *links, const Places *hosts, const Places *folders)
{
    int64_t count = 0;
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        const int64_t link = I64(chosen, row);
        const int32_t host = I32(links->host, link);
        if (I32(links->page, link) == 0 && host != 0) {
            I32(links->page, link) = HANDED_OUT;
            F32(hosts->tries, host) += 1;
            F32(folders->tries, I32(links->folder, link)) += 1;
            count++;
        }
    }
    return count;
}

/* Add a waiting link to `dirty`, once. */
static int64_t mark(int64_t link, int64_t number, const Links *links, const Column *dirty, int64_t count)
{
    if (I32(links->page, link) == 0 && I32(links->stamp, link) != number) {
        I32(links->stamp, link) = (int32_t)number;
        I64(*dirty, count++) = link;
    }
    return count;
}

static double fading_of(int64_t length)
{
    return exp(-FADE / (double)(length > 1 ? length : 1));
}

static float share_of(int32_t cited)
{
    return (float)(1 / (double)sqrtf((float)cited));
}

static void cite_one(int64_t target, float relevance, double share, const Links *links)
{
    F32(links->sum, target) += relevance;
    F32(links->early, target) = (float)(F32(links->early, target) + share);
    if (relevance > F32(links->best, target))
        F32(links->best, target) = relevance;
}

static void cite(int64_t number, int64_t begin, float relevance, const Column *targets, const Column *words,
                 const Column *url_words, const Column *places, const Links *links, const Citations *citations)
{
    double share = relevance;
    const double fading = fading_of(targets->rows);
    for (Py_ssize_t place = 0; place < targets->rows; place++) {
        const int64_t target = I64(*targets, place);
        I32(citations->target, begin + place) = (int32_t)target;
        I32(citations->page, begin + place) = (int32_t)number;
        const int32_t before = I32(links->cited, target);
        I32(links->cited, target) = before + 1;
        ROW(int32_t, links->ring, target)[before % RING] = (int32_t)(begin + place);
        I32(links->read, target) = 0;
        if (I32(links->host, target) == 0) {
            const int32_t *hashes = ROW(int32_t, *places, place);
            I32(links->host, target) = hashes[0];
            I32(links->folder, target) = hashes[1];
            for (int at = 0; at < URL_WORDS; at++)
                ROW(uint16_t, links->url, target)[at] = ROW(uint16_t, *url_words, place)[at];
        }
        uint16_t *near = ROW(uint16_t, links->near, target) + before % TEXTS * NEAR_WORDS;
        for (int at = 0; at < NEAR_WORDS; at++)
            near[at] = ROW(uint16_t, *words, place)[at];
        cite_one(target, relevance, share, links);
        share *= fading;
    }
}

/* Sum up what the visited pages behind a page's links contribute to the links beside them, and to its hub value. */
static void neighbours(int64_t number, int64_t begin, int64_t end, const Links *links, const Citations *citations,
                       const Pages *pages)
{
    float hub = 0, hub_weight = 0;
    for (int64_t at = begin; at < end; at++) {
        F32(citations->near, at) = 0;
        F32(citations->near_weight, at) = 0;
    }
    for (int64_t at = begin; at < end; at++) {
        const int32_t target = I32(citations->target, at);
        if (I32(links->page, target) <= 0)
            continue;
        const float relevance = F32(links->relevance, target), share = share_of(I32(links->cited, target));
        hub += relevance * share;
        hub_weight += share;
        for (int step = 1; step <= REACH; step++) {
            const float weight = (float)(1.0 / step);
            if (at - step >= begin) {
                F32(citations->near, at - step) += weight * relevance;
                F32(citations->near_weight, at - step) += weight;
            }
            if (at + step < end) {
                F32(citations->near, at + step) += weight * relevance;
                F32(citations->near_weight, at + step) += weight;
            }
        }
    }
    F32(pages->hub, number) = hub;
    F32(pages->hub_weight, number) = hub_weight;
}

/* visit(number, link, relevance, rates, model, gone, targets, words, addresses, begin, links, citations, pages, hosts,
         folders, z_scores, dirty) */
static PyObject *visit(PyObject *self, PyObject *const *given, Py_ssize_t given_count)
{
    Views views = {.count = 0};
    Links links;
    Citations citations;
    Pages pages;
    Places hosts, folders;
    Model model;
    Column rates, gone, targets, words, url_words, places, z_scores, dirty;
    int64_t number, link, begin, count = 0;
    double given_relevance;
    (void)self;
    if (!is_called_with(given_count, 17) || !whole_number(given[0], &number) || !whole_number(given[1], &link)
        || !real_number(given[2], &given_relevance) || !take(&views, given[3], 8, 0, &rates)
        || !take_model(&views, given[4], &model) || !take(&views, given[5], 8, 0, &gone)
        || !take(&views, given[6], 8, 0, &targets) || !take(&views, given[7], 2, NEAR_WORDS, &words)
        || !member(given[8], 0, 2) || !take(&views, PyTuple_GET_ITEM(given[8], 0), 2, URL_WORDS, &url_words)
        || !take(&views, PyTuple_GET_ITEM(given[8], 1), 4, 2, &places) || !whole_number(given[9], &begin)
        || !take_links(&views, given[10], &links) || !take_citations(&views, given[11], &citations)
        || !take_pages(&views, given[12], &pages) || !take_places(&views, given[13], &hosts)
        || !take_places(&views, given[14], &folders) || !take(&views, given[15], 4, 0, &z_scores)
        || !take(&views, given[16], 8, 0, &dirty)) {
        let_go(&views);
        return NULL;
    }
    const float relevance = (float)given_relevance;
    const Column only = {(char *)&link, sizeof link, 1};
    const int64_t tried = hand_out(gone, &links, &hosts, &folders) + hand_out(only, &links, &hosts, &folders);
    const uint16_t *kept = ROW(uint16_t, links.features, link);
    for (int at = 0; at < COUNT; at++)
        F32(z_scores, at) = (float)z_score(unpacked(kept[at]), F32(model.mean, at), F32(model.spread, at));
    I32(links.page, link) = (int32_t)number;
    F32(links.relevance, link) = relevance;
    I32(links.stamp, link) = (int32_t)number;
    F32(hosts.relevance, I32(links.host, link)) += relevance;
    F32(folders.relevance, I32(links.folder, link)) += relevance;
    I32(pages.link, number) = (int32_t)link;
    F32(pages.relevance, number) = relevance;
    I64(pages.begin, number) = begin;
    I32(pages.links, number) = (int32_t)targets.rows;
    const int32_t cited = I32(links.cited, link), *ring = ROW(int32_t, links.ring, link);
    const int known = cited < RING ? cited : RING;
    if (known) {
        const float share = share_of(cited);
        for (int place = 0; place < known; place++) {
            const int64_t citation = ring[place];
            const int32_t parent = I32(citations.page, citation);
            F32(pages.hub, parent) += relevance * share;
            F32(pages.hub_weight, parent) += share;
            for (int step = 1; step <= REACH; step++) {
                const float weight = (float)(1.0 / step);
                for (int64_t at = citation - step; at <= citation + step; at += 2 * step) {
                    F32(citations.near, at) += weight * relevance;
                    F32(citations.near_weight, at) += weight;
                    if (I32(citations.page, at) > 0)
                        count = mark(I32(citations.target, at), number, &links, &dirty, count);
                }
            }
        }
    }
    cite(number, begin, relevance, &targets, &words, &url_words, &places, &links, &citations);
    for (Py_ssize_t row = 0; row < targets.rows; row++)
        count = mark(I64(targets, row), number, &links, &dirty, count);
    neighbours(number, begin, begin + targets.rows, &links, &citations, &pages);
    const double rate = F64(rates, HUB_RATE);
    F32(pages.hub_told, number) = (float)hub_odds(F32(pages.hub, number), F32(pages.hub_weight, number), rate);
    const int64_t most = count + MOST_SIBLINGS;
    for (int place = 0; place < known; place++) {
        /* The page may link to itself: then its ring has changed since. */
        const int32_t parent = I32(citations.page, ring[place]);
        const double now = hub_odds(F32(pages.hub, parent), F32(pages.hub_weight, parent), rate);
        if (fabs(now - F32(pages.hub_told, parent)) > HUB_STEP && count < most) {
            F32(pages.hub_told, parent) = (float)now;
            const int64_t first = I64(pages.begin, parent), end = first + I32(pages.links, parent);
            for (int64_t at = first; at < end && count < most; at++)
                count = mark(I32(citations.target, at), number, &links, &dirty, count);
        }
    }
    let_go(&views);
    return Py_BuildValue("LL", (long long)tried, (long long)count);
}

/* restate(count, size, links, citations, pages) */
static PyObject *restate(PyObject *self, PyObject *const *given, Py_ssize_t given_count)
{
    Views views = {.count = 0};
    Links links;
    Citations citations;
    Pages pages;
    int64_t count, size;
    (void)self;
    if (!is_called_with(given_count, 5) || !whole_number(given[0], &count) || !whole_number(given[1], &size)
        || !take_links(&views, given[2], &links) || !take_citations(&views, given[3], &citations)
        || !take_pages(&views, given[4], &pages)) {
        let_go(&views);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    for (int64_t link = 0; link < size; link++) {
        F32(links.sum, link) = 0;
        F32(links.early, link) = 0;
        F32(links.best, link) = 0;
    }
    for (int64_t number = 1; number <= count; number++) {
        const float relevance = F32(pages.relevance, number);
        const int64_t begin = I64(pages.begin, number), end = begin + I32(pages.links, number);
        double share = relevance;
        const double fading = fading_of(end - begin);
        for (int64_t at = begin; at < end; at++) {
            cite_one(I32(citations.target, at), relevance, share, &links);
            share *= fading;
        }
        neighbours(number, begin, end, &links, &citations, &pages);
    }
    Py_END_ALLOW_THREADS
    let_go(&views);
    Py_RETURN_NONE;
}

/* count_words(chosen, words, relevance, seen, speaks_for, speaks_against) */
static PyObject *count_words(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    Views views = {.count = 0};
    Column chosen, words, relevance, seen, speaks_for, speaks_against;
    Py_buffer shape;
    Py_ssize_t width = 0;
    (void)self;
    if (!is_called_with(count, 6))
        return NULL;
    if (PyObject_GetBuffer(given[1], &shape, PyBUF_STRIDES) < 0)
        return NULL;
    width = shape.ndim == 2 ? shape.shape[1] : 1;
    PyBuffer_Release(&shape);
    if (!take(&views, given[0], 4, 0, &chosen) || !take(&views, given[1], 2, width, &words)
        || !take(&views, given[2], 4, 0, &relevance) || !take(&views, given[3], 4, 0, &seen)
        || !take(&views, given[4], 4, 0, &speaks_for) || !take(&views, given[5], 4, 0, &speaks_against)) {
        let_go(&views);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 0; row < chosen.rows; row++) {
        const uint16_t *said = ROW(uint16_t, words, I32(chosen, row));
        const float share = F32(relevance, row);
        for (Py_ssize_t at = 0; at < width; at++) {
            const uint16_t word = said[at];
            if (word && I32(seen, word) != row + 1) {
                I32(seen, word) = (int32_t)(row + 1);
                F32(speaks_for, word) += share;
                F32(speaks_against, word) = (float)(F32(speaks_against, word) + (1 - (double)share));
            }
        }
    }
    Py_END_ALLOW_THREADS
    let_go(&views);
    Py_RETURN_NONE;
}

/* tell_hubs(count, pages, rate) */
static PyObject *tell_hubs(PyObject *self, PyObject *const *given, Py_ssize_t given_count)
{
    Views views = {.count = 0};
    Pages pages;
    int64_t count;
    double rate;
    (void)self;
    if (!is_called_with(given_count, 3) || !whole_number(given[0], &count) || !take_pages(&views, given[1], &pages)
        || !real_number(given[2], &rate)) {
        let_go(&views);
        return NULL;
    }
    for (int64_t page = 1; page <= count; page++)
        F32(pages.hub_told, page) = (float)hub_odds(F32(pages.hub, page), F32(pages.hub_weight, page), rate);
    let_go(&views);
    Py_RETURN_NONE;
}

#define LOOP(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef METHODS[] = {
    LOOP(visit), LOOP(restate), LOOP(count_words), LOOP(tell_hubs), LOOP(look), LOOP(keep), LOOP(score),
    LOOP(score_again), LOOP(hand_on), LOOP(tell), LOOP(predict), {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "lycosa.strategies.hunter._loops", "See `sums` and `features`.", -1, METHODS,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__loops(void)
{
    return PyModule_Create(&MODULE);
}
