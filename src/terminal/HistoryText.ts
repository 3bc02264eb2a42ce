/**
 * The text of a history file: a command a line.
 *
 * @since 0.1.0
 */

/** The most characters of a command that is kept. */
const longest = 64 * 1024

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }
const characters: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t" }

/**
 * Writes a command as a line, with its line break; undefined for one that is not kept: too long, or with characters that
 * nobody types.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toLine = (command: string): string | undefined => {
  if (command.length > longest) return undefined
  const line = command.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character)
  return isForeign(line) ? undefined : `${line}\n`
}

const isForeign = (line: string): boolean => /[\p{Cc}\p{Cs}\ufffd]/u.test(line)

/**
 * Reads the commands of a file's text. Lines that are none of ours are left out.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromText = (text: string): ReadonlyArray<string> => {
  const commands: Array<string> = []
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.length > 2 * longest || isForeign(line)) continue
    const command = line.replace(/\\[\\nrt]/g, (escape) => characters[escape] ?? escape)
    if (commands.at(-1) !== command) commands.push(command)
  }
  return commands
}
