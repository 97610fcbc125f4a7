/** Keeps the end of a log: the last few lines, never more than a few kilobytes. */
export class LogTail {
  private text = "";
  private readonly limit: number;

  constructor(limit = 8192) {
    this.limit = limit;
  }

  add(piece: string): void {
    this.text = (this.text + piece).slice(-2 * this.limit);
  }

  toString(): string {
    const tail = this.text.slice(-this.limit);
    return tail.length < this.text.length ? tail.slice(tail.indexOf("\n") + 1) : tail;
  }
}
