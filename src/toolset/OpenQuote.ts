/**
 * Says which quote bash misses the end of, and how the text is given without one.
 *
 * @since 0.1.0
 */
import * as Apostrophe from "../bash/Apostrophe.js"

/** The ways in which programs take as standard input what is often given to them as a quoted word. */
const hereDocuments: ReadonlyArray<readonly [command: RegExp, form: string]> = [
  [/^python3? -c\b/, "python3 - <<'EOF'"],
  [/^node (?:-e|--eval)\b/, "node - <<'EOF'"],
  [/^git commit (?:-m\b|--message\b)/, "git commit -F - <<'EOF'"],
  [/^TodoWrite\b/, "TodoWrite <<'EOF'"],
  [/^(?:echo|printf|cat)\b/, "cat <<'EOF'"]
]

/** The most characters of a quote's text that are shown. */
const longest = 16

/**
 * Makes the remark; undefined where bash misses no quote.
 *
 * @param text the command's text
 * @since 0.1.0
 */
export const remark = (text: string, stderr: string): string | undefined => {
  const [, quote] = /^bash: line \d+: unexpected EOF while looking for matching [`'](["'])'$/m.exec(stderr) ?? []
  if (quote === undefined) return undefined
  const found = quote === "'" ? Apostrophe.find(text) : undefined
  const what =
    found === undefined
      ? `${named(text, quote)} has no end: close it`
      : `the ' in ${found.written} ${found.ends ? "ends" : "opens"} a quote: write ${found.correct}`
  const form = hereDocuments.find(([command]) => command.test(text))?.[1]
  if (form === undefined) return what
  // Between double quotes, variables have their values; in such a here-document as well.
  const isExpanded = quote === '"' && /[$`]/.test(text)
  return `${what}, or ${isExpanded ? form.replaceAll("'", "") : form}`
}

/** Shows the beginning of what the only such quote opens; of several, bash knows only that one is too many. */
const named = (text: string, quote: string): string => {
  const [, behind = "", ...others] = text.split(quote)
  const [start = ""] = behind.split(/\s/, 1)
  return others.length > 0 || start === "" || start.length > longest ? `a ${quote}` : `${quote}${start}`
}
