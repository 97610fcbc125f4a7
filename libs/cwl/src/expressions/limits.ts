/** What one evaluation may cost. */
export interface SandboxLimits {
  readonly milliseconds: number;
  /** All that the script may hold. The machine that runs it takes 16 MiB more. */
  readonly memoryBytes: number;
  readonly stackBytes: number;
  /** Largest result, in characters of JSON. */
  readonly resultCharacters: number;
}

export const defaultSandboxLimits: SandboxLimits = {
  milliseconds: 10_000,
  memoryBytes: 128 * 1024 * 1024,
  stackBytes: 256 * 1024,
  resultCharacters: 16 * 1024 * 1024,
};
