/**
 * Settings files without their secrets. A setting is shown if its value has a form that no secret has, and its name is
 * not one of a secret's. Everything else is left out.
 */
import * as Attempt from "../../domain/Attempt.js"

/** Matches tokens by their issuers' prefixes, and private keys. */
export const token =
  /(?<![A-Za-z0-9])(gh[a-z]_\w{8}|github_pat_|gl(?!obal-)[a-z]{2,5}-\w{8}|sk[-_][\w-]{10}|rk_live_|xox[a-z]-|A[KS]IA[A-Z0-9]{12}|AIza\w{8}|ya29\.|npm_\w{8}|pypi-\w{8}|hf_\w{8}|SG\.\w{8}|shp[a-z]{2}_\w{8}|do[a-z]_v1_|eyJ\w{8}|sq0[a-z]{3}-|GOCSPX-|whsec_|hvs\.\w{8}|lin_api_|ntn_\w{8}|NRAK-|PMAK-|ATATT\w{8}|gsk_\w{8}|B(earer|asic) \w{8}|bot\d{8,}:|AGE-SECRET)|-----BEGIN/
/** Matches an address with a user other than git's, and the path in which conda puts its token. */
const address = /:\/\/(?!git@)[^/\s@]+@|(?:^|[\s"'=])[^/\s:@"'=]+:[^/\s@]+(?<!:git)@|\/t\/[^/]{6,}\//
export const credential = new RegExp(
  `${address.source}|[?&][^=&?\\s]*(auth|key|pwd|sig)[^=&?\\s]*=|(passw(or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|credential)s?["']?\\s*[=:]\\s*\\S`,
  "i"
)
const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/**
 * Tests for a long word with digits whose characters change kind more often than in words: a base64 or hexadecimal key.
 */
const isRandom = (word: string): boolean =>
  word.length >= 20 &&
  /\d/.test(word) &&
  (word.match(/(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=\d)\D/g)?.length ?? 0) / word.length >= 0.25

/** Tests whether a value is a secret. Random words in paths are not secrets: builds and caches have such names. */
export const isSecretValue = (value: string): boolean =>
  token.test(value) ||
  credential.test(value) ||
  uuid.test(value) ||
  (!/^[/.~]|:\/(?!\/)/.test(value) &&
    value.split(value.includes("://") ? /[^A-Za-z0-9]+/ : /[^A-Za-z0-9+/=]+/).some(isRandom))

/** Matches names of settings and variables that hold secrets. Bundler names credentials after their hosts. */
export const secretName =
  /auth(?!or(?!i[sz]))|xauthority|token(?!iz|(?<=max\w*)s)|(?<!ask|by|com)pass|pwd|(?<=[\w-])pw$|secret|credential|cookie|private|header|webhook|(?<!public[-_]?|cache[-_]?)key(?!ring|board)|(?:^|[-_.])(?:pat|dsn|otp)(?:$|[-_.])|^bundle_(?!build|local|mirror)\w*__/i
/** Matches names that say where a secret is, or how it is used. */
const plainName = /(?:files?|paths?|dirs?|stores?|helpers?|providers?|types?|methods?|env[-_]?(?:key|var))$/i
/** Matches names of values that look like secrets and are public. */
const publicName =
  /(?:^|[._-])(?:bundle_with(?:out)?|signing-?key|(?:trusted-)?public-keys?|checksum|integrity|fingerprint)$/i

const reference = /(?:Bearer )?\$(?:\{[\w.:]+[?-]?\}|[a-z]+(?:_[a-z]+)+)|%\w+%/
/** Matches values that are never secrets, whatever their name: switches and variables. */
const plainValue = new RegExp(`^\\s*(["']?)(?:true|false|yes|no|on|off|null|none|${reference.source})\\1[\\s,]*$`, "i")
/** Matches a setting within a value whose own value is a variable. */
const referring = new RegExp(`(?<![\\w.-])[\\w.-]+["']?\\s*[=:]\\s*(["']?)(?:${reference.source})\\1`, "gi")

const namesSecret = (name: string): boolean => secretName.test(name) && !plainName.test(name)

/** Removes users from web addresses, passwords from all, and conda's tokens. */
const withoutUser = (text: string): string =>
  text
    .replace(/(https?:\/\/)(?!git@)[^/\s@"']+@|(:\/\/[^/\s:@"']*):[^/\s@"']+(?=@)/gi, "$1$2")
    .replace(/(:\/\/[^\s"']*)\/t\/[^/\s"']+(?=\/)/g, "$1")

const letters = "[A-Za-z\\x80-\\xff]{1,24}"
/** The forms of words that are no secrets. A word of letters and digits has none of them. */
const forms = [
  `[-+.:]*(?:${letters}(?:[._/+-]+(?:${letters}|\\d{1,2}))*)?[-+.:/]*`,
  // Numbers, versions, sizes and times.
  "\\d{1,7}00|[v-]?\\d{1,5}(?:[.:/]\\d{1,5})*\\.?(?:-[a-z]+(?:\\.\\d+)?)?[a-z]{0,3}",
  "\\d{4}-\\d\\d-\\d\\d(?:T[\\d:.]+Z?)?|1\\d{9}(?:\\d{3})?",
  // Paths, hosts and addresses.
  "(?:-[a-z]|[a-z]+:)?\\.{0,2}/[\\w.@+/-]*|[.@][a-z]+/[\\w.@+/-]*",
  "[\\w-]+(?:\\.[\\w-]+)*\\.[a-z]{2,}(?::\\d{1,5})?/?",
  "(?:[a-z+.:-]+:)?//(?:[a-z]+@)?[\\w.-]+(?::\\d{1,5})?(?:/[\\w.@+:-]*)*",
  "(?:[\\w.+-]+@[a-z-]+(?:\\.[a-z-]+)+|hasconfig:remote|(?:\\.url:)?git@[\\w.-]+(?::[\\w./-]*)?)[:.]?",
  `@[a-z-]+(?:/[a-z.-]+)?@?(?::registry)?|${letters}@`,
  // Processors and systems.
  "(?:x86_64|x64|x86|i[3-6]86|amd64|(?:arm(?:eabi-)?|aarch|riscv|powerpc|wasm|thumb)v?\\d{1,2}[a-z]{0,4})(?:[-_][a-z]{1,10}\\d{0,2}[a-z]?)*",
  // Options of compilers and of Java.
  "-X\\w+(?::[+-]?\\w*)?|-[a-z]\\d"
]
const plainWord = new RegExp(`^(?:${forms.join("|")})$`, "i")
const between = /[\s"'`,;#=(){}[\]<>|&!?$%^~*\\]+/

/** Tests for a text in which every word has the form of none. */
const hasPlainWords = (text: string): boolean =>
  !token.test(text) &&
  !credential.test(text) &&
  text.split(between).every((word) => plainWord.test(word) && !isSecretValue(word))

const namesSecretIn = (text: string): boolean =>
  text.split(between).some((word) => !word.includes("/") && namesSecret(word))

/** Tests whether a value is surely no secret. It may have settings of its own. */
const isPlain = (name: string, value: string, isWithin = false): boolean => {
  if (isSecretValue(name)) return false
  if (plainValue.test(value)) return true
  if (publicName.test(name)) return !token.test(value)
  if (namesSecret(name) || (isWithin && !plainName.test(name))) return false
  const rest = value.replace(referring, "")
  const isPerson = /^(?:name|email)$/i.test(name) && !/[#;\n]/.test(value) && !isSecretValue(value)
  const namesNone = (!value.includes("{") && plainName.test(name)) || !namesSecretIn(rest)
  return namesNone && (isPerson || hasPlainWords(rest))
}

/** Matches options whose values are often secrets: a user, a password, a header, a cookie, a certificate. */
const secretOption = /(?:^|[\s"'])-(?:[A-Za-z]*[bEHuUpP](?=["',=\s]+[^"',=\s])|[uUpP]\w)/

/** Matches a comment that tells a secret. */
const telling =
  /\b(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_ ]?key)\s+["'\w]|(?:auth|key|pass\w*|pwd|secret|token)\s*[=:]/i

const first = "# Synapse leaves out what may be a secret."

/** Matches the beginning of a setting, as opposed to more of the last setting's value. */
const beginning =
  /^(?:(?!-\s)[^\s#;[\](){}][^=:]*?(?:=|:\s|:$|:\S*\s*=)|"?[\w@/-][\w@.:/-]*"?\s+(?:"[^"]*"|[^\s"=:]+)\s*$|[\w-]+(?:\s+"[^"]*")?\s*\{)/
const comment = /^(?:$|[#;])/
/** Matches a line with a comment behind it. */
const remark = /^((?:[^"'\n]|"[^"\n]*"|'[^'\n]*')*?)\s[#;].*$/
const item = /^(?:-\s+)+/
const section = /^(\[(?:"[^"]*"|'[^']*'|[^\]="'])*\]+)(.*)$/
/** Matches a setting's name, and its value, which may go on in the next lines. */
const named = /^["']?([^\s=]*?)["']?(?:\s*=|:(?=\s|$)|\s)([\s\S]*)$/
/** Matches lines with a switch each, and lines that go on with a value in no usual way. */
const switches = /^[a-z-]*(?:\s+[a-z-]+)*$/i
const odd = /\n(?!\s|[-\]})"']|[a-z-]+[ \t]*(?:\n|$))/i

/** Returns how deep a line lies: an item of a list lies below a setting with its indentation. */
const depthOf = (line: string): number => {
  const bare = line.trimStart()
  return line.length - bare.length + (item.test(bare) ? 0.5 : 0)
}

/** Splits a file into comments, sections and settings. A setting goes on in lines that begin nothing, and in brackets. */
const partsOf = (text: string): ReadonlyArray<string> => {
  const parts: Array<Array<string>> = []
  let setting: Array<string> | undefined
  let depth = 0
  for (const line of text.split(/\r?\n/)) {
    const bare = line.trim()
    const isComment = comment.test(bare)
    const begins = depth === 0 && (isComment || section.test(bare) || beginning.test(bare.replace(item, "")))
    if (begins || setting === undefined) {
      const part = [line]
      parts.push(part)
      // What follows a section's name goes on with nothing.
      if (!isComment) setting = section.test(bare) ? undefined : part
    } else setting.push(line)
    if (isComment) continue
    const brackets = section.test(bare) ? "" : bare.replace(/"[^"]*"|'[^']*'/g, "")
    depth = Math.max(0, depth + (brackets.match(/[[{(]/g)?.length ?? 0) - (brackets.match(/[\]})]/g)?.length ?? 0))
  }
  return parts.map((lines) => lines.join("\n"))
}

/** Tests a section by its name's parts, and by what follows on its line. */
const isPlainSection = (name: string, rest: string): boolean =>
  !isSecretValue(name) &&
  !name.split(/[\s."'[\]]+/).some(namesSecret) &&
  (name.match(/"[^"]*"/g) ?? []).every(hasPlainWords) &&
  isPlain("", rest)

const isPlainPart = (part: string, isGit: boolean): boolean => {
  const bare = part.trim()
  if (comment.test(bare)) return hasPlainWords(bare) && !telling.test(bare)
  const [, header, rest = ""] = section.exec(bare) ?? []
  if (header !== undefined) return isPlainSection(header, rest)
  const setting = bare.replace(item, "")
  const [, name = "", value = ""] = named.exec(setting) ?? []
  if (!beginning.test(setting)) return switches.test(bare) && !namesSecretIn(bare)
  return isPlain(name, value) && !odd.test(bare) && (isGit || !secretOption.test(bare))
}

const show = (text: string, isGit: boolean): string | undefined => {
  if (/"""|'''/.test(text)) return undefined
  const whole = text.replace(/^\xef\xbb\xbf/, "").replace(/(?<!\\)((?:\\\\)*)\\\r?\n/g, "$1")
  const kept: Array<string> = []
  let isWhole = true
  /** How deep the setting lies that was left out, with what lies deeper. -1: a section. */
  let hidden = Number.POSITIVE_INFINITY
  for (const part of partsOf(whole)) {
    const bare = part.trim()
    const isComment = comment.test(bare)
    const isBelow = depthOf(part) > hidden && (hidden >= 0 || !section.test(bare))
    const shown = withoutUser(part)
    const isShown = !isBelow && isPlainPart(shown, isGit)
    isWhole &&= isShown && shown === part
    if (isBelow || isComment) continue
    const text = shown.replace(remark, "$1")
    const isKept = isShown && !/\s[#;]/.test(text)
    hidden = isKept ? Number.POSITIVE_INFINITY : section.test(bare) ? -1 : depthOf(part)
    if (isKept) kept.push(text)
  }
  return isWhole ? text : `${[first, ...kept].join("\n")}\n`
}

/**
 * Returns a file with one setting per line (ini, properties, TOML or YAML) without its secrets: the same text if it has
 * none, undefined if they can't be told apart. Comments stay only in a text that stays whole.
 */
export const showLines = (text: string): string | undefined => show(text, false)

/** Returns git's configuration without its secrets, as `showLines` does. */
export const showGit = (text: string): string | undefined => show(text, true)

/** Matches keys under which an object tells the name of its value. */
const naming = /^(?:name|key|id|field|header|variable)$/i
const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null

/** Returns what is no secret in a value of JSON; undefined for none. In `auths`, the names are addresses. */
const withoutSecrets = (value: unknown, name = "", isWithin = false): unknown => {
  if (Array.isArray(value)) {
    const text = value.filter(isScalar).map((one) => withoutUser(String(one)))
    const isShown = isPlain(name, text.join(" "), isWithin) && !secretOption.test(text.join(" "))
    return text.length === 0 || isShown
      ? value.map((one) => withoutSecrets(one, name, isWithin)).filter((one) => one !== undefined)
      : undefined
  }
  if (typeof value === "object" && value !== null) {
    const isDeep =
      isWithin ||
      (namesSecret(name) && name !== "auths") ||
      Object.entries(value).some(([key, one]) => naming.test(key) && typeof one === "string" && namesSecret(one))
    if (isSecretValue(name)) return undefined
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) => {
        const shown = withoutSecrets(one, key, isDeep)
        return shown === undefined ? [] : [[key, shown]]
      })
    )
  }
  const shown = typeof value === "string" ? withoutUser(value) : value
  return isPlain(name, String(shown), isWithin) && !secretOption.test(String(shown)) ? shown : undefined
}

/** Matches strings, and comments or commas that JSON does not have. */
const beyondJson = /("(?:[^"\\\n]|\\.)*")|\/\/(.*)|\/\*([\s\S]*?)(?:\*\/|$)|,(?=\s*[}\]])/g

/** Returns JSON with comments without its secrets, as `showLines` does. */
export const showJson = (text: string): string | undefined =>
  Attempt.orUndefined(() => {
    const bare = text.replace(beyondJson, "$1").replace(beyondJson, "$1").trim() || "{}"
    const shown = withoutSecrets(JSON.parse(bare)) ?? {}
    const isPlainText = bare.replace(/("(?:[^"\\\n]|\\.)*")|\s+/g, "$1") === JSON.stringify(shown)
    const comments = Array.from(text.matchAll(beyondJson), ([, , line, block]) => line ?? block ?? "")
    const isWhole = isPlainText && comments.every((one) => hasPlainWords(one) && !telling.test(one))
    return isWhole ? text : `${JSON.stringify(shown, null, 2)}\n`
  })

/** Returns XML if it has no secret, undefined otherwise. */
export const showXml = (text: string): string | undefined => {
  const bare = text
    .replace(/^\xef\xbb\xbf/, "")
    .replace(/<([\w.:-]+)>\s*\$\{[\w.]+\}\s*<\/\1>|<\w+\s*\/>/g, " ")
    .replace(/\b(?:key|xmlns:\w+|xsi:\w+)\s*=/g, " ")
  return withoutUser(bare) === bare && isPlain("", bare) ? text : undefined
}
