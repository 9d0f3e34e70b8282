/* Plays The Fight For a Name at random: short walks over the hexes, and any vote. It visits no pillar. */
#include "bot.h"

static const int ROWS[] = {1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1};
static const char *WAYS[] = {"N", "NE", "SE", "S", "SW", "NW"};
static const int DX[] = {0, 1, 1, 0, -1, -1}, DY[] = {-2, -1, 1, 2, 1, -1};
static int x_of[37], y_of[37]; /* 18 is Start; the hexes 1 to 18 come before it, 19 to 36 after */

static void lay_out(void) {
    for (int y = 0, place = 0; y < 13; y++)
        for (int at = 0; at < ROWS[y]; at++, place++)
            x_of[place] = 2 * at - ROWS[y] + 1, y_of[place] = y;
}

static int step(int from, int way) {
    for (int place = 0; place < 37; place++)
        if (x_of[place] == x_of[from] + DX[way] && y_of[place] == y_of[from] + DY[way])
            return place;
    return -1;
}

static int place_named(const char *name) {
    int hex = atoi(name);
    return !strcmp(name, "Start") ? 18 : hex == 0 ? -1 : hex <= 18 ? hex - 1 : hex;
}

static void move(Json *view, char *action) {
    Json *position = get(view, "position");
    int at = position->text ? place_named(position->text) : -1, most = number(get(view, "mp"));
    if (get(view, "title")->text || at < 0)
        return;
    lay_out();
    action += sprintf(action, "{\"path\":[");
    for (int steps = 0, all = below((most < 3 ? most : 3) + 1); steps < all;) {
        int way = below(6), there = step(at, way);
        if (there >= 0) {
            action += sprintf(action, "%s\"%s\"", steps++ ? "," : "", WAYS[way]);
            at = there;
        }
    }
    sprintf(action, "]}");
}

void decide(const char *name, Json *view, Json *match, char *action) {
    Json *candidates = get(view, "candidates");
    (void)match;
    if (!strcmp(name, "challenge"))
        sprintf(action, "{\"pick\":[%d]}", below(get(view, "numbers")->count));
    else if (!strcmp(name, "move"))
        move(view, action);
    else if (strcmp(name, "pillar") && candidates->count)
        sprintf(action, "{\"seat\":%d}", number(item(candidates, below(candidates->count))));
}
