// Calls the bounds-checked functions of the process as its parameter says, and gives back what came of it.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

int snprintf_s(char *to, size_t max, size_t count, const char *format, ...);
int vsnprintf_s(char *to, size_t max, size_t count, const char *format, va_list list);
int vsnprintf_truncated_s(char *to, size_t max, const char *format, va_list list);
int snprintf_truncated_s(char *to, size_t max, const char *format, ...);
int memcpy_s(void *to, size_t max, const void *from, size_t count);
int memset_s(void *to, size_t max, int byte, size_t count);

struct call {
    uint32_t function;
    int32_t result;
    uint64_t max, count;
    int64_t to, from; /* places in `bytes`, -1 is null */
    char format[32], bytes[64];
};

static int with_list(struct call *call, char *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int result = call->function == 1 ? vsnprintf_s(to, call->max, call->count, format, list)
                                     : vsnprintf_truncated_s(to, call->max, format, list);
    va_end(list);
    return result;
}

uint32_t RunCpuKernel(struct call *call)
{
    char *to = call->to < 0 ? 0 : call->bytes + call->to;
    char *from = call->from < 0 ? 0 : call->bytes + call->from;
    const char *format = call->format[0] ? call->format : 0;
    switch (call->function) {
    case 0:
        call->result = snprintf_s(to, call->max, call->count, format, from, 42);
        break;
    case 1:
    case 2:
        call->result = with_list(call, to, format, from, 42);
        break;
    case 3:
        call->result = snprintf_truncated_s(to, call->max, format, from, 42);
        break;
    case 4:
        call->result = memcpy_s(to, call->max, from, call->count);
        break;
    default:
        call->result = memset_s(to, call->max, '#', call->count);
    }
    return 0;
}
