/** Cuts texts near the end of a line and never inside a character. */

/** Returns how far a cut may move to fall between two lines, in characters. */
const slackOf = (count: number) => Math.min(200, count / 2)

/** Returns at most the first `count` characters, cut at the end of a line where one is near. */
export const headOf = (text: string, count: number): string => {
  if (count >= text.length) return text
  if (count <= 0) return ""
  const newline = text.lastIndexOf("\n", count - 1)
  return newline >= count - slackOf(count) ? text.slice(0, newline + 1) : startOf(text, count)
}

/** Returns at most the last `count` characters, cut in the same way. */
export const tailOf = (text: string, count: number): string => {
  const start = text.length - count
  if (start <= 0) return text
  if (count <= 0) return ""
  const newline = text.indexOf("\n", start - 1)
  if (newline >= 0 && newline < Math.min(start + slackOf(count), text.length - 1)) return text.slice(newline + 1)
  const code = text.charCodeAt(start)
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start)
}

/** Returns the first `count` characters, or one less if that would split a surrogate pair. */
export const startOf = (text: string, count: number): string => {
  const code = text.charCodeAt(count - 1)
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? count - 1 : count)
}
