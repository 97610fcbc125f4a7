/** A file or directory that a job sees at `target`. */
export interface Mount {
  /** Path on this machine. */
  readonly source: string;
  /** Absolute path for the tool. */
  readonly target: string;
  readonly writable: boolean;
}

/** The container that a tool asks for. */
export interface ContainerRequest {
  readonly image: string;
  /** true when the tool demands it, false for a hint. */
  readonly required: boolean;
  readonly pull: string | undefined;
  readonly load: string | undefined;
  readonly import: string | undefined;
  readonly dockerfile: string | undefined;
  /** Graphics processors, from cwltool:CUDARequirement. */
  readonly gpus: number;
  /** Size of /dev/shm as the engine writes it (`100m`), from cwltool:ShmSize. */
  readonly shmSize?: string | undefined;
}

/** Everything an executor needs to run one command; nothing in it is CWL any more. */
export interface JobSpec {
  /** Unique over all runs; also the marker by which left-over processes are found. */
  readonly id: string;
  readonly name: string;
  readonly command: readonly string[];
  readonly environment: { readonly [name: string]: string };
  /** Host paths of the working directory and the scratch directory, and where the tool sees them. */
  readonly outdir: { readonly host: string; readonly seen: string };
  readonly tmpdir: { readonly host: string; readonly seen: string };
  /** Read-only inputs and staged files; empty for an executor that shares our file system. */
  readonly mounts: readonly Mount[];
  /** Host paths of redirected streams. Without one, stdin is empty and output goes to the log. */
  readonly stdin: string | undefined;
  readonly stdout: string | undefined;
  readonly stderr: string | undefined;
  readonly container: ContainerRequest | undefined;
  readonly network: boolean;
  /** Whether the tool can be run without the network: it is a hint, or what CWL v1.0 implies. */
  readonly networkIsHint?: boolean | undefined;
  readonly cores: number;
  readonly ramMiB: number;
  /** MiB that the command and all it starts may use before they are ended; 0 for no limit. */
  readonly ramLimitMiB: number;
  /** MiB that the working and the scratch directory may hold (`outdirMax`, `tmpdirMax`), for executors that measure them. */
  readonly outdirLimitMiB?: number | undefined;
  readonly tmpdirLimitMiB?: number | undefined;
  /** 0 for no limit. */
  readonly timeLimitSeconds: number;
}

export interface JobResult {
  readonly exitCode: number;
  readonly timedOut: boolean;
  /** It was ended because it used more memory than its limit. */
  readonly outOfMemory?: boolean | undefined;
  readonly usage: ResourceUsage;
  /** The last lines of what was not redirected. */
  readonly logTail: string;
}

/** What a job used, as far as it could be seen. */
export interface ResourceUsage {
  readonly wallSeconds: number;
  readonly cpuSeconds?: number | undefined;
  readonly peakMemoryBytes?: number | undefined;
  /** Bytes of the files that it was given and of those that it left; steps that work on one directory are each given all of it. */
  readonly bytesIn?: number | undefined;
  readonly bytesOut?: number | undefined;
}

export interface RunControls {
  readonly signal: AbortSignal;
  /** Called with pieces of the job's log as they come. */
  readonly onLog: (text: string) => void;
}

/** Runs commands: on this machine, in a container, in a cluster. */
export interface Executor {
  readonly kind: string;
  /**
   * Whether the tool sees this machine's file system at the same paths. If not, inputs are given as mounts and the
   * working directory appears at a fixed path.
   */
  readonly sharesFileSystem: boolean;
  /** Whether it finds a machine with the graphics processors that a job asks for; otherwise they are looked for on this one. */
  readonly placesGraphics?: boolean | undefined;
  /**
   * Runs one command and resolves when it and everything it started is gone. Rejects with a CwlError of code
   * `infrastructure` when the machinery failed (it may be tried again), `unsupported` when it cannot run such a job,
   * `cancelled` when the signal fired.
   */
  run(job: JobSpec, controls: RunControls): Promise<JobResult>;
  /** Why the image of a container cannot be had, for a tool that could do without; undefined when it is there. */
  noImageReason?(request: ContainerRequest, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Removes what may be left of the jobs whose ids begin so. `workDir` is the run's alone: a process whose HOME or TMPDIR lies
   * in it is one of theirs.
   */
  cleanUp?(jobIds: readonly string[], workDir?: string): Promise<void>;
  /**
   * Ends and removes what an attempt of a run whose process died has left: everything whose job id begins with
   * `${runId}-`. Called when such a run is given up, and before it is continued where there is no `keepOrphans`.
   */
  removeOrphans?(runId: string, workDir?: string): Promise<void>;
  /**
   * Called instead before such a run is continued, before anything in `workDir` (the working directories of its jobs) is
   * cleared away: what still runs may be kept and joined when the same command is asked for again. What was kept and is not
   * asked for is removed by `cleanUp`. Entries of `workDir` whose names begin with `kept-` are left alone.
   */
  keepOrphans?(runId: string, workDir: string): Promise<void>;
}
