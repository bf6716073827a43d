/* What the kernel's older assembly wants of this header, for a program: nothing. */
