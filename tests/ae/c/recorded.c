/* The functions that the recorded rows of the engine call: see `SmallKernels` of recorded.py.
 *
 * A row has a copy for each of its paths, so that each counts its own calls.
 */
#include <stdint.h>

#define RETURN(code) uint32_t k_ret_##code(void *param) { (void)param; return code##u; }
RETURN(0) RETURN(1) RETURN(2) RETURN(5) RETURN(6) RETURN(7) RETURN(8) RETURN(9) RETURN(10)
RETURN(11) RETURN(12) RETURN(13) RETURN(99) RETURN(100) RETURN(101) RETURN(102) RETURN(200)
RETURN(201) RETURN(202) RETURN(300) RETURN(301) RETURN(302) RETURN(500) RETURN(501) RETURN(502)
RETURN(503) RETURN(504) RETURN(505) RETURN(506) RETURN(999) RETURN(1000) RETURN(1001) RETURN(1050)
RETURN(1098) RETURN(1099) RETURN(1100) RETURN(11001) RETURN(11002) RETURN(11003) RETURN(11006)
RETURN(11009) RETURN(65535) RETURN(65536) RETURN(2147483647) RETURN(2147483648) RETURN(4294967295)

struct block { uint32_t num, id; };

static uint32_t calls;

static uint32_t word_or(const uint32_t *param, uint32_t code) { return param ? *param : code; }

uint32_t k_param(const uint32_t *param) { return word_or(param, 0); }
uint32_t k_count(void *param) { (void)param; return ++calls; }
uint32_t k_count1000(void *param) { (void)param; return 1000 + ++calls; }
uint32_t RunCpuKernel(const uint32_t *param) { return word_or(param, 78); }
uint32_t RunCpuKernelWithBlock2(const uint32_t *param) { return word_or(param, 77); }
uint32_t TFOperateAPI(uint64_t operate) { return *(const uint32_t *)(uintptr_t)operate; }

uint32_t RunCpuKernelWithBlock(const uint32_t *param, const struct block *block) {
  return param ? *param : 100 * block->num + block->id;
}

/* names as long as the engine keeps them, and a letter more: the test says which */
uint32_t longest(const uint32_t *param) __asm__(LONGEST);
uint32_t longest(const uint32_t *param) { return word_or(param, 11); }
uint32_t too_long(const uint32_t *param) __asm__(TOO_LONG);
uint32_t too_long(const uint32_t *param) { return word_or(param, 0); }
