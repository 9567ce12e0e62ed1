/*
 * The two ends of the append benchmark.
 *
 *   leases-append write FILE COUNT GAP_US REWRITE_EVERY   appends COUNT lease blocks, the time of each in its host name, as dhcpd does it
 *   leases-append watch FILE COUNT                        the anchor: inotify on the directory, pread, prints one latency (ns) a block
 *
 * `watch` prints "ready" when it watches. Every REWRITE_EVERY blocks the file is rewritten as dhcpd does: a new file with all blocks
 * aside, the old one linked to FILE~, the new one renamed over; 0 for never.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int check(int value, const char *what) {
    if (value < 0) {
        perror(what);
        exit(1);
    }
    return value;
}

static char all[64 * 1024 * 1024];
static size_t all_size;

static int rewrite_file(const char *file, int old) {
    char aside[PATH_MAX], kept[PATH_MAX];
    snprintf(aside, sizeof aside, "%s.1700000000", file);
    snprintf(kept, sizeof kept, "%s~", file);
    int next = check(open(aside, O_WRONLY | O_CREAT | O_TRUNC, 0644), aside);
    if (write(next, all, all_size) != (ssize_t)all_size) check(-1, "rewrite");
    unlink(kept);
    check(link(file, kept), kept);
    check(rename(aside, file), aside);
    close(old);
    return next;
}

static void write_blocks(const char *file, int count, int gap_us, int rewrite_every) {
    int fd = check(open(file, O_RDWR | O_APPEND), file);
    all_size = check(pread(fd, all, sizeof all / 2, 0), file); /* a rewrite keeps what was there */
    srandom(20261130);
    for (int i = 1; i <= count; i++) {
        /* half of the gaps are short: the second of two close appends is what watchers lose */
        usleep(i % 2 ? gap_us : (useconds_t)(random() % gap_us));
        if (rewrite_every && i % rewrite_every == 0) fd = rewrite_file(file, fd);
        char *block = all + all_size;
        int size = snprintf(block, 512,
                            "lease 10.66.%d.%d {\n  starts 4 2026/11/26 00:00:00;\n  ends 4 2037/12/31 00:00:00;\n"
                            "  cltt 4 2026/11/26 00:00:00;\n  binding state active;\n  next binding state free;\n"
                            "  rewind binding state free;\n  hardware ethernet 02:53:00:00:%02x:%02x;\n"
                            "  client-hostname \"t%lld\";\n}\n",
                            i / 250, i % 250 + 1, i / 250, i % 250, (long long)now_ns());
        if (write(fd, block, size) != size) check(-1, "append");
        all_size += size;
    }
}

static void end(int signal) {
    (void)signal;
    fflush(stdout);
    _exit(0);
}

static void watch_blocks(const char *file, int count) {
    char directory[PATH_MAX], name[PATH_MAX], copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", file);
    snprintf(directory, sizeof directory, "%s", dirname(copy));
    snprintf(copy, sizeof copy, "%s", file);
    snprintf(name, sizeof name, "%s", basename(copy));
    int events = check(inotify_init1(0), "inotify");
    check(inotify_add_watch(events, directory, IN_MODIFY | IN_MOVED_TO | IN_CREATE), directory);
    int fd = check(open(file, O_RDONLY), file);
    off_t offset = lseek(fd, 0, SEEK_END);
    int64_t newest = 0;
    signal(SIGTERM, end);
    fprintf(stderr, "ready\n");
    static char buffer[1024 * 1024], event[64 * 1024];
    for (int seen = 0; seen < count;) {
        check(read(events, event, sizeof event), "events");
        struct stat path, opened;
        if (stat(file, &path) != 0) continue;
        check(fstat(fd, &opened), "fstat");
        for (int pass = 0; pass < 2; pass++) {
            for (ssize_t n; (n = pread(fd, buffer, sizeof buffer - 1, offset)) > 0; offset += n) {
                int64_t at = now_ns();
                buffer[n] = 0;
                for (char *p = buffer; (p = strstr(p, "client-hostname \"t")); p += 18) {
                    int64_t written = atoll(p + 18);
                    if (written <= newest) continue; /* in the rewritten file again */
                    newest = written;
                    printf("%lld\n", (long long)(at - written));
                    seen++;
                }
            }
            if (path.st_ino == opened.st_ino) break;
            close(fd);
            fd = check(open(file, O_RDONLY), file);
            offset = 0;
            check(fstat(fd, &opened), "fstat");
        }
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "write") == 0) write_blocks(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    else if (argc == 4 && strcmp(argv[1], "watch") == 0) watch_blocks(argv[2], atoi(argv[3]));
    else return 2;
    return 0;
}
