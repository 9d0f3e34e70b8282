/* Speaks with the referee: each message is one line of JSON. What to play is in decide.c. */
#include "bot.h"

static Json *nodes, *next_node;
static char *at;

/* Any JSON text, in place: `at` moves over it, texts are unescaped where they stand. */
static Json *parse(void);

static char *parse_text(void) {
    char *start = ++at, *to = start;
    for (; *at && *at != '"'; at++) {
        if (*at != '\\') {
            *to++ = *at;
        } else if (*++at == 'u') {
            long code = strtol((char[]){at[1], at[2], at[3], at[4], 0}, NULL, 16);
            *to++ = code < 128 ? (char)code : '?';
            at += 4;
        } else {
            *to++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
        }
    }
    at += *at == '"';
    *to = 0;
    return start;
}

static void parse_entries(Json *into, char end) {
    Json **link = &into->first;
    for (at++; *at && *at != end; at += *at == ',') {
        char *key = NULL;
        if (end == '}') {
            key = parse_text();
            at++; /* the colon */
        }
        Json *entry = parse();
        entry->key = key;
        *link = entry;
        link = &entry->next;
        into->count++;
    }
    at += *at == end;
}

static Json *parse(void) {
    Json *value = next_node++;
    memset(value, 0, sizeof *value);
    value->kind = *at;
    if (*at == '{') {
        parse_entries(value, '}');
    } else if (*at == '[') {
        parse_entries(value, ']');
    } else if (*at == '"') {
        value->text = parse_text();
    } else if (*at == 't' || *at == 'f' || *at == 'n') {
        at += *at == 'f' ? 5 : 4;
    } else {
        value->kind = '#';
        value->number = strtod(at, &at);
    }
    return value;
}

Json *get(Json *object, const char *key) {
    for (Json *entry = object ? object->first : NULL; entry; entry = entry->next)
        if (entry->key && !strcmp(entry->key, key))
            return entry;
    return NULL;
}

Json *item(Json *list, int at) {
    Json *entry = list->first;
    while (at-- > 0)
        entry = entry->next;
    return entry;
}

int number(Json *value) { return value && value->kind == '#' ? (int)value->number : -1; }

int below(int most) { return rand() % most; }

static void submit(int window, const char *action) {
    printf("{\"type\":\"submit\",\"window\":%d,\"action\":%s,\"final\":true}\n", window, action);
    fflush(stdout);
}

int main(void) {
    static char action[65536];
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    Json *match = NULL;
    while ((length = getline(&line, &size, stdin)) > 0) {
        free(nodes);
        nodes = next_node = malloc((length + 1) * sizeof *nodes); /* A value takes a character at least. */
        at = line;
        Json *message = parse();
        const char *type = get(message, "type")->text;
        if (!strcmp(type, "welcome")) {
            match = message; /* It stays: its line and its values are not used again. */
            line = NULL, size = 0, nodes = NULL;
            srand((unsigned)get(match, "seed")->number);
        } else if (!strcmp(type, "window")) {
            strcpy(action, "null");
            decide(get(message, "window")->text, get(message, "view"), match, action);
            submit(number(get(message, "id")), action);
        } else if (!strcmp(type, "rejected") && !strcmp(get(message, "reason")->text, "illegal")) {
            fprintf(stderr, "rejected: %s\n", get(message, "text")->text);
            submit(number(get(message, "window")), "null"); /* the default */
        } else if (!strcmp(type, "over")) {
            break;
        }
    }
    return 0;
}
