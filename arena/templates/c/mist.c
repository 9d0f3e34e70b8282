/* Plays Mist at random: one piece a turn, on a cell that it does not see to be taken. */
#include "bot.h"

static const int row_length[] = {5, 6, 7, 8, 9, 8, 7, 6, 5}; /* rows A to I */

static int is_free(Json *view, const char *cell) {
    Json *holds = get(get(view, "visible"), cell);
    for (Json *each = get(view, "forbidden")->first; each; each = each->next)
        if (!strcmp(each->text, cell))
            return 0;
    return !holds || !strcmp(holds->text, "empty");
}

void decide(const char *name, Json *view, Json *match, char *action) {
    char free_cells[62][3];
    int count = 0;
    if (!strcmp(name, "first")) {
        sprintf(action, "{\"first\":%d}", number(get(match, "seat")));
        return;
    }
    for (int row = 0; row < 9; row++)
        for (int column = 1; column <= row_length[row]; column++) {
            char *cell = free_cells[count];
            cell[0] = 'A' + row, cell[1] = '0' + column, cell[2] = 0;
            count += is_free(view, cell);
        }
    if (count)
        sprintf(action, "{\"cells\":[\"%s\"]}", free_cells[below(count)]);
}
