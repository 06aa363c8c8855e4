// What the server makes of a text besides answers: speech, images and music, each with a route of its own.

import { imageOf } from "./media.js";

export const MAKERS = {
  speech: {
    path: "/v1/audio/speech",
    placeholder: "Text to be spoken",
    body: ({ model, prompt, voice }) => ({ model, input: prompt, voice: voice ?? "default", response_format: "mp3" }),
    files: async (response) => [await response.blob()],
    method: "voice.tts",
    client: { imports: [], method: "audio.speech.create", saving: ['made.write_to_file("speech.mp3")'] },
    output: "speech.mp3",
  },
  image: {
    path: "/v1/images/generations",
    placeholder: "What the image shows",
    body: ({ model, prompt }) => ({ model, prompt }),
    files: async (response) => (await response.json()).data.map((image) => imageOf(image.b64_json)),
    method: "vision.t2i",
    client: {
      imports: ["base64"],
      method: "images.generate",
      saving: ['with open("image.png", "wb") as file:', "    file.write(base64.b64decode(made.data[0].b64_json))"],
    },
    output: "image.json",
  },
  music: {
    path: "/v1/audio/music",
    placeholder: "What the music is like",
    body: ({ model, prompt }) => ({ model, prompt, format: "mp3" }),
    files: async (response) => [await response.blob()],
    method: "music.t2m",
    client: null, // OpenAI's client has no such call
    output: "music.mp3",
  },
};

// The facts of what was made, which its response has in headers.
export function factsOf(response, seconds) {
  const cost = response.headers.get("x-abstractcore-cost");
  return {
    Model: response.headers.get("x-abstractcore-model"),
    Cost: cost === null ? null : Number(cost) === 0 ? "free" : `$${cost}`,
    Time: `${seconds.toFixed(2)} s`,
    Warnings: response.headers.get("x-abstractcore-warnings"),
    "Trace id": response.headers.get("x-abstractcore-trace-id"),
  };
}

// What something that was made cost, in a line.
export function spendOfMade(facts) {
  return [facts.Model, facts.Cost ?? "cost unknown", facts.Time].filter(Boolean).join(" · ");
}
