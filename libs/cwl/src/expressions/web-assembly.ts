// The type library of the language level that we compile for does not know WebAssembly; every Node has it.

export interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
}

export type WebAssemblyModule = object;

interface WebAssemblyApi {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WebAssemblyMemory;
  readonly compile: (bytes: Uint8Array) => Promise<WebAssemblyModule>;
}

export const webAssembly: WebAssemblyApi = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
