/* Functions that end, leave, flood or outlive the process that calls them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OP(name) uint32_t name(void *param)

OP(write_null) { *(volatile int *)0 = (int)(intptr_t)param; return 0; }
OP(print_and_crash) {
  printf("first\n");
  fprintf(stderr, "second\n");
  printf("third, without an end");
  return *(volatile uint32_t *)param;
}
OP(divide) { (void)param; raise(SIGFPE); return 0; }
OP(illegal) { (void)param; raise(SIGILL); return 0; }
OP(do_abort) { (void)param; abort(); }
OP(hang) { (void)param; for (;;) pause(); }
OP(exit_0) { (void)param; printf("leaving\n"); exit(0); }
OP(exit_3) { (void)param; exit(3); }
OP(exit_now) { (void)param; _exit(9); }
OP(exit_127) { (void)param; exit(127); }
OP(stop_itself) { (void)param; raise(SIGSTOP); return 0; }
OP(use_up_cpu) { (void)param; raise(SIGXCPU); return 0; }
OP(kill_itself) { (void)param; raise(SIGKILL); return 0; }
OP(hang_up) { (void)param; raise(SIGHUP); return 0; }

OP(stubborn) {
  (void)param;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  for (;;) pause();
}

/* the child stays, and returns into the caller of this function, too */
OP(fork_and_return) { (void)param; fork(); return 4; }

OP(fork_and_sleep) {
  (void)param;
  if (!fork()) for (;;) pause();
  return 4;
}

OP(fork_and_die) {
  (void)param;
  if (!fork()) for (;;) pause();
  _exit(5);
}

OP(daemon_and_die) {
  (void)param;
  if (!fork()) {
    setsid();
    if (!fork()) for (;;) pause();
    _exit(0);
  }
  _exit(6);
}

OP(fork_often) {
  (void)param;
  for (int at = 0; at < 50; at++)
    if (!fork()) for (;;) pause();
  for (;;) pause();
}

OP(flood) {
  (void)param;
  static char page[1 << 16];
  memset(page, 'x', sizeof page);
  for (;;) if (write(1, page, sizeof page) < 0) return 1;
}

OP(print_much) {
  (void)param;
  for (int at = 0; at < 100000; at++) putchar('a' + at % 26);
  return 0;
}

OP(write_everywhere) {
  (void)param;
  for (int file = 3; file < 4096; file++)
    if (write(file, "garbage", 7) < 0) continue;
  for (;;) pause();
}

OP(close_everything) {
  (void)param;
  for (int file = 0; file < 4096; file++) close(file);
  return 0;
}

OP(close_and_hang) {
  (void)param;
  for (int file = 0; file < 4096; file++) close(file);
  for (;;) pause();
}

OP(close_up_to_limit) {
  (void)param;
  for (int file = 3; file < getdtablesize(); file++) close(file);
  return 2;
}

static volatile int depth;
static int deeper(volatile char *last) {
  volatile char page[4096];
  page[0] = last ? *last : 0;
  depth++;
  return deeper(page) + page[0];
}
OP(overflow_stack) { (void)param; return (uint32_t)deeper(0); }

OP(allocate_much) {
  (void)param;
  char *much = malloc((size_t)8 << 30);
  if (!much) return 12;
  much[0] = 1;
  return 0;
}

OP(large_file) {
  (void)param;
  static char page[1 << 20];
  int file = open("large", O_CREAT | O_WRONLY, 0600);
  for (int at = 0; at < 20; at++) if (write(file, page, sizeof page) < 0) return 1;
  return 0;
}

/* what the process is like: bits for what is not as it should be */
OP(surroundings) {
  char *folder = getcwd(0, 0);
  char *environment = getenv("HOME");
  uint32_t odd = 0;
  if (strncmp(folder, "/", 1) || getsid(0) != getpid()) odd |= 1;
  if (environment || getenv("LD_PRELOAD") || getenv("PATH")) odd |= 2;
  if (!getenv("LC_ALL")) odd |= 4;
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) odd |= 8;
  if (param) strcpy(param, folder);
  char byte;
  if (read(0, &byte, 1) != 0) odd |= 16;
  if (getdtablesize() != 64) odd |= 32;
  for (int file = 3; file < 64; file++) if (fcntl(file, F_GETFD) >= 0) odd |= 64;
  return odd;
}
