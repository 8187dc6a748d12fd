/* Functions that make up answers of the process they run in, which is a Python interpreter. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

extern int PyGILState_Ensure(void) __attribute__((weak));
extern void PyGILState_Release(int) __attribute__((weak));
extern int PyRun_SimpleString(const char *) __attribute__((weak));

#define CHILD                                          \
    "import gc, os\n"                                  \
    "from cannkit.ae.host_child import Child\n"        \
    "c = [o for o in gc.get_objects() if isinstance(o, Child)][0]\n"

/* The parameter is a line of Python about `c`. */
uint32_t forge(const char *line)
{
    char code[4096] = CHILD;
    int state;

    if (!PyRun_SimpleString)
        return 77;
    strncat(code, line, sizeof code - sizeof CHILD - 1);
    state = PyGILState_Ensure();
    PyRun_SimpleString(code);
    PyGILState_Release(state);
    return 0;
}

/* A daemon that is another program in another session. */
uint32_t other_program(void *param)
{
    (void)param;
    if (fork() == 0) {
        setsid();
        execl("/bin/sleep", "sleep", "600", (char *)0);
        _exit(1);
    }
    return 0;
}
