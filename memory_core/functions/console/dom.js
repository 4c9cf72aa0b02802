// Elements out of plain calls. Text is always a text node: nothing here, or anywhere in the console, reads a text as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `el("a.row", {href, onclick, "aria-label": …}, child, …)`. Null and false children are left out. */
export function el(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElement(tag), classes, rest);
}

/** The same in SVG. */
export function svg(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElementNS(SVG, tag), classes, rest);
}

function filled(element, classes, rest) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  const hasProperties = rest.length > 0 && isProperties(rest[0]);
  if (hasProperties) setProperties(element, rest[0]);
  element.append(...nodes(hasProperties ? rest.slice(1) : rest));
  return element;
}

function isProperties(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Node);
}

function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
}

/** Put children in the place of all that an element has. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** Say a sentence to people who use a screen reader. */
export function announce(sentence) {
  document.getElementById("announce").textContent = sentence;
}
