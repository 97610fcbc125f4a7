// A thread that gets one address again and again until it is told to stop, and says how long each took. Apart from the thread that
// makes the load, whose own work would be counted too.
import { Agent, get } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const times: number[] = [];
let isOver = false;
parentPort?.on("message", () => (isOver = true));

while (!isOver) {
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    get(String(workerData), { agent }, (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`answered ${response.statusCode}`));
      }
      response.resume().on("end", resolve).on("error", reject);
    }).on("error", reject);
  });
  times.push(performance.now() - started);
  await new Promise((resolve) => setTimeout(resolve, 2));
}
agent.destroy();
parentPort?.postMessage(times);
parentPort?.close();
