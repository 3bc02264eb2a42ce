/** The names of MCP servers, as they stand in `mcp:<server>:<tool>`. */

/** The most characters of a name. */
const longest = 64

/** Returns the reason why a name can't be a server's; undefined for one that can. */
export const refusal = (name: string): string | undefined => {
  if (name === "") return "its name is empty"
  if (name.length > longest) return `its name is longer than ${longest} characters`
  if (name === "__proto__") return "its name means something else to programs"
  if (/^[A-Za-z0-9_][\w.-]*$/.test(name)) return undefined
  return "its name can't be part of a command: it is made of letters, digits and _ . -, and begins with no . or -"
}
