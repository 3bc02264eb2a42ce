/**
 * Lists the built-in and reserved names of Synapse commands, checks the names of added ones, and tells what some names of
 * programs mean.
 */
import * as CommandTree from "../bash/CommandTree.js"

/** The prefixes that are reserved for Synapse commands, whether or not one is registered. */
export const reservedPrefixes: ReadonlyArray<string> = ["mcp:", "skill:", "task:", "command:", "job:"]

/** The other names that are reserved for them. */
export const reservedNames: ReadonlyArray<string> = ["TodoWrite"]

/** The names of built-in commands that can stand in a shell line, in the registry's order. */
export const callable: ReadonlyArray<string> = [
  "TodoWrite",
  "apply_patch",
  "command:search",
  "edit",
  "job:list",
  "job:output",
  "job:screen",
  "job:send",
  "job:start",
  "job:stop",
  "job:wait",
  "read",
  "write"
]

export const isBuiltIn = (name: string): boolean => name === "bash" || callable.includes(name) || isReserved(name)

export const isReserved = (name: string): boolean =>
  reservedNames.includes(name) || reservedPrefixes.some((prefix) => name.startsWith(prefix))

/** The most bytes of a file's name. Each command is also a program in the PATH. */
const longest = 255

export const builtins: ReadonlySet<string> = new Set(
  (
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo " +
    "enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf " +
    "pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit " +
    "umask unalias unset wait"
  ).split(" ")
)

/** Matches command lines that start a server in the foreground. */
const servers =
  /\b(?:http\.server|(?:http|live|json|dev)-server|vite(?! build)|(?:next|nuxt|astro) dev|flask run|runserver|uvicorn|gunicorn|hypercorn|(?:ng|webpack|mkdocs|jekyll) serve|hugo server|npx serve|rails s(?:erver)?|php -S|nodemon|(?:npm|pnpm|yarn|bun)(?: run)? (?:dev|start|serve|preview)|node \S*server\S*)(?:\s|$)/

/** The number of characters at the end of a text that are searched for a server. */
const longestServer = 1000

/**
 * Tests whether a text ends by starting a known server in the foreground. The call is answered once the server listens.
 */
export const isServer = (text: string): boolean => servers.test(text.slice(-longestServer))

/** Matches most names. The pattern for all letters takes a millisecond to compile. */
const simple = /^\w[\w.:+@-]*$/
const allowed =
  "a name is one word of letters, digits and _ . : + @ -, and begins with a letter, a digit or _; mcp:* stands for all names that begin with mcp:"

/**
 * Returns why no command can have a name, and what is allowed. Names of programs (`ls`, `git`) are allowed: the command
 * then takes precedence.
 */
export const problemOf = (name: string): string | undefined => {
  const isPrefix = name.endsWith("*")
  const plain = isPrefix ? name.slice(0, -1) : name
  if (!simple.test(plain) && !/^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:+@-]*$/u.test(plain))
    return `${flawOf(plain)}; ${allowed}`
  if (plain.normalize("NFC") !== plain) return `its letters are not composed (Unicode's NFC); ${allowed}`
  if (Buffer.byteLength(name) > longest) return `it is longer than ${longest} bytes`
  if (/^\d+$/.test(plain)) return `bash takes a number before < and > for a descriptor; ${allowed}`
  if (isPrefix && !plain.endsWith(":"))
    return `what stands before the * must end in a colon, for else it would stand for programs as well; ${allowed}`
  if (CommandTree.reserved.has(name)) return "it is a reserved word of bash"
  // The bridge tells bash's own `read` from that of Synapse.
  if (builtins.has(name) && name !== "read") return "it is a builtin of bash, which every line may need"
  if (name === "command_not_found_handle" || name.startsWith("__synapse")) return "the shell's session uses it"
  if (name === "Bash") return "it is the tool's own name"
  return undefined
}

const flawOf = (name: string): string => {
  if (name === "") return "it is empty"
  if (/\s/u.test(name)) return "it has white space"
  const [first = ""] = name
  return first === "-" ? "a word that begins with - is an option" : "bash does not read it as a plain word"
}
