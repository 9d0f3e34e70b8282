/* Plays Hive Mind at random: a shape on every Hive, of a kind that is left there. */
#include "bot.h"

static const char *KINDS[] = {"tri", "arc", "line"};
/* The shapes of each kind by their three letters, four characters apart. */
static const char *SHAPES[] = {
    "ABE ADE BCF BEF CFG DEH EFI EHI FGJ FIJ HIK IJL IKL",
    "ABD ABF ADH AEF AEH BCE BCG BDE BEI BFG BFI CEF CFJ CGJ DEI DHI EFH EFJ EHK EIJ EIK "
    "FGI FHI FIL FJL GIJ HIL HKL IJK JKL",
    "ABC AEI BEH BFJ CFI DEF DHK EFG EIL FIK GJL HIJ",
};

void decide(const char *name, Json *view, Json *match, char *action) {
    int seat = number(get(match, "seat")), round = number(get(view, "round")), turned = below(3);
    char *end = action;
    if (!strcmp(name, "give_token")) {
        sprintf(action, "{\"seat\":%d}", (seat + 1 + below(4)) % 5);
    } else if (!strcmp(name, "break_tie")) {
        Json *tied = get(view, "tied");
        sprintf(action, "{\"seat\":%d}", number(item(tied, below(tied->count))));
    } else if (!strcmp(name, "round")) {
        Json *hives = get(view, "hives");
        end += sprintf(end, "{\"place\":{");
        for (int at = 0; at < hives->count; at++) {
            const char *hive = item(hives, at)->text;
            Json *unused = get(get(view, "unused"), hive);
            int kind = (at + turned) % 3; /* The first round takes another kind for each Hive. */
            if (!unused || !unused->count)
                continue;
            if (round != 1) {
                const char *left = item(unused, below(unused->count))->text;
                for (kind = 0; strcmp(KINDS[kind], left); kind++)
                    ;
            }
            int shapes = (strlen(SHAPES[kind]) + 1) / 4;
            end += sprintf(end, "%s\"%s\":\"%.3s\"", end[-1] == '{' ? "" : ",", hive, SHAPES[kind] + 4 * below(shapes));
        }
        sprintf(end, "}}");
    }
}
