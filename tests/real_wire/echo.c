/* A bot's end in C, over libzmq: says hello, then sends back what it hears. Declared by hand: a wheel has no zmq.h. */
#include <stdlib.h>

void *zmq_ctx_new(void);
void *zmq_socket(void *context, int type);
int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int zmq_connect(void *socket, const char *endpoint);
int zmq_send(void *socket, const void *data, size_t size, int flags);
int zmq_recv(void *socket, void *data, size_t size, int flags);

enum { PAIR = 0, HEARTBEAT_IVL = 75, HEARTBEAT_TTL = 76, HEARTBEAT_TIMEOUT = 77 };

int main(int count, char **words) {
    static char data[1 << 17];
    void *bot = zmq_socket(zmq_ctx_new(), PAIR);
    int interval = count > 2 ? atoi(words[2]) : 0, timeout = 2000, size = 5;
    if (interval) {
        zmq_setsockopt(bot, HEARTBEAT_IVL, &interval, sizeof interval);
        zmq_setsockopt(bot, HEARTBEAT_TTL, &timeout, sizeof timeout);
        zmq_setsockopt(bot, HEARTBEAT_TIMEOUT, &timeout, sizeof timeout);
    }
    if (zmq_connect(bot, words[1]) || zmq_send(bot, "hello", 5, 0) != size) return 1;
    while ((size = zmq_recv(bot, data, sizeof data, 0)) >= 0)
        if (zmq_send(bot, data, size, 0) != size) return 2;
    return 3;
}
