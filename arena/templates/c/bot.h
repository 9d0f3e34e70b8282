/* What decide.c is given: a message's parsed JSON, and chance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Json {
    char kind;         /* '{' '[' '"' '#' 't' 'f' 'n' */
    const char *key;   /* in an object */
    const char *text;  /* of '"' */
    double number;     /* of '#' */
    int count;         /* entries of '{' and '[' */
    struct Json *first, *next;
} Json;

Json *get(Json *object, const char *key); /* NULL where there is none */
Json *item(Json *list, int at);
int number(Json *value); /* -1 for null */
int below(int most);     /* 0 to most - 1, drawn from the seed that the referee gave */

/* Writes the action as JSON into `action`, 64 KiB large, which holds "null" before: the default. */
void decide(const char *name, Json *view, Json *match, char *action);
