/* What a constructor may do: -DDO=statement. The library has no other code of its own. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void) { DO; }

uint32_t code_0(void *param) { (void)param; return 0; }
