/* Functions of AE-704 in both signatures: codes of AE-202, and what they do to their parameters. */
#include <stdint.h>
#include <stdio.h>

#define CODE(n) uint32_t code_##n(void *param) { (void)param; return n##u; }
CODE(0) CODE(1) CODE(101) CODE(201) CODE(301) CODE(501) CODE(502) CODE(503) CODE(504) CODE(505)
CODE(1000) CODE(1050) CODE(1099) CODE(30000) CODE(0xFFFFFFFF)

struct block { uint32_t blockNum, blockId; };

uint32_t RunCpuKernel(uint32_t *param) { return ++param[0]; }

uint32_t RunCpuKernelWithBlock(uint32_t *param, struct block *block) {
  param[0] = block->blockNum;
  param[1] = block->blockId;
  return 0;
}

uint32_t TFOperateAPI(uint64_t address) { return *(uint32_t *)address + 1; }

uint32_t is_null(void *param) { return param == 0; }

uint32_t greet(void *param) {
  (void)param;
  printf("hello\n");
  fprintf(stderr, "world\n");
  return 0;
}

/* the byte of param[0] at offset param[1], both of which are addresses and may be any */
uint32_t poke(int64_t *param) {
  *(volatile uint8_t *)(param[0] + param[1]) = 0x55;
  return 0;
}

/* a page that is in use */
uint32_t whereabouts(uint64_t *param) {
  param[0] = (uint64_t)(uintptr_t)whereabouts & ~(uint64_t)0xFFF;
  return 0;
}

static uint32_t chosen(void *param) { (void)param; return 77; }
static uint32_t (*choose(void))(void *) { return chosen; }
uint32_t indirect(void *param) __attribute__((ifunc("choose")));

uint32_t mangled(void *param) __asm__("_Z5my_opPv");
uint32_t mangled(void *param) { (void)param; return 5; }

__attribute__((visibility("hidden"))) uint32_t concealed(void *param) { (void)param; return 6; }
__attribute__((weak)) uint32_t feeble(void *param) { (void)param; return 8; }
uint32_t datum = 9;
