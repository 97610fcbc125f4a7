// The Python kernel of the browser: Pyodide in a worker, with nothing fetched from outside.
const SPEC = {
  name: "python",
  display_name: "Python (in this browser)",
  language: "python",
  argv: [],
  resources: {},
};
const LANGUAGE = {
  name: "python",
  mimetype: "text/x-python",
  file_extension: ".py",
  codemirror_mode: { name: "ipython", version: 3 },
  pygments_lexer: "ipython3",
  nbconvert_exporter: "python",
  version: "3.14",
};

const startWorker = () => new Worker("/extensions/swath-kernel/worker.mjs", { type: "module" });
/** Starts while the page does: the first kernel need not wait for it. */
let warm = startWorker();

export function createExtension({ BaseKernel, IKernelSpecs }) {
  /** One worker a kernel; a kernel that is restarted gets another one. */
  class SwathKernel extends BaseKernel {
    constructor(options) {
      super(options);
      this.waiting = new Map();
      this.last = 0;
      this.worker = warm ?? startWorker();
      warm = undefined;
      this.worker.onmessage = ({ data }) => this.take(data);
      this.worker.onerror = ({ message }) => this.take({ kind: "broken", message });
    }
    take(event) {
      const asked = this.waiting.get(event.id);
      switch (event.kind) {
        case "stream":
          this.stream({ name: event.name, text: event.text }, asked?.header);
          break;
        case "display":
          this.displayData({ data: event.data, metadata: {} }, asked?.header);
          break;
        case "reply":
          this.waiting.delete(event.id);
          asked?.resolve(event);
          break;
        case "broken":
          for (const [id, { resolve }] of this.waiting) {
            this.waiting.delete(id);
            resolve({ error: { ename: "KernelError", evalue: event.message, traceback: [event.message] } });
          }
          break;
      }
    }
    ask(request) {
      this.last += 1;
      const id = this.last;
      const header = this.parentHeader;
      return new Promise((resolve) => {
        this.waiting.set(id, { resolve, header });
        this.worker.postMessage({ ...request, id });
      });
    }
    async kernelInfoRequest() {
      return {
        implementation: "swath-pyodide",
        implementation_version: "1",
        language_info: LANGUAGE,
        protocol_version: "5.3",
        status: "ok",
        banner: "Python in this browser",
        help_links: [],
      };
    }
    async executeRequest({ code }) {
      const { error, result } = await this.ask({ kind: "execute", code });
      if (error !== undefined && error !== null) {
        this.publishExecuteError(error, this.parentHeader);
        return { status: "error", execution_count: this.executionCount, ...error };
      }
      if (result !== undefined && result !== null) {
        this.publishExecuteResult(
          { execution_count: this.executionCount, data: result, metadata: {} },
          this.parentHeader,
        );
      }
      return { status: "ok", execution_count: this.executionCount, user_expressions: {}, payload: [] };
    }
    async completeRequest({ code, cursor_pos: cursor }) {
      const { matches = [], start = cursor } = await this.ask({ kind: "complete", code, cursor });
      return { status: "ok", matches, cursor_start: start, cursor_end: cursor, metadata: {} };
    }
    async inspectRequest({ code, cursor_pos: cursor }) {
      const { text = "" } = await this.ask({ kind: "inspect", code, cursor });
      return { status: "ok", found: text !== "", data: text === "" ? {} : { "text/plain": text }, metadata: {} };
    }
    async isCompleteRequest({ code }) {
      return { status: /[:\\]\s*$/.test(code) ? "incomplete" : "complete", indent: "    " };
    }
    async commInfoRequest() {
      return { status: "ok", comms: {} };
    }
    inputReply() {}
    async commOpen() {}
    async commMsg() {}
    async commClose() {}
    dispose() {
      if (!this.isDisposed) {
        this.worker.terminate();
        super.dispose();
      }
    }
  }

  return {
    default: {
      id: "swath-kernel:kernel",
      autoStart: true,
      requires: [IKernelSpecs],
      activate: (_app, specs) => {
        specs.register({ spec: SPEC, create: async (options) => new SwathKernel(options) });
      },
    },
    __esModule: true,
  };
}
