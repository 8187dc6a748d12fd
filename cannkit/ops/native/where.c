/*
 * Where the process was when it crashed or time was up: the program counter, by /proc/self/maps what lies
 * there, and the call that led there from the library. No heap, no locks but for unwinding. Spec 07, OPR-810.
 */
#include "runner.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { NOTED = 1, KNOWN, FRAMES = 64, NEAR = 1 << 16, WIDE = 1 << 26 };
#define NO_ADDRESS UINTPTR_MAX

struct frame {
    uintptr_t pc, sp, link;
    int is_code; /* what lies at `pc` */
};
struct mapping {
    uintptr_t start, end;
    uint64_t offset;
    int is_readable, is_writable, is_code;
};

static char library_path[PATH];
static int spare = -1; /* a descriptor to give up where there are no more */

static struct frame frame_of(void *context)
{
    ucontext_t *found = context;
    struct frame frame = {0};
#if defined __x86_64__
    frame.pc = (uintptr_t)found->uc_mcontext.gregs[REG_RIP];
    frame.sp = (uintptr_t)found->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    frame.pc = found->uc_mcontext.pc;
    frame.sp = found->uc_mcontext.sp;
    frame.link = found->uc_mcontext.regs[30];
#else
    (void)found;
#endif
    return frame;
}

static struct {
    int fd;
    size_t at, size;
    char data[PATH], path[PATH];
} maps;

static int next_byte(void)
{
    if (maps.at == maps.size) {
        ssize_t count = read(maps.fd, maps.data, sizeof maps.data);
        if (count <= 0)
            return -1;
        maps.at = 0;
        maps.size = (size_t)count;
    }
    return (unsigned char)maps.data[maps.at++];
}

/* A number in hex, and the byte behind it. */
static uint64_t next_number(int *behind)
{
    uint64_t value = 0;
    for (;;) {
        int byte = *behind = next_byte();
        if (byte >= '0' && byte <= '9')
            value = value << 4 | (unsigned)(byte - '0');
        else if (byte >= 'a' && byte <= 'f')
            value = value << 4 | (unsigned)(byte - 'a' + 10);
        else
            return value;
    }
}

/* The next line of the maps; its file is in `maps.path`, none where the path is longer than a path can be. */
static int next_mapping(struct mapping *to)
{
    int byte;
    size_t length = 0;
    to->start = next_number(&byte);
    if (byte != '-')
        return 0;
    to->end = next_number(&byte);
    to->is_readable = next_byte() == 'r';
    to->is_writable = next_byte() == 'w';
    to->is_code = next_byte() == 'x';
    next_byte(), next_byte(); /* private or shared, a blank */
    to->offset = next_number(&byte);
    while ((byte = next_byte()) >= 0 && byte != ' ') /* device */
        ;
    while ((byte = next_byte()) >= '0' && byte <= '9') /* inode */
        ;
    while (byte == ' ')
        byte = next_byte();
    for (; byte >= 0 && byte != '\n'; byte = next_byte())
        if (length < PATH)
            maps.path[length++] = (char)byte;
    maps.path[length < PATH ? length : 0] = 0;
    return 1;
}

static int holds(const struct mapping *mapping, uintptr_t address)
{
    return address - mapping->start < mapping->end - mapping->start;
}

/* Whether a call of the library returns to an address. */
static int is_return(const struct mapping *code, uintptr_t address)
{
    const unsigned char *at = (const unsigned char *)address;
    if (!holds(code, address) || address - code->start < 8)
        return 0;
#if defined __x86_64__
    static const int sizes[] = {2, 3, 4, 6, 7}; /* of calls by an address in a register or in memory */
    if (at[-5] == 0xe8)
        return 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (at[-sizes[i]] == 0xff && (at[1 - sizes[i]] & 0x38) == 0x10)
            return 1;
    return 0;
#else
    uint32_t word;
    memcpy(&word, at - 4, sizeof word);
    return !(address & 3) && ((word & 0xfc000000u) == 0x94000000u || (word & 0xfffffc1fu) == 0xd63f0000u);
#endif
}

/* Unwinding may wait for a lock that is held: then the crash comes without it. */
static void give_up(int number)
{
    sigset_t none;
    (void)number;
    signal(head->signal, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(head->signal);
}

/* Where the innermost call that the library made returns to; 0 where that is not known. */
static uintptr_t find_caller(const struct frame *frame, const struct mapping *code, const struct mapping *stack)
{
    void *found[FRAMES];
    uintptr_t top = 0;
    int count;
    if (!frame->is_code) { /* it jumped there: no code tells how its frame is made */
        if (frame->link)
            top = frame->link;
        else if (holds(stack, frame->sp) && stack->end - frame->sp >= sizeof top)
            memcpy(&top, (const void *)frame->sp, sizeof top);
        return is_return(code, top) ? top : 0;
    }
    if (head->signal) {
        sigset_t alarms;
        sigemptyset(&alarms);
        sigaddset(&alarms, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &alarms, NULL);
        signal(SIGALRM, give_up);
        alarm(1);
    }
    count = backtrace(found, FRAMES);
    if (head->signal)
        alarm(0);
    for (int i = 0; i < count; i++)
        if (is_return(code, (uintptr_t)found[i]))
            return (uintptr_t)found[i];
    return 0;
}

/* Whether an access that faulted was to a stack that has no room: its pointer is near, or points to nothing. */
static int is_full(uintptr_t fault, uintptr_t sp, const struct mapping *stack, const struct mapping *above)
{
    if (fault == NO_ADDRESS)
        return 0;
    if (!stack->end)
        return fault + NEAR - sp < WIDE;
    return stack->start == above->start && fault + NEAR - sp < 2 * NEAR;
}

static void look(struct frame *frame, uintptr_t fault)
{
    struct mapping each, code = {0}, stack = {0}, above = {0};
    maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps.fd < 0 && errno == EMFILE) { /* the emulator takes two */
        close(spare);
        close(STDIN_FILENO);
        maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    }
    maps.at = maps.size = 0;
    while (maps.fd >= 0 && next_mapping(&each)) {
        if (holds(&each, frame->pc)) {
            head->start = each.start;
            head->offset = each.offset;
            frame->is_code = each.is_code;
            memcpy(head->path, maps.path, strlen(maps.path) + 1);
        }
        if (each.is_code && each.is_readable && !strcmp(maps.path, library_path))
            code = each;
        if (each.is_readable && each.is_writable) {
            if (holds(&each, frame->sp))
                stack = each;
            if (!above.end && fault < each.start)
                above = each;
        }
    }
    if (maps.fd >= 0) {
        close(maps.fd);
        head->is_full = (uint32_t)is_full(fault, frame->sp, &stack, &above);
        if (!holds(&code, frame->pc)) {
            head->caller = find_caller(frame, &code, &stack);
            head->caller_start = code.start;
            head->caller_offset = code.offset;
        }
    }
    head->noted = maps.fd >= 0 ? KNOWN : NOTED;
}

/* Notes a crash, then lets it happen: the parent sees the signal, and where it was. */
static void note_crash(int number, siginfo_t *info, void *context)
{
    if (!head->signal) {
        struct frame frame = frame_of(context);
        head->fault = (uintptr_t)info->si_addr;
        head->code = info->si_code;
#if defined __x86_64__
        frame.pc -= number == SIGTRAP && info->si_code > 0; /* it is behind the instruction */
#endif
        head->pc = frame.pc;
        head->signal = number; /* this much is there, even if looking on crashes */
        look(&frame, number == SIGSEGV && info->si_code > 0 ? (uintptr_t)info->si_addr : NO_ADDRESS);
    }
    raise(number); /* SA_RESETHAND: it ends the process when this returns */
}

/* Time is up: the parent asks where it is, and then ends it. The call must not go on meanwhile and return. */
static void note_hang(int number, siginfo_t *info, void *context)
{
    const ucontext_t *found = context;
    int saved = errno;
    (void)number, (void)info;
    if (!head->signal && !head->noted) {
        struct frame frame = frame_of(context);
        head->pc = frame.pc;
        look(&frame, NO_ADDRESS);
        sigsuspend(&found->uc_sigmask);
    }
    errno = saved;
}

void watch(const char *library)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    stack_t stack = {.ss_sp = malloc(ALTERNATE_STACK), .ss_size = ALTERNATE_STACK};
    struct sigaction crash = {.sa_sigaction = note_crash, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK};
    struct sigaction hang = {.sa_sigaction = note_hang, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigset_t none;
    void *first;
    sigemptyset(&none);
    sigfillset(&hang.sa_mask);
    sigdelset(&hang.sa_mask, SIGTERM); /* that ends it, even if unwinding waits for a lock */
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (stack.ss_sp)
        sigaltstack(&stack, NULL);
    spare = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, LOG_PLACE);
    backtrace(&first, 1); /* it loads what it needs the first time */
    if (!realpath(library, library_path))
        library_path[0] = 0;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &crash, NULL);
    sigaction(SIGURG, &hang, NULL); /* where a library takes it away, nothing happens */
}
