/* Functions that crash or hang at places that are known: each in a function of its own, as its parameter says. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN __attribute__((noinline))
#if defined __x86_64__
#define BREAK "int3"
#else
#define BREAK "brk #0"
#endif

static volatile int zero;
static void *volatile nowhere;

OWN static int touch(void)
{
    *(volatile int *)nowhere = 1; /* touch */
    return 1;
}
OWN static int fill(void)
{
    memset(nowhere, 1, 4096); /* fill */
    return zero;
}
OWN static int jump(void)
{
    ((void (*)(void))nowhere)(); /* jump */
    return zero;
}
OWN static int deep(volatile char *before)
{
    volatile char here[512];
    here[0] = before ? before[0] : 1;
    return deep(here) + here[0]; /* deep */
}
OWN static int wide(void)
{
    volatile char here[64 << 20];
    here[zero] = 1; /* wide */
    return here[zero];
}
OWN static int over(void)
{
    volatile char here[16];
    for (long at = 0;; at++)
        here[at] = 1; /* over */
}
OWN static int trap(void)
{
    __builtin_trap(); /* trap */
}
OWN static int point(void)
{
    __asm__ volatile(BREAK); /* point */
    return zero;
}
OWN static int divide(void)
{
    return 100 / zero; /* divide */
}
OWN static int give_up(void)
{
    abort(); /* give_up */
}
OWN static int odd(void)
{
    return *(volatile int *)(uintptr_t)0x8123456789abcdefu; /* odd */
}
OWN static int spin(void)
{
    for (;;)
        zero = zero; /* spin */
}
OWN static int wait_long(void)
{
    for (;;)
        pause(); /* wait_long */
}
OWN static int deaf(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    return wait_long();
}
OWN static int taken(void)
{
    signal(SIGURG, SIG_DFL);
    return wait_long();
}
OWN static int crowded(void)
{
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    return touch();
}
static void *touch_aside(void *nothing)
{
    touch();
    return nothing;
}
static void *deep_aside(void *nothing)
{
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    zero = deep(nothing);
    return nothing;
}
OWN static int aside(void *(*what)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, NULL))
        return 2;
    pthread_join(thread, NULL);
    return zero;
}
OWN static int say(void)
{
    puts("on stdout");
    fputs("on stderr\n", stderr);
    return 3;
}

struct how {
    char word[16];
};

uint32_t RunCpuKernel(const struct how *how)
{
    static const struct {
        const char *word;
        int (*function)(void);
    } all[] = {
        {"touch", touch}, {"fill", fill}, {"jump", jump}, {"wide", wide}, {"over", over},
        {"trap", trap}, {"point", point}, {"divide", divide}, {"give_up", give_up}, {"odd", odd}, {"spin", spin},
        {"wait_long", wait_long}, {"deaf", deaf}, {"taken", taken}, {"crowded", crowded}, {"say", say},
    };
    int code = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(how->word, all[i].word))
            code = all[i].function();
    if (!strcmp(how->word, "deep"))
        code = deep(NULL);
    if (!strcmp(how->word, "jump_in"))
        ((void (*)(void))how)(); /* jump_in */
    if (!strcmp(how->word, "touch_aside"))
        code = aside(touch_aside);
    if (!strcmp(how->word, "deep_aside"))
        code = aside(deep_aside);
    return (uint32_t)code + (uint32_t)(zero & 0);
}

__attribute__((visibility("hidden"))) uint32_t Hidden(void)
{
    return 0;
}

#ifdef AT_LOAD
__attribute__((constructor)) static void begin(void)
{
    printf("no such device\n  in slot %d\n", 7);
    fflush(stdout);
    AT_LOAD;
}
#endif
