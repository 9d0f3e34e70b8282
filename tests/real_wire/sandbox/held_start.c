/* A bubblewrap that takes its time: preloaded into it, this waits when its first process has bound itself to the life of
   the arena, and has not yet let its child go on. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SECONDS 600

int prctl(int option, ...)
{
    static int (*real)(int, ...);
    unsigned long given[4];
    va_list words;
    va_start(words, option);
    for (int place = 0; place < 4; place++)
        given[place] = va_arg(words, unsigned long);
    va_end(words);
    if (real == NULL)
        real = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
    int result = real(option, given[0], given[1], given[2], given[3]);
    if (option == PR_SET_PDEATHSIG)
        sleep(SECONDS);
    return result;
}
