/**
 * The paths that a command opens, by its arguments.
 *
 * @since 0.1.0
 */
import type { Expanded } from "./Expansion.js"
import { type Access, nameOf, type Opener, openerOf } from "./Openers.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Opened {
  readonly path: string
  /** Whether more of the path follows that is not known. */
  readonly partial: boolean
  readonly access: Access
}

/** An argument; `text` is undefined where it can't be known, and then it may be several, or none. */
type Argument = Pick<Expanded, "text" | "partial">

/**
 * Empty where nothing is sure.
 *
 * @since 0.1.0
 */
export const openedBy = (program: string, args: ReadonlyArray<Argument>): ReadonlyArray<Opened> => {
  const special = specials[nameOf(program)]
  if (special !== undefined) return special(args)
  const opener = openerOf(program)
  return opener === undefined ? [] : parse(opener, args)
}

const listed = (options: string | undefined): ReadonlySet<string> => new Set(options?.split(" "))

const parse = (opener: Opener, args: ReadonlyArray<Argument>): ReadonlyArray<Opened> => {
  const [text, reads, writes] = [listed(opener.text), listed(opener.reads), listed(opener.writes)]
  const [instead, ends] = [listed(opener.instead), listed(opener.ends)]
  const found: Array<Opened> = []
  const operands: Array<Argument> = []
  let { skip = 0 } = opener
  const isCounted = skip > 0 || opener.count !== undefined || opener.last !== undefined
  const valueOf = (name: string): Access | "text" | undefined =>
    reads.has(name) ? "read" : writes.has(name) ? "write" : text.has(name) ? "text" : undefined
  const take = (kind: Access | "text" | undefined, value: Argument | undefined) => {
    if (kind !== undefined && kind !== "text" && value?.text !== undefined && value.text !== "") {
      found.push({ path: value.text, partial: value.partial, access: kind })
    }
  }
  let onlyOperands = false
  for (let at = 0; at < args.length; at++) {
    const argument = args[at] as Argument
    const { text: word } = argument
    if (word === undefined) {
      // It may be options, or several operands: what is counted can't be counted any more.
      if (isCounted) return found
    } else if (onlyOperands || !word.startsWith("-") || word === "-") {
      operands.push(argument)
      if (opener.count !== undefined && operands.length >= opener.count + skip) break
    } else if (word === "--") onlyOperands = true
    else if (word.startsWith("--")) {
      const equals = word.indexOf("=")
      const name = word.slice(2, equals < 0 ? undefined : equals)
      if (instead.has(name)) skip = 0
      if (equals >= 0) take(valueOf(name), { ...argument, text: word.slice(equals + 1) })
      else if (valueOf(name) !== undefined) take(valueOf(name), args[++at])
      if (ends.has(name)) return found
    } else {
      for (let letter = 1; letter < word.length; letter++) {
        const name = word[letter] as string
        if (instead.has(name)) skip = 0
        if (ends.has(name)) return found
        const kind = valueOf(name)
        if (kind === undefined) continue
        take(kind, letter + 1 < word.length ? { ...argument, text: word.slice(letter + 1) } : args[++at])
        break
      }
    }
  }
  const { last, operands: access } = opener
  if (access === "none") return found
  const paths = operands.slice(skip)
  paths.forEach((operand, index) => {
    const isLast = last !== undefined && index > 0 && index === paths.length - 1
    take(isLast ? last : access, operand)
  })
  return found
}

const isFlag = ({ text }: Argument): boolean => text === undefined || text.startsWith("-")

const key = (letters: string, args: ReadonlyArray<Argument>, access: (name: string) => Access | undefined) =>
  args.flatMap(({ partial, text = "" }): ReadonlyArray<Opened> => {
    const [, name = "", path = ""] = new RegExp(`^(${letters})=(.+)$`, "s").exec(text) ?? []
    const kind = access(name)
    return kind === undefined || path === "" ? [] : [{ path, partial, access: kind }]
  })

const specials: Readonly<Record<string, (args: ReadonlyArray<Argument>) => ReadonlyArray<Opened>>> = {
  dd: (args) => key("if|of", args, (name) => (name === "if" ? "read" : name === "of" ? "write" : undefined)),

  /** The directories before the first test. */
  find: (args) => {
    const from = args.findIndex(({ text }) => text === undefined || !/^-[HLPD]$|^-O/.test(text))
    const rest = from < 0 ? [] : args.slice(from)
    const end = rest.findIndex(({ text }) => text === undefined || /^[-(!]/.test(text))
    return parse({ operands: "list" }, end < 0 ? rest : rest.slice(0, end))
  },

  /** A hard link opens what it links to; a symbolic one does not. */
  ln: (args) =>
    args.some(({ text }) => text === undefined || /^-[a-zA-Z]*s|^--symbolic/.test(text))
      ? []
      : parse({ operands: "read", last: "write", text: "S suffix", writes: "t target-directory" }, args),

  /** A mode may look like options: `-x`, `-rw`. */
  chmod: (args) => {
    const mode = args.findIndex(({ text }) => text !== undefined && /^-[rwxXstugo,+=-]+$/.test(text))
    const opener = openerOf("chmod") as Opener
    return mode < 0 ? parse(opener, args) : parse({ ...opener, skip: 0 }, args.toSpliced(mode, 1))
  },

  /** An agent's, which reads a file, and bash's own, which takes names of variables. */
  read: (args) => {
    const isOwn = args.some(({ text = "" }) => /^--(?:offset|limit)(?:=|$)/.test(text))
    const isBash = args.some(({ text }) => text === undefined || /^-[a-zA-Z]|^[A-Za-z_]\w*$/.test(text))
    return isBash && !isOwn ? [] : parse(openerOf("read") as Opener, args)
  },

  /** With `-i`, it writes. */
  sed: (args) => {
    const opener = openerOf("sed") as Opener
    const inPlace = args.some(({ text }) => text !== undefined && /^-[nErsuz]*i|^--in-place/.test(text))
    return parse(inPlace ? { ...opener, operands: "write" } : opener, args)
  },

  /** With `-n` or `-p`, what follows the program is read; without, it is arguments. */
  perl: (args) => {
    const program = args.findIndex(({ text }) => text !== undefined && /^-[a-zA-Z0-9]*[eE]$/.test(text))
    const loops = args.slice(0, program + 1).some(({ text }) => text !== undefined && /^-[a-zA-Z0-9]*[np]/.test(text))
    if (program < 0) return parse(openerOf("perl") as Opener, args)
    return loops ? parse({ operands: "read", text: "e E" }, args.slice(program + 2)) : []
  },

  tar: (args) => {
    const [first, ...rest] = args
    if (first?.text === undefined) return []
    const bundle = first.text.startsWith("-") ? "" : first.text
    const all = bundle === "" ? args : rest
    const letters = all.flatMap(({ text = "" }) => (/^-[a-zA-Z]/.test(text) ? [text.slice(1)] : [])).join("") + bundle
    const creates = /[cru]/.test(letters) || all.some(({ text }) => /^--(?:create|append|update)$/.test(text ?? ""))
    // After a change of directory, or with names as patterns, the operands are no paths from here.
    const elsewhere = /C/.test(letters) || all.some(({ text = "" }) => text.startsWith("--directory"))
    const archive = creates ? { writes: "f file" } : { reads: "f file" }
    const opener: Opener = {
      operands: creates && !elsewhere ? "read" : "none",
      text: "C directory b blocking-factor H format V label N newer g listed-incremental I use-compress-program K starting-file exclude transform xform owner group mode mtime strip-components warning sort",
      ...archive,
      reads: `${archive.reads ?? ""} T files-from X exclude-from`.trim()
    }
    if (bundle === "") return parse(opener, args)
    // The values of a bundle without a dash come in the order of its letters.
    const valued = [...bundle].filter((letter) => "fCbHVNgIKTX".includes(letter))
    const values = rest.slice(0, valued.length)
    const joined = valued.flatMap((letter, at) => [{ text: `-${letter}`, partial: false }, values[at] ?? noArgument])
    return parse(opener, [...joined, ...rest.slice(valued.length)])
  },

  zip: (args) => {
    const end = args.findIndex(({ text }) => text === undefined || /^-[xi]$|^--(?:ex|in)clude$/.test(text))
    const [archive, ...files] = (end < 0 ? args : args.slice(0, end)).filter((argument) => !isFlag(argument))
    return archive === undefined
      ? []
      : [...parse({ operands: "write" }, [archive]), ...parse({ operands: "read" }, files)]
  },

  curl: (args) =>
    parse(
      { operands: "none", text: curlText, reads: "T upload-file K config E cert key cacert", writes: "o output" },
      args
    )
}

const noArgument: Argument = { text: undefined, partial: false }
const curlText =
  "A user-agent b cookie c cookie-jar C continue-at d data D dump-header e referer F form H header m max-time P Q r range t u user U w write-out x proxy X request y Y z connect-timeout retry url data-raw data-binary data-urlencode json"
