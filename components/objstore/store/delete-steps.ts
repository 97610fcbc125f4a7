/** Objects without content files that one change deletes: about two milliseconds. */
const STEP = 25;
/** Bytes whose parts, of five mebibytes or more, take as long to delete as one such object. */
const BYTES = 2 ** 31;

/**
 * Cuts what is to be deleted into changes that take some milliseconds each: a large object has thousands of content files. Sizes are
 * asked for as the steps are taken.
 */
export function* cutIntoSteps<Item>(items: readonly Item[], sizeOf: (item: Item) => number): Generator<Item[]> {
  let step: Item[] = [];
  let cost = 0;
  for (const item of items) {
    const added = 1 + sizeOf(item) / BYTES;
    if (step.length > 0 && cost + added > STEP) {
      yield step;
      step = [];
      cost = 0;
    }
    step.push(item);
    cost += added;
  }
  if (step.length > 0) {
    yield step;
  }
}
