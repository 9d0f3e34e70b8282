/* Plays Pointing at random: nobody, or anybody else. */
#include "bot.h"

void decide(const char *name, Json *view, Json *match, char *action) {
    int seat = number(get(match, "seat")), seats = number(get(view, "seats"));
    if (!strcmp(name, "vote")) {
        Json *tied = get(view, "tied");
        sprintf(action, "{\"seat\":%d}", number(item(tied, below(tied->count))));
    } else if (below(2)) {
        sprintf(action, "{\"target\":null}");
    } else {
        sprintf(action, "{\"target\":%d}", (seat + 1 + below(seats - 1)) % seats);
    }
}
