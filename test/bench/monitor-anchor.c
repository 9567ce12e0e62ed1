/*
 * The anchor of the topology benchmark: prints CLOCK_MONOTONIC in ns and the line for every line of standard input, which is `ip monitor`.
 */
#include <stdio.h>
#include <time.h>

int main(void) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        printf("%lld %s", (long long)t.tv_sec * 1000000000LL + t.tv_nsec, line);
        fflush(stdout);
    }
    return 0;
}
