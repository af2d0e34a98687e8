// Files made on this page: nothing is sent anywhere.

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size", "font-weight", "font-family"];

export function save(name, text, type) {
  saveBlob(name, new Blob([text], { type }));
}

function saveBlob(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The picture as it stands alone: on white paper, with its looks written into it.
export function standalone(picture) {
  const paper = document.createElement("div");
  paper.className = "paper hidden";
  paper.setAttribute("aria-hidden", "true");
  const copy = picture.cloneNode(true);
  paper.append(copy);
  document.body.append(paper);
  for (const element of copy.querySelectorAll("*")) {
    const computed = getComputedStyle(element);
    for (const look of LOOKS) {
      const value = computed.getPropertyValue(look);
      if (value && !(look.startsWith("font") && element.localName !== "text")) element.setAttribute(look, value);
    }
    element.removeAttribute("class");
  }
  paper.remove();
  const white = document.createElementNS(copy.namespaceURI, "rect");
  white.setAttribute("width", "100%");
  white.setAttribute("height", "100%");
  white.setAttribute("fill", "#ffffff");
  copy.prepend(white);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(name, picture) {
  save(name, standalone(picture), "image/svg+xml");
}

export async function savePng(name, picture) {
  const url = URL.createObjectURL(new Blob([standalone(picture)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(2, 16000 / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.ceil(image.width * scale), Math.ceil(image.height * scale)];
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.drawImage(image, 0, 0);
    const blob = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
    saveBlob(name, blob);
  } finally {
    URL.revokeObjectURL(url);
  }
}
