/**
 * Bytes up to which a file is read or written at once, without the threads that wait for the disk: to wake one takes longer, and a scene
 * has many small files.
 */
export const AT_ONCE = 64 * 2 ** 10;
