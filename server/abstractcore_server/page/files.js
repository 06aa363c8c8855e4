// Files of a message: read from the disk, dropped, pasted or recorded, and written as parts of OpenAI's chat API.

import { byId, element } from "./elements.js";

const SOUND_FORMATS = { "audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3" };

export class Files {
  constructor(list, onError) {
    this.list = list;
    this.onError = onError;
    this.chosen = [];
    this.ready = Promise.resolve();
  }

  // Begins to read files; `ready` is the end of all reading so far.
  add(files) {
    const given = [...files];
    this.ready = this.ready.then(() => this.read(given));
  }

  async read(files) {
    for (const file of files) {
      try {
        this.chosen.push({ name: file.name, type: file.type || "application/octet-stream", url: await dataUrl(file) });
      } catch (error) {
        this.onError(`${file.name} cannot be read: ${error.message}. Folders cannot be sent; add their files one by one.`);
      }
    }
    this.show();
  }

  take() {
    const taken = this.chosen;
    this.chosen = [];
    this.show();
    return taken;
  }

  // Chooses files of a call that failed again: a recording cannot be made twice.
  putBack(files) {
    this.chosen.unshift(...files);
    this.show();
  }

  show() {
    this.list.replaceChildren(
      ...this.chosen.map((file, index) => {
        const remove = element("button", { type: "button", "aria-label": `Remove ${file.name}` }, "Remove");
        remove.addEventListener("click", () => {
          this.chosen.splice(index, 1);
          this.show();
          byId("prompt").focus();
        });
        return element("li", {}, file.name, remove);
      }),
    );
  }
}

export function partOf(file) {
  const format = SOUND_FORMATS[file.type];
  if (file.type.startsWith("image/")) return { type: "image_url", image_url: { url: file.url } };
  if (format) return { type: "input_audio", input_audio: { data: file.url.split(",", 2)[1], format } };
  return { type: "file", file: { filename: file.name, file_data: file.url } };
}

export function preview(file) {
  if (file.type.startsWith("image/")) return element("img", { src: file.url, alt: file.name });
  if (file.type.startsWith("audio/")) return element("audio", { src: file.url, controls: "", "aria-label": file.name });
  if (file.type.startsWith("video/")) return element("video", { src: file.url, controls: "", "aria-label": file.name });
  return element("p", { class: "muted" }, file.name);
}

export class Recorder {
  constructor(button, files, onError) {
    this.button = button;
    this.files = files;
    this.onError = onError;
    this.recording = null;
    this.isAsking = false;
    this.count = 0;
  }

  async toggle() {
    if (this.recording) {
      this.recording.stop();
      return;
    }
    if (this.isAsking) return; // a second stream would keep the microphone open
    this.isAsking = true;
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (error) {
      const allowed = "Allow it for this page in your browser (elsewhere than on this machine it needs HTTPS), or add a file.";
      this.onError(`The microphone cannot be used (${error.name}). ${allowed}`);
      return;
    } finally {
      this.isAsking = false;
    }
    const pieces = [];
    this.recording = new MediaRecorder(stream);
    this.recording.addEventListener("dataavailable", (event) => pieces.push(event.data));
    this.recording.addEventListener("stop", () => this.ended(stream, pieces));
    this.recording.start();
    this.show(true);
  }

  ended(stream, pieces) {
    for (const track of stream.getTracks()) track.stop();
    const type = this.recording.mimeType.split(";", 1)[0];
    this.recording = null;
    this.count += 1;
    this.show(false);
    this.files.add([new File(pieces, `recording ${this.count}.${type.split("/", 2)[1]}`, { type })]);
  }

  show(isOn) {
    this.button.setAttribute("aria-pressed", String(isOn));
    this.button.textContent = isOn ? "Stop recording" : "Record audio";
  }
}

function dataUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const type = file.type || "application/octet-stream";
      resolve(reader.result.replace(/^data:[^,]*,/, `data:${type};base64,`));
    });
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
