/*
 * Carries whole Ethernet frames between an interface and two pipes, so that TypeScript can speak as any machine on a link:
 * Node has no packet sockets. Each frame on the pipes has its length before it (16 bits, network order).
 *
 *   frame-pump IFNAME      writes "ready" and a newline to standard error once the socket is bound; ends when standard input ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define FRAME_MAX 65535
#define BATCH 256

static unsigned char in[4 * FRAME_MAX];
static size_t in_used;
static unsigned char out[BATCH * 2048 + FRAME_MAX + 2];

static void die(const char *what) {
    fprintf(stderr, "frame-pump: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void write_all(int fd, const unsigned char *p, size_t n) {
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR) continue;
        if (w <= 0) exit(0); /* the reader is gone */
        p += w;
        n -= (size_t)w;
    }
}

static void send_frame(int sock, const unsigned char *p, size_t n) {
    while (send(sock, p, n, 0) < 0) {
        if (errno == ENOBUFS || errno == EAGAIN) {
            struct pollfd w = {.fd = sock, .events = POLLOUT};
            poll(&w, 1, 1);
        } else if (errno == ENETDOWN || errno == ENXIO) {
            return; /* an unplugged cable loses frames silently */
        } else if (errno != EINTR) {
            die("send");
        }
    }
}

static void pump_out(int sock) {
    ssize_t r = read(0, in + in_used, sizeof in - in_used);
    if (r < 0 && errno == EINTR) return;
    if (r <= 0) exit(0);
    in_used += (size_t)r;
    size_t at = 0;
    while (in_used - at >= 2) {
        size_t n = ((size_t)in[at] << 8) | in[at + 1];
        if (in_used - at - 2 < n) break;
        send_frame(sock, in + at + 2, n);
        at += 2 + n;
    }
    memmove(in, in + at, in_used - at);
    in_used -= at;
}

static void pump_in(int sock) {
    size_t used = 0;
    while (used + FRAME_MAX + 2 <= sizeof out) {
        ssize_t n = recv(sock, out + used + 2, FRAME_MAX, MSG_DONTWAIT);
        if (n < 0) {
            if (errno == EAGAIN || errno == EINTR || errno == ENETDOWN) break;
            die("recv");
        }
        out[used] = (unsigned char)(n >> 8);
        out[used + 1] = (unsigned char)n;
        used += 2 + (size_t)n;
    }
    write_all(1, out, used);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: frame-pump IFNAME\n");
        return 2;
    }
    int sock = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
    if (sock < 0) die("socket");
    int one = 1, size = 16 * 1024 * 1024;
    if (setsockopt(sock, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0) die("PACKET_IGNORE_OUTGOING");
    if (setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0) die("SO_RCVBUFFORCE");
    struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    where.sll_ifindex = (int)if_nametoindex(argv[1]);
    if (where.sll_ifindex == 0) die(argv[1]);
    if (bind(sock, (struct sockaddr *)&where, sizeof where) < 0) die("bind");
    fprintf(stderr, "ready\n");
    struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.fd = sock, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) die("poll");
        if (fds[1].revents & (POLLIN | POLLERR)) pump_in(sock);
        if (fds[0].revents & (POLLIN | POLLHUP)) pump_out(sock);
    }
}
