interface Waiter {
  readonly start: (buffer: Buffer) => void;
  readonly fail: (error: Error) => void;
}

/** A bounded number of buffers of one size, lent in the order of the requests: what uploads together hold in memory. */
export interface BufferPool {
  readonly acquire: () => Promise<Buffer>;
  readonly release: (buffer: Buffer) => void;
  readonly close: () => void;
}

/** Makes buffers as they are needed, `count` of them at most. */
export function createBufferPool(count: number, bytes: number): BufferPool {
  const free: Buffer[] = [];
  const waiting: Waiter[] = [];
  let made = 0;
  return {
    acquire: async () => {
      const buffer = free.pop();
      if (buffer !== undefined) {
        return buffer;
      }
      if (made < count) {
        made += 1;
        return Buffer.allocUnsafeSlow(bytes);
      }
      return new Promise((start, fail) => waiting.push({ start, fail }));
    },
    release: (buffer) => {
      const next = waiting.shift();
      if (next === undefined) {
        free.push(buffer);
      } else {
        next.start(buffer);
      }
    },
    close: () => {
      for (const { fail } of waiting.splice(0)) {
        fail(new Error("the blob store is closed"));
      }
    },
  };
}
