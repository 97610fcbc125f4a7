/** The lines of a stream of bytes, without empty ones. */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    let end = rest.indexOf("\n");
    let start = 0;
    for (; end !== -1; end = rest.indexOf("\n", start)) {
      if (end > start) {
        yield rest.slice(start, end);
      }
      start = end + 1;
    }
    rest = rest.slice(start);
  }
  if (rest !== "") {
    yield rest;
  }
}
