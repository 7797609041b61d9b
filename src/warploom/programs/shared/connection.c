/* The way to the simulator: one socket for commands, and device memory mapped where the device has it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "warploom.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct question { uint32_t operation, unanswered; word bytes; word words[QUESTION_WORDS]; };
struct answer { int32_t outcome; uint32_t printed; word bytes; word words[ANSWER_WORDS]; };

/* One question at a time, whatever thread asks; who has the turn may ask again. */
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int line = -1;
static status refusal; /* why there is no line */
static word device_start, device_end;

int is_device_address(word address) { return device_start <= address && address < device_end; }

void take_turn(void) { pthread_mutex_lock(&turn); }
void give_turn(void) { pthread_mutex_unlock(&turn); }

static void in_child(void) {
    line = -1; /* it belongs to the parent; CUDA does not survive a fork either */
    refusal = INITIALIZATION;
    turn = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static void gone(void) {
    fprintf(stderr, "warploom: the simulator has ended; so does this program\n");
    _exit(1);
}

static void send_all(struct iovec *parts, int count) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(line, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) gone();
        while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= sent;
        }
    }
}

static void receive_all(void *into, size_t bytes) {
    while (bytes) {
        ssize_t got = recv(line, into, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) gone();
        into = (char *)into + got;
        bytes -= got;
    }
}

/* Without a reply, nobody waits for one. */
static void exchange(int operation, int count, const word *given, const void *data, word bytes, struct answer *reply) {
    struct question asked = {.operation = operation, .unanswered = !reply, .bytes = bytes};
    memcpy(asked.words, given, count * sizeof(word));
    struct iovec parts[2] = {{&asked, sizeof asked}, {(void *)data, bytes}};
    send_all(parts, bytes ? 2 : 1);
    if (reply) receive_all(reply, sizeof *reply);
}

/* The first answer carries the file that is device memory. */
static int receive_file(void) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int file = -1;
    if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) != 1) gone();
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) memcpy(&file, CMSG_DATA(header), sizeof file);
    return file;
}

static void connect_once(void) {
    const char *name = getenv(WARPLOOM_LINE), *parent = getenv(WARPLOOM_LINE "_PID");
    if (!name || !parent) {
        fprintf(stderr, "warploom: this CUDA library works in programs that `warploom exec` starts\n");
        refusal = NO_DEVICE;
        return;
    }
    if (getppid() == atoi(parent)) prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left running */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path + 1, name, sizeof address.sun_path - 2);
    line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0 || connect(line, (void *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) {
        fprintf(stderr, "warploom: the simulator does not answer\n");
        line = -1;
        refusal = NO_DEVICE;
        return;
    }
    pthread_atfork(NULL, NULL, in_child);
    struct answer reply;
    exchange(HELLO, 1, (word[]){getpid()}, NULL, 0, &reply);
    if (!reply.words[1]) return; /* the device is a real one, with memory of its own */
    int file = receive_file();
    void *wanted = AS_POINTER(reply.words[0]);
    errno = 0;
    void *got = mmap(wanted, reply.words[1], PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, 0);
    int why = errno;
    close(file);
    device_start = reply.words[0];
    device_end = device_start + reply.words[1];
    if (got != wanted) {
        if (got == MAP_FAILED && why != EEXIST)
            fprintf(stderr, "warploom: %llu MiB of device memory cannot be mapped (%s); allow the program more addresses: ulimit -v\n",
                    (unsigned long long)reply.words[1] >> 20, strerror(why));
        else
            fprintf(stderr, "warploom: the program uses addresses from %p on, where device memory must lie; build it with -fPIE -pie\n",
                    wanted);
        close(line);
        line = -1;
        refusal = INITIALIZATION;
    }
}

/* What kernels have printed goes to the program's own standard output, behind what the program has written there. */
static void write_printed(uint32_t bytes) {
    char piece[4096];
    while (bytes) {
        uint32_t taken = bytes < sizeof piece ? bytes : sizeof piece;
        receive_all(piece, taken);
        fwrite(piece, 1, taken, stdout);
        bytes -= taken;
    }
}

status tell(int operation, int count, const word *given, const void *data, word bytes) {
    take_turn();
    int connected = line >= 0;
    if (connected) exchange(operation, count, given, data, bytes, NULL);
    give_turn();
    return connected ? SUCCESS : refusal;
}

status ask(int operation, int count, const word *given, const void *data, word bytes, word answer[ANSWER_WORDS], void *into,
           word into_bytes) {
    struct answer reply = {.outcome = SUCCESS};
    pthread_mutex_lock(&turn);
    if (line < 0 && !refusal) connect_once();
    if (line < 0) {
        pthread_mutex_unlock(&turn);
        return refusal;
    }
    exchange(operation, count, given, data, bytes, &reply);
    word kept = reply.bytes < into_bytes ? reply.bytes : into_bytes;
    receive_all(into, kept);
    for (word left = reply.bytes - kept; left;) { /* more than there is room for */
        char waste[4096];
        word piece = left < sizeof waste ? left : sizeof waste;
        receive_all(waste, piece);
        left -= piece;
    }
    write_printed(reply.printed);
    pthread_mutex_unlock(&turn);
    if (answer) memcpy(answer, reply.words, sizeof reply.words);
    return reply.outcome;
}
