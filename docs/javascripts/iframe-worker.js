// Search without a server: browsers start no worker from a file, so a hidden frame stands in for it.
// The name tells the theme that it need not fetch a stand-in from elsewhere.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, one) => before.then(() => run(inside, one)), Promise.resolve());
      this.started = run(inside, address);
      this.inside = inside;
    }

    postMessage(data) {
      this.started.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}

function run(inside, address) {
  return new Promise((loaded, failed) => {
    const script = inside.document.createElement("script");
    script.src = address;
    script.onload = loaded;
    script.onerror = failed;
    inside.document.body.append(script);
  });
}
