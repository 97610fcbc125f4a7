/** Bounds on what a file may claim and a request may cost. Exceeding one is an error, never a slow answer. */

/** Width or height of a raster. */
export const MAX_DIMENSION = 2 ** 27;
export const MAX_BANDS = 1024;
/** Bands of a cube: variables at the positions of their other dimensions. */
export const MAX_CUBE_BANDS = 4096;
/** Groups and variables of a cube. */
export const MAX_CUBE_OBJECTS = 5000;
/** Directories of a TIFF: image, overviews, masks, pages. */
export const MAX_DIRECTORIES = 512;
export const MAX_TAGS_PER_DIRECTORY = 1024;
/** All metadata of one file that is read into memory. */
export const MAX_METADATA_BYTES = 32 * 1024 * 1024;
/** One block once decoded. */
export const MAX_BLOCK_BYTES = 128 * 1024 * 1024;
/** One block as stored. */
export const MAX_STORED_BLOCK_BYTES = 128 * 1024 * 1024;
/** Pixels of one source that a request may read. */
export const MAX_WINDOW_PIXELS = 64 * 1024 * 1024;
export const MAX_GCPS = 10_000;
