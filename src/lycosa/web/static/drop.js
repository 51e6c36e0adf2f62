// A place to drop a file on, or to choose one by keyboard; its text stays in the browser until it is sent.

import { h, put } from "./dom.js";

/** `took` is called with the text and the name of the file. */
export function dropArea(words, took) {
  const area = h("div", { class: "drop" });
  const read = async (file) => file && took(await file.text(), file.name);
  const rest = () => put(area, words, h("label", { class: "button small" }, "choose a file", h("input", { type: "file", class: "hidden", accept: ".html,.htm,.txt" })));
  area.addEventListener("change", (event) => read(event.target.files?.[0]));
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over"); });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => { event.preventDefault(); area.classList.remove("over"); read(event.dataTransfer.files[0]); });
  area.rest = rest;
  rest();
  return area;
}
