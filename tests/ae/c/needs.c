/* Linked with another library, or with none: what it calls is defined there, or nowhere. */
#include <stdint.h>

extern uint32_t code_201(void *param);
extern uint32_t no_such_thing(void *param) __attribute__((weak));

uint32_t through(void *param) { return code_201(param); }
uint32_t unused(void *param) { return no_such_thing ? no_such_thing(param) : 1; }
