/**
 * Finds file names in a program's message, whatever quotes and escapes surround them.
 */
import * as AnsiC from "../../../bash/AnsiC.js"
import { Scanner } from "../../../bash/Scanner.js"
import * as HostEntry from "../../policy/HostEntry.js"

/**
 * How the kernel refused. `access`: EACCES and EPERM. `readonly`: EROFS. `busy`: EBUSY, for a mount point. `link`:
 * EXDEV, between two mounts. `unopened`: a database that could not be opened.
 */
export type KernelRefusal = "access" | "readonly" | "busy" | "link" | "unopened"

/**
 * How many characters of a message are read before and after the words of a refusal: some expressions take quadratic
 * time.
 */
export const longestMessage = 1024

const wordings: ReadonlyArray<readonly [KernelRefusal, RegExp]> = [
  [
    "access",
    /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|PermissionDenied|AccessDenied|access denied|error: unable to index file|fatal: (?:cannot hash|Unable to process path)/i
  ],
  [
    "readonly",
    // The last one is what node says if it can't make a directory with its parents.
    /read-?only file ?system|\bEROFS\b|readonly database|unable to create temporary object directory|ENOENT: no such file or directory, mkdir(?= ')/i
  ],
  ["busy", /(?:device or )?resource busy|\bEBUSY\b/i],
  ["link", /(?:invalid )?cross-device link|\bEXDEV\b/i],
  ["unopened", /unable to open database(?: file)?/i]
]

const any = new RegExp(wordings.map(([, { source }]) => source).join("|"), "i")

/** Tests whether a text reports a refusal anywhere. */
export const mentionsRefusal = (text: string): boolean => any.test(text)

/** A refusal that a line reports, and the text on both sides of it. */
export interface Refused {
  readonly refusal: KernelRefusal
  readonly before: string
  readonly after: string
}

/** Finds the refusal that a line reports. */
export const refusalIn = (line: string): Refused | undefined => {
  for (const [refusal, pattern] of wordings) {
    const match = pattern.exec(line)
    if (match !== null) {
      return { refusal, before: line.slice(0, match.index), after: line.slice(match.index + match[0].length) }
    }
  }
  return undefined
}

const writing =
  /creat|remov|mov|renam|writ|touch|mkdir|chang|delet|append|set|link|unlink|truncat|replac|updat|sav|copyfile|overwrit/i

/** Matches messages of the agent's own commands, whose names say what they do. */
const speaker = /^(?:(read)|write|edit): /

/** Tests whether a line reports a refused change, not a refused read. `before` is the text before the refusal. */
export const isWrite = (refusal: KernelRefusal, before: string): boolean => {
  if (refusal === "unopened") return false
  if (refusal !== "access") return true
  const own = speaker.exec(before)
  if (own !== null) return own[1] === undefined
  const near = before.slice(-longestMessage)
  return writing.test(withoutNames(near)) && !/for reading/.test(near)
}

const withoutNames = (text: string): string => text.replace(/'[^']*'|"[^"]*"|‘[^’]*’|\S*\/\S*/g, "")

/** Tests whether a line reports a name that could not be removed, moved or replaced, for which its directory is written. */
export const isRemoval = (before: string): boolean =>
  /remov|delet|unlink|\bmove\b|renam|rmdir|\block config|\binplace\b/i.test(withoutNames(before.slice(-longestMessage)))

/** Tests whether a message comes from an agent command. These refuse by the rules even what nothing hides. */
export const isAgents = (before: string): boolean => speaker.test(before)

/** Matches messages of programs that open a file for writing, and create it if it is missing. */
const opening = /^(?:(?:bash|write|tee): |touch: cannot touch |cp: cannot create regular file |dd: failed to open )/

/** Tests whether a line says that a regular file could not be created or written in place. */
export const isOpening = (before: string): boolean => opening.test(before)

const network =
  /network is unreachable|ENETUNREACH|could(?: not|n't) resolve|name resolution|failure resolving|EAI_AGAIN|\bENOTFOUND\b|UnknownHostException|name or service not known|unable to look up|unable to resolve|failed to connect|couldn't connect|unable to connect|getaddrinfo|no such host|failed to (?:fetch|download)|unable to access|connection failed|bad hostname/i
/** Matches the system's messages for a missing network, which name no host. */
const unreachable =
  /network is unreachable|ENETUNREACH|temporary failure (?:in name resolution|resolving)|EAI_AGAIN|name or service not known/i

/** Tests whether a text says that there is no network, and is not about this machine's own names. */
export const saysUnreachable = (text: string): boolean =>
  text.split("\n").some((line) => unreachable.test(line) && !/localhost|\b127\.|::1\b/i.test(line))

const unresolved =
  /could(?: not|n't) resolve|name resolution|failure resolving|EAI_AGAIN|\bENOTFOUND\b|UnknownHostException|name or service not known|unable to (?:look up|resolve)|no such host|bad hostname/i

/** Tests whether a text says that a name could not be looked up, other than this machine's own. */
export const saysUnresolved = (text: string): boolean =>
  text.split("\n").some((line) => unresolved.test(line) && !/localhost|\b127\.|::1\b/i.test(line))

const mostHosts = 5
/** Match the ways in which messages name hosts, the surest first. */
const hosts: ReadonlyArray<RegExp> = [
  /\b[a-z][a-z\d+.-]{0,30}:\/\/(?:[^\s/@'"]+@)?(\[[\da-f:.]+\]|[^\s/:'"]+)/i,
  /(?:resolv(?:e|ing) (?:host(?:name)?:? )?(?:address )?|look up |ENOTFOUND |EAI_AGAIN |UnknownHostException: |lookup |address for )['"‘“`]?([\w-]+(?:\.[\w-]+)+|\blocalhost\b)/i,
  /(?:^|: )([\w-]+(?:\.[\w-]+)+): (?=temporary failure in name|name or service not known)/i,
  /(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*\.\d)/,
  /(?<![\w:])(::1\b|(?:[\da-f]{1,4}:){2,7}:?[\da-f]*(?::[\da-f]+)*)/i,
  /(?:resolve (?!host(?:name)?\b)|\bhost(?: ?name| address)?:? (?!(?:name|address)(?![\w.-]))|connect to )['"‘“`]?(?!(?<=connect to )(?:a|an|any|bus|daemon|database|host|proxy|remote|server|socket|the)\b(?!\.))([\w-]+(?:\.[\w-]+)*)/i
]
const own = /^(?:localhost|127\..*|\[?::1\]?|0\.0\.0\.0)$/i

export const isLocal = (host: string): boolean => own.test(host)

/** Finds the hosts that a text reports as unreachable. */
export const hostsIn = (text: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const line of text.split("\n")) {
    const match = network.exec(line)
    if (match === null) continue
    const near = line.slice(Math.max(0, match.index - longestMessage), match.index + longestMessage)
    const host = hosts.map((pattern) => pattern.exec(near)?.[1]).find((name) => name !== undefined)
    if (host !== undefined && !own.test(host)) found.add(host)
    if (found.size === mostHosts) break
  }
  return [...found]
}

/** Matches ssh programs with an explicit port. */
const sshPort = /\b(?:scp|sftp|ssh)\b[^;|&\n]{0,200}?\s-[pP]\s?(\d{2,5})\b/

/** Matches an explicit port of PostgreSQL's programs. */
const postgresPort = /(?:\s-p\s?|port[ =])(\d{2,5})\b/i

/** Returns the entry for a host, with the port from a command or its messages, or that of its program. */
export const withPort = (host: string, command: string, said: string): string => {
  if (host.includes(":")) return host
  const name = host.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  const named = new RegExp(
    String.raw`(?://(?:[^\s/@]{0,100}@)?|(?<![\w.@-]))${name}['"’]?(?::|,? \(?port )(\d{2,5})\b`,
    "i"
  )
  const programs = [
    [`^ssh: .*\\bhostname ${name}: `, sshPort, "22"],
    [`could not translate host name "${name}" to address`, postgresPort, "5432"]
  ] as const
  const [, given, usual] = programs.find(([message]) => new RegExp(message, "im").test(said)) ?? []
  const port = named.exec(`${command}\n${said}`)?.[1] ?? given?.exec(command)?.[1] ?? usual
  return port === undefined || HostEntry.defaultPorts.includes(Number(port)) ? host : `${host}:${port}`
}

/**
 * A name in a message. `sure` is true if quotes or colons mark it as a name; otherwise, it may be ordinary words.
 * `form` marks a quoted name, and the last word before the refusal (`output file a.out:`).
 */
export interface Mention {
  readonly path: string
  readonly sure: boolean
  readonly form?: "quoted" | "last"
}

/** Matches names in shell quotes, as coreutils print them: `'n'$'\n''l'`, `"it's"`, `'it'\''s "x"'`. */
const shellQuoted = /(?<![\w'"$\\])(?:\$'(?:\\[\s\S]|[^'\\])*'|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|(?<=')\\'(?='))+/g
/** Matches names quoted as programming languages do: `'it\'s'`, `b"\xc3"`. */
const escaped = /(?<![\w'"\\]|\w['"])[bru]?(?:'((?:\\[\s\S]|[^'\\])*)'|"((?:\\[\s\S]|[^"\\])*)")/g
const typographic = /‘([\s\S]*?)’|“([\s\S]*?)”|`([\s\S]*?)[`']/g
/** Match names that contain their own surrounding quote. */
const greedy = [/(?<!\w)'([\s\S]*)'/, /"([\s\S]*)"/, /‘([\s\S]*)’/]
/** Matches messages of the agent's own commands, which hold only the name. */
const ofAgent = /^(?:read|write|edit): ([\s\S]+): $/
/** Matches what separates a name from the rest of the sentence. */
const boundary = /: |:$|, | \(|\(| (?=->|=>)/
/** Matches an absolute path with blanks, if the words after a blank do not look like the sentence's own. */
const spaced = (): RegExp =>
  /(?<![^\s(])\/[^\s:'"]+(?: (?!\p{Ll}+[.,;]?(?:\s|$|:)|(?:Error|Fail|Permission|Cannot))[\p{L}\p{N}][^\s:'"(]*)+/gu
const pathOfItsOwn = /^\.{0,2}\//
const mostWords = 16

/**
 * Finds the names in a message, each once, the likeliest first. `before` and `after` surround the words of the refusal.
 */
export const mentionsIn = (before: string, after: string): ReadonlyArray<Mention> => {
  const found = new Map<string, boolean>()
  const quoted = new Set<string>()
  const add = (path: string | undefined, sure: boolean) => {
    if (path !== undefined && path !== "" && path !== "." && !path.includes("\0")) {
      if (sure && found.get(path) === false) found.delete(path)
      if (!found.has(path)) found.set(path, sure)
    }
  }
  const addQuoted = (path: string | undefined) => {
    add(path, true)
    if (path !== undefined) quoted.add(path)
  }
  addQuoted(ofAgent.exec(before)?.[1])
  const near = endOf(before)
  const sides = [near, after.slice(0, longestMessage)]
  for (const side of sides) {
    for (const [written] of side.matchAll(shellQuoted)) {
      const word = new Scanner(written).next()
      if (word?._tag === "Word") addQuoted(word.value)
    }
    for (const [, single, double] of side.matchAll(escaped)) addQuoted(AnsiC.decode(single ?? double ?? ""))
    for (const [, ...parts] of side.matchAll(typographic)) {
      const name = parts.find((part) => part !== undefined)
      addQuoted(name)
    }
    for (const pattern of greedy) add(pattern.exec(side)?.[1], true)
  }
  const [speaker, ...said] = near.replace(/:?\s*$/, "").split(": ")
  // A name may hold what else ends one, behind a program and a line.
  for (const words of [said, said.slice(1)]) if (words.length > 1) add(words.join(": "), true)
  for (const side of sides) {
    const pieces = side.split(boundary).map((piece) => piece.trim())
    const names = pieces.filter((piece) => piece !== "")
    for (const name of names.toReversed()) {
      // Removes a function call around the name, and the end of the sentence.
      const bare = name.replace(/^.*\(/s, "").replace(/[).,;:]+$/, "")
      // The first of several pieces names the program that reports the error.
      const isName = names.length === 1 || name !== pieces[0]
      add(bare, isName)
      add(AnsiC.decode(bare), isName)
      for (const path of readingsOf(bare)) add(path, true)
    }
  }
  for (const side of sides) for (const [path] of side.matchAll(spaced())) addQuoted(path)
  for (const side of sides) {
    for (const words of wordsIn(side.replace(spaced(), "")))
      add(words, pathOfItsOwn.test(words) && (said.length === 0 || words !== speaker))
  }
  const last = /(\S+):\s*$/.exec(near)?.[1]
  return [...found]
    .map(([path, sure]): Mention => {
      const form = quoted.has(path) ? "quoted" : path === last ? "last" : undefined
      return form === undefined ? { path, sure } : { path, sure, form }
    })
    .sort((a, b) => weightOf(b) - weightOf(a))
}

/** Marked names come before ordinary words, and absolute paths before relative ones. */
const weightOf = ({ path, sure }: Mention): number => 2 * Number(sure) + Number(path.startsWith("/"))

/** Returns the possible extensions of an absolute path by the words after it, shortest first. */
const readingsOf = (text: string): ReadonlyArray<string> => {
  const words = /(?<!\S)\/\S* .*$/.exec(text)?.[0].split(" ") ?? []
  return words.slice(1, mostWords).map((_, at) => words.slice(0, at + 2).join(" "))
}

/** Returns the end of a text, without a word that the cut would split and so change. */
const endOf = (text: string): string =>
  text.length > longestMessage ? text.slice(-longestMessage).replace(/^\S+/, "") : text

/** Returns the last words of a text, from its end. */
const wordsIn = (text: string): ReadonlyArray<string> =>
  text
    .trim()
    .split(/\s+/)
    .slice(-mostWords)
    .map((word) => word.replace(/^[([{<]+|[)\]}>.,;:!]+$/g, ""))
    .reverse()
