/** Four bytes at a time; `undefined` where they do not begin at a word. */
function wordsOf(mask: Uint8Array): Int32Array | undefined {
  return mask.byteOffset % 4 === 0 ? new Int32Array(mask.buffer, mask.byteOffset, mask.length >> 2) : undefined;
}

/** No pixel is there. */
export function isClear(mask: Uint8Array): boolean {
  return isAll(mask, 0);
}

/** Each pixel is there, none of them half transparent. */
export function isFull(mask: Uint8Array): boolean {
  return isAll(mask, 255);
}

function isAll(mask: Uint8Array, value: 0 | 255): boolean {
  const words = wordsOf(mask);
  let at = 0;
  if (words !== undefined) {
    const word = value === 0 ? 0 : -1;
    while (at < words.length && words[at] === word) {
      at += 1;
    }
    if (at < words.length) {
      return false;
    }
    at *= 4;
  }
  while (at < mask.length && mask[at] === value) {
    at += 1;
  }
  return at === mask.length;
}

/** Makes each pixel of a mask the greater one of two masks. */
export function uniteInto(target: Uint8Array, other: Uint8Array): void {
  const [targetWords, otherWords] = [wordsOf(target), wordsOf(other)];
  let at = 0;
  if (targetWords !== undefined && otherWords !== undefined) {
    for (let word = 0; word < targetWords.length; word += 1) {
      const [own, more] = [targetWords[word]!, otherWords[word]!];
      if (more === own || more === 0 || own === -1) {
        continue;
      }
      if (own === 0 || more === -1) {
        targetWords[word] = more;
      } else {
        uniteBytes(target, other, word * 4, word * 4 + 4);
      }
    }
    at = targetWords.length * 4;
  }
  uniteBytes(target, other, at, target.length);
}

function uniteBytes(target: Uint8Array, other: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    if (other[at]! > target[at]!) {
      target[at] = other[at]!;
    }
  }
}
