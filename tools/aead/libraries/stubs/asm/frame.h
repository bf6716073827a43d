/* What the kernel's assembly wants of this header, for a program: no frame pointers. */
#define FRAME_BEGIN
#define FRAME_END
#define FRAME_OFFSET 0
