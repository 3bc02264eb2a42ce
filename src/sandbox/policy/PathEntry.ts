/**
 * Parses an entry of the whitelist or the blacklist into the absolute paths and patterns that it means.
 *
 * `~`, `~/…`, `$NAME` and `${NAME}` expand; an unset or empty variable stays as written. A relative entry lies in the
 * sandbox's directory, except that a pattern without a slash matches names in every directory. A backslash escapes the
 * next character.
 */
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as PathGlob from "./PathGlob.js"

export interface Expansion {
  /** The directory for relative entries. */
  readonly cwd: string
  /** The directory for `~`. */
  readonly userHome: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** One path or pattern that an entry stands for. */
export interface Meaning {
  readonly kind: "path" | "glob"
  /** Absolute. A glob has no alternatives, and a backslash in it escapes. */
  readonly path: string
}

/** The longest path that the kernel takes, in bytes. */
const longest = 4096
const mostAlternatives = 1000

const name = "[A-Za-z_][A-Za-z0-9_]*"
const expandable = new RegExp(`\\\\.|\\$(?:(${name})|\\{(${name})\\})`, "gsu")

const expand = (entry: string, { userHome, variables }: Expansion): string => {
  const [home, rest] = /^~(?=\/|$)/.test(entry) ? [PathGlob.escape(userHome), entry.slice(1)] : ["", entry]
  return (
    home +
    rest.replace(expandable, (text, plain?: string, braced?: string) => {
      const known = plain ?? braced
      if (known === undefined) return text === "\\/" ? "/" : text
      const value = Object.hasOwn(variables, known) ? variables[known] : undefined
      return PathGlob.escape(value === undefined || value === "" ? text : value)
    })
  )
}

/** Returns what is wrong with the form of an entry, if anything. */
const refusal = (entry: string): string | undefined => {
  if (entry.trim() === "") return "it is empty"
  if (entry.includes("\0")) return "it holds a NUL character"
  if (entry.length > longest) return `it is longer than ${longest} characters`
  if (/^\s|(?<!\\)\s$/.test(entry))
    return "it begins or ends with white space: put a backslash before what belongs to the name"
  if (entry.startsWith("!")) return "a rule can't be taken back with `!`: write `./!…` for a name that begins with it"
  if (/^~[^/]/.test(entry))
    return "`~name` is not expanded: write the path out, or `./~…` for a name that begins with `~`"
  if (/!\([^()]*\)|[@+*?]\([^()]*\|[^()]*\)/.test(entry.replace(/\\./gsu, ""))) {
    return "alternatives are written {a,b}: parentheses mean nothing here"
  }
  return undefined
}

const everything = "it would match everything"

/** Makes a pattern absolute, and removes `.`, `..` and doubled slashes. */
const toAbsolute = (pattern: string, cwd: string): Either.Either<string, string> => {
  const slashed = pattern.replace(/\/+$/, "")
  const whole = slashed.startsWith("/")
    ? slashed
    : !slashed.includes("/")
      ? `/**/${slashed}`
      : slashed.startsWith("**/")
        ? `/${slashed}`
        : `${PathGlob.escape(cwd)}/${slashed}`
  const names: Array<string> = []
  for (const part of whole.split("/")) {
    if (part === "..") {
      const left = names.pop()
      if (left !== undefined && PathGlob.hasWildcard(left)) return Either.left("`..` can't follow a wildcard")
    } else if (part !== "" && part !== ".") names.push(part)
  }
  return names.every((part) => /^\*+$/.test(part)) ? Either.left(everything) : Either.right(`/${names.join("/")}`)
}

const toGlob = (pattern: string, cwd: string): Either.Either<Meaning, string> =>
  Either.flatMap(toAbsolute(pattern, cwd), (path) =>
    Either.try({
      try: () => {
        if (path.includes("[")) PathGlob.compile([path], false)
        return { kind: "glob", path }
      },
      catch: () => "the ends of a range in brackets are the wrong way round"
    })
  )

/** Matches the kernel's virtual files, of which only shared memory (`/dev/shm`) may be written. */
const kernel = /^\/(?:proc|sys|dev(?!\/shm\/.))(?:\/|$)/

/** Matches runtime directories of the user's and the system's programs: their sockets, pipes and state. */
const running =
  /^\/(?:var\/)?run(?:$|\/(?:user(?:\/[^/]*)?$|(?:containerd|credentials|crio|dbus|docker|initctl|podman|snapd|systemd|udev)(?:[./-]|$)))/

/** Matches directories and files that the system boots from and that every sandbox is built with. */
const system =
  /^\/(?:(?:boot|efi)(?:\/.*)?|etc(?:\/ld\.so\..*)?|usr|(?:usr\/)?(?:s?bin(?:\/(?:bash|bwrap|mount|nsenter|sh|umount|unshare))?|lib(?:32|64|x32|exec)?(?:\/[^/]+-linux-[^/]+)?(?:\/(?:ld-|ld64|libc\.)[^/]*)?))$/

/**
 * Tests whether a path is the root or one of the kernel's virtual files.
 *
 * @param path absolute
 */
export const isKernels = (path: string): boolean => path === "/" || kernel.test(path)

/**
 * Returns why no sandbox may ever make a directory writable; undefined if one may.
 *
 * @param path absolute
 */
export const unwritable = (path: string): string | undefined => {
  if (path === "/") return everything
  if (kernel.test(path)) return "the kernel's own files would be open to writing"
  if (running.test(path))
    return "programs outside of the sandbox could be reached there, and would do what commands want"
  return system.test(path) ? "the system, and every sandbox, starts from what lies there" : undefined
}

const wildcards =
  "what is allowed has no wildcards: name the directory, or put a backslash before a character that belongs to its name"

/** Parses a list entry. The left value says why the list can't hold it. */
export const parse = (
  entry: string,
  expansion: Expansion,
  list: "whitelist" | "blacklist" | "readable"
): Either.Either<ReadonlyArray<Meaning>, string> => {
  const refused = refusal(entry)
  if (refused !== undefined) return Either.left(refused)
  const alternatives = PathGlob.expandBraces(expand(entry, expansion), mostAlternatives)
  if (alternatives === undefined) return Either.left(`it has more than ${mostAlternatives} alternatives`)
  if (list !== "blacklist" && alternatives.length > 1) return Either.left(wildcards)
  return Either.all(
    alternatives.map((pattern): Either.Either<Meaning, string> => {
      if (PathGlob.hasWildcard(pattern)) {
        return list !== "blacklist" ? Either.left(wildcards) : toGlob(pattern, expansion.cwd)
      }
      if (pattern === "") return Either.left("one of its alternatives is empty")
      const path = Path.resolve(expansion.cwd, PathGlob.unescape(pattern))
      const reason = path === "/" ? everything : list === "whitelist" ? unwritable(path) : undefined
      return reason === undefined ? Either.right({ kind: "path", path }) : Either.left(reason)
    })
  )
}

/**
 * Returns a test for entries that are written like this one or mean the same. The entry may also be a literal path
 * without special characters.
 */
export const sameAs = (entry: string, expansion: Expansion): ((other: string) => boolean) => {
  const mean = (text: string) =>
    Either.getOrUndefined(Either.map(parse(text, expansion, "blacklist"), (meanings) => JSON.stringify(meanings)))
  const path = JSON.stringify([{ kind: "path", path: Path.resolve(expansion.cwd, entry) } satisfies Meaning])
  const meant = mean(entry)
  return (other) => {
    if (other === entry) return true
    const found = mean(other)
    return found !== undefined && (found === meant || found === path)
  }
}
