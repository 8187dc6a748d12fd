/* Functions for a launch: they read and write tensors whose addresses stand behind the parameter head. */
#include <stdint.h>

struct head {
  uint32_t length, ioAddrNum, extInfoLength;
  uint64_t extInfoAddr, io[];
} __attribute__((packed));

struct block { uint32_t blockNum, blockId; };

/* out = 3 * in, 4 numbers */
uint32_t Triple(struct head *param) {
  const float *in = (const float *)param->io[0];
  float *out = (float *)param->io[1];
  for (int at = 0; at < 4; at++) out[at] = 3 * in[at];
  return 0;
}

/* each block writes its own place */
uint32_t RunCpuKernelWithBlock(struct head *param, struct block *block) {
  uint32_t *out = (uint32_t *)param->io[0];
  out[block->blockId] = 100 * block->blockNum + block->blockId;
  return block->blockId == 2 ? 501 : 0;
}

/* how often this process has run it */
uint32_t Count(struct head *param) {
  static uint32_t calls;
  *(uint32_t *)param->io[0] = ++calls;
  return 0;
}

uint32_t Extended(struct head *param) { return *(uint32_t *)param->extInfoAddr; }
uint32_t Give201(void *param) { (void)param; return 201; }
uint32_t Give501(void *param) { (void)param; return 501; }
uint32_t Give1050(void *param) { (void)param; return 1050; }
uint32_t Give301(void *param) { (void)param; return 301; }
uint32_t Give30000(void *param) { (void)param; return 30000; }
uint32_t Crash(void *param) { *(volatile int *)0 = (int)(intptr_t)param; return 0; }

/* past the end of a tensor of 4 numbers, and into memory that is only read */
uint32_t Overrun(struct head *param) { ((volatile uint8_t *)param->io[0])[16] = 1; return 0; }

uint32_t TFOperateAPI(uint64_t operate) { return *(uint32_t *)operate; }
