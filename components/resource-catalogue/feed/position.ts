import { badParameter } from "../http/errors.ts";
import type { FeedPosition } from "../store/changes.ts";

/** A place in the feed as clients keep it. */
export const toPositionText = ({ tx, n, i }: FeedPosition): string => `${tx}-${n}-${i}`;

/** @throws {Problem} 400 for a text that is none */
export function parsePosition(text: string): FeedPosition {
  const match = /^(\d{1,19})-(\d{1,18})-(\d{1,9})$/.exec(text);
  if (match === null) {
    throw badParameter("after", "must be the id of a change");
  }
  const [, tx = "0", n = "0", i = "0"] = match;
  return { tx, n, i: Number(i) };
}
