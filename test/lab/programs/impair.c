/*
 * A bad cable: carries frames between two interfaces, drops some of them and delays the rest. A program, because sch_netem is a module
 * that not every kernel has, and because a seed makes the losses the same each time.
 *
 *   impair IFNAME IFNAME SEED     reads lines "LOSS_PERMILLE DELAY_MS" from standard input, answers each with "set"; ends with its input.
 *
 * PACKET_VNET_HDR keeps what the kernel knows of a frame (checksum still to be made, segmentation), so TCP crosses unharmed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define FRAME_MAX (65536 + 64)
#define WAITING_MAX 65536

struct waiting {
    struct waiting *next;
    int64_t due_us;
    int sock;
    size_t size;
    unsigned char frame[];
};

static struct waiting *head, **tail = &head;
static unsigned waiting_count;
static unsigned loss_permille;
static int64_t delay_us;
static uint64_t random_state;

static void die(const char *what) {
    fprintf(stderr, "impair: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static unsigned next_permille(void) { /* xorshift64* */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (unsigned)((random_state * 2685821657736338717ULL) >> 33) % 1000;
}

static int open_interface(const char *name) {
    int sock = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
    if (sock < 0) die("socket");
    int one = 1, size = 16 * 1024 * 1024;
    if (setsockopt(sock, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) < 0) die("PACKET_VNET_HDR");
    if (setsockopt(sock, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0) die("PACKET_IGNORE_OUTGOING");
    if (setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0) die("SO_RCVBUFFORCE");
    struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    where.sll_ifindex = (int)if_nametoindex(name);
    if (where.sll_ifindex == 0) die(name);
    if (bind(sock, (struct sockaddr *)&where, sizeof where) < 0) die("bind");
    return sock;
}

static void take_frames(int from, int to) {
    static unsigned char frame[FRAME_MAX];
    for (;;) {
        ssize_t n = recv(from, frame, sizeof frame, MSG_DONTWAIT);
        if (n < 0) return; /* nothing more, or the interface went down: then frames are lost, as on a cable */
        if (next_permille() < loss_permille || waiting_count == WAITING_MAX) continue;
        if (delay_us == 0 && head == NULL) {
            if (send(to, frame, (size_t)n, 0) < 0 && errno == EINVAL) die("send");
            continue;
        }
        struct waiting *w = malloc(sizeof *w + (size_t)n);
        if (w == NULL) die("malloc");
        *w = (struct waiting){.due_us = now_us() + delay_us, .sock = to, .size = (size_t)n};
        memcpy(w->frame, frame, (size_t)n);
        *tail = w;
        tail = &w->next;
        waiting_count++;
    }
}

static int send_due(void) { /* milliseconds until the next one, -1 for none */
    while (head != NULL) {
        int64_t left_us = head->due_us - now_us();
        if (left_us > 0) return (int)((left_us + 999) / 1000);
        struct waiting *w = head;
        send(w->sock, w->frame, w->size, 0);
        head = w->next;
        if (head == NULL) tail = &head;
        waiting_count--;
        free(w);
    }
    return -1;
}

static void read_setting(void) {
    static char line[128];
    static size_t used;
    ssize_t r = read(0, line + used, sizeof line - 1 - used);
    if (r < 0 && errno == EINTR) return;
    if (r <= 0) exit(0);
    used += (size_t)r;
    line[used] = 0;
    char *end;
    while ((end = strchr(line, '\n')) != NULL) {
        unsigned loss, delay_ms;
        if (sscanf(line, "%u %u", &loss, &delay_ms) != 2 || loss > 1000) {
            fprintf(stderr, "impair: not a setting: %s", line);
            exit(2);
        }
        loss_permille = loss;
        delay_us = (int64_t)delay_ms * 1000;
        printf("set\n");
        fflush(stdout);
        used -= (size_t)(end + 1 - line);
        memmove(line, end + 1, used + 1);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: impair IFNAME IFNAME SEED\n");
        return 2;
    }
    int a = open_interface(argv[1]), b = open_interface(argv[2]);
    random_state = strtoull(argv[3], NULL, 10) * 2654435769ULL + 88172645463325252ULL;
    struct pollfd fds[3] = {{.fd = 0, .events = POLLIN}, {.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 3, send_due()) < 0 && errno != EINTR) die("poll");
        if (fds[1].revents) take_frames(a, b);
        if (fds[2].revents) take_frames(b, a);
        if (fds[0].revents & (POLLIN | POLLHUP)) read_setting();
    }
}
