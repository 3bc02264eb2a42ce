/** Finds existing names that a misspelt name probably meant. */

/** The longest name that is compared, because the time grows with the square of the length. */
const longest = 128

/** The distance of a name from what was written: smaller is nearer. Undefined if it is too far. */
const rankOf = (written: string, name: string): number | undefined => {
  if (written === name || Math.abs(written.length - name.length) > 2 || written.length < 2) return undefined
  if (Math.max(written.length, name.length) > longest) return undefined
  if (written.toLowerCase() === name.toLowerCase()) return 0
  const edits = distance(written, name)
  // With two letters, too many names are near: `fd` does not mean `df`.
  if (edits === 1 && written.length > 2 && sorted(written) === sorted(name)) return 1
  // `python` may mean `python3`.
  if (edits === 1 && written.length >= 3 && name.startsWith(written) && /\d$/.test(name)) return 2
  if (edits === 1 && written.length >= (written.length === name.length ? 5 : 4)) return 2
  return edits === 2 && written.length >= 7 && written[0] === name[0] ? 3 : undefined
}

const sorted = (text: string): string => [...text].sort().join("")

/**
 * Counts the edits between two texts (the restricted Damerau-Levenshtein distance): one character inserted, removed or
 * replaced, or two neighbours exchanged.
 */
export const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let above: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          (above[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (above[j - 1] ?? 0) + (isSame ? 0 : 1),
          isExchanged ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
        )
      )
    }
    before = above
    above = row
  }
  return above[b.length] ?? 0
}

/** Tests whether a name is near enough to be meant. */
export const isNear =
  (written: string) =>
  (name: string): boolean =>
    rankOf(written, name) !== undefined

/** Returns the nearest name, or undefined if no name is near or several are equally near. */
export const nearest = (written: string, names: Iterable<string>): string | undefined => {
  let best = Number.POSITIVE_INFINITY
  let found: ReadonlyArray<string> = []
  for (const name of new Set(names)) {
    const rank = rankOf(written, name) ?? Number.POSITIVE_INFINITY
    if (rank > best || rank === Number.POSITIVE_INFINITY) continue
    found = rank === best ? [...found, name] : [name]
    best = rank
  }
  return found.length === 1 ? found[0] : undefined
}

/** Drops what distinguishes `read_file`, `readFile` and `read-file`. */
const plain = (name: string): string => name.toLowerCase().replace(/[-_.]/g, "")

/** The fewest characters of a name that is compared as a part of another. */
const shortest = 3

/** The ways in which one name can be a part of another, from the surest to the least. */
const parts: ReadonlyArray<(whole: string, part: string) => boolean> = [
  (whole, part) => whole === part,
  (whole, part) => whole.startsWith(part),
  (whole, part) => whole.endsWith(part),
  (whole, part) => whole.includes(part),
  isShortened
]

/** `msg` for `message`: has some of its characters in the same order, and the same first one. */
function isShortened(whole: string, part: string): boolean {
  if (whole[0] !== part[0]) return false
  let at = 0
  for (const char of whole) if (char === part[at]) at++
  return at === part.length
}

/** If more names than this contain the written one, the match tells nothing. */
const mostLikely = 3

const mostNear = 10

/**
 * Returns the names that may be meant: the nearest one, else near ones, else names that contain the written name or are
 * contained in it. Empty if too many match.
 */
export const likely = (written: string, names: Iterable<string>): ReadonlyArray<string> => {
  const all = [...new Set(names)].filter((name) => name !== written)
  const only = nearest(written, all)
  if (only !== undefined) return [only]
  const near = all.filter(isNear(written))
  if (near.length > 0) return near.slice(0, mostNear)
  const short = plain(written)
  if (written.length > longest) return []
  const comparable = all.flatMap((name) => (name.length > longest ? [] : [{ name, plain: plain(name) }]))
  for (const isPart of parts) {
    const found = comparable.filter(({ plain }) => {
      const [whole, part] = plain.length < short.length ? [short, plain] : [plain, short]
      return part.length >= shortest && isPart(whole, part)
    })
    if (found.length > mostLikely) return []
    if (found.length > 0) return found.map(({ name }) => name)
  }
  return []
}
