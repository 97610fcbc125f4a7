import sharp from "sharp";

/** Whether a terminal shows 24-bit colours. */
export function showsColours(stdout: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stdout.isTTY && env["NO_COLOR"] === undefined && stdout.getColorDepth(env) === 24;
}

/**
 * A picture (PNG, JPEG, WebP, TIFF) as text for a terminal: each character is two pixels, one above the other.
 * @returns lines with their escape sequences, ending with a line feed
 */
export async function drawPicture(image: Uint8Array, columns: number): Promise<string> {
  const { data, info } = await sharp(image)
    .resize({ width: columns, withoutEnlargement: true })
    .flatten({ background: "#000" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const colour = (x: number, y: number): string => {
    const at = (Math.min(y, info.height - 1) * info.width + x) * info.channels;
    const [red = 0, green = red, blue = red] = data.subarray(at, at + Math.min(3, info.channels));
    return `${red};${green};${blue}`;
  };
  const lines = Array.from({ length: Math.ceil(info.height / 2) }, (_, line) => {
    const cells = Array.from(
      { length: info.width },
      (__, x) => `\u001B[38;2;${colour(x, 2 * line)}m\u001B[48;2;${colour(x, 2 * line + 1)}m▀`,
    );
    return `  ${cells.join("")}\u001B[0m\n`;
  });
  return lines.join("");
}
