/* What the kernel's assembly wants of this header, for a program; with VISIBLE, for a library whose functions are found by their names. */
#ifdef VISIBLE
#define HIDE(name)
#else
#define HIDE(name) .hidden name;
#endif
#define SYM_FUNC_START(name) .balign 16; .globl name; HIDE(name) .type name, @function; name:
#define SYM_FUNC_START_LOCAL(name) .balign 16; name:
#define SYM_FUNC_END(name) .size name, . - name
#define SYM_FUNC_ALIAS_LOCAL(alias, name) .set alias, name
#define RET ret
