/** Memory for parts of files on their way, of which there is a fixed number however many files go side by side. */
export interface BufferPool {
  /** Waits until there is room, in the order of the calls; at least so many bytes. To be given back. */
  readonly take: (bytes: number) => Promise<Buffer>;
  readonly release: (buffer: Buffer) => void;
}

/** @param count how many there are, made when they are first needed */
export function createBufferPool(count: number): BufferPool {
  const free: Buffer[] = Array.from({ length: count }, () => Buffer.alloc(0));
  const waiting: ((buffer: Buffer) => void)[] = [];
  return {
    take: async (bytes) => {
      const buffer = free.pop() ?? (await new Promise<Buffer>((resolve) => waiting.push(resolve)));
      return buffer.length < bytes ? Buffer.allocUnsafeSlow(bytes) : buffer;
    },
    release: (buffer) => {
      const next = waiting.shift();
      if (next === undefined) {
        free.push(buffer);
      } else {
        next(buffer);
      }
    },
  };
}
