// Pyodide and the loop around it: one cell at a time.
import { loadPyodide } from "/pyodide/pyodide.mjs";

let current = 0;
const post = (event) => self.postMessage({ id: current, ...event });
const decoder = { stdout: new TextDecoder(), stderr: new TextDecoder() };
const writer = (name) => ({
  write: (bytes) => {
    post({ kind: "stream", name, text: decoder[name].decode(bytes, { stream: true }) });
    return bytes.length;
  },
});

const ready = (async () => {
  const own = new URL("/pyodide/", self.location.href).href;
  const fetchText = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok) {
      throw new Error(`${path}: ${answer.status}`);
    }
    return answer.text();
  };
  const [pyodide, kernel, client] = await Promise.all([
    loadPyodide({ indexURL: own, packageBaseUrl: own }),
    fetchText("/extensions/swath-kernel/kernel.py"),
    fetchText("/swath-clients/python/swath.py"),
  ]);
  pyodide.setStdout(writer("stdout"));
  pyodide.setStderr(writer("stderr"));
  pyodide.FS.mkdirTree("/lib/swath");
  pyodide.FS.writeFile("/lib/swath/swath.py", client);
  pyodide.FS.writeFile("/lib/swath/swath_kernel.py", kernel);
  self.swathDisplay = (bundle) => post({ kind: "display", data: JSON.parse(bundle) });
  pyodide.runPython("import sys; sys.path.insert(0, '/lib/swath')");
  return pyodide.pyimport("swath_kernel");
})();

let queue = Promise.resolve();
self.onmessage = ({ data }) => {
  queue = queue.then(async () => {
    current = data.id;
    try {
      const kernel = await ready;
      const answer =
        data.kind === "execute"
          ? await kernel.execute(data.code)
          : data.kind === "complete"
            ? kernel.complete(data.code, data.cursor)
            : kernel.inspect(data.code, data.cursor);
      post({ kind: "reply", ...JSON.parse(answer) });
    } catch (error) {
      post({ kind: "reply", error: { ename: "KernelError", evalue: String(error), traceback: [String(error)] } });
    }
  });
};
