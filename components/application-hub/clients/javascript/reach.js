// @ts-check
/**
 * `fetch`, whose error says which address did not answer, and why.
 * @param {string} url @param {RequestInit} [init]
 */
export async function reach(url, init) {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { code } = /** @type {{ cause?: { code?: string } }} */ (error).cause ?? {};
    const advice =
      code === "ENOTFOUND" && /\.localhost(?:[:/]|$)/.test(url)
        ? "; bin/swath hosts --write makes its name known here"
        : "";
    throw new Error(`${url} does not answer (${code ?? String(error)})${advice}`, { cause: error });
  }
}
