// Search in pages that are opened from a folder: these may start no worker, so its script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const { contentWindow: inside, contentDocument: page } = this.frame;
      inside.postMessage = (message) => {
        const data = structuredClone(message);
        setTimeout(() => this.onmessage?.({ data }));
      };
      this.loaded = new Promise((done) => {
        const script = page.createElement("script");
        script.src = url;
        script.onload = done;
        page.body.append(script);
      });
    }

    postMessage(message) {
      const data = structuredClone(message); // the script may change what it is sent
      this.loaded.then(() => this.frame.contentWindow?.onmessage({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
