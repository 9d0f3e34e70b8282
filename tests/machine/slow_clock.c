/* Loaded into User Mode Linux, whose kernel takes all its time from here: its clocks run SLOWER times slower.
   To what runs inside, a machine that shares its processors with others seems as quick as one that does not. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static long long slower(void)
{
	static long long times;
	if (!times) {
		const char *text = getenv("SLOWER");
		times = text && atoi(text) > 1 ? atoi(text) : 1;
	}
	return times;
}

static long long nanoseconds(const struct timespec *of)
{
	return of->tv_sec * SECOND + of->tv_nsec;
}

static struct timespec timespec(long long nanoseconds)
{
	return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static long long begun[2];
	int failed = syscall(SYS_clock_gettime, clock, now);
	if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return failed;
	long long *first = &begun[clock == CLOCK_MONOTONIC], is = nanoseconds(now);
	if (!*first)
		*first = is;
	*now = timespec(*first + (is - *first) / slower());
	return 0;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *to, struct itimerspec *was)
{
	static int (*real)(timer_t, int, const struct itimerspec *, struct itimerspec *);
	if (!real)
		real = dlsym(RTLD_NEXT, "timer_settime");
	struct itimerspec later = {
		timespec(nanoseconds(&to->it_interval) * slower()), timespec(nanoseconds(&to->it_value) * slower())
	};
	return real(timer, flags, &later, was);
}
