// A page that is opened as a file may not start a worker, so the script of the search runs in a hidden frame instead.
// The theme looks for the name IframeWorker, and then lets the frame load further scripts by importScripts.
window.IframeWorker = class extends EventTarget {
  constructor(address) {
    super();
    this.waiting = [];
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.title = "search";
    document.documentElement.append(frame);
    const inside = (this.inside = frame.contentWindow);
    inside.postMessage = (data) => this.tell(data);
    inside.importScripts = async (...scripts) => {
      for (const script of scripts) await load(inside.document, script);
    };
    load(inside.document, address).then(() => {
      for (const data of this.waiting.splice(0)) this.pass(data);
      this.waiting = null;
    });
  }
  postMessage(data) {
    if (this.waiting) this.waiting.push(data);
    else this.pass(data);
  }
  pass(data) {
    this.inside.dispatchEvent(new MessageEvent("message", { data }));
  }
  tell(data) {
    const event = new MessageEvent("message", { data });
    this.dispatchEvent(event);
    if (this.onmessage) this.onmessage(event);
  }
  terminate() {}
};

function load(page, address) {
  return new Promise((done, failed) => {
    const script = page.createElement("script");
    script.src = address;
    script.onload = done;
    script.onerror = failed;
    page.documentElement.append(script);
  });
}

if (location.protocol === "file:") window.Worker = window.IframeWorker;
