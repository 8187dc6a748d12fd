/* What the parts of the runner share: the job file, and the state of the process. Spec 07, OPR-810. */
#ifndef RUNNER_H
#define RUNNER_H
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default"))) /* all else is hidden: libraries have names, too */

/* ---- The job file: cannkit/ops/job.py has the same layout. ---- */

enum { VERSION = 1, BIND_NOW = 1, NOTHING = -1 };
enum { STARTED = 1, MAPPED, LOADED, FOUND, CALLED, LEAVING };
enum { LOAD_FAILED = 10, NO_FUNCTION = 11, BAD_JOB = 64, BAD_TABLES, NO_PLACE, NO_PARENT };
enum { LOG_PLACE = 100, ALTERNATE_STACK = 1 << 16, PATH = 4096 };

struct head {
    char magic[8];
    uint32_t version, page, n_regions, n_relocations, n_calls, log_level, flags;
    uint32_t library, regions, relocations, calls; /* offsets */
    uint32_t unused[3];
    uint32_t stage, call; /* from here on written by the runner */
    uint64_t load_ns;
    int32_t signal, code;
    uint64_t fault;
    uint64_t pc, start, offset; /* where it was, and the mapping there: its address, its place in `path` */
    uint64_t caller, caller_start, caller_offset; /* the same of the call that led there from the library */
    uint32_t is_full, noted;                      /* the stack; NOTED where this is all, KNOWN with what is mapped */
    char path[PATH], opname[128], error[512];
};
struct region {
    uint64_t first, pages, data, size, address;
    uint32_t is_writable, unused;
};
struct relocation {
    uint32_t region, target;
    uint64_t offset, addend;
};
struct call {
    uint32_t kind, region;
    uint64_t offset;
    uint32_t block_num, block_id, returned, done;
    uint64_t ns;
};
_Static_assert(sizeof(struct head) == 4888 && offsetof(struct head, stage) == 64, "job.py");
_Static_assert(offsetof(struct head, pc) == 96 && offsetof(struct head, path) == 152, "job.py");
_Static_assert(offsetof(struct head, noted) == 148, "job.py");
_Static_assert(sizeof(struct region) == 48 && sizeof(struct call) == 40, "job.py");

extern struct head *head;
extern int log_place; /* where log records go, -1 for nowhere */
extern uint32_t log_level;

/* From now on a crash or a hang leaves where it was in `head`. */
void watch(const char *library);

#endif
