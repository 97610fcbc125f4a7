import { MAX_BLOCK_BYTES } from "../../limits.ts";
import { invalidRaster } from "../../errors.ts";
import type { Block, BlockAddress } from "../raster.ts";
import type { Layout } from "./layout.ts";

/** Columns and rows of a mask's own blocks that lie below one block of its image. */
interface MaskArea {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * A mask is stored in tiles or strips of its own, which need not be those of its image: the addresses of the mask's blocks below a
 * block of the image.
 */
export function addressesOfMask(address: BlockAddress, image: Layout, mask: Layout): readonly BlockAddress[] {
  const { left, right, top, bottom } = areaOf(address, image, mask);
  if ((right - left + 1) * (bottom - top + 1) * mask.blockWidth * mask.blockHeight > MAX_BLOCK_BYTES) {
    throw invalidRaster("The mask of the TIFF has far larger blocks than its image.");
  }
  const addresses: BlockAddress[] = [];
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) {
      addresses.push({ ...address, column, row });
    }
  }
  return addresses;
}

/**
 * Puts the mask's blocks, in the order of `addressesOfMask`, together to one of the size that the image's blocks have: 0 where there is
 * nothing, 255 where there is.
 */
export function joinMask(
  address: BlockAddress,
  image: Layout,
  mask: Layout,
  blocks: readonly (Block | undefined)[],
): Block | undefined {
  if (blocks.every((block) => block === undefined)) {
    return undefined;
  }
  const isAligned = image.blockWidth === mask.blockWidth && image.blockHeight === mask.blockHeight;
  const whole = isAligned ? blocks[0]?.[0] : cutMask(address, image, mask, blocks);
  return [Uint8Array.from(whole ?? [], (value) => (value === 0 ? 0 : 255))];
}

function cutMask(
  address: BlockAddress,
  image: Layout,
  mask: Layout,
  blocks: readonly (Block | undefined)[],
): Uint8Array {
  const { left, right, top, bottom } = areaOf(address, image, mask);
  const output = new Uint8Array(image.blockWidth * image.blockHeight);
  const [startX, startY] = [address.column * image.blockWidth, address.row * image.blockHeight];
  const endX = Math.min(startX + image.blockWidth, image.width);
  const endY = Math.min(startY + image.blockHeight, image.height);
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) {
      const samples = blocks[(row - top) * (right - left + 1) + column - left]?.[0];
      if (samples === undefined) {
        continue;
      }
      const [maskX, maskY] = [column * mask.blockWidth, row * mask.blockHeight];
      const [fromX, toX] = [Math.max(startX, maskX), Math.min(endX, maskX + mask.blockWidth)];
      for (let y = Math.max(startY, maskY); y < Math.min(endY, maskY + mask.blockHeight); y += 1) {
        const from = (y - maskY) * mask.blockWidth - maskX;
        output.set(samples.subarray(from + fromX, from + toX), (y - startY) * image.blockWidth + fromX - startX);
      }
    }
  }
  return output;
}

function areaOf({ column, row }: BlockAddress, image: Layout, mask: Layout): MaskArea {
  const endX = Math.min((column + 1) * image.blockWidth, image.width);
  const endY = Math.min((row + 1) * image.blockHeight, image.height);
  return {
    left: Math.floor((column * image.blockWidth) / mask.blockWidth),
    right: Math.floor((endX - 1) / mask.blockWidth),
    top: Math.floor((row * image.blockHeight) / mask.blockHeight),
    bottom: Math.floor((endY - 1) / mask.blockHeight),
  };
}
