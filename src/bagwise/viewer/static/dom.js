// Access to and creation of page elements; text is always set as text, never as markup.

export const element = (id) => document.getElementById(id);

// Create an element: make("td", { class: "number" }, "text", otherElement …).
export function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...content.filter((each) => each !== null && each !== undefined));
  return made;
}
