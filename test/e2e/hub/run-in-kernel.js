// In the page of a notebook server: runs code in a new kernel, by the server's REST API and WebSocket, and gives what it prints.
"use strict";
// oxlint-disable-next-line no-unused-vars -- called by who put it into the page
async function runInKernel(code) {
  const base = location.pathname.replace(/tree.*/, "");
  const xsrf = /_xsrf=([^;]+)/.exec(document.cookie)?.[1] ?? "";
  const answer = await fetch(`${base}api/kernels`, { method: "POST", headers: { "X-XSRFToken": xsrf } });
  const { id } = await answer.json();
  const socket = new WebSocket(`ws://${location.host}${base}api/kernels/${id}/channels`);
  const header = { msg_id: "1", username: "", session: "s", msg_type: "execute_request", version: "5.3" };
  const content = {
    code,
    silent: false,
    store_history: false,
    user_expressions: {},
    allow_stdin: false,
    stop_on_error: true,
  };
  return new Promise((resolve, reject) => {
    let text = "";
    socket.onerror = () => reject(new Error("the kernel's WebSocket failed"));
    socket.onopen = () =>
      socket.send(JSON.stringify({ header, parent_header: {}, metadata: {}, channel: "shell", content }));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data));
      text += message.content.text ?? message.content.traceback?.join("\n") ?? "";
      if (message.parent_header.msg_id === "1" && message.content.execution_state === "idle") {
        resolve(text);
      }
    };
  });
}
