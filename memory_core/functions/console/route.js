// Addresses within the console: `#/memory/mem_1?user=ana&…`. Each view can be linked to, its user and its fields included.

/** The view, its id and its parameters, out of the address. */
export function current() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  return { view: view || "search", id: rest.length ? decodeURIComponent(rest.join("/")) : "", query: new URLSearchParams(query) };
}

/** The user whose memories are looked at. */
export const user = () => current().query.get("user") || sessionStorage.getItem("memory-core.user") || "";

/** The address of a view. */
export function link(view, id = "", parameters = {}) {
  const query = new URLSearchParams();
  if (user()) query.set("user", user());
  for (const [name, value] of Object.entries(parameters)) if (value !== "" && value !== null && value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`;
}

/** Go to an address; `isQuiet` only writes it down, so that it can be linked to and nothing is loaded again. */
export function go(address, { isQuiet = false } = {}) {
  if (isQuiet) history.replaceState(null, "", address);
  else if (location.hash === address) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = address;
}
