/* What the kernel's assembly wants of this header, for a program. */
#define SYM_FUNC_START(name) .balign 16; .globl name; .hidden name; .type name, @function; name:
#define SYM_FUNC_START_LOCAL(name) .balign 16; name:
#define SYM_FUNC_END(name) .size name, . - name
#define SYM_FUNC_ALIAS_LOCAL(alias, name) .set alias, name
#define RET ret
