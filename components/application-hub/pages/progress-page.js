// Follows the start of a server and opens it when it is ready.
"use strict";
const place = document.getElementById("start");
if (place !== null) {
  const bar = document.getElementById("bar");
  const what = document.getElementById("what");
  const log = document.getElementById("log");
  const source = new EventSource(place.dataset.progress);
  source.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    bar.value = event.progress;
    if (event.message !== "") {
      what.textContent = event.message;
    }
    if (typeof event.log === "string") {
      log.textContent = event.log;
      log.parentElement.hidden = false;
      log.scrollTop = log.scrollHeight;
    }
    if (event.ready === true) {
      source.close();
      window.location.assign(place.dataset.opens);
    } else if (event.failed === true) {
      source.close();
      window.location.reload();
    }
  };
}
