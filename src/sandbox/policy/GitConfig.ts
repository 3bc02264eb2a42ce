/**
 * Reads and writes git's configuration files, and separates the settings of everyday git from settings that make git
 * run programs.
 *
 * A setting that is not known to be harmless counts as a program, because git gets new settings with each version.
 *
 * @see https://git-scm.com/docs/git-config
 */

/** A setting. Its name is `section.key` or `section.subsection.key`, as `git config --list` shows it. */
export interface Entry {
  readonly section: string
  readonly subsection: string | undefined
  readonly key: string
  /** Undefined for a key without `=`, which means true. */
  readonly value: string | undefined
}

export const nameOf = ({ key, section, subsection }: Entry): string =>
  [section, ...(subsection === undefined ? [] : [subsection]), key].join(".")

const header = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y
const keyword = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|\n|$)/y
const blank = /(?:[ \t\n]+|[#;][^\n]*)*/y
/** A piece of a value: an escape or a line continuation, quoted text, or plain text. */
const piece = /\\(\n|[tbn"\\])|"((?:[^"\\\n]|\\(?:\n|[tbn"\\]))*)"|([^"\\\n#; \t]+|[ \t])/y
const escapes: Readonly<Record<string, string>> = { t: "\t", b: "\b", n: "\n" }

const unescape = (text: string): string =>
  text.replace(/\\([\s\S])/g, (_, char: string) => (char === "\n" ? "" : (escapes[char] ?? char)))

/** Applies a sticky expression at a position. */
const matchAt = (expression: RegExp, text: string, at: number): RegExpExecArray | null => {
  expression.lastIndex = at
  return expression.exec(text)
}

/** Reads the value after `=`. Returns it with the end of its line, or undefined if git refuses it. */
const readValue = (text: string, start: number): readonly [value: string, end: number] | undefined => {
  let value = ""
  /** The length of the value without its trailing blanks. */
  let kept = 0
  let at = start
  for (let found = matchAt(piece, text, at); found !== null; found = matchAt(piece, text, at)) {
    const [all, escaped, quoted, plain] = found
    at += all.length
    if (plain !== undefined) {
      const isBlank = plain === " " || plain === "\t"
      if (isBlank && value === "" && kept === 0) continue
      value += plain
      if (!isBlank) kept = value.length
    } else {
      value += escaped === undefined ? unescape(quoted ?? "") : unescape(all)
      kept = value.length
    }
  }
  if (text[at] === "#" || text[at] === ";") at = Math.max(text.indexOf("\n", at), 0) || text.length
  return at < text.length && text[at] !== "\n" ? undefined : [value.slice(0, kept), at]
}

/**
 * Parses a configuration file. Returns undefined if git refuses it or might read it differently.
 *
 * @param bytes one character per byte (latin1)
 */
export const parse = (bytes: string): ReadonlyArray<Entry> | undefined => {
  const text = bytes.replace(/^\xef\xbb\xbf/, "").replaceAll("\r\n", "\n")
  if (/[^\t\n -~\x80-\xff]/.test(text)) return undefined
  const entries: Array<Entry> = []
  let section: Pick<Entry, "section" | "subsection"> | undefined
  let at = 0
  for (;;) {
    at += matchAt(blank, text, at)?.[0].length ?? 0
    if (at >= text.length) return entries
    const head = matchAt(header, text, at)
    if (head !== null) {
      const [all, name = "", quoted] = head
      const [first = "", ...rest] = name.toLowerCase().split(".")
      const inner = quoted === undefined ? [] : [quoted.replace(/\\([\s\S])/g, "$1")]
      const parts = [...rest, ...inner]
      section = { section: first, subsection: parts.length === 0 ? undefined : parts.join(".") }
      at += all.length
      continue
    }
    const word = matchAt(keyword, text, at)
    if (word === null || section === undefined) return undefined
    const [all, key = "", sign] = word
    at += all.length
    const read = sign === "=" ? readValue(text, at) : undefined
    if (sign === "=" && read === undefined) return undefined
    entries.push({ ...section, key: key.toLowerCase(), value: read?.[0] })
    at = read?.[1] ?? at
  }
}

const quote = (text: string): string =>
  `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\b", "\\b")}"`

/** Writes a configuration file with exactly these settings. */
export const print = (entries: ReadonlyArray<Entry>): string => {
  let last = ""
  return entries
    .map(({ key, section, subsection, value }) => {
      const head = `[${section}${subsection === undefined ? "" : ` ${`"${subsection.replace(/[\\"]/g, "\\$&")}"`}`}]\n`
      const line = `\t${key}${value === undefined ? "" : ` = ${quote(value)}`}\n`
      if (head === last) return line
      last = head
      return head + line
    })
    .join("")
}

/** Sections that everyday git commands write, or that only change what git shows, with their permitted keys. */
const everyday: ReadonlyArray<readonly [sections: RegExp, keys: RegExp]> = [
  [
    /^core$/,
    /^(?:abbrev|autocrlf|bare|bigfilethreshold|checkstat|commentchar|commitgraph|compression|eol|excludesfile|filemode|fscache|fsync|fsyncmethod|hidedotfiles|ignorecase|logallrefupdates|longpaths|loosecompression|multipackindex|precomposeunicode|preloadindex|protecthfs|protectntfs|quotepath|repositoryformatversion|safecrlf|sharedrepository|sparsecheckout|sparsecheckoutcone|splitindex|symlinks|trustctime|untrackedcache|warnambiguousrefs|whitespace)$/
  ],
  [
    /^remote$/,
    /^(?:fetch|followremotehead|mirror|partialclonefilter|promisor|prune|prunetags|push|pushdefault|skip.*|tagopt)$/
  ],
  [
    /^submodule$/,
    /^(?:active|alternate.*|branch|fetchrecursesubmodules|ignore|path|propagatebranches|recurse|shallow)$/
  ],
  [/^init$/, /^defaultbranch$/],
  [/^http$/, /^(?:followredirects|lowspeed.*|maxrequests|minsessions|postbuffer|version)$/],
  [
    /^diff$/,
    /^(?:algorithm|color.*|context|ignoresubmodules|indentheuristic|mnemonicprefix|noprefix|relative|rename.*|statgraphwidth|submodule|wserrorhighlight|.*wordregex|binary|xfuncname|cachetextconv)$/
  ],
  [
    /^merge$/,
    /^(?:autostash|branchdesc|conflictstyle|directoryrenames|ff|log|name|recursive|rename.*|stat|suppressdest|verbosity)$/
  ],
  [
    /^gc$/,
    /^(?:auto.*|aggressive.*|cruftpacks|packrefs|pruneexpire|reflogexpire.*|rerere.*|worktreepruneexpire|writecommitgraph)$/
  ],
  [/^lfs$/, /^(?:access|locksverify|repositoryformatversion)$/],
  [/^gpg$/, /^format$/],
  [/^maintenance$/, /^(?:auto|enabled|schedule|strategy)$/],
  [/^receive$/, /^(?:autogc|deny.*|fsckobjects|unpacklimit|updateserverinfo)$/],
  [
    /^(?:advice|apply|author|blame|branch|checkout|color|column|commit|committer|extensions|feature|fetch|grep|help|i18n|index|log|notes|pack|pull|push|rebase|rerere|sparse|stash|status|tag|transfer|user|versionsort|worktree)$/,
    /^(?!.*(?:command|editor|helper|hook|options|pager|program|tool|uri)).*$/
  ]
]

const isBoolean = (value: string | undefined): boolean => /^(?:|true|false|yes|no|on|off|[01])$/i.test(value ?? "")

/** Matches an alias for a git command that shows or changes work, without a way to name a program or a file. */
const harmlessAlias =
  /^(?:add|branch|checkout|commit|diff|log|reset|restore|show|stash|status|switch)(?: (?!-*(?:output|ext))[a-z-]+)*$/

/** What a decision on a setting depends on, besides its own words. */
export interface Place {
  /** Tests whether commands may write the directory that a setting names. */
  readonly isWritable: (path: string) => boolean
  /** Tests whether the user has allowed the hooks directory that a setting names. */
  readonly isAllowedHooks: (path: string) => boolean
}

/** Tests whether a setting only changes what git shows and keeps, and makes it run no program. */
export const isEveryday = (entry: Entry, { isAllowedHooks, isWritable }: Place): boolean => {
  const { key, section, subsection, value = "" } = entry
  if (section === "alias") return harmlessAlias.test(value)
  // `ext::sh -c …` and other remote helpers run programs. A branch may name an address in place of a remote.
  if (/^(?:(?:push)?url|(?:push|default)?remote|pushdefault)$/.test(key)) {
    const isOfOne = subsection !== undefined || !key.endsWith("url")
    return /^(?:remote|submodule|branch|checkout)$/.test(section) && isOfOne && !/^[^/]*::|^-/.test(value)
  }
  if (section === "submodule" && key === "update") return !value.includes("!")
  if (section === "core" && subsection === undefined) {
    if (key === "fsmonitor") return isBoolean(entry.value)
    if (key === "worktree") return isWritable(value)
    if (key === "hookspath") return isAllowedHooks(value)
  }
  return everyday.some(([sections, keys]) => sections.test(section) && keys.test(key))
}
