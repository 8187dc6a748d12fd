/*
 * Runs an AI CPU operator library: loads it, finds its function, calls it as a job file says.
 * Spec 07, OPR-810. Usage: runner JOB LOG GO, each the number of a descriptor: the job file, where log
 * records go, and a pipe whose end means that the limits of this process are set.
 *
 * Nothing but libc is needed. Machine and parent are little endian.
 */
#include "runner.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct head *head;
int log_place = -1;
uint32_t log_level;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void leave(int code, const char *why)
{
    if (head && why)
        snprintf(head->error, sizeof head->error, "%s", why);
    fflush(NULL);
    _exit(code);
}

/* Maps the head and the tables; no region is in reach of them. */
static char *open_job(int job)
{
    struct head first;
    uint64_t end;
    char *base;
    if (pread(job, &first, sizeof first, 0) != sizeof first || memcmp(first.magic, "cannkjob", 8)
        || first.version != VERSION)
        leave(BAD_JOB, NULL);
    end = first.calls + (uint64_t)first.n_calls * sizeof(struct call);
    base = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED, job, 0);
    if (base == MAP_FAILED)
        leave(BAD_TABLES, NULL);
    head = (struct head *)base;
    return base;
}

static void map_region(int job, struct region *region)
{
    size_t page = head->page, size = region->pages * page, lead = region->data - region->first;
    char *place = (char *)(uintptr_t)(region->address - lead);
    int access = PROT_READ | (region->is_writable ? PROT_WRITE : 0);
    int guard = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (region->address) { /* it is wanted there */
        if (size && mmap(place, size, PROT_NONE, guard | MAP_FIXED_NOREPLACE, -1, 0) != place)
            leave(NO_PLACE, "an address that is asked for is taken, or no process has it");
    } else {
        place = mmap(NULL, size + 2 * page, PROT_NONE, guard, -1, 0);
        if (place == MAP_FAILED)
            leave(NO_PLACE, strerror(errno));
        place += page;
    }
    if (size && mmap(place, size, access, MAP_SHARED | MAP_FIXED, job, (off_t)region->first) != place)
        leave(NO_PLACE, strerror(errno));
    region->address = (uintptr_t)(place + lead);
}

/* Guards of a region with an address of its own: where there is a neighbour, there is none. */
static void guard_region(struct region *region)
{
    size_t page = head->page;
    char *place = (char *)(uintptr_t)(region->address - (region->data - region->first));
    int guard = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    mmap(place - page, page, PROT_NONE, guard, -1, 0);
    mmap(place + region->pages * page, page, PROT_NONE, guard, -1, 0);
}

static void place_regions(int job, char *base)
{
    struct region *regions = (struct region *)(base + head->regions);
    struct relocation *each = (struct relocation *)(base + head->relocations);
    for (uint32_t i = 0; i < head->n_regions; i++)
        map_region(job, &regions[i]);
    for (uint32_t i = 0; i < head->n_regions; i++)
        guard_region(&regions[i]);
    for (uint32_t i = 0; i < head->n_relocations; i++, each++) {
        uint64_t value = each->addend;
        if (each->target != (uint32_t)NOTHING)
            value += regions[each->target].address;
        memcpy((char *)(uintptr_t)regions[each->region].address + each->offset, &value, sizeof value);
    }
}

static void make_calls(char *base, void *function, uint32_t count)
{
    struct region *regions = (struct region *)(base + head->regions);
    struct call *each = (struct call *)(base + head->calls);
    for (uint32_t i = 0; i < count; i++, each++) {
        struct { uint32_t number, id; } block = {each->block_num, each->block_id};
        uint64_t start = each->offset, begin;
        void *param;
        if (each->region != (uint32_t)NOTHING)
            start += regions[each->region].address;
        param = (void *)(uintptr_t)start;
        head->call = i;
        head->opname[0] = 0;
        begin = now();
        each->returned = each->kind ? ((uint32_t(*)(void *, void *))function)(param, &block)
                                    : ((uint32_t(*)(void *))function)(param);
        each->ns = now() - begin;
        each->done = 1;
    }
}

int main(int count, char **words)
{
    int job, go;
    char *base, byte;
    const char *library, *name;
    void *handle, *function = NULL;
    uint32_t calls;
    uint64_t begin;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (count != 4)
        leave(BAD_JOB, NULL);
    job = atoi(words[1]);
    go = atoi(words[3]);
    base = open_job(job);
    head->stage = STARTED;
    log_level = head->log_level;
    log_place = fcntl(atoi(words[2]), F_DUPFD_CLOEXEC, LOG_PLACE);
    close(atoi(words[2]));
    if (read(go, &byte, 1) != 1) /* the parent is gone */
        leave(NO_PARENT, NULL);
    close(go);
    setvbuf(stdout, NULL, _IONBF, 0);
    place_regions(job, base);
    close(job);
    library = base + head->library;
    watch(library);
    head->stage = MAPPED;

    name = library + strlen(library) + 1;
    calls = head->n_calls;
    begin = now();
    handle = dlopen(library, (head->flags & BIND_NOW ? RTLD_NOW : RTLD_LAZY) | RTLD_GLOBAL);
    head->load_ns = now() - begin;
    if (!handle)
        leave(LOAD_FAILED, dlerror());
    head->stage = LOADED;
    if (calls) {
        function = dlsym(handle, name);
        if (!function)
            leave(NO_FUNCTION, dlerror());
        head->stage = FOUND;
        make_calls(base, function, calls);
        head->stage = CALLED;
    }
    fflush(NULL);
    head->stage = LEAVING;
    _exit(0);
}
