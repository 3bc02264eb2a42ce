/**
 * Writes settings anew without their secrets. What is not certain to be a harmless setting is left out, and a text that
 * is not understood as a whole gives none.
 */
import * as SecretText from "./SecretText.js"

const secretName = /auth(?!or)|token|pass|secret|credential|cookie|private|header|key/i
/** Matches values that are no secret whatever their name: switches, and variables. */
const plainValue = /^["']?(?:true|false|null|none|\$\{?\w+\}?)["']?,?$/i

/** Takes the user and the password out of addresses. */
const withoutUser = (text: string): string => text.replace(/(:\/\/)(?!git@)[^/\s@"']*@/g, "$1")

const isSecret = (value: string): boolean =>
  SecretText.isSecretValue(value) || (value.includes("://") && value.split(/[/"'\s]+/).some(SecretText.isSecretValue))

const first = "# Synapse shows this file without its secrets."

/** Matches what begins a setting, which is not a part of the value of the last one. */
const beginning = /^(?:\[[^\]]*\]+$|(?!-\s)[^\s#;[\](){}][^=:]*?(?:=|:\s|:$|:\S*\s*=))/
/** Matches names in a line, those in a nested table among them. */
const names = /([\w.@/-]+)["']?\s*[=:](?!\/\/)/g
/** Matches what makes a value of several lines that are not told by how they are indented. */
const spanning = /"""|'''|\\$/m

/** Returns a setting without the secret in it; undefined for one that is left out. */
const harmless = (line: string): string | undefined => {
  const text = withoutUser(line)
  if (/\s[#;]/.test(text)) return undefined
  const value = text.replace(/^.*?(?:=|:(?=\s|$)|^\s*-(?=\s))/, "").trim()
  const isNamed = Array.from(text.matchAll(names), ([, name = ""]) => name).some((name) => secretName.test(name))
  return (isNamed && !plainValue.test(value)) || isSecret(value) ? undefined : text
}

/** Redacts a file of one setting a line: ini, properties, TOML, YAML. */
export const lines = (text: string): string | undefined => {
  if (spanning.test(text)) return undefined
  const kept = [first]
  /** The indentation of the setting that was left out, and whose value may go on. */
  let skipped: { readonly indent: number; readonly isItem: boolean } | undefined
  for (const line of text.split(/\r?\n/)) {
    const bare = line.trimStart()
    if (bare === "" || /^[#;]/.test(bare)) continue
    const indent = line.length - bare.length
    const isItem = /^-\s/.test(bare)
    if (skipped !== undefined && (indent > skipped.indent || !(beginning.test(bare) || (isItem && skipped.isItem))))
      continue
    skipped = undefined
    const isSection = /^\[[^\]=]*\]+$/.test(bare)
    const shown = isSection && !isSecret(bare) ? line : harmless(line)
    if (shown === undefined) skipped = { indent, isItem }
    else kept.push(shown)
  }
  return `${kept.join("\n")}\n`
}

const withoutSecrets = (value: unknown): unknown => {
  if (typeof value === "string") return withoutUser(value)
  if (Array.isArray(value)) return value.filter((one) => !isSecretJson("", one)).map(withoutSecrets)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (isSecretJson(name, inner) ? [] : [[name, withoutSecrets(inner)]]))
  )
}

const isSecretJson = (name: string, value: unknown): boolean => {
  if (typeof value === "string") return secretName.test(name) || isSecret(withoutUser(value))
  // The addresses of registries are the names in `auths`.
  return (secretName.test(name) && name !== "auths" && typeof value === "object") || SecretText.isSecretValue(name)
}

/** Redacts a JSON document. */
export const json = (text: string): string | undefined => {
  try {
    return `${JSON.stringify(withoutSecrets(JSON.parse(text)), null, 2)}\n`
  } catch {
    return undefined
  }
}
