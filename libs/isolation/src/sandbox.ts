/** What a program in a sandbox sees at a path. Sources are paths of the host; targets are paths of the sandbox. */
export type View =
  | { readonly kind: "read-only" | "writable"; readonly source: string; readonly target: string }
  /** A file system in memory of a limited size. */
  | { readonly kind: "memory"; readonly target: string; readonly bytes: number; readonly isReadOnly?: boolean }
  | { readonly kind: "folder"; readonly target: string }
  | { readonly kind: "link"; readonly target: string; readonly to: string }
  | { readonly kind: "processes"; readonly target: "/proc" }
  | { readonly kind: "devices"; readonly target: "/dev" };

/**
 * One program kept from the rest of the machine. Every sandbox has mount, process, network, IPC and host name spaces of its own, the
 * system's programs to read, a network that is a loopback interface alone, no capabilities, and no way to gain any.
 */
export interface Sandbox {
  /** Temporary files (`/tmp`, `/var/tmp`): memory of a limited size, or a folder of the host whose size the caller watches. */
  readonly scratch: { readonly bytes: number } | { readonly folder: string };
  /** The program's own files, in the order in which they are mounted. */
  readonly view: readonly View[];
  /** Path within the sandbox. */
  readonly workdir: string;
  readonly limits: SandboxLimits;
  /** Where the sandbox may write a file about itself for as long as it lives; a path that no program in a sandbox can write. */
  readonly file: string;
}

/** What the kernel limits for each process or user. */
export interface SandboxLimits {
  /** Held by the kernel where the service is not root; the caller counts the processes elsewhere. */
  readonly processes: number;
  readonly openFiles: number;
  /** Of one file. */
  readonly fileBytes?: number;
  /** Address space that is data, of one process. */
  readonly dataBytes?: number;
}

export interface Command {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A way to make sandboxes that works on this machine. */
export interface Isolation {
  readonly kind: "bubblewrap" | "util-linux";
  /** Whether programs in a sandbox reach only those calls of the kernel that containers reach. */
  readonly filtersSystemCalls: boolean;
  /** The command that runs another one in a sandbox. */
  readonly wrap: (sandbox: Sandbox, inner: Command) => Command;
}
