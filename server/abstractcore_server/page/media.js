// Files that a model made: their types by their first bytes, and how they are shown, played and saved.

import { element } from "./elements.js";
import { preview } from "./files.js";

const STARTS = {
  "\x89PNG": "image/png",
  "\xff\xd8\xff": "image/jpeg",
  GIF8: "image/gif",
  ID3: "audio/mpeg",
  "\xff\xfb": "audio/mpeg",
  "\xff\xf3": "audio/mpeg",
  "\xff\xf2": "audio/mpeg",
  OggS: "audio/ogg",
  fLaC: "audio/flac",
};
const EXTENSIONS = {
  "audio/flac": "flac",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/wav": "wav",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/webp": "webp",
};
const PCM_RATE = 24000;
let urls = [];

export function imageOf(base64) {
  const bytes = bytesOf(base64);
  return new Blob([bytes], { type: typeOf(bytes) ?? "image/png" });
}

// Sound in pieces. Bytes of no known type are samples, as vendors stream them: 16 bits, one channel, 24 kHz.
export function soundOf(pieces) {
  const decoded = pieces.map(bytesOf);
  const size = decoded.reduce((sum, bytes) => sum + bytes.length, 0);
  const type = typeOf(decoded[0]);
  return type ? new Blob(decoded, { type }) : new Blob([headOfWav(size), ...decoded], { type: "audio/wav" });
}

// The figure of a file that can be seen or heard, and saved. An image at an address elsewhere is not loaded.
export function figure(source, name) {
  if (typeof source === "string" && !source.startsWith("data:")) return element("p", { class: "muted" }, `${name}: ${source}`);
  const blob = typeof source === "string" ? blobOf(source) : source;
  const type = blob.type.split(";", 1)[0];
  const url = URL.createObjectURL(blob);
  urls.push(url);
  const file = `${name}.${EXTENSIONS[type] ?? "bin"}`;
  const save = element("a", { class: "save", href: url, download: file }, `Save ${file}`);
  return element("figure", {}, preview({ name, type, url }), element("figcaption", {}, save));
}

// Frees the memory of all figures, which are then gone from the page.
export function forgetFigures() {
  urls.forEach((url) => URL.revokeObjectURL(url));
  urls = [];
}

function blobOf(dataUrl) {
  const comma = dataUrl.indexOf(",");
  return new Blob([bytesOf(dataUrl.slice(comma + 1))], { type: dataUrl.slice("data:".length, comma).split(";", 1)[0] });
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function typeOf(bytes) {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  if (head.startsWith("RIFF")) return head.endsWith("WEBP") ? "image/webp" : "audio/wav";
  return Object.entries(STARTS).find(([start]) => head.startsWith(start))?.[1];
}

function headOfWav(size) {
  const head = new DataView(new ArrayBuffer(44));
  const words = { 0: "RIFF", 8: "WAVE", 12: "fmt ", 36: "data" };
  for (const [place, word] of Object.entries(words)) {
    [...word].forEach((letter, index) => head.setUint8(Number(place) + index, letter.charCodeAt(0)));
  }
  const numbers = { 4: size + 36, 16: 16, 24: PCM_RATE, 28: PCM_RATE * 2, 40: size };
  for (const [place, number] of Object.entries(numbers)) head.setUint32(Number(place), number, true);
  const short = { 20: 1, 22: 1, 32: 2, 34: 16 };
  for (const [place, number] of Object.entries(short)) head.setUint16(Number(place), number, true);
  return head.buffer;
}
