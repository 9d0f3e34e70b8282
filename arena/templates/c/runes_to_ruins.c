/* Plays Runes to Ruins at random: the symbol that was drawn for it, and each round a vote and a guess. */
#include "bot.h"

static const char *DIVINE[] = {"Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"};
static const char *MUNDANE[] = {"Straight", "Torn", "Origin", "Cross", "Angled", "Slash"};

void decide(const char *name, Json *view, Json *match, char *action) {
    (void)view, (void)match;
    if (strcmp(name, "round"))
        return;
    char taken[36] = {0};
    action += sprintf(action, "{\"votes\":{\"%d\":1},\"guesses\":[[", 1 + below(15));
    for (int runes = 0; runes < 6;) {
        int rune = below(36);
        if (!taken[rune]++)
            action += sprintf(action, "%s\"%s %s\"", runes++ ? "," : "", MUNDANE[rune % 6], DIVINE[rune / 6]);
    }
    sprintf(action, "]]}");
}
