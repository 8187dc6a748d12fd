/*
 * The device's process as far as an operator sees it: the functions that libraries expect there, exported
 * from the program. Spec 07, OPR-710 to OPR-733.
 */
#include "runner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Bounds-checked functions: OPR-710. ---- */

#define LARGEST 0x7fffffffu

/* Whether a format has %n, which writes to memory. */
static int writes(const char *format)
{
    while ((format = strchr(format, '%'))) {
        format += 1 + strspn(format + 1, "0123456789-+ #'.*hlLqjzt$");
        if (*format == 'n')
            return 1;
        if (*format)
            format++;
    }
    return 0;
}

static int refuse(char *to, size_t max)
{
    if (to && max && max <= LARGEST)
        *to = 0;
    return -1;
}

EXPORT int vsnprintf_s(char *to, size_t max, size_t count, const char *format, va_list list)
{
    int length;
    if (!to || !format || !max || max > LARGEST || count > LARGEST - 1 || writes(format))
        return refuse(to, max);
    length = vsnprintf(to, count < max ? count + 1 : max, format, list);
    if (length < 0)
        return refuse(to, max);
    if (count < max)
        return (size_t)length <= count ? length : -1; /* what fits is kept */
    return (size_t)length < max ? length : refuse(to, max);
}

EXPORT int snprintf_s(char *to, size_t max, size_t count, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf_s(to, max, count, format, list);
    va_end(list);
    return length;
}

EXPORT int vsnprintf_truncated_s(char *to, size_t max, const char *format, va_list list)
{
    int length;
    if (!to || !format || !max || max > LARGEST || writes(format))
        return refuse(to, max);
    length = vsnprintf(to, max, format, list);
    if (length < 0)
        return refuse(to, max);
    return (size_t)length < max ? length : (int)(max - 1);
}

EXPORT int snprintf_truncated_s(char *to, size_t max, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf_truncated_s(to, max, format, list);
    va_end(list);
    return length;
}

enum { RESET = 128 };

EXPORT int memcpy_s(void *to, size_t max, const void *from, size_t count)
{
    int code = 0;
    if (!max || max > LARGEST)
        return ERANGE;
    if (!to)
        return EINVAL;
    if (!from)
        code = EINVAL + RESET;
    else if (count > max)
        code = ERANGE + RESET;
    else if (to != from && (char *)to < (char *)from + count && (char *)from < (char *)to + count)
        code = 54 + RESET; /* overlap */
    if (code)
        memset(to, 0, max);
    else if (to != from)
        memcpy(to, from, count);
    return code;
}

EXPORT int memset_s(void *to, size_t max, int byte, size_t count)
{
    if (!max || max > LARGEST)
        return ERANGE;
    if (!to)
        return EINVAL;
    memset(to, byte, count < max ? count : max);
    return count > max ? ERANGE + RESET : 0;
}

/* ---- Log of the device: OPR-720. A record is written at once, so lines of threads do not mix. ---- */

enum { LOG_TEXT = 1024 };

EXPORT int CheckLogLevel(int module, int level)
{
    (void)module;
    return level >= (int)log_level;
}

EXPORT void DlogVaList(int module, int level, const char *format, va_list list)
{
    struct {
        uint32_t size, module;
        int32_t level;
        uint32_t call;
        char text[LOG_TEXT];
    } record;
    int length, saved = errno;
    if (level < (int)log_level || !format)
        return;
    length = vsnprintf(record.text, sizeof record.text, format, list);
    if (length >= 0) {
        record.size = (uint32_t)(length < LOG_TEXT ? length : LOG_TEXT - 1);
        record.module = (uint32_t)module;
        record.level = level;
        record.call = head->call;
        if (write(log_place, &record, offsetof(__typeof__(record), text) + record.size) < 0)
            log_place = -1; /* foreign code closed it */
    }
    errno = saved;
}

EXPORT void DlogRecord(int module, int level, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    DlogVaList(module, level, format, list);
    va_end(list);
}

EXPORT int dlog_getlevel(int module, int *has_events)
{
    (void)module;
    if (has_events)
        *has_events = 0;
    return (int)log_level;
}

EXPORT int dlog_setlevel(int module, int level, int has_events)
{
    (void)module, (void)level, (void)has_events; /* who runs the operator decides */
    return 0;
}

EXPORT void DlogFlush(void)
{
}

/* ---- Context of a call: OPR-725. C++ functions under their mangled names. ---- */

struct string { /* std::string of libstdc++, its public half */
    const char *data;
    size_t size;
};

#define STRING "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

EXPORT int set_opname(const struct string *name) __asm__("_ZN5aicpu9SetOpnameE" STRING);
EXPORT int set_opname(const struct string *name)
{
    size_t size = name->size < sizeof head->opname ? name->size : sizeof head->opname - 1;
    memcpy(head->opname, name->data, size);
    head->opname[size] = 0;
    return 0;
}

EXPORT int set_context(const struct string *key, const struct string *value)
    __asm__("_ZN5aicpu17SetThreadLocalCtxE" STRING "S7_");
EXPORT int set_context(const struct string *key, const struct string *value)
{
    (void)key, (void)value;
    return 0;
}

EXPORT int task_and_stream(unsigned long *task, unsigned *stream)
    __asm__("_ZN5aicpu18GetTaskAndStreamIdERmRj");
EXPORT int task_and_stream(unsigned long *task, unsigned *stream)
{
    *task = 0;
    *stream = 0;
    return 0;
}

struct context { /* aicpuContext_t */
    uint32_t device, ts;
    int32_t host_process;
    uint32_t vf;
};

EXPORT int get_context(struct context *to) __asm__("_ZN5aicpu15aicpuGetContextEPNS_14aicpuContext_tE");
EXPORT int get_context(struct context *to)
{
    memset(to, 0, sizeof *to);
    return 0;
}

/* How many threads a pool gets, OPR-733: as many as OpenMP. */
EXPORT char *mmSysGetEnv(int number)
{
    enum { MAX_COMPILE_CORE_NUMBER = 9000 };
    return number == MAX_COMPILE_CORE_NUMBER ? getenv("OMP_NUM_THREADS") : NULL;
}
